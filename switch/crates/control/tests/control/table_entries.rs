//! Spec "TableEntry".

use crate::common::*;
use control::{Code, Control};
use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match as fm;
use proto::p4::v1::update::Type;

fn entity(entry: v1::TableEntry) -> Entity {
    Entity::TableEntry(entry)
}

#[test]
fn an_action_that_only_the_program_calls_needs_no_counterpart() {
    let mut p4info = p4info();
    let preamble = Some(info::Preamble { id: 0x0100_00ff, name: "I.called".into(), ..Default::default() });
    p4info.actions.push(info::Action { preamble, params: Vec::new() });
    let plant = Fixture::new().plant;
    assert!(Control::new(p4info.clone(), plant.clone()).is_ok());
    p4info.tables[0].action_refs.push(info::ActionRef { id: 0x0100_00ff, ..Default::default() });
    let error = Control::new(p4info, plant).err().expect("a table lists it");
    assert!(error.message.contains("I.called"), "{}", error.message);
}

#[test]
#[allow(deprecated)]
fn an_entry_reads_back_as_it_was_written() {
    let fixture = Fixture::new();
    let written = v1::TableEntry {
        controller_metadata: 7,
        metadata: b"mine".to_vec(),
        idle_timeout_ns: 5_000,
        ..forward_entry(3)
    };
    fixture.insert(entity(written.clone()));
    assert_eq!(fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }), [written]);
}

#[test]
fn values_come_back_in_their_shortest_form() {
    let fixture = Fixture::new();
    let mut written = forward_entry(3);
    written.r#match = vec![exact(1, &[0, 0, 3])];
    written.action = action(FORWARD, &[&[0, 0, 9], &[0, 1]]);
    fixture.insert(entity(written));
    let read = fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() });
    assert_eq!(read[0].r#match, [exact(1, &[3])]);
    assert_eq!(read[0].action, action(FORWARD, &[&[9], &[1]]));
}

#[test]
fn insert_modify_and_delete_need_the_right_presence() {
    let fixture = Fixture::new();
    fixture.refuses(Type::Modify, entity(forward_entry(1)), Code::NotFound, "I.exact");
    fixture.refuses(Type::Delete, entity(forward_entry(1)), Code::NotFound, "I.exact");
    fixture.insert(entity(forward_entry(1)));
    fixture.refuses(Type::Insert, entity(forward_entry(1)), Code::AlreadyExists, "I.exact");
    let modified = v1::TableEntry { action: action(DROP, &[]), ..forward_entry(1) };
    fixture.modify(entity(modified.clone()));
    assert_eq!(fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }), [modified]);
    let key_only = v1::TableEntry { action: action(99, &[]), idle_timeout_ns: -1, ..forward_entry(1) };
    fixture.delete(entity(key_only));
    assert!(fixture.entries(v1::TableEntry::default()).iter().all(|entry| entry.table_id == FIXED));
}

#[test]
fn a_full_table_says_so_and_stays_as_it_was() {
    let fixture = Fixture::new();
    (1..=4).for_each(|key| fixture.insert(entity(forward_entry(key))));
    fixture.refuses(Type::Insert, entity(forward_entry(5)), Code::ResourceExhausted, "I.exact is full: it holds 4");
    assert_eq!(fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }).len(), 4);
}

#[test]
fn what_is_wrong_with_a_write_is_named() {
    let fixture = Fixture::new();
    let insert = |entry: v1::TableEntry, code, words: &str| fixture.refuses(Type::Insert, entity(entry), code, words);
    let e = || forward_entry(1);
    use Code::{InvalidArgument, OutOfRange, PermissionDenied};
    insert(v1::TableEntry::default(), InvalidArgument, "the id of the table is not set");
    insert(v1::TableEntry { table_id: 5, ..e() }, InvalidArgument, "no table with id 5");
    insert(
        v1::TableEntry { r#match: vec![exact(1, &[1, 0])], ..e() },
        OutOfRange,
        "I.exact: key hdr.a is 0x100, which does not fit 8 bits",
    );
    insert(v1::TableEntry { action: action(FORWARD, &[&[1]]), ..e() }, InvalidArgument, "parameter port is missing");
    insert(
        v1::TableEntry { action: action(FORWARD, &[&[1], &[2], &[3]]), ..e() },
        InvalidArgument,
        "no parameter with id 3",
    );
    insert(
        v1::TableEntry { action: action(FORWARD, &[&[1], &[2, 0]]), ..e() },
        OutOfRange,
        "I.exact: action I.forward: parameter port is 0x200, which does not fit 9 bits",
    );
    insert(
        v1::TableEntry { action: action(SET_PORT, &[&[1]]), ..e() },
        InvalidArgument,
        "(I.set_port) is not one of its actions: I.forward, I.drop, NoAction",
    );
    insert(v1::TableEntry { action: action(NO_ACTION, &[]), ..e() }, PermissionDenied, "NoAction is @defaultonly");
    insert(v1::TableEntry { action: None, ..e() }, InvalidArgument, "without an action");
    insert(v1::TableEntry { priority: 1, ..e() }, InvalidArgument, "priority must be 0");
    insert(v1::TableEntry { is_const: true, ..e() }, InvalidArgument, "is_const");
    insert(
        v1::TableEntry { time_since_last_hit: Some(Default::default()), ..e() },
        InvalidArgument,
        "time_since_last_hit",
    );
    insert(v1::TableEntry { idle_timeout_ns: -1, ..e() }, InvalidArgument, "idle_timeout_ns -1, below 0");
    insert(
        v1::TableEntry { action: table_action(v1::table_action::Type::ActionProfileMemberId(1)), ..e() },
        InvalidArgument,
        "no action profile",
    );
    insert(
        acl_entry(0, vec![]),
        InvalidArgument,
        "I.acl: has a ternary, range or optional key, so priority must be above 0",
    );
    insert(v1::TableEntry { idle_timeout_ns: 1, ..acl_entry(1, vec![]) }, InvalidArgument, "has no idle timeouts");
    insert(
        v1::TableEntry { counter_data: Some(Default::default()), ..acl_entry(1, vec![]) },
        InvalidArgument,
        "has no direct counter",
    );
    insert(
        v1::TableEntry { meter_config: Some(Default::default()), ..acl_entry(1, vec![]) },
        InvalidArgument,
        "has no direct meter",
    );
    let keyless = v1::TableEntry { table_id: KEYLESS, action: action(NO_ACTION, &[]), ..Default::default() };
    insert(keyless, InvalidArgument, "I.keyless: has no key");
    assert!(fixture.entries(v1::TableEntry { table_id: EXACT, ..Default::default() }).is_empty());
}

#[test]
fn every_kind_of_key_makes_an_entry_of_its_own() {
    let fixture = Fixture::new();
    let lpm = matched(2, fm::FieldMatchType::Lpm(fm::Lpm { value: vec![10, 0, 0, 0], prefix_len: 8 }));
    let range = matched(3, fm::FieldMatchType::Range(fm::Range { low: vec![1], high: vec![9] }));
    let optional = matched(4, fm::FieldMatchType::Optional(fm::Optional { value: vec![1, 0xff] }));
    let all = acl_entry(5, vec![ternary(1, &[0x10], &[0xf0]), lpm, range, optional]);
    let open = acl_entry(5, vec![]);
    let same_match_other_priority = acl_entry(6, vec![]);
    for entry in [&all, &open, &same_match_other_priority] {
        fixture.insert(entity(entry.clone()));
    }
    fixture.refuses(Type::Insert, entity(open.clone()), Code::AlreadyExists, "I.acl");
    let acl = |priority, matches| v1::TableEntry { action: None, ..acl_entry(priority, matches) };
    assert_eq!(fixture.entries(acl(0, all.r#match.clone())), std::slice::from_ref(&all));
    assert_eq!(fixture.entries(acl(5, all.r#match.clone())), std::slice::from_ref(&all));
    assert!(fixture.entries(acl(4, all.r#match.clone())).is_empty());
    assert_eq!(fixture.entries(acl(6, vec![])), [same_match_other_priority]);
    assert_eq!(fixture.entries(acl(0, vec![])).len(), 3);
    fixture.delete(entity(open));
    assert_eq!(fixture.entries(acl(5, vec![])), [all]);
}

#[test]
#[allow(deprecated)]
fn reads_are_narrowed_by_action_and_metadata() {
    let fixture = Fixture::new();
    fixture.insert(entity(v1::TableEntry { controller_metadata: 1, ..forward_entry(1) }));
    fixture.insert(entity(v1::TableEntry { metadata: b"x".to_vec(), action: action(DROP, &[]), ..forward_entry(2) }));
    let table = || v1::TableEntry { table_id: EXACT, ..Default::default() };
    let keys = |request| fixture.entries(request).iter().map(|entry| entry.r#match[0].clone()).collect::<Vec<_>>();
    assert_eq!(keys(v1::TableEntry { action: action(DROP, &[]), ..table() }), [exact(1, &[2])]);
    assert_eq!(keys(v1::TableEntry { controller_metadata: 1, ..table() }), [exact(1, &[1])]);
    assert_eq!(keys(v1::TableEntry { metadata: b"x".to_vec(), ..table() }), [exact(1, &[2])]);
    let bad = v1::TableEntry { action: action(SET_PORT, &[]), ..table() };
    assert_eq!(fixture.read_error(entity(bad)).code, Code::InvalidArgument);
    let bad = v1::TableEntry { action: action(DROP, &[]), ..Default::default() };
    assert_eq!(fixture.read_error(entity(bad)).code, Code::InvalidArgument);
    assert_eq!(
        fixture.read_error(entity(v1::TableEntry { table_id: 9, ..Default::default() })).code,
        Code::InvalidArgument
    );
}

#[test]
fn the_default_entry_is_modified_reset_and_read() {
    let fixture = Fixture::new();
    let default = || v1::TableEntry { table_id: EXACT, is_default_action: true, ..Default::default() };
    let program = v1::TableEntry { action: action(NO_ACTION, &[]), ..default() };
    assert_eq!(fixture.entries(default()), std::slice::from_ref(&program));
    let written = v1::TableEntry { action: action(FORWARD, &[&[1], &[2]]), metadata: b"d".to_vec(), ..default() };
    fixture.modify(entity(written.clone()));
    assert_eq!(fixture.entries(default()), std::slice::from_ref(&written));
    fixture.modify(entity(default()));
    assert_eq!(fixture.entries(default()), [program]);

    fixture.refuses(Type::Insert, entity(written.clone()), Code::InvalidArgument, "can only be modified");
    fixture.refuses(Type::Delete, entity(written.clone()), Code::InvalidArgument, "can only be modified");
    let modify = |entry, code, words: &str| fixture.refuses(Type::Modify, entity(entry), code, words);
    modify(v1::TableEntry { priority: 1, ..written.clone() }, Code::InvalidArgument, "neither match nor priority");
    modify(v1::TableEntry { idle_timeout_ns: 1, ..written.clone() }, Code::InvalidArgument, "no idle timeout");
    modify(
        v1::TableEntry { action: action(DROP, &[]), ..written.clone() },
        Code::PermissionDenied,
        "I.drop is @tableonly",
    );
    let fixed = v1::TableEntry { table_id: FIXED, action: action(DROP, &[]), ..default() };
    modify(fixed, Code::PermissionDenied, "I.fixed: its default action is const");
    let uncounted = v1::TableEntry { table_id: ACL, action: action(DROP, &[]), ..default() };
    modify(
        v1::TableEntry { counter_data: Some(Default::default()), ..uncounted.clone() },
        Code::InvalidArgument,
        "I.acl: has no direct counter",
    );
    modify(
        v1::TableEntry { meter_config: Some(Default::default()), ..uncounted.clone() },
        Code::InvalidArgument,
        "I.acl: has no direct meter, but meter_config is set",
    );
    modify(
        v1::TableEntry { meter_counter_data: Some(Default::default()), ..uncounted },
        Code::InvalidArgument,
        "I.acl: has no direct meter, but meter_counter_data is set",
    );
    let ecmp = v1::TableEntry { table_id: ECMP, ..written };
    modify(ecmp, Code::PermissionDenied, "I.ecmp");
}

#[test]
fn const_entries_take_a_counter_and_nothing_else() {
    let fixture = Fixture::new();
    let counter_data = Some(v1::CounterData { byte_count: 0, packet_count: 0 });
    let request = || v1::TableEntry { table_id: FIXED, counter_data, ..Default::default() };
    let read = fixture.entries(request()).remove(0);
    assert!(read.is_const);
    assert_eq!((&read.r#match[..], &read.action), (&[exact(1, &[7])][..], &action(DROP, &[])));

    let entry = v1::TableEntry { table_id: FIXED, r#match: vec![exact(1, &[7])], ..Default::default() };
    let with_action = v1::TableEntry { action: action(DROP, &[]), ..entry.clone() };
    for kind in [Type::Insert, Type::Modify, Type::Delete] {
        fixture.refuses(kind, entity(with_action.clone()), Code::PermissionDenied, "I.fixed");
    }
    let counter_data = Some(v1::CounterData { byte_count: 64, packet_count: 1 });
    fixture.modify(entity(v1::TableEntry { counter_data, ..entry }));
    assert_eq!(fixture.entries(request())[0].counter_data, counter_data);
}

#[test]
fn direct_resources_are_read_when_asked_for() {
    let fixture = Fixture::new();
    let counter = |packet_count| Some(v1::CounterData { byte_count: 64 * packet_count, packet_count });
    let meter_config = Some(v1::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    fixture.insert(entity(v1::TableEntry { counter_data: counter(2), meter_config, ..forward_entry(1) }));
    let read = |entry| fixture.entries(v1::TableEntry { table_id: EXACT, ..entry }).remove(0);
    assert_eq!(read(v1::TableEntry::default()), forward_entry(1));
    let asked = || v1::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    assert_eq!(read(asked()), v1::TableEntry { counter_data: counter(2), meter_config, ..forward_entry(1) });
    // A modification without them keeps the count and makes the meter green.
    fixture.modify(entity(forward_entry(1)));
    assert_eq!(read(asked()), v1::TableEntry { counter_data: counter(2), ..forward_entry(1) });
    // One without action only changes them.
    fixture.modify(entity(v1::TableEntry { action: None, counter_data: counter(9), meter_config, ..forward_entry(1) }));
    assert_eq!(read(asked()), v1::TableEntry { counter_data: counter(9), meter_config, ..forward_entry(1) });
}

#[test]
fn the_time_since_the_last_hit_is_read_when_asked_for() {
    let fixture = Fixture::new();
    fixture.insert(entity(v1::TableEntry { idle_timeout_ns: 100, ..forward_entry(1) }));
    let asked =
        |table_id| v1::TableEntry { table_id, time_since_last_hit: Some(Default::default()), ..Default::default() };
    let read = fixture.entries(asked(EXACT)).remove(0);
    assert_eq!(read.time_since_last_hit, Some(v1::table_entry::IdleTimeout { elapsed_ns: 0 }));
    assert_eq!(fixture.read_error(entity(asked(ACL))).code, Code::InvalidArgument);
    assert!(fixture.control.expired(NOW + 99, 10).is_empty());
    let expired = fixture.control.expired(NOW + 100, 10);
    assert_eq!(expired.len(), 1);
    assert_eq!((expired[0].table_id, expired[0].idle_timeout_ns), (EXACT, 100));
}

#[test]
fn texts_of_a_translated_type_come_back() {
    let fixture = Fixture::new();
    let written = v1::TableEntry {
        table_id: PORTS,
        r#match: vec![exact(1, b"eth0")],
        action: action(SET_PORT, &[b"uplink"]),
        ..Default::default()
    };
    fixture.insert(entity(written.clone()));
    assert_eq!(fixture.entries(v1::TableEntry { table_id: PORTS, ..Default::default() }), [written]);
}
