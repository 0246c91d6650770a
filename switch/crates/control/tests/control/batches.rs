//! Spec "Write RPC" and "Read RPC": batches, and what belongs to a role.

use std::collections::BTreeSet;

use crate::common::*;
use control::{Code, Scope, Status};
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;
use proto::p4::v1::write_request::Atomicity;

fn codes(statuses: &[Status]) -> Vec<Code> {
    statuses.iter().map(|status| status.code).collect()
}

fn everything(fixture: &Fixture) -> Vec<v1::Entity> {
    let table = v1::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    let default = v1::TableEntry { is_default_action: true, ..Default::default() };
    let requests = [
        Entity::TableEntry(table),
        Entity::TableEntry(default),
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::CounterEntry(Default::default()),
        Entity::MeterEntry(Default::default()),
        Entity::RegisterEntry(Default::default()),
        Entity::ValueSetEntry(Default::default()),
        Entity::PacketReplicationEngineEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
        Entity::DirectCounterEntry(Default::default()),
        Entity::DirectMeterEntry(Default::default()),
    ];
    let requests = requests.map(|request| v1::Entity { entity: Some(request) });
    let reading = fixture.control.read(&requests, &Scope::All, NOW);
    assert_eq!(codes(&reading.statuses), vec![Code::Ok; requests.len()]);
    reading.entities
}

#[test]
fn by_default_each_update_stands_alone() {
    let fixture = Fixture::new();
    let entry = |key| Entity::TableEntry(forward_entry(key));
    let updates = [
        update(Type::Insert, entry(1)),
        update(Type::Insert, entry(1)),
        update(Type::Delete, entry(9)),
        update(Type::Unspecified, entry(2)),
        update(Type::Insert, Entity::ExternEntry(Default::default())),
        v1::Update { r#type: Type::Insert as i32, entity: None },
        update(Type::Insert, entry(2)),
    ];
    let statuses = fixture.control.write(&updates, 0, &Scope::All, NOW).unwrap();
    use Code::{AlreadyExists, InvalidArgument, NotFound, Ok};
    let expected = [Ok, AlreadyExists, NotFound, InvalidArgument, InvalidArgument, InvalidArgument, Ok];
    assert_eq!(codes(&statuses), expected);
    assert_eq!(fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }).len(), 2);
}

#[test]
fn a_rolled_back_batch_leaves_everything_as_it_was() {
    let fixture = Fixture::new();
    let entry = |key| Entity::TableEntry(forward_entry(key));
    let counter_data = Some(v1::CounterData { packet_count: 3, byte_count: 4 });
    fixture.insert(entry(1));
    fixture.insert(Entity::TableEntry(v1::TableEntry { counter_data, ..forward_entry(2) }));
    fixture.insert(Entity::TableEntry(acl_entry(1, vec![])));
    fixture.insert(Entity::TableEntry(acl_entry(2, vec![])));
    fixture.insert(member(1, 1));
    fixture.insert(Entity::ActionProfileGroup(group(1, &[(1, 1)])));
    let before = everything(&fixture);

    let dropped = v1::TableEntry { action: action(DROP, &[]), metadata: b"x".to_vec(), ..forward_entry(1) };
    let default = v1::TableEntry {
        table_id: EXACT,
        is_default_action: true,
        action: action(FORWARD, &[&[1], &[1]]),
        ..Default::default()
    };
    let counters = v1::CounterEntry { counter_id: COUNTER, index: None, data: counter_data };
    let multicast = v1::MulticastGroupEntry { multicast_group_id: 1, ..Default::default() };
    let multicast = v1::packet_replication_engine_entry::Type::MulticastGroupEntry(multicast);
    let multicast = v1::PacketReplicationEngineEntry { r#type: Some(multicast) };
    let set = v1::ValueSetMember { r#match: vec![exact(1, &[5])] };
    let mut updates = vec![
        update(Type::Modify, Entity::TableEntry(dropped)),
        update(Type::Delete, entry(2)),
        update(Type::Insert, entry(3)),
        update(Type::Delete, Entity::TableEntry(acl_entry(1, vec![]))),
        update(Type::Modify, Entity::TableEntry(default)),
        update(Type::Modify, member(1, 9)),
        update(Type::Delete, Entity::ActionProfileGroup(group(1, &[]))),
        update(Type::Delete, member(1, 9)),
        update(Type::Insert, Entity::PacketReplicationEngineEntry(multicast)),
        update(Type::Modify, Entity::CounterEntry(counters)),
        update(Type::Modify, Entity::ValueSetEntry(v1::ValueSetEntry { value_set_id: VALUE_SET, members: vec![set] })),
        update(Type::Insert, Entity::DigestEntry(v1::DigestEntry { digest_id: DIGEST, config: None })),
        update(Type::Insert, entry(3)),
        update(Type::Insert, entry(4)),
    ];
    let mode = Atomicity::RollbackOnError as i32;
    let statuses = fixture.control.write(&updates, mode, &Scope::All, NOW).unwrap();
    let mut expected = vec![Code::Aborted; 14];
    expected[12] = Code::AlreadyExists;
    assert_eq!(codes(&statuses), expected, "{statuses:?}");
    assert_eq!(everything(&fixture), before);

    updates.remove(12);
    let statuses = fixture.control.write(&updates, mode, &Scope::All, NOW).unwrap();
    assert_eq!(codes(&statuses), vec![Code::Ok; 13]);
    assert_ne!(everything(&fixture), before);
}

#[test]
fn unknown_atomicities_are_refused_before_anything_is_tried() {
    let fixture = Fixture::new();
    let updates = [update(Type::Insert, Entity::TableEntry(forward_entry(1)))];
    assert_eq!(fixture.control.write(&updates, 9, &Scope::All, NOW).unwrap_err().code, Code::InvalidArgument);
    assert!(fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }).is_empty());
}

#[test]
fn an_atomic_batch_is_all_or_nothing() {
    let fixture = Fixture::new();
    let insert = |key| update(Type::Insert, Entity::TableEntry(forward_entry(key)));
    let write = |updates: &[v1::Update]| {
        let statuses = fixture.control.write(updates, Atomicity::DataplaneAtomic as i32, &Scope::All, NOW).unwrap();
        let count = fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }).len();
        (codes(&statuses), count)
    };
    assert_eq!(write(&[insert(1), insert(1)]), (vec![Code::Aborted, Code::AlreadyExists], 0));
    assert_eq!(write(&[insert(1), insert(2)]), (vec![Code::Ok; 2], 2));
}

#[test]
fn a_read_gives_what_it_can_and_one_status_for_each_request() {
    let fixture = Fixture::new();
    fixture.insert(Entity::TableEntry(forward_entry(1)));
    let requests = [
        v1::Entity { entity: Some(Entity::TableEntry(v1::TableEntry { table_id: EXACT, ..Default::default() })) },
        v1::Entity { entity: None },
        v1::Entity { entity: Some(Entity::ExternEntry(Default::default())) },
        v1::Entity {
            entity: Some(Entity::ExternEntry(v1::ExternEntry { extern_type_id: 0x81, ..Default::default() })),
        },
    ];
    let reading = fixture.control.read(&requests, &Scope::All, NOW);
    use Code::{InvalidArgument, Ok};
    assert_eq!(codes(&reading.statuses), [Ok, InvalidArgument, Ok, InvalidArgument]);
    assert_eq!(reading.statuses[3].message, "the program has no extern type with id 129 (0x00000081)");
    assert_eq!(reading.entities, [v1::Entity { entity: Some(Entity::TableEntry(forward_entry(1))) }]);
}

#[test]
fn a_role_sees_and_changes_what_belongs_to_it() {
    let fixture = Fixture::new();
    let scope = Scope::Only(BTreeSet::from([EXACT]));
    let updates = [
        update(Type::Insert, Entity::TableEntry(forward_entry(1))),
        update(Type::Insert, Entity::TableEntry(acl_entry(1, vec![]))),
        update(Type::Insert, Entity::PacketReplicationEngineEntry(Default::default())),
    ];
    let statuses = fixture.control.write(&updates, 0, &scope, NOW).unwrap();
    assert_eq!(codes(&statuses), [Code::Ok, Code::PermissionDenied, Code::PermissionDenied]);
    let all = v1::Entity { entity: Some(Entity::TableEntry(v1::TableEntry::default())) };
    let seen = fixture.control.read(&[all], &scope, NOW).entities;
    assert_eq!(seen, [v1::Entity { entity: Some(Entity::TableEntry(forward_entry(1))) }]);
}

#[test]
fn p4info_of_another_program_is_refused() {
    let plant = || {
        std::sync::Arc::new(Plant {
            device: runtime::Device::new(program().into()).unwrap(),
            copies: Copies::default(),
        })
    };
    let error = |change: fn(&mut proto::p4::config::v1::P4Info)| {
        let mut p4info = p4info();
        change(&mut p4info);
        control::Control::new(p4info, plant()).err().unwrap().message
    };
    assert!(
        error(|info| info.tables[0].preamble.as_mut().unwrap().name = "I.other".into()).contains("a table I.other")
    );
    assert!(
        error(|info| drop(info.tables[1].match_fields.pop())).contains("I.acl has 3 match fields, the program's has 4")
    );
    assert!(error(|info| info.tables[0].preamble = None).contains("without a preamble"));
    assert!(error(|info| info.tables[0].action_refs[0].id = 99).contains("refers to action 99"));
    assert!(
        error(|info| drop(info.actions[1].params.pop())).contains("I.forward has 1 parameters, the program's has 2")
    );
}
