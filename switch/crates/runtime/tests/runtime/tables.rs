//! Entries written, read and found by packets.

use crate::common::*;
use ir::*;
use runtime::{
    ActionCall, Context, CounterData, Device, EntryAction, GREEN, MeterConfig, NewEntry, Packet, WriteError,
};

const MICROSECOND: u64 = 1000;

/// A device with one table, and its handle.
fn one(table: Table) -> (Device, TableId) {
    let mut program = program();
    let id = program.tables.push(table);
    (device(program), id)
}

fn ports() -> Table {
    table("ports", vec![key("port", 9, MatchKind::Exact)], 2)
}

fn routes() -> Table {
    table("routes", vec![key("dst", 32, MatchKind::Lpm)], 1000)
}

#[test]
fn an_exact_entry_lives_from_insert_to_delete() {
    let (device, t) = one(ports());
    let mut context = Context::new(&device, 0);
    assert_eq!(look(&mut context, t, &[0, 5]), (false, None));
    device.insert_entry(t, &forward_entry(vec![exact(5)], 0, 7), 0).unwrap();
    assert_eq!(look(&mut context, t, &[0, 5]), (true, Some(7)));
    device.modify_entry(t, &forward_entry(vec![exact(5)], 0, 300), 0).unwrap();
    assert_eq!(look(&mut context, t, &[0, 5]), (true, Some(300)));
    let read = device.entry(t, &[exact(5)], 0, 0).unwrap();
    assert_eq!(read.keys, [exact(5)]);
    assert_eq!(read.action, EntryAction::Action(forward(300)));
    assert_eq!(device.entries(t, 0), [read]);
    device.delete_entry(t, &[exact(5)], 0).unwrap();
    assert_eq!(look(&mut context, t, &[0, 5]), (false, None));
    assert_eq!(device.entry_count(t), 0);
}

#[test]
fn a_refused_write_says_why_and_changes_nothing() {
    let (device, t) = one(ports());
    device.insert_entry(t, &forward_entry(vec![exact(1)], 0, 1), 0).unwrap();
    device.insert_entry(t, &forward_entry(vec![exact(2)], 0, 2), 0).unwrap();
    let before = device.entries(t, 0);
    let texts = [
        device.insert_entry(t, &forward_entry(vec![exact(1)], 0, 3), 0),
        device.insert_entry(t, &forward_entry(vec![exact(3)], 0, 3), 0),
        device.insert_entry(t, &forward_entry(vec![exact(512)], 0, 3), 0),
        device.insert_entry(t, &forward_entry(vec![exact(3)], 9, 3), 0),
        device.modify_entry(t, &forward_entry(vec![exact(1)], 0, 512), 0),
        device.modify_entry(t, &forward_entry(vec![exact(4)], 0, 3), 0),
        device.delete_entry(t, &[exact(4)], 0),
        device.modify_entry(t, &entry(vec![exact(1)], 0, EntryAction::Member(1)), 0),
        device.insert_entry(t, &NewEntry { idle_timeout: 5, ..forward_entry(vec![exact(3)], 0, 3) }, 0),
        device.set_direct_counter(t, &[exact(1)], 0, CounterData::default()),
    ]
    .map(|result| result.unwrap_err().to_string());
    let expected = [
        "the entry with port 0x1 is already in ports",
        "ports is full: it holds 2",
        "ports: key port is 0x200, which does not fit 9 bits",
        "ports: the priority is not allowed here",
        "ports, action forward: parameter port is 0x200, which does not fit 9 bits",
        "the entry with port 0x4 is not in ports",
        "the entry with port 0x4 is not in ports",
        "ports does not have an action profile: it takes actions",
        "ports does not have idle timeouts",
        "ports does not have a direct counter",
    ];
    assert_eq!(texts, expected);
    assert_eq!(device.entries(t, 0), before);
}

#[test]
fn the_longest_prefix_wins() {
    let (device, t) = one(routes());
    let mut context = Context::new(&device, 0);
    for (value, prefix, port) in [(0, 0, 1), (0x0a00_0000, 8, 2), (0x0a01_0000, 16, 3), (0x0a01_0203, 32, 4)] {
        device.insert_entry(t, &forward_entry(vec![lpm(value, prefix)], 0, port), 0).unwrap();
    }
    for (address, port) in [([9, 1, 1, 1], 1), ([10, 9, 0, 1], 2), ([10, 1, 9, 9], 3), ([10, 1, 2, 3], 4)] {
        assert_eq!(look(&mut context, t, &address), (true, Some(port)));
    }
    device.delete_entry(t, &[lpm(0x0a01_0000, 16)], 0).unwrap();
    assert_eq!(look(&mut context, t, &[10, 1, 9, 9]), (true, Some(2)));
    assert!(matches!(
        device.insert_entry(t, &forward_entry(vec![lpm(0x0a01_0000, 8)], 0, 1), 0),
        Err(WriteError::BadValue { .. })
    ));
}

#[test]
fn the_highest_priority_wins() {
    let keys = vec![key("dst", 16, MatchKind::Ternary), key("port", 16, MatchKind::Range)];
    let (device, t) = one(table("acl", keys, 10));
    let mut context = Context::new(&device, 0);
    let any = Match::Ternary { value: big(0), mask: big(0) };
    let ternary = Match::Ternary { value: big(0x1200), mask: big(0xff00) };
    let range = |low, high| Match::Range { low: big(low), high: big(high) };
    device.insert_entry(t, &forward_entry(vec![any.clone(), range(0, 0xffff)], 1, 1), 0).unwrap();
    device.insert_entry(t, &forward_entry(vec![ternary.clone(), range(80, 90)], 10, 2), 0).unwrap();
    device.insert_entry(t, &forward_entry(vec![any.clone(), range(85, 443)], 20, 3), 0).unwrap();
    // The same match at another priority is another entry.
    device.insert_entry(t, &forward_entry(vec![ternary.clone(), range(80, 90)], 30, 4), 0).unwrap();
    assert_eq!(look(&mut context, t, &[0x12, 1, 0, 85]), (true, Some(4)));
    device.delete_entry(t, &[ternary, range(80, 90)], 30).unwrap();
    assert_eq!(look(&mut context, t, &[0x12, 1, 0, 85]), (true, Some(3)));
    assert_eq!(look(&mut context, t, &[0x12, 1, 0, 84]), (true, Some(2)));
    assert_eq!(look(&mut context, t, &[0x13, 1, 0, 84]), (true, Some(1)));
}

#[test]
fn the_default_action_can_be_changed_and_reset() {
    let (device, t) = one(ports());
    let mut context = Context::new(&device, 0);
    device.set_default(t, &forward(9)).unwrap();
    assert_eq!(look(&mut context, t, &[0, 1]), (false, Some(9)));
    assert_eq!(device.default_entry(t).unwrap().action, EntryAction::Action(forward(9)));
    device.reset_default(t).unwrap();
    assert_eq!(look(&mut context, t, &[0, 1]), (false, None));

    let mut fixed = ports();
    fixed.default_action.as_mut().unwrap().is_const = true;
    let (device, t) = one(fixed);
    assert!(matches!(device.set_default(t, &forward(9)), Err(WriteError::ConstDefault { .. })));

    let (device, t) = one(Table { default_action: None, ..ports() });
    let mut context = Context::new(&device, 0);
    assert_eq!(context.lookup(t, &[0, 1], &Default::default()), (false, NO_ACTION));
    assert!(context.action_data().is_empty() && device.default_entry(t).is_none());
}

#[test]
fn actions_are_kept_to_their_scope() {
    let mut limited = ports();
    limited.actions[0].default_only = true;
    limited.actions[1].table_only = true;
    limited.default_action = None;
    let (device, t) = one(limited);
    let refused = |result: Result<(), WriteError>| assert!(matches!(result, Err(WriteError::BadAction { .. })));
    refused(device.insert_entry(t, &forward_entry(vec![exact(1)], 0, 1), 0));
    refused(device.set_default(t, &drop_call()));
    device.set_default(t, &forward(1)).unwrap();
    device.insert_entry(t, &entry(vec![exact(1)], 0, EntryAction::Action(drop_call())), 0).unwrap();
}

#[test]
fn entries_of_the_program_are_there_and_guarded() {
    let one_entry = |value, is_const, port| ConstEntry {
        keys: vec![exact(value)],
        priority: 0,
        action: 0,
        args: forward(port).args,
        is_const,
    };
    let entries = vec![one_entry(1, true, 11), one_entry(2, false, 12), one_entry(1, true, 13)];
    let (device, t) = one(Table { entries: entries.clone(), size: 1, ..ports() });
    let mut context = Context::new(&device, 0);
    assert_eq!(look(&mut context, t, &[0, 1]), (true, Some(11)), "the first of equal keys");
    assert_eq!(look(&mut context, t, &[0, 2]), (true, Some(12)));
    assert!(matches!(device.delete_entry(t, &[exact(1)], 0), Err(WriteError::ConstEntry { .. })));
    device.modify_entry(t, &forward_entry(vec![exact(2)], 0, 3), 0).unwrap();
    let is_const: Vec<_> = device.entries(t, 0).iter().map(|entry| entry.is_const).collect();
    assert_eq!(is_const, [true, false]);

    let (device, t) = one(Table { entries, const_entries: true, ..ports() });
    assert!(matches!(
        device.insert_entry(t, &forward_entry(vec![exact(9)], 0, 3), 0),
        Err(WriteError::ConstTable { .. })
    ));
    assert!(matches!(device.delete_entry(t, &[exact(2)], 0), Err(WriteError::ConstTable { .. })));
    assert!(device.entries(t, 0).iter().all(|entry| entry.is_const));
}

#[test]
fn direct_counters_and_meters_belong_to_their_entry() {
    let counted = Table {
        direct_counter: Some(DirectCounter::default()),
        direct_meter: Some(DirectMeter { unit: MeterUnit::Bytes, ..Default::default() }),
        ..ports()
    };
    let (device, t) = one(counted);
    let mut context = Context::new(&device, 0);
    context.packet = Packet::new(0, &[0; 100]);
    let config = MeterConfig { cir: 1, cburst: 100, pir: 1, pburst: 200 };
    let new = NewEntry {
        counter: Some(CounterData { packets: 5, bytes: 50 }),
        meter: Some(config),
        ..forward_entry(vec![exact(1)], 0, 1)
    };
    device.insert_entry(t, &new, 0).unwrap();
    device.insert_entry(t, &forward_entry(vec![exact(2)], 0, 2), 0).unwrap();
    let mut colours = Vec::new();
    for _ in 0..3 {
        look(&mut context, t, &[0, 1]);
        colours.push(context.direct_meter(t, GREEN));
    }
    look(&mut context, t, &[0, 3]);
    colours.push(context.direct_meter(t, GREEN));
    look(&mut context, t, &[0, 2]);
    colours.push(context.direct_meter(t, GREEN));
    assert_eq!(colours, [0, 1, 2, 0, 0]);
    context.idle();
    let read = device.entries(t, 0);
    assert_eq!(read[0].counter, Some(CounterData { packets: 8, bytes: 350 }));
    assert_eq!(read[1].counter, Some(CounterData { packets: 1, bytes: 100 }));
    assert_eq!((read[0].meter, read[1].meter), (Some(config), None));
    // A change of the action keeps the counts; a new entry in the same place starts from zero.
    device.modify_entry(t, &forward_entry(vec![exact(1)], 0, 9), 0).unwrap();
    assert_eq!(device.entries(t, 0)[0].counter, Some(CounterData { packets: 8, bytes: 350 }));
    device.set_direct_counter(t, &[exact(1)], 0, CounterData::default()).unwrap();
    device.set_direct_meter(t, &[exact(1)], 0, None).unwrap();
    assert_eq!(device.entries(t, 0)[0].counter, Some(CounterData::default()));
    look(&mut context, t, &[0, 1]);
    assert_eq!(context.direct_meter(t, GREEN), 0);
    context.idle();
    device.delete_entry(t, &[exact(1)], 0).unwrap();
    device.insert_entry(t, &forward_entry(vec![exact(4)], 0, 4), 0).unwrap();
    assert_eq!(device.entry(t, &[exact(4)], 0, 0).unwrap().counter, Some(CounterData::default()));
}

#[test]
fn hits_are_counted_by_the_burst_and_when_no_packet_waits() {
    let (device, t) = one(Table { direct_counter: Some(DirectCounter::default()), ..ports() });
    for port in [1, 2] {
        device.insert_entry(t, &forward_entry(vec![exact(port)], 0, 1), 0).unwrap();
    }
    let counted = || device.entries(t, 0).iter().map(|entry| entry.counter.unwrap().packets).collect::<Vec<_>>();
    let mut context = Context::new(&device, 0);
    for packet in 1..=200 {
        context.start(0);
        look(&mut context, t, &[0, 1 + packet / 140]);
        let all: u64 = counted().iter().sum();
        assert!((all..=all + 64).contains(&u64::from(packet)), "{all} of {packet} packets");
    }
    context.idle();
    assert_eq!(counted(), [139, 61]);
    look(&mut context, t, &[0, 2]);
    drop(context);
    assert_eq!(counted(), [139, 62]);
}

#[test]
fn idle_entries_are_reported_once_per_idle_period() {
    let (device, t) = one(Table { idle_timeout: true, ..ports() });
    let mut context = Context::new(&device, 0);
    let timed = |value, idle_timeout| NewEntry {
        idle_timeout: idle_timeout * MICROSECOND,
        metadata: vec![value as u8],
        ..forward_entry(vec![exact(value)], 0, value)
    };
    device.insert_entry(t, &timed(1, 100), 1000 * MICROSECOND).unwrap();
    device.insert_entry(t, &timed(2, 0), 1000 * MICROSECOND).unwrap();
    assert!(device.expired(1099 * MICROSECOND, 10).is_empty());
    context.start(1090 * MICROSECOND);
    look(&mut context, t, &[0, 1]);
    assert!(device.expired(1189 * MICROSECOND, 10).is_empty());
    assert_eq!(device.entry(t, &[exact(1)], 0, 1189 * MICROSECOND).unwrap().since_hit, Some(99 * MICROSECOND));
    let expired = device.expired(1190 * MICROSECOND, 10);
    assert_eq!(expired.len(), 1);
    assert_eq!((expired[0].table, &expired[0].entry.metadata), (t, &vec![1]));
    assert!(device.expired(1289 * MICROSECOND, 10).is_empty());
    assert_eq!(device.expired(1290 * MICROSECOND, 10).len(), 1, "still idle after a further timeout");
    assert!(device.expired(1291 * MICROSECOND, 10).is_empty());
    context.start(5000 * MICROSECOND);
    look(&mut context, t, &[0, 1]);
    assert_eq!(device.expired(5100 * MICROSECOND, 10).len(), 1);
}

#[test]
fn an_entry_that_was_hit_a_moment_ago_is_not_written_to() {
    let (device, t) = one(Table { idle_timeout: true, ..ports() });
    device.insert_entry(t, &forward_entry(vec![exact(1)], 0, 1), 0).unwrap();
    let mut context = Context::new(&device, 0);
    let mut since_hit = |at: u64| {
        context.start(at * MICROSECOND);
        look(&mut context, t, &[0, 1]);
        device.entry(t, &[exact(1)], 0, at * MICROSECOND).unwrap().since_hit.unwrap() / MICROSECOND
    };
    assert_eq!([100, 150, 165, 166, 300].map(&mut since_hit), [0, 50, 65, 0, 0]);
    // The clock may be set back.
    assert_eq!(since_hit(20), 0);
}

#[test]
fn a_bounded_scan_comes_round_to_every_entry() {
    let (device, t) = one(Table { idle_timeout: true, ..routes() });
    for value in 0..100 {
        let new = NewEntry { idle_timeout: 1, ..forward_entry(vec![lpm(value, 32)], 0, 1) };
        device.insert_entry(t, &new, 0).unwrap();
    }
    let mut seen: Vec<_> = (0..11).flat_map(|_| device.expired(10, 10)).map(|expired| expired.entry.keys).collect();
    assert_eq!(seen.len(), 100);
    seen.sort_by_key(|keys| format!("{keys:?}"));
    seen.dedup();
    assert_eq!(seen.len(), 100);
}

#[test]
fn a_table_without_keys_has_its_default_only() {
    let (device, t) = one(table("nothing", Vec::new(), 10));
    let mut context = Context::new(&device, 0);
    assert_eq!(look(&mut context, t, &[]), (false, None));
}

#[test]
fn arguments_of_any_width_reach_the_packet() {
    let mut program = program();
    let action = program.actions.push(Action::new("wide".into(), [("a".to_owned(), 200), ("b".to_owned(), 1)]));
    let mut wide = ports();
    wide.actions.push(TableAction { action, default_only: false, table_only: false });
    let t = program.tables.push(wide);
    let device = device(program);
    let value = (big(1) << 200u8) - 2u8;
    let call = ActionCall { action, args: vec![value.clone(), big(1)] };
    device.insert_entry(t, &entry(vec![exact(1)], 0, EntryAction::Action(call.clone())), 0).unwrap();
    let mut context = Context::new(&device, 0);
    assert_eq!(context.lookup(t, &[0, 1], &Default::default()), (true, 2));
    assert_eq!(num_bigint::BigUint::from_bytes_le(&context.action_data()[..32]), value);
    assert_eq!(context.action_data()[32], 1);
    assert_eq!(device.entries(t, 0)[0].action, EntryAction::Action(call));
}

#[test]
fn memory_follows_the_entries_and_places_are_used_again() {
    let (device, t) = one(routes());
    let fill = |from: u128| {
        for value in from..from + 1000 {
            device.insert_entry(t, &forward_entry(vec![lpm(value << 8, 24)], 0, 1), 0).unwrap();
        }
        for value in from..from + 1000 {
            device.delete_entry(t, &[lpm(value << 8, 24)], 0).unwrap();
        }
        device.table_memory(t)
    };
    let first = fill(0);
    assert!((50_000..400_000).contains(&first), "{first} bytes");
    let later: Vec<_> = (1..=8).map(|turn| fill(turn * 1000)).collect();
    assert!(later.iter().all(|&bytes| bytes < 2 * first), "{first} bytes, then {later:?}");
}

#[test]
fn a_wrong_entry_of_the_program_is_named() {
    let entry = |keys, args| ConstEntry { keys, priority: 0, action: 0, args, is_const: true };
    let right = entry(vec![lpm(0, 8)], vec![big(1), big(2)]);
    let error = |wrong| {
        let mut program = program();
        program.tables.push(Table { entries: vec![right.clone(), wrong], ..routes() });
        Device::new(std::sync::Arc::new(program)).err().unwrap().to_string()
    };
    let name = routes().name;
    let start = format!("entry 2 of table {name} in the program: {name}");
    assert!(error(entry(vec![exact(1)], vec![big(1), big(2)])).starts_with(&start));
    assert_eq!(
        error(entry(vec![lpm(0, 9)], vec![])),
        format!("{start}, action forward: parameter list comes with 0 values, not 2")
    );
    let mut program = program();
    program
        .tables
        .push(Table { default_action: Some(DefaultAction { action: 0, args: vec![], is_const: false }), ..routes() });
    let error = Device::new(std::sync::Arc::new(program)).err().unwrap().to_string();
    assert!(error.starts_with(&format!("the default action of table {name} in the program: ")), "{error}");
}

#[test]
fn what_is_wrong_in_itself_is_not_refused_for_want_of_room() {
    let (device, t) = one(Table { size: 1, ..routes() });
    device.insert_entry(t, &forward_entry(vec![lpm(0, 8)], 0, 1), 0).unwrap();
    let bad = ActionCall { action: ActionId::new(0), args: vec![big(512), big(0)] };
    let bad = device.insert_entry(t, &entry(vec![lpm(1 << 24, 8)], 0, EntryAction::Action(bad)), 0).unwrap_err();
    assert!(matches!(bad, WriteError::BadValue { .. }), "{bad}");
    let full = device.insert_entry(t, &forward_entry(vec![lpm(1 << 24, 8)], 0, 1), 0).unwrap_err();
    assert!(matches!(full, WriteError::Full { size: 1, .. }), "{full}");
    assert_eq!(device.entry_count(t), 1);
}
