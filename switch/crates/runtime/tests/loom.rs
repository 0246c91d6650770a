//! Packets and the control plane side by side, in many orders of their steps and with every older value that a load may still
//! see. `make test-loom`; in other builds there is nothing here.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};

use ir::*;
use loom::sync::atomic::AtomicBool;
use loom::thread;
use num_bigint::BigUint;
use runtime::{ActionCall, Backend, BitString, Context, Device, EntryAction, NewEntry, Stop};

/// Orders with up to so many changes from one thread to another while the first could go on.
const PREEMPTIONS: usize = 3;
/// A device and a context are larger than what loom gives a thread.
const STACK: usize = 1 << 18;

fn explore(model: impl Fn() + Copy + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.max_branches = 100_000;
    builder.check(move || spawn(model).join().unwrap());
}

fn spawn(run: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    thread::Builder::new().stack_size(STACK).spawn(run).unwrap()
}

/// A program with an action, tables that have a key of one bit, and a register.
fn device(tables: usize, width: u32) -> Arc<Device> {
    let frame = Frame { size: 16, persistent: 16, ..Frame::default() };
    let mut program = Program { frame, ..Program::default() };
    program.actions.push(Action::new("act".into(), []));
    for number in 0..tables {
        program.tables.push(Table {
            name: format!("t{number}"),
            keys: vec![Key { name: "k".into(), width: 1, kind: MatchKind::Exact }],
            actions: vec![TableAction { action: ActionId::new(0), default_only: false, table_only: false }],
            size: 2,
            ..Table::default()
        });
    }
    program.registers.push(Register { name: "r".into(), size: 1, width, ..Register::default() });
    Arc::new(Device::new(Arc::new(program)).unwrap())
}

fn insert(device: &Device, table: usize) {
    let action = EntryAction::Action(ActionCall { action: ActionId::new(0), args: vec![] });
    let keys = vec![Match::Exact(BigUint::ZERO)];
    let entry = NewEntry { keys, priority: 0, action, idle_timeout: 0, metadata: vec![], counter: None, meter: None };
    device.insert_entry(TableId::new(table), &entry, 0).unwrap();
}

fn delete(device: &Device, table: usize) {
    device.delete_entry(TableId::new(table), &[Match::Exact(BigUint::ZERO)], 0).unwrap();
}

fn is_hit(context: &mut Context<'_>, table: usize) -> bool {
    context.lookup(TableId::new(table), &[0], &BitString::new()).0
}

#[test]
fn a_wide_cell_is_seen_whole() {
    explore(|| {
        let (device, cell) = (device(0, 128), RegisterId::new(0));
        let writer = device.clone();
        let packets = spawn(move || {
            let mut context = Context::new(&writer, 0);
            context.registers.write(cell, 0, u128::MAX);
            assert!([u128::MAX, 1].contains(&context.registers.read(cell, 0)));
        });
        assert!([BigUint::ZERO, u128::MAX.into()].contains(&device.register(cell, 0).unwrap()));
        device.set_register(cell, 0, &1u8.into()).unwrap();
        packets.join().unwrap();
    });
}

/// What a packet learned from two tables, while they held this together, is used no more once a write was answered. Two
/// writes are made, and tables hold what `expected` says before them, between them and after them.
fn check_learning(
    before: impl Fn(&Device) + Copy + Send + Sync + 'static,
    write: fn(&Device, usize),
    expected: [[bool; 2]; 3],
) {
    explore(move || {
        let (device, answered) = (device(2, 32), Arc::new(AtomicBool::new(false)));
        before(&device);
        let (packet_device, told) = (device.clone(), answered.clone());
        let packets = spawn(move || {
            let mut context = Context::new(&packet_device, 0);
            let (writes, mut versions) = (packet_device.writes(), vec![]);
            writes.note(&mut versions);
            let [again, first, second] = [1, 0, 1].map(|table| is_hit(&mut context, table));
            let found = [first, second];
            let are_still = || writes.are_still(&[0, 1], &versions);
            if are_still() {
                assert!(again == second && expected.contains(&found), "{again}, then {found:?}: this was never there");
            }
            let begun = writes.begun();
            if !are_still() {
                return;
            }
            let is_told = told.load(Acquire);
            if writes.begun() == begun || are_still() {
                assert!(!is_told || found == expected[2], "{found:?} after both writes were answered");
            }
        });
        write(&device, 0);
        write(&device, 1);
        answered.store(true, Release);
        packets.join().unwrap();
    });
}

#[test]
fn what_was_learned_is_void_when_entries_come() {
    check_learning(|_| {}, insert, [[false, false], [true, false], [true, true]]);
}

#[test]
fn what_was_learned_is_void_when_entries_go() {
    let both = |device: &Device| [0, 1].into_iter().for_each(|table| insert(device, table));
    check_learning(both, delete, [[true, true], [false, true], [false, false]]);
}

/// Code for an empty table.
struct ForEmpty;

impl Backend for ForEmpty {
    fn run(&self, _: FunctionId, context: &mut Context<'_>) {
        assert!(!is_hit(context, 0), "the code runs while the table has an entry");
    }
}

#[test]
fn code_for_what_a_table_held_runs_only_while_it_does() {
    explore(|| {
        let (device, answered) = (device(1, 32), Arc::new(AtomicBool::new(false)));
        let holdings = device.holdings(&|_| true);
        assert!(device.install(&holdings, Arc::new(ForEmpty)));
        let (packet_device, told) = (device.clone(), answered.clone());
        let packets = spawn(move || {
            let mut context = Context::new(&packet_device, 0);
            for _ in 0..2 {
                let is_told = told.load(Acquire);
                let mut stop = Stop { behind: 0, asked: &mut |_, _| true };
                let ran = context.run_special(&[FunctionId::new(0)], &mut stop);
                assert!(ran.is_none() || !is_told, "the write was answered");
            }
        });
        insert(&device, 0);
        answered.store(true, Release);
        packets.join().unwrap();
    });
}
