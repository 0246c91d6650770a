//! Spec "PacketReplicationEngineEntry" and "ValueSetEntry".

use crate::common::*;
use control::{Code, Replica};
use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::action_profile_group::member::WatchKind;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::replica::PortKind;
use proto::p4::v1::update::Type;

fn replica(port: &[u8], instance: u32) -> v1::Replica {
    v1::Replica { instance, port_kind: Some(PortKind::Port(port.to_vec())), ..Default::default() }
}

fn entity(engine: Engine) -> Entity {
    Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(engine) })
}

fn group(multicast_group_id: u32, replicas: Vec<v1::Replica>) -> Entity {
    let metadata = b"m".to_vec();
    entity(Engine::MulticastGroupEntry(v1::MulticastGroupEntry { multicast_group_id, replicas, metadata }))
}

fn session(session_id: u32, class_of_service: u32, packet_length_bytes: i32) -> Entity {
    let replicas = vec![replica(&[1, 0xfe], 1)];
    entity(Engine::CloneSessionEntry(v1::CloneSessionEntry {
        session_id,
        replicas,
        class_of_service,
        packet_length_bytes,
    }))
}

#[test]
fn groups_reach_the_engine_and_read_back() {
    let fixture = Fixture::new();
    fixture.insert(group(1, vec![replica(&[0, 5], 1), replica(&[5], 2)]));
    assert_eq!(fixture.read(group(1, vec![])), [group(1, vec![replica(&[5], 1), replica(&[5], 2)])]);
    let made = |instance| Replica { port: 5, instance, backups: vec![] };
    assert_eq!(fixture.plant.copies.groups.lock().unwrap()[&1], [made(1), made(2)]);
    fixture.refuses(Type::Insert, group(1, vec![]), Code::AlreadyExists, "multicast group 1");
    fixture.modify(group(1, vec![replica(&[6], 0)]));
    fixture.insert(group(2, vec![]));
    assert_eq!(fixture.read(group(0, vec![])), [group(1, vec![replica(&[6], 0)]), group(2, vec![])]);
    fixture.delete(group(1, vec![]));
    fixture.refuses(Type::Delete, group(1, vec![]), Code::NotFound, "multicast group 1");
    fixture.refuses(Type::Modify, group(1, vec![]), Code::NotFound, "multicast group 1");
    assert!(!fixture.plant.copies.groups.lock().unwrap().contains_key(&1));
}

#[test]
#[allow(deprecated)]
fn ports_of_old_clients_come_back_as_they_send_them() {
    let fixture = Fixture::new();
    let old = |port| v1::Replica { instance: 1, port_kind: Some(PortKind::EgressPort(port)), ..Default::default() };
    fixture.insert(group(1, vec![old(3), v1::Replica { instance: 1, ..Default::default() }]));
    assert_eq!(fixture.read(group(1, vec![])), [group(1, vec![old(3), old(0)])]);
}

#[test]
fn bad_groups_are_named() {
    let fixture = Fixture::new();
    let insert = |entity, code, words: &str| fixture.refuses(Type::Insert, entity, code, words);
    insert(group(0, vec![]), Code::InvalidArgument, "must not be 0");
    insert(group(65_536, vec![]), Code::InvalidArgument, "at most 65535");
    insert(group(1, vec![replica(&[1], 65_536)]), Code::InvalidArgument, "instance 65536 of port 1");
    insert(group(1, vec![replica(&[1], 1), replica(&[1], 1)]), Code::InvalidArgument, "given twice");
    insert(group(1, vec![replica(&[], 1)]), Code::OutOfRange, "a replica's port");
    let with_backup = |port: u8| v1::Replica {
        backup_replicas: vec![v1::BackupReplica { port: vec![port], instance: 2 }],
        ..replica(&[1], 1)
    };
    insert(group(1, vec![with_backup(1)]), Code::InvalidArgument, "its own backup");
    insert(group(1, vec![with_backup(2)]), Code::Unimplemented, "backup replicas");
    assert_eq!(fixture.read(group(0, vec![])), []);
}

#[test]
fn copies_to_ports_that_the_switch_does_not_have_are_refused() {
    let fixture = Fixture::new();
    let words = "port 511, which the switch does not have";
    let absent = replica(&[1, 0xff], 1);
    fixture.refuses(Type::Insert, group(1, vec![replica(&[1], 1), absent.clone()]), Code::InvalidArgument, words);
    let backup = v1::BackupReplica { port: vec![1, 0xff], instance: 2 };
    let with_backup = v1::Replica { backup_replicas: vec![backup], ..replica(&[1], 1) };
    fixture.refuses(Type::Insert, group(1, vec![with_backup]), Code::InvalidArgument, words);
    assert_eq!(fixture.read(group(0, vec![])), []);

    fixture.insert(session(1, 0, 0));
    let replicas = vec![absent];
    let elsewhere = v1::CloneSessionEntry { session_id: 1, replicas, ..Default::default() };
    fixture.refuses(Type::Modify, entity(Engine::CloneSessionEntry(elsewhere)), Code::InvalidArgument, words);
    assert_eq!(fixture.read(session(0, 0, 0)), [session(1, 0, 0)]);
}

#[test]
fn clone_sessions_reach_the_engine_and_read_back() {
    let fixture = Fixture::new();
    fixture.insert(session(100, 2, 128));
    assert_eq!(fixture.read(session(0, 0, 0)), [session(100, 2, 128)]);
    let made = fixture.plant.copies.sessions.lock().unwrap()[&100].clone();
    assert_eq!((made.class_of_service, made.truncate, made.replicas[0].port), (2, 128, 510));
    fixture.refuses(Type::Insert, session(1, 8, 0), Code::InvalidArgument, "class_of_service 8; the most is 7");
    fixture.refuses(Type::Insert, session(1, 0, -1), Code::InvalidArgument, "packet_length_bytes -1");
    fixture.refuses(Type::Modify, session(0, 0, 0), Code::InvalidArgument, "must not be 0");
    fixture.delete(session(100, 0, 0));
    assert_eq!(fixture.read(session(0, 0, 0)), []);
}

#[test]
fn value_sets_are_replaced_whole() {
    let fixture = Fixture::new();
    let set = |values: &[u8]| {
        let member = |value: &u8| v1::ValueSetMember { r#match: vec![exact(1, &[*value])] };
        let members = values.iter().map(member).collect();
        Entity::ValueSetEntry(v1::ValueSetEntry { value_set_id: VALUE_SET, members })
    };
    let all = || Entity::ValueSetEntry(v1::ValueSetEntry::default());
    assert_eq!(fixture.read(all()), [set(&[])]);
    fixture.modify(set(&[1, 2]));
    // A set has no order.
    assert!([[set(&[1, 2])], [set(&[2, 1])]].contains(&<[Entity; 1]>::try_from(fixture.read(all())).unwrap()));
    fixture.refuses(Type::Modify, set(&[1, 2, 3]), Code::ResourceExhausted, "P.set: 3 members; it holds 2");
    fixture.refuses(Type::Modify, set(&[1, 1]), Code::AlreadyExists, "P.set: member 1");
    fixture.refuses(Type::Insert, set(&[1]), Code::InvalidArgument, "only be modified");
    fixture.modify(set(&[]));
    assert_eq!(fixture.read(all()), [set(&[])]);
}

/// SAI P4 writes all ports as texts, those of copies too.
#[test]
fn ports_are_texts_where_those_of_packets_are() {
    let mut p4info = p4info();
    for metadata in p4info.controller_packet_metadata.iter_mut().flat_map(|header| &mut header.metadata) {
        if metadata.bitwidth == 9 {
            metadata.type_name = Some(info::P4NamedType { name: "port_t".into() });
        }
    }
    let fixture = Fixture::of(program(), p4info);
    let copies = group(1, vec![replica(b"5", 1), replica(b"6", 1)]);
    fixture.insert(copies.clone());
    assert_eq!(fixture.read(group(1, vec![])), [copies]);
    let made = |port| Replica { port, instance: 1, backups: vec![] };
    assert_eq!(fixture.plant.copies.groups.lock().unwrap()[&1], [made(5), made(6)]);
    let words = "port 511, which the switch does not have";
    fixture.refuses(Type::Insert, group(2, vec![replica(b"511", 1)]), Code::InvalidArgument, words);
    fixture.refuses(Type::Insert, group(2, vec![replica(&[0xff], 1)]), Code::InvalidArgument, "must be a text");

    fixture.insert(member(1, 1));
    let watching = |port: &[u8]| {
        let mut group = crate::common::group(1, &[(1, 1)]);
        group.members[0].watch_kind = Some(WatchKind::WatchPort(port.to_vec()));
        Entity::ActionProfileGroup(group)
    };
    fixture.refuses(Type::Insert, watching(b"511"), Code::InvalidArgument, words);
    fixture.insert(watching(b"5"));
    let all = v1::ActionProfileGroup { action_profile_id: SELECTOR, ..Default::default() };
    assert_eq!(fixture.read(Entity::ActionProfileGroup(all)), [watching(b"5")]);
}
