//! Fills a device's IPv6 routing table through the control-plane calls and prints what inserts, lookups by packets and
//! entries cost.
//!
//! `cargo run --release -p runtime --example fill`

use std::sync::Arc;
use std::time::Instant;

use ir::*;
use num_bigint::BigUint;
use runtime::{ActionCall, BitString, Context, Device, EntryAction, NewEntry};

const ROUTES: u128 = 500_000;

/// The route at a place: a /48 spread over the address space.
fn route(i: u128) -> u128 {
    (0x2000 << 112) | ((i * 0x9e37_79b9) & 0xffff_ffff) << 80
}

fn main() {
    let mut program = Program::default();
    let forward = program.actions.push(Action::new("forward".into(), [("port".into(), 9), ("mac".into(), 48)]));
    let routes = program.tables.push(Table {
        name: "routes".into(),
        keys: vec![Key { name: "dst".into(), width: 128, kind: MatchKind::Lpm }],
        actions: vec![TableAction { action: forward, default_only: false, table_only: false }],
        size: ROUTES as u64,
        ..Table::default()
    });
    let device = Device::new(Arc::new(program));
    let entry = |i: u128| NewEntry {
        keys: vec![Match::Lpm { value: BigUint::from(route(i)), prefix: 48 }],
        priority: 0,
        action: EntryAction::Action(ActionCall {
            action: forward,
            args: vec![BigUint::from(i % 512), BigUint::from(i)],
        }),
        idle_timeout: 0,
        metadata: Vec::new(),
        counter: None,
        meter: None,
    };
    let entries: Vec<_> = (0..ROUTES).map(entry).collect();
    let start = Instant::now();
    let inserted = entries.iter().filter(|entry| device.insert_entry(routes, entry, 0).is_ok()).count();
    println!("{:.0} inserts/s", inserted as f64 / start.elapsed().as_secs_f64());
    println!("{} bytes/entry", device.table_memory(routes) / inserted);

    let mut context = Context::new(&device, 0);
    let nothing = BitString::new();
    for count in [256, ROUTES] {
        let turns = 1_000_000;
        let start = Instant::now();
        let mut hits = 0;
        for turn in 0..turns {
            context.start(turn as u64);
            let key = (route(turn * 7919 % count) | 1).to_be_bytes();
            hits += u32::from(context.lookup(routes, &key, &nothing).0);
        }
        let each = start.elapsed().as_nanos() as f64 / turns as f64;
        println!("{each:.0} ns/lookup over {count} routes, {hits} hits");
    }
}
