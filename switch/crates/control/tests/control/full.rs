//! What is full answers RESOURCE_EXHAUSTED and stays as it is (spec "Write RPC").

use crate::common::*;
use control::{Code, Scope};
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::table_action::Type as Given;
use proto::p4::v1::update::Type;
use proto::p4::v1::write_request::Atomicity;

/// Table `I.exact` holds four entries.
fn full_table() -> Fixture {
    let fixture = Fixture::new();
    (1..=4).for_each(|key| fixture.insert(Entity::TableEntry(forward_entry(key))));
    fixture
}

fn all_entries(fixture: &Fixture) -> Vec<v1::TableEntry> {
    let all = v1::TableEntry { counter_data: Some(Default::default()), ..Default::default() };
    fixture.entries(all)
}

#[test]
fn a_full_table_takes_no_entry_and_keeps_those_it_has() {
    let fixture = full_table();
    let before = all_entries(&fixture);
    let entry = Entity::TableEntry(forward_entry(5));
    fixture.refuses(Type::Insert, entry.clone(), Code::ResourceExhausted, "I.exact is full: it holds 4");
    assert_eq!(all_entries(&fixture), before);
    fixture.modify(Entity::TableEntry(v1::TableEntry { metadata: b"m".to_vec(), ..forward_entry(4) }));
    fixture.delete(Entity::TableEntry(forward_entry(4)));
    fixture.insert(entry);
}

#[test]
fn what_is_wrong_in_itself_is_wrong_in_a_full_table_too() {
    let fixture = full_table();
    let bad = v1::TableEntry { action: action(FORWARD, &[&[1], &[2, 0]]), ..forward_entry(5) };
    fixture.refuses(Type::Insert, Entity::TableEntry(bad), Code::OutOfRange, "port is 0x200");
    let not_here = v1::TableEntry { action: action(SET_PORT, &[b"p"]), ..forward_entry(5) };
    fixture.refuses(Type::Insert, Entity::TableEntry(not_here), Code::InvalidArgument, "I.exact");
    fixture.refuses(Type::Insert, Entity::TableEntry(forward_entry(4)), Code::AlreadyExists, "I.exact");
}

#[test]
fn a_batch_goes_on_behind_what_found_no_room() {
    let fixture = full_table();
    let entry = |key| Entity::TableEntry(forward_entry(key));
    let updates = [
        update(Type::Insert, entry(5)),
        update(Type::Delete, entry(1)),
        update(Type::Insert, entry(6)),
        update(Type::Insert, entry(7)),
    ];
    let codes = |atomicity: Atomicity| -> Vec<Code> {
        let statuses = fixture.control.write(&updates, atomicity as i32, &Scope::All, NOW).unwrap();
        statuses.into_iter().map(|status| status.code).collect()
    };
    use Code::{Aborted, Ok, ResourceExhausted};
    let before = all_entries(&fixture);
    assert_eq!(codes(Atomicity::RollbackOnError), [ResourceExhausted, Aborted, Aborted, Aborted]);
    assert_eq!(all_entries(&fixture), before);
    assert_eq!(codes(Atomicity::ContinueOnError), [ResourceExhausted, Ok, Ok, ResourceExhausted]);
    let of_table = all_entries(&fixture).into_iter().filter(|entry| entry.table_id == EXACT);
    let mut keys: Vec<_> = of_table.map(|entry| entry.r#match).collect();
    keys.sort_by_key(|key| format!("{key:?}"));
    assert_eq!(keys, [2, 3, 4, 6].map(|key| forward_entry(key).r#match));
}

/// Profile `I.selector` holds 16 members.
#[test]
fn a_full_profile_takes_no_member() {
    let fixture = Fixture::new();
    (1..=16).for_each(|id| fixture.insert(member(id, 1)));
    let all = || fixture.read(Entity::ActionProfileMember(Default::default()));
    let before = all();
    fixture.refuses(Type::Insert, member(17, 1), Code::ResourceExhausted, "I.selector is full: it holds 16");
    let bad = v1::ActionProfileMember {
        action_profile_id: SELECTOR,
        member_id: 17,
        action: Some(call(FORWARD, &[&[1], &[2, 0]])),
    };
    fixture.refuses(Type::Insert, Entity::ActionProfileMember(bad), Code::OutOfRange, "port is 0x200");
    assert_eq!(all(), before);
    fixture.delete(member(16, 1));
    fixture.insert(member(17, 1));
}

/// The actions of one-shot sets count as members do.
#[test]
fn a_full_profile_takes_no_action_set() {
    let fixture = Fixture::new();
    let one = |port: u8| v1::ActionProfileAction {
        action: Some(call(FORWARD, &[&[1], &[port]])),
        weight: 1,
        ..Default::default()
    };
    let entry = |key: u8, count: u8| {
        let set =
            v1::ActionProfileActionSet { action_profile_actions: (0..count).map(one).collect(), ..Default::default() };
        Entity::TableEntry(v1::TableEntry {
            table_id: ECMP,
            r#match: vec![exact(1, &[key])],
            action: table_action(Given::ActionProfileActionSet(set)),
            ..Default::default()
        })
    };
    fixture.insert(entry(1, 8));
    fixture.insert(entry(2, 7));
    fixture.refuses(Type::Insert, entry(3, 2), Code::ResourceExhausted, "I.selector is full: it holds 16");
    fixture.insert(entry(3, 1));
    fixture.refuses(Type::Insert, entry(4, 1), Code::ResourceExhausted, "I.selector is full");
    assert_eq!(fixture.entries(v1::TableEntry { table_id: ECMP, ..Default::default() }).len(), 3);
}

/// An entry that was refused for want of room leaves nothing of its action set or member in use.
#[test]
fn what_a_refused_entry_took_is_given_back() {
    let mut program = program();
    let ecmp = program.tables.keys().nth(3).unwrap();
    program.tables[ecmp].size = 1;
    let fixture = Fixture::of(program, p4info());
    fixture.insert(member(1, 1));
    fixture.insert(Entity::ActionProfileGroup(group(1, &[(1, 1)])));
    let entry = |key, given| {
        let action = table_action(given);
        Entity::TableEntry(v1::TableEntry {
            table_id: ECMP,
            r#match: vec![exact(1, &[key])],
            action,
            ..Default::default()
        })
    };
    fixture.insert(entry(1, Given::ActionProfileMemberId(1)));
    fixture.refuses(Type::Insert, entry(2, Given::ActionProfileMemberId(1)), Code::ResourceExhausted, "I.ecmp is full");
    fixture.refuses(Type::Insert, entry(2, Given::ActionProfileGroupId(1)), Code::ResourceExhausted, "I.ecmp is full");
    fixture.refuses(Type::Insert, entry(1, Given::ActionProfileGroupId(1)), Code::AlreadyExists, "I.ecmp");
    fixture.refuses(Type::Insert, entry(2, Given::ActionProfileMemberId(9)), Code::NotFound, "member 9");
    fixture.delete(Entity::ActionProfileGroup(group(1, &[])));
    fixture.delete(entry(1, Given::ActionProfileMemberId(1)));
    fixture.delete(member(1, 1));
}

/// A group may be as large as P4Info says; more members leave it as it was.
#[test]
fn a_full_group_keeps_its_members() {
    let fixture = Fixture::new();
    (1..=9).for_each(|id| fixture.insert(member(id, 1)));
    let eight: Vec<_> = (1..=8).map(|id| (id, 1)).collect();
    let nine: Vec<_> = (1..=9).map(|id| (id, 1)).collect();
    fixture.insert(Entity::ActionProfileGroup(group(1, &eight)));
    let larger = Entity::ActionProfileGroup(group(1, &nine));
    fixture.refuses(Type::Modify, larger, Code::ResourceExhausted, "has size 9; the most is 8");
    let read = fixture.read(Entity::ActionProfileGroup(Default::default()));
    assert_eq!(read, [Entity::ActionProfileGroup(group(1, &eight))]);
}

/// Multicast groups are bounded by their ids alone: the last one is as good as the first, and there is none behind it.
#[test]
fn a_multicast_group_beyond_the_last_changes_nothing() {
    use v1::packet_replication_engine_entry::Type as Engine;
    let fixture = Fixture::new();
    let group = |multicast_group_id| {
        let group = v1::MulticastGroupEntry { multicast_group_id, ..Default::default() };
        let engine = Some(Engine::MulticastGroupEntry(group));
        Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: engine })
    };
    fixture.insert(group(65_535));
    fixture.refuses(Type::Insert, group(65_536), Code::InvalidArgument, "at most 65535");
    assert_eq!(fixture.read(Entity::PacketReplicationEngineEntry(Default::default())), [group(65_535)]);
}
