//! Code for what the tables hold, and writes that change it.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

use ir::{ActionId, FunctionId, Handle, Match, Program, TableId};
use jit::{Jit, specialise};
use runtime::{ActionCall, Backend, Context, Device, EntryAction, NewEntry};

/// Two tables, one behind the other, whose actions say which content a packet met.
const PROGRAM: &str = "
frame 16 persistent 16 {
    0 key: bits 16
    4 first: bits 32
    8 second: bits 32
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
action say (number: 32 @ 0)
table one size 16 {
    key key: 16 exact
    action say
    default 0 (0)
}
table two size 16 {
    key key: 16 exact
    action say
    default 0 (0)
}
function main {
b0:
    %0:16 = load key
    %1:1, %2:32 = lookup one (%0:16)
    switch %2:32 { 0: b1, default: b2 }
b1:
    %3:32 = load_arg 0
    store first:32, %3
    jump b2
b2:
    %4:1, %5:32 = lookup two (%0:16)
    switch %5:32 { 0: b3, default: b4 }
b3:
    %6:32 = load_arg 0
    store second:32, %6
    jump b4
b4:
    return
}
blocks main main main main main main
";

fn one() -> TableId {
    TableId::new(0)
}

fn two() -> TableId {
    TableId::new(1)
}

fn say(number: u32) -> ActionCall {
    ActionCall { action: ActionId::new(0), args: vec![number.into()] }
}

fn key() -> Vec<Match> {
    vec![Match::Exact(0u8.into())]
}

fn entry(number: u32) -> NewEntry {
    NewEntry {
        keys: key(),
        priority: 0,
        action: EntryAction::Action(say(number)),
        idle_timeout: 0,
        metadata: Vec::new(),
        counter: None,
        meter: None,
    }
}

/// What a packet meets in the two tables.
fn packet(code: &Jit, context: &mut Context<'_>) -> (u32, u32) {
    context.start(0);
    code.run(FunctionId::new(0), context);
    let number = |offset| context.frame.read(offset, 32) as u32;
    (number(4), number(8))
}

#[test]
fn every_kind_of_write_is_seen_by_the_next_packet() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let (code, device) = (Arc::new(Jit::compile(program.clone()).unwrap()), Device::new(program).unwrap());
    let mut context = Context::new(&device, 0);
    let mut meets = |expected| {
        assert_eq!(packet(&code, &mut context), expected, "right after the write");
        assert!(specialise(&code, &device, &device.holdings(&|_| true)).unwrap());
        assert!(device.is_special());
        assert_eq!(packet(&code, &mut context), expected, "by new code");
    };
    meets((0, 0));
    device.set_default(one(), &say(1)).unwrap();
    assert!(!device.is_special());
    meets((1, 0));
    device.insert_entry(two(), &entry(2), 0).unwrap();
    meets((1, 2));
    device.modify_entry(two(), &entry(3), 0).unwrap();
    meets((1, 3));
    device.delete_entry(two(), &key(), 0).unwrap();
    meets((1, 0));
    device.reset_default(one()).unwrap();
    meets((0, 0));
}

#[test]
fn code_for_an_older_content_is_not_installed() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let (code, device) = (Arc::new(Jit::compile(program.clone()).unwrap()), Device::new(program).unwrap());
    let holdings = device.holdings(&|_| true);
    let code = Arc::new(Jit::specialise(&code, &holdings.tables).unwrap());
    device.set_default(one(), &say(1)).unwrap();
    assert!(!device.install(&holdings, code));
    assert!(!device.is_special());
}

#[test]
fn writes_to_tables_that_are_not_built_in_leave_the_code_as_it_is() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let (code, device) = (Arc::new(Jit::compile(program.clone()).unwrap()), Device::new(program).unwrap());
    let mut context = Context::new(&device, 0);
    assert!(specialise(&code, &device, &device.holdings(&|_| true)).unwrap());
    assert!(specialise(&code, &device, &device.holdings(&|table| table == one())).unwrap());
    device.insert_entry(two(), &entry(2), 0).unwrap();
    assert!(device.is_special());
    assert_eq!(packet(&code, &mut context), (0, 2));
}

/// A writer raises the number in the second table, then that in the first, while another thread compiles for one of the
/// tables or for both. A packet never meets less than what was answered before it came, nor a number in the first table
/// that the second does not have yet, though it looks the first up first.
#[test]
fn packets_never_meet_what_a_write_has_replaced() {
    const ROUNDS: u32 = 50;
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let (code, device) = (Arc::new(Jit::compile(program.clone()).unwrap()), Device::new(program).unwrap());
    let (done, answered, by_special) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=ROUNDS {
                let before = by_special.load(Acquire);
                while by_special.load(Acquire) == before && !done.load(Acquire) {
                    thread::yield_now();
                }
                device.set_default(two(), &say(number)).unwrap();
                device.set_default(one(), &say(number)).unwrap();
                answered.store(number, Release);
            }
            done.store(true, Release);
        });
        scope.spawn(|| {
            for round in 0.. {
                if done.load(Acquire) {
                    break;
                }
                specialise(&code, &device, &device.holdings(&|table| round % 3 != table.index())).unwrap();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut context = Context::new(&device, 0);
                while !done.load(Acquire) {
                    let before = answered.load(Acquire);
                    by_special.fetch_add(device.is_special().into(), Release);
                    let (first, second) = packet(&code, &mut context);
                    let in_order = before <= first && first <= second;
                    if !in_order {
                        done.store(true, Release);
                    }
                    assert!(in_order, "{first} and {second} after {before} was answered");
                }
            });
        }
    });
    assert!(specialise(&code, &device, &device.holdings(&|_| true)).unwrap());
    let mut context = Context::new(&device, 0);
    assert_eq!(packet(&code, &mut context), (ROUNDS, ROUNDS));
}
