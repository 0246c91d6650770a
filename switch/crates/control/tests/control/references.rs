//! `@refers_to` and `@referenced_by`.

use std::sync::Arc;

use crate::common::*;
use control::{Checks, Code, Control};
use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match as fm;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::update::Type;

const CHECKS: Checks = Checks { restrictions: false, references: true };

/// The key of `I.ecmp` and the port of `I.forward` refer to `I.exact`; the optional key of `I.acl` to a multicast group;
/// texts in `I.ports` to other entries there.
fn p4info_with_references() -> info::P4Info {
    let mut p4info = p4info();
    let mut annotate = |table: u32, key: u32, annotation: &str| {
        let table = p4info.tables.iter_mut().find(|one| one.preamble.as_ref().unwrap().id == table).unwrap();
        let field = table.match_fields.iter_mut().find(|one| one.id == key).unwrap();
        field.annotations.push(annotation.to_owned());
    };
    annotate(ECMP, 1, "@refers_to(I.exact , hdr.a)");
    annotate(ACL, 4, "@refers_to(builtin::multicast_group_table , multicast_group_id)");
    annotate_param(&mut p4info, SET_PORT, 1, "@refers_to(I.ports, meta.port)");
    p4info
}

fn annotate_param(p4info: &mut info::P4Info, action: u32, param: u32, annotation: &str) {
    let action = p4info.actions.iter_mut().find(|one| one.preamble.as_ref().unwrap().id == action).unwrap();
    let param = action.params.iter_mut().find(|one| one.id == param).unwrap();
    param.annotations.push(annotation.to_owned());
}

fn checked(p4info: info::P4Info) -> Fixture {
    let Fixture { plant, control } = Fixture::of(program(), p4info);
    Fixture { plant, control: control.with_checks(CHECKS).unwrap() }
}

fn exact_entry(key: u8) -> Entity {
    Entity::TableEntry(forward_entry(key))
}

fn ecmp_entry(key: &[u8]) -> Entity {
    Entity::TableEntry(v1::TableEntry {
        table_id: ECMP,
        r#match: vec![exact(1, key)],
        action: table_action(v1::table_action::Type::ActionProfileMemberId(1)),
        ..Default::default()
    })
}

fn multicast_group(id: u32) -> Entity {
    let group = v1::MulticastGroupEntry { multicast_group_id: id, ..Default::default() };
    let engine = Engine::MulticastGroupEntry(group);
    Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(engine) })
}

fn port_entry(port: &str, next: &str) -> Entity {
    Entity::TableEntry(v1::TableEntry {
        table_id: PORTS,
        r#match: vec![exact(1, port.as_bytes())],
        action: action(SET_PORT, &[next.as_bytes()]),
        ..Default::default()
    })
}

#[test]
fn what_is_referred_to_comes_first_and_goes_last() {
    let fixture = checked(p4info_with_references());
    fixture.insert(member(1, 1));
    let missing = "an entry of I.ecmp: refers to an entry of I.exact with hdr.a 0x7, which is not there";
    fixture.refuses(Type::Insert, ecmp_entry(&[7]), Code::NotFound, missing);
    fixture.insert(exact_entry(7));
    // Leading zeros don't matter.
    fixture.insert(ecmp_entry(&[0, 7]));
    let needed = "an entry of I.exact with hdr.a 0x7 is referred to by an entry of I.ecmp";
    fixture.refuses(Type::Delete, exact_entry(7), Code::InvalidArgument, needed);
    // What does not exist is not needed, and a refused update changes nothing.
    fixture.refuses(Type::Insert, exact_entry(7), Code::AlreadyExists, "");
    fixture.delete(ecmp_entry(&[7]));
    fixture.delete(exact_entry(7));
    fixture.refuses(Type::Insert, ecmp_entry(&[7]), Code::NotFound, missing);
}

#[test]
fn multicast_groups_are_referred_to_where_the_key_is_given() {
    let fixture = checked(p4info_with_references());
    let optional = |group: u8| matched(4, fm::FieldMatchType::Optional(fm::Optional { value: vec![group] }));
    let entry = |priority, matches| Entity::TableEntry(acl_entry(priority, matches));
    fixture.insert(entry(1, vec![]));
    let with_group = || entry(2, vec![optional(5)]);
    fixture.refuses(Type::Insert, with_group(), Code::NotFound, "refers to multicast group 0x5, which is not there");
    fixture.insert(multicast_group(5));
    fixture.insert(with_group());
    fixture.refuses(Type::Delete, multicast_group(5), Code::InvalidArgument, "multicast group 0x5 is referred to");
    fixture.modify(multicast_group(5));
    fixture.delete(with_group());
    fixture.delete(multicast_group(5));
}

#[test]
fn a_modification_lets_go_of_what_it_no_longer_needs() {
    let fixture = checked(p4info_with_references());
    let first = || {
        let action = action(NO_ACTION, &[]);
        Entity::TableEntry(v1::TableEntry {
            table_id: PORTS,
            r#match: vec![exact(1, b"eth0")],
            action,
            ..Default::default()
        })
    };
    // `NoAction` is of the default entry alone in I.exact, not here.
    fixture.insert(first());
    fixture.refuses(Type::Insert, port_entry("eth1", "eth9"), Code::NotFound, "I.ports with meta.port 'eth9'");
    fixture.insert(port_entry("eth1", "eth0"));
    fixture.refuses(Type::Modify, port_entry("eth1", "eth9"), Code::NotFound, "'eth9'");
    fixture.refuses(Type::Delete, first(), Code::InvalidArgument, "is referred to by an entry of I.ports");
    // It may refer to itself, and then goes with itself.
    fixture.modify(port_entry("eth1", "eth1"));
    fixture.delete(first());
    fixture.delete(port_entry("eth1", "eth1"));
}

#[test]
fn a_batch_that_is_undone_leaves_references_as_they_were() {
    let fixture = checked(p4info_with_references());
    fixture.insert(member(1, 1));
    let updates = [
        update(Type::Insert, exact_entry(7)),
        update(Type::Insert, ecmp_entry(&[7])),
        update(Type::Insert, ecmp_entry(&[8])),
    ];
    let rollback = v1::write_request::Atomicity::RollbackOnError as i32;
    let statuses = fixture.control.write(&updates, rollback, &control::Scope::All, NOW).unwrap();
    assert_eq!(statuses.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::Aborted, Code::Aborted, Code::NotFound]);
    fixture.refuses(Type::Insert, ecmp_entry(&[7]), Code::NotFound, "refers to");
}

#[test]
fn members_refer_by_the_parameters_of_their_action() {
    let mut p4info = p4info();
    annotate_param(&mut p4info, FORWARD, 2, "@refers_to(I.ports, meta.port)");
    let error = Control::new(p4info, Arc::new(plant())).unwrap().with_checks(CHECKS).err().unwrap();
    assert!(error.message.contains("action I.forward: parameter port: @refers_to names key meta.port"), "{error:?}");
    assert!(error.message.contains("one is a text, one a number"));

    let mut p4info = crate::common::p4info();
    annotate_param(&mut p4info, FORWARD, 1, "@refers_to(I.ecmp, hdr.a)");
    annotate_param(&mut p4info, FORWARD, 2, "@refers_to(I.ecmp, hdr.a)");
    let fixture = checked(p4info);
    let member_of = |mac: u8, port: u8| {
        let action = Some(call(FORWARD, &[&[mac], &[port]]));
        Entity::ActionProfileMember(v1::ActionProfileMember { action_profile_id: SELECTOR, member_id: 2, action })
    };
    fixture.refuses(Type::Insert, member_of(3, 4), Code::NotFound, "member 2: refers to an entry of I.ecmp");
}

#[test]
fn references_that_lead_nowhere_are_told() {
    let mut p4info = p4info();
    annotate_param(&mut p4info, FORWARD, 1, "@refers_to(I.gone, hdr.a)");
    annotate_param(&mut p4info, FORWARD, 1, "@refers_to(I.exact, hdr.z)");
    annotate_param(&mut p4info, FORWARD, 1, "@refers_to(I.acl, hdr.b)");
    annotate_param(&mut p4info, FORWARD, 1, "@refers_to(I.exact)");
    annotate_param(&mut p4info, FORWARD, 1, "@refers_to(builtin::multicast_group_table, replica.port)");
    let control = || Control::new(p4info.clone(), Arc::new(plant())).unwrap();
    let error = control().with_checks(CHECKS).err().unwrap().message;
    for part in [
        "action I.forward: parameter mac: @refers_to names table I.gone, which is not there",
        "names key hdr.z of table I.exact, which it does not have",
        "names key hdr.b of table I.acl, which is not exact",
        "write @refers_to(table, key)",
        "is referred to by multicast_group_id",
    ] {
        assert!(error.contains(part), "{part:?} is not in {error}");
    }
    assert!(control().with_checks(Checks::default()).is_ok());
}

fn plant() -> Plant {
    Plant { device: runtime::Device::new(Arc::new(program())).unwrap(), copies: Copies::default() }
}

#[test]
fn replicas_need_the_entry_that_says_so() {
    let mut p4info = p4info();
    let table = p4info.tables.iter_mut().find(|one| one.preamble.as_ref().unwrap().id == EXACT).unwrap();
    table.match_fields[0].annotations.push("@referenced_by(builtin::multicast_group_table, replica.instance)".into());
    let fixture = checked(p4info);
    let group = |instance| {
        let port_kind = Some(v1::replica::PortKind::Port(vec![1]));
        let group = v1::MulticastGroupEntry {
            multicast_group_id: 5,
            replicas: vec![v1::Replica { port_kind, instance, ..Default::default() }],
            ..Default::default()
        };
        let engine = Engine::MulticastGroupEntry(group);
        Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(engine) })
    };
    fixture.refuses(Type::Insert, group(7), Code::NotFound, "multicast group 5: refers to an entry of I.exact");
    fixture.insert(exact_entry(7));
    fixture.insert(group(7));
    fixture.refuses(Type::Delete, exact_entry(7), Code::InvalidArgument, "by multicast group 5");
}

#[test]
fn a_program_that_takes_over_asks_for_all_that_is_needed() {
    let fixture = checked(p4info_with_references());
    fixture.insert(exact_entry(7));
    fixture.insert(member(1, 1));
    fixture.insert(ecmp_entry(&[7]));
    let next = checked(p4info_with_references());
    next.control.take_over(&fixture.control, NOW).unwrap();
    next.refuses(Type::Delete, exact_entry(7), Code::InvalidArgument, "is referred to");

    let unchecked = Fixture::of(program(), p4info_with_references());
    unchecked.insert(member(1, 1));
    unchecked.insert(ecmp_entry(&[9]));
    let error = checked(p4info_with_references()).control.take_over(&unchecked.control, NOW).unwrap_err();
    assert!(error.message.contains("an entry of I.ecmp: refers to an entry of I.exact with hdr.a 0x9"), "{error:?}");
}
