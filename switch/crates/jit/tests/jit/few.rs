//! Tables of few entries, whose content is built into the code, against the interpreter.

use std::sync::Arc;

use interp::Interpreter;
use ir::{ActionId, FunctionId, Handle, Match, Program, TableId};
use jit::{AtOnce, Jit};
use num_bigint::BigUint;
use proptest::prelude::*;
use runtime::{ActionCall, Backend, Context, Device, EntryAction, NewEntry};

/// A table of each kind. What follows a lookup goes straight to the action, or asks for the hit first.
const PROGRAM: &str = "
frame 64 persistent 64 {
    0 key: bits 8
    16 long: bits 128
    32 exact: bits 64
    40 lpm: bits 64
    48 masks: bits 64
    56 hit: bool
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
action say (number: 64 @ 0)
action none ()
table exact size 64 idle_timeout {
    key key: 8 exact
    key long: 128 exact
    action say
    action none
    default 1 ()
    counter exact_counter both
}
table lpm size 64 {
    key long: 128 lpm
    action say
    action none
    default 1 ()
}
table masks size 64 {
    key key: 8 range
    key long: 128 ternary
    key key2: 8 optional
    action say
    action none
    default 0 (7)
    counter masks_counter both
}
function main {
b0:
    %0:8 = load key
    %1:128 = load long
    %2:1, %3:32 = lookup exact (%0:8, %1:128)
    switch %3:32 { 0: b1, default: b2 }
b1:
    %4:64 = load_arg 0
    store exact:64, %4
    jump b2
b2:
    %5:1, %6:32 = lookup lpm (%1:128)
    store hit:1, %5
    switch %6:32 { 0: b3, default: b4 }
b3:
    %7:64 = load_arg 0
    store lpm:64, %7
    jump b4
b4:
    %8:1, %9:32 = lookup masks (%0:8, %1:128, %0:8)
    switch %9:32 { 0: b5, 1: b6, default: b6 }
b5:
    %10:64 = load_arg 0
    store masks:64, %10
    return
b6:
    return
}
blocks main main main main main main
";

/// One of a few numbers, so that keys and entries meet.
fn long(pick: u8) -> u128 {
    [0, 1, 1 << 64, 1 << 127, 0xffff << 112, 0xff00 << 112 | 1, u128::MAX, u128::MAX << 1][usize::from(pick % 8)]
}

fn entry(table: usize, numbers: [u8; 6]) -> NewEntry {
    let [a, b, c, d, e, f] = numbers;
    let big = |value: u128| BigUint::from(value);
    let mask = if c % 3 == 0 { u128::MAX } else { long(c) };
    let prefix = [0, 1, 8, 16, 64, 127, 128][usize::from(c % 7)];
    let prefix_mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
    let keys = match table {
        0 => vec![Match::Exact((a % 4).into()), Match::Exact(big(long(b)))],
        1 => vec![Match::Lpm { value: big(long(b) & prefix_mask), prefix }],
        _ => vec![
            Match::Range {
                low: (a % 4).min(d % 4).into(),
                high: if e % 4 == 0 { 255u8.into() } else { (a % 4).max(d % 4).into() },
            },
            Match::Ternary { value: big(long(b) & mask), mask: big(mask) },
            Match::Optional((f % 2 == 0).then(|| (e % 4).into())),
        ],
    };
    let action = if f % 5 == 0 {
        ActionCall { action: ActionId::new(1), args: Vec::new() }
    } else {
        ActionCall { action: ActionId::new(0), args: vec![(u64::from(d) << 8 | u64::from(f)).into()] }
    };
    NewEntry {
        keys,
        priority: if table == 2 { 1 + u32::from(e) } else { 0 },
        action: EntryAction::Action(action),
        idle_timeout: 0,
        metadata: Vec::new(),
        counter: None,
        meter: None,
    }
}

/// What is done to both devices.
#[derive(Debug, Clone)]
enum Step {
    Insert(usize, [u8; 6]),
    Modify(usize, [u8; 6]),
    Delete(usize, [u8; 6]),
    Default(usize, u8),
    Packet(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3usize, any::<[u8; 6]>()).prop_map(|(table, numbers)| Step::Insert(table, numbers)),
        1 => (0..3usize, any::<[u8; 6]>()).prop_map(|(table, numbers)| Step::Modify(table, numbers)),
        1 => (0..3usize, any::<[u8; 6]>()).prop_map(|(table, numbers)| Step::Delete(table, numbers)),
        1 => (0..3usize, any::<u8>()).prop_map(|(table, number)| Step::Default(table, number)),
        4 => (0..5u8, any::<u8>()).prop_map(|(key, long)| Step::Packet(key, long)),
    ]
}

/// Carries a step out; what it changed or said.
fn take(step: &Step, now: u64, device: &Device, backend: &dyn Backend, context: &mut Context<'_>) -> String {
    let id = |table: &usize| TableId::new(*table);
    match step {
        Step::Insert(table, numbers) => format!("{:?}", device.insert_entry(id(table), &entry(*table, *numbers), now)),
        Step::Modify(table, numbers) => format!("{:?}", device.modify_entry(id(table), &entry(*table, *numbers), now)),
        Step::Delete(table, numbers) => {
            let NewEntry { keys, priority, .. } = entry(*table, *numbers);
            format!("{:?}", device.delete_entry(id(table), &keys, priority))
        }
        Step::Default(table, number) => {
            let call = ActionCall { action: ActionId::new(0), args: vec![(*number).into()] };
            format!("{:?}", device.set_default(id(table), &call))
        }
        Step::Packet(key, pick) => {
            context.packet.refill(0, &[0; 100][..usize::from(*pick % 100)]);
            context.start(now);
            context.frame.write(0, 8, (*key).into());
            context.frame.write(16, 128, long(*pick));
            backend.run(FunctionId::new(0), context);
            format!("{:?}", context.frame.persistent())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn few_entries_are_found_as_by_a_lookup(steps in prop::collection::vec(step(), 1..60)) {
        let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
        let special = AtOnce::new(Arc::new(Jit::compile(program.clone()).unwrap()));
        let plain = Interpreter::new(program.clone());
        let devices = [0; 2].map(|_| Device::new(program.clone()).unwrap());
        let mut contexts = devices.each_ref().map(|device| Context::new(device, 0));
        for (now, step) in (1..).zip(&steps) {
            let [one, other] = &mut contexts;
            let got = take(step, now, &devices[0], &special, one);
            prop_assert_eq!(got, take(step, now, &devices[1], &plain, other), "{:?}", step);
        }
        contexts.iter_mut().for_each(Context::idle);
        for table in program.tables.keys() {
            // The order is that of slots, which are free again once no packet can look at them.
            let [got, expected] = devices.each_ref().map(|device| {
                let mut entries: Vec<_> = device.entries(table, 1000).iter().map(|entry| format!("{entry:?}")).collect();
                entries.sort();
                entries.push(format!("{:?}", device.default_entry(table)));
                entries
            });
            prop_assert_eq!(got, expected, "counters and times");
        }
    }
}
