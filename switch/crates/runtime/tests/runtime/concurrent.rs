//! Packets on threads while the control plane writes: nothing is torn, nothing is lost.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;

use crate::common::*;
use ir::*;
use runtime::{BitString, Context, CounterData, EntryAction, Group, GroupMember, Packet, registers_written_by_packets};

const TURNS: u64 = 300;

#[test]
fn packets_see_whole_entries_and_every_hit_is_counted() {
    let mut program = program();
    let counted = table("counted", vec![key("k", 8, MatchKind::Exact)], 100);
    let t = program.tables.push(Table { direct_counter: Some(DirectCounter::default()), ..counted });
    let counter = program.counters.push(Counter { name: "c".into(), size: 4, unit: CounterUnit::Both });
    let device = device(program);
    device.insert_entry(t, &forward_entry(vec![exact(0)], 0, 1), 0).unwrap();
    let done = AtomicBool::new(false);
    let looked: u64 = thread::scope(|scope| {
        let run = || {
            let mut context = Context::new(&device, 0);
            context.packet = Packet::new(0, &[0; 10]);
            let mut looked = 0;
            loop {
                let last = done.load(Acquire);
                for turn in 0..64 {
                    context.start(turn);
                    let (hit, port) = look(&mut context, t, &[0]);
                    assert!(hit && port.is_some(), "the entry is always there, with its arguments whole");
                    let (hit, port) = look(&mut context, t, &[1]);
                    assert_eq!(hit, port.is_some());
                    context.count(counter, 3);
                    looked += 1;
                }
                if last {
                    return looked;
                }
            }
        };
        let threads = [scope.spawn(run), scope.spawn(run)];
        for turn in 0..TURNS {
            device.modify_entry(t, &forward_entry(vec![exact(0)], 0, u128::from(turn)), 0).unwrap();
            device.insert_entry(t, &forward_entry(vec![exact(1)], 0, 5), 0).unwrap();
            device.delete_entry(t, &[exact(1)], 0).unwrap();
        }
        done.store(true, Release);
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    let count = CounterData { packets: looked, bytes: 10 * looked };
    assert_eq!(device.counter(counter, 3), Ok(count));
    assert_eq!(device.entry(t, &[exact(0)], 0, 0).unwrap().counter, Some(count));
}

#[test]
fn packets_always_find_a_member_while_groups_change() {
    let mut program = program();
    let selector = Some(Selector { algorithm: HashAlgorithm::Crc16, output_width: 16 });
    let p = program.profiles.push(Profile { name: "p".into(), size: 100, selector });
    let lb = table("lb", vec![key("k", 8, MatchKind::Exact)], 100);
    let t = program.tables.push(Table { profile: Some(p), selector_widths: vec![16], ..lb });
    let device = device(program);
    for id in 1..=8 {
        device.insert_member(p, id, &forward(id.into())).unwrap();
    }
    let group = |count: u32| Group {
        max_size: 0,
        members: (1..=count).map(|member| GroupMember { member, weight: member, watch_port: Some(member) }).collect(),
    };
    device.insert_group(p, 1, &group(8)).unwrap();
    device.insert_entry(t, &entry(vec![exact(0)], 0, EntryAction::Group(1)), 0).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut context = Context::new(&device, 0);
            loop {
                let last = done.load(Acquire);
                for input in 0..200u16 {
                    context.start(0);
                    let mut bits = BitString::new();
                    bits.push(input.into(), 16);
                    let (hit, port) = look_with(&mut context, t, &[0], &bits);
                    assert!(hit && port.is_some_and(|port| port < 512), "{port:?}");
                }
                if last {
                    return;
                }
            }
        });
        for turn in 0..TURNS as u32 {
            device.modify_group(p, 1, &group(1 + turn % 8)).unwrap();
            device.modify_member(p, 1 + turn % 8, &forward(u128::from(100 + turn))).unwrap();
            device.set_port_up(2 + turn % 7, turn % 3 == 0);
        }
        done.store(true, Release);
    });
    assert_eq!(device.groups(p), [(1, group(1 + (TURNS as u32 - 1) % 8))]);
}

#[test]
fn what_a_block_does_with_a_register_is_one_step_for_other_threads() {
    let program: Program = "
frame 16 persistent 16 {}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
register tickets size 1 width 32
register read_only size 1 width 32
function main {
b0:
    %0:32 = register_read tickets, 0
    register_write tickets, 0, %0:32
    %1:32 = register_read read_only, 0
    return
}
blocks main main main main main main
"
    .parse()
    .unwrap();
    let tickets = RegisterId::new(0);
    assert_eq!(registers_written_by_packets(&program), [tickets]);
    let device = device(program);
    device.serve_threads();
    let run = || {
        let mut context = Context::new(&device, 0);
        for turn in 0..TURNS * 10 {
            context.start(turn);
            let ticket = context.registers.read(tickets, 0);
            // Others would have their chance now.
            thread::yield_now();
            context.registers.write(tickets, 0, ticket + 1);
            context.registers.end_turn();
        }
    };
    thread::scope(|scope| [(); 2].map(|()| drop(scope.spawn(run))));
    assert_eq!(device.register(tickets, 0), Ok(big((TURNS * 20).into())));
}

#[test]
fn a_wide_cell_is_seen_whole_by_packets_and_by_the_control_plane() {
    let mut program = program();
    let cell = program.registers.push(Register { name: "r".into(), size: 1, width: 128, ..Register::default() });
    let device = device(program);
    let values = [0, u128::MAX];
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let run = || {
            let mut context = Context::new(&device, 0);
            while !done.load(Acquire) {
                for value in values {
                    let found = context.registers.read(cell, 0);
                    assert!(values.contains(&found), "{found:x}");
                    context.registers.write(cell, 0, value);
                }
            }
        };
        let threads = [scope.spawn(run), scope.spawn(run)];
        let whole = (0..TURNS * 100).all(|turn| {
            device.set_register(cell, 0, &big(values[turn as usize % 2])).unwrap();
            values.map(big).contains(&device.register(cell, 0).unwrap())
        });
        done.store(true, Release);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(whole, "the control plane saw half a value");
    });
}
