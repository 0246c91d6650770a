//! Spec "SetForwardingPipelineConfig RPC", RECONCILE_AND_COMMIT: what a new program takes over from the old one.

use crate::common::*;
use control::{Code, Scope};
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::p4_data::Data;

fn filled() -> Fixture {
    let fixture = Fixture::new();
    let counter_data = Some(v1::CounterData { packet_count: 3, byte_count: 4 });
    let meter_config = Some(v1::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    fixture.insert(Entity::TableEntry(v1::TableEntry { counter_data, meter_config, ..forward_entry(1) }));
    fixture.insert(Entity::TableEntry(acl_entry(1, vec![ternary(1, &[1], &[0xff])])));
    fixture.insert(member(1, 1));
    fixture.insert(Entity::ActionProfileGroup(group(1, &[(1, 1)])));
    fixture.insert(Entity::TableEntry(v1::TableEntry {
        table_id: ECMP,
        r#match: vec![exact(1, &[1])],
        action: table_action(v1::table_action::Type::ActionProfileGroupId(1)),
        ..Default::default()
    }));
    fixture.insert(Entity::TableEntry(v1::TableEntry {
        table_id: PORTS,
        r#match: vec![exact(1, b"eth0")],
        action: action(SET_PORT, &[b"eth1"]),
        ..Default::default()
    }));
    fixture.modify(Entity::TableEntry(v1::TableEntry {
        table_id: EXACT,
        is_default_action: true,
        action: action(FORWARD, &[&[1], &[1]]),
        ..Default::default()
    }));
    fixture.modify(Entity::RegisterEntry(v1::RegisterEntry {
        register_id: REGISTER,
        index: Some(v1::Index { index: 1 }),
        data: Some(v1::P4Data { data: Some(Data::Bitstring(vec![8])) }),
    }));
    fixture.modify(Entity::CounterEntry(v1::CounterEntry {
        counter_id: COUNTER,
        index: Some(v1::Index { index: 1 }),
        data: counter_data,
    }));
    fixture.modify(Entity::MeterEntry(v1::MeterEntry { meter_id: METER, config: meter_config, ..Default::default() }));
    fixture.insert(Entity::DigestEntry(v1::DigestEntry { digest_id: DIGEST, config: Some(Default::default()) }));
    fixture
}

fn everything(fixture: &Fixture) -> Vec<v1::Entity> {
    let table = v1::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    let requests = [
        Entity::TableEntry(table),
        Entity::TableEntry(v1::TableEntry { is_default_action: true, ..Default::default() }),
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::CounterEntry(Default::default()),
        Entity::MeterEntry(Default::default()),
        Entity::RegisterEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
    ];
    let requests = requests.map(|request| v1::Entity { entity: Some(request) });
    fixture.control.read(&requests, &Scope::All, NOW).entities
}

#[test]
fn what_was_configured_is_made_again_without_counts() {
    let old = filled();
    let updates = old.control.configuration(NOW).unwrap();
    let new = Fixture::new();
    assert_eq!(new.control.restore(&updates, NOW).unwrap(), []);
    assert_eq!(new.control.configuration(NOW).unwrap(), updates);
    let uncounted = |mut entity: v1::Entity| {
        if let Some(Entity::TableEntry(entry)) = &mut entity.entity
            && let Some(counts) = &mut entry.counter_data
        {
            *counts = Default::default();
        }
        entity
    };
    let is_count =
        |entity: &v1::Entity| matches!(entity.entity, Some(Entity::CounterEntry(_) | Entity::RegisterEntry(_)));
    let configured = |fixture: &Fixture| -> Vec<_> {
        everything(fixture).into_iter().filter(|entity| !is_count(entity)).map(uncounted).collect()
    };
    assert_eq!(configured(&new), configured(&old));
    let mut wrong = updates.clone();
    wrong.push(updates[0].clone());
    let refused = Fixture::new().control.restore(&wrong, NOW).unwrap();
    assert_eq!(refused.iter().map(|status| status.code).collect::<Vec<_>>(), [Code::AlreadyExists]);
}

#[test]
fn the_same_program_takes_everything_over() {
    let old = filled();
    let new = Fixture::new();
    new.control.take_over(&old.control, NOW).unwrap();
    assert_eq!(everything(&new), everything(&old));
}

#[test]
fn a_table_whose_key_changed_keeps_no_entries() {
    let old = filled();
    let (mut program, mut p4info) = (program(), p4info());
    let acl = program.tables.keys().nth(1).unwrap();
    program.tables[acl].keys[0].width = 17;
    p4info.tables[1].match_fields[0].bitwidth = 17;
    let new = Fixture::of(program, p4info);
    let error = new.control.take_over(&old.control, NOW).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    assert_eq!(error.message, "I.acl: its key hdr.b changed, so its entries can't be kept");

    old.delete(Entity::TableEntry(acl_entry(1, vec![ternary(1, &[1], &[0xff])])));
    let (mut program, mut p4info) = (crate::common::program(), crate::common::p4info());
    program.tables[acl].keys[0].width = 17;
    p4info.tables[1].match_fields[0].bitwidth = 17;
    let new = Fixture::of(program, p4info);
    assert_eq!(new.control.take_over(&old.control, NOW), Ok(()), "there is nothing to keep");
}

#[test]
fn entries_are_not_kept_under_a_key_or_parameter_of_another_name() {
    let old = Fixture::new();
    old.insert(Entity::TableEntry(forward_entry(1)));
    let refused = |p4info| {
        let new = Fixture::of(program(), p4info);
        let error = new.control.take_over(&old.control, NOW).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        error.message
    };
    let mut key = p4info();
    key.tables[0].match_fields[0].name = "hdr.z".into();
    assert_eq!(refused(key), "I.exact: its key hdr.a is hdr.z now, so its entries can't be kept");

    let mut parameter = p4info();
    let forward = parameter.actions.iter_mut().find(|action| action.preamble.as_ref().unwrap().id == FORWARD).unwrap();
    forward.params[0].name = "gateway".into();
    assert_eq!(refused(parameter), "I.exact: its action I.forward changed, so its entries can't be kept");
}

#[test]
fn a_table_that_is_too_small_now_is_named() {
    let old = Fixture::new();
    (1..=4).for_each(|key| old.insert(Entity::TableEntry(forward_entry(key))));
    let mut program = program();
    let exact = program.tables.keys().next().unwrap();
    program.tables[exact].size = 2;
    let new = Fixture::of(program, p4info());
    let error = new.control.take_over(&old.control, NOW).unwrap_err();
    assert_eq!(error.message, "an entry can't be kept: I.exact is full: it holds 2");
}
