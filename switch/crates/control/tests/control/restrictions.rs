//! `@entry_restriction` and `@action_restriction`.

use std::sync::Arc;

use crate::common::*;
use control::{Checks, Code, Control};
use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match as fm;
use proto::p4::v1::update::Type;

fn restricted(annotations: &[(u32, &str)]) -> info::P4Info {
    let mut p4info = p4info();
    let tables = p4info.tables.iter_mut().map(|table| &mut table.preamble);
    let actions = p4info.actions.iter_mut().map(|action| &mut action.preamble);
    for preamble in tables.chain(actions).flatten() {
        let of_it = annotations.iter().filter(|(id, _)| *id == preamble.id);
        preamble.annotations.extend(of_it.map(|(_, annotation)| (*annotation).to_owned()));
    }
    p4info
}

fn checked(annotations: &[(u32, &str)]) -> Fixture {
    let Fixture { plant, control } = Fixture::of(program(), restricted(annotations));
    Fixture { plant, control: control.with_checks(Checks { restrictions: true, ..Checks::default() }).unwrap() }
}

fn ternary_b(priority: i32) -> Entity {
    Entity::TableEntry(acl_entry(priority, vec![ternary(1, &[8, 0], &[0xff, 0])]))
}

#[test]
fn entries_that_break_their_table_s_restriction_are_refused() {
    let fixture =
        checked(&[(ACL, "@entry_restriction(\"\n  hdr.b::mask != 0 -> hdr.b == 0x0800;\n  ::priority < 9;\")")]);
    let whole = |priority| Entity::TableEntry(acl_entry(priority, vec![ternary(1, &[8, 0], &[0xff, 0xff])]));
    fixture.refuses(
        Type::Insert,
        ternary_b(5),
        Code::InvalidArgument,
        "I.acl: the entry breaks @entry_restriction, line 2, column 3: it must satisfy\n\
         2 |   hdr.b::mask != 0 -> hdr.b == 0x0800;\n  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\
         but hdr.b is 2048 (mask 0xff00)",
    );
    fixture.refuses(Type::Insert, whole(9), Code::InvalidArgument, "but the priority is 9");
    fixture.insert(whole(5));
    // What is left out matches every value.
    fixture.insert(Entity::TableEntry(acl_entry(6, vec![])));
    // Other faults come first.
    let entry = v1::TableEntry { priority: -1, ..acl_entry(9, vec![ternary(1, &[8, 0], &[0xff, 0])]) };
    fixture.refuses(Type::Insert, Entity::TableEntry(entry), Code::InvalidArgument, "priority must be above 0");
    fixture.delete(whole(5));
}

#[test]
fn every_match_kind_is_seen_as_it_is_written() {
    let fixture = checked(&[(
        ACL,
        "@entry_restriction(\"hdr.c::prefix_length == 24 && hdr.c::value == ipv4('192.0.2.0');\" \
         \"hdr.d::low == 5 && hdr.d::high == 9; // a comment\" \"hdr.e == 3;\")",
    )]);
    let lpm = fm::FieldMatchType::Lpm(fm::Lpm { value: vec![192, 0, 2, 0], prefix_len: 24 });
    let range = |low| fm::FieldMatchType::Range(fm::Range { low: vec![low], high: vec![9] });
    let optional = fm::FieldMatchType::Optional(fm::Optional { value: vec![0, 3] });
    let entry = |low| {
        let matches = vec![matched(2, lpm.clone()), matched(3, range(low)), matched(4, optional.clone())];
        Entity::TableEntry(acl_entry(1, matches))
    };
    fixture.refuses(Type::Insert, entry(6), Code::InvalidArgument, "but hdr.d is 6 to 9");
    fixture.insert(entry(5));
    let none = Entity::TableEntry(acl_entry(2, vec![]));
    fixture.refuses(Type::Insert, none, Code::InvalidArgument, "but hdr.c is any (prefix length 0)");
}

#[test]
fn texts_are_seen_as_the_control_plane_writes_them() {
    let fixture = checked(&[
        (PORTS, "@entry_restriction(\"meta.port != 0 && meta.port != 'eth9'\")"),
        (SET_PORT, "@action_restriction(\"port != 'eth8'\")"),
    ]);
    let entry = |key: &str, port: &str| {
        Entity::TableEntry(v1::TableEntry {
            table_id: PORTS,
            r#match: vec![exact(1, key.as_bytes())],
            action: action(SET_PORT, &[port.as_bytes()]),
            ..Default::default()
        })
    };
    fixture.insert(entry("eth0", "eth1"));
    fixture.refuses(Type::Insert, entry("eth9", "eth1"), Code::InvalidArgument, "but meta.port is 'eth9'");
    fixture.refuses(
        Type::Modify,
        entry("eth0", "eth8"),
        Code::InvalidArgument,
        "I.ports: action I.set_port breaks @action_restriction, line 1, column 1",
    );
}

#[test]
fn actions_are_checked_wherever_they_stand() {
    let fixture = checked(&[(FORWARD, "@action_restriction(\"port != 511; mac != mac('00:00:00:00:00:00')\")")]);
    let breaks = "action I.forward breaks @action_restriction";
    let call = |port: &[u8]| call(FORWARD, &[&[1], port]);
    let (good, bad): (&[u8], &[u8]) = (&[1], &[1, 0xff]);

    let of_entry = |port| v1::TableEntry { action: action(FORWARD, &[&[1], port]), ..forward_entry(1) };
    fixture.refuses(Type::Insert, Entity::TableEntry(of_entry(bad)), Code::InvalidArgument, breaks);
    fixture.insert(Entity::TableEntry(of_entry(good)));

    let default = |port| v1::TableEntry { r#match: vec![], is_default_action: true, ..of_entry(port) };
    fixture.refuses(Type::Modify, Entity::TableEntry(default(bad)), Code::InvalidArgument, breaks);
    fixture.modify(Entity::TableEntry(default(good)));

    let member = |port| {
        let action = Some(call(port));
        Entity::ActionProfileMember(v1::ActionProfileMember { action_profile_id: SELECTOR, member_id: 1, action })
    };
    fixture.refuses(Type::Insert, member(bad), Code::InvalidArgument, breaks);
    fixture.insert(member(good));
    // One-shot sets do not stand beside members.
    fixture.delete(member(good));

    let set = |ports: &[&[u8]]| {
        let one = |port: &&[u8]| v1::ActionProfileAction { action: Some(call(port)), weight: 1, ..Default::default() };
        let set = v1::ActionProfileActionSet {
            action_profile_actions: ports.iter().map(one).collect(),
            ..Default::default()
        };
        Entity::TableEntry(v1::TableEntry {
            table_id: ECMP,
            r#match: vec![exact(1, &[1])],
            action: table_action(v1::table_action::Type::ActionProfileActionSet(set)),
            ..Default::default()
        })
    };
    fixture.refuses(Type::Insert, set(&[good, bad]), Code::InvalidArgument, breaks);
    fixture.insert(set(&[good, good]));
}

#[test]
fn a_restriction_that_means_nothing_is_told_with_its_place() {
    let annotations = [
        (ACL, "@entry_restriction(\"\n  hdr.b::mask != 0;\n  hdr.x == 1;\")"),
        (EXACT, "@entry_restriction(hdr.a != 0)"),
        (FORWARD, "@action_restriction(\"port::value == 1\")"),
    ];
    let plant =
        Arc::new(Plant { device: runtime::Device::new(Arc::new(program())).unwrap(), copies: Copies::default() });
    let control = || Control::new(restricted(&annotations), plant.clone()).unwrap();
    let error = control().with_checks(Checks { restrictions: true, ..Checks::default() }).err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
    for part in [
        "table I.acl: @entry_restriction: line 3, column 3: there is no key `hdr.x`",
        "3 |   hdr.x == 1;\n  |   ^^^^^",
        "table I.exact: @entry_restriction: write @entry_restriction(\"...\")",
        "action I.forward: @action_restriction: line 1, column 1: bit<9> has no `::value`",
    ] {
        assert!(error.message.contains(part), "{part:?} is not in {}", error.message);
    }
    // Unless it is asked for, nobody looks.
    assert!(control().with_checks(Checks::default()).is_ok());
}

#[test]
fn nothing_is_checked_unless_asked_for() {
    let fixture = Fixture::of(program(), restricted(&[(ACL, "@entry_restriction(\"false\")")]));
    fixture.insert(ternary_b(5));
}
