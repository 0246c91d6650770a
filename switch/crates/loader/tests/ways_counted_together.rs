//! What many ways find in tables is counted together: each entry has the packets and the time of the last one as if each packet
//! had been run.

mod sent;
mod v1model;

use std::sync::Arc;

use ir::{Match, TableId};
use pipeline::{BackendKind, Engine, Traffic};
use runtime::{ActionCall, BigUint, CounterData, Device, EntryAction, NewEntry};

use self::sent::Sent;
use self::v1model::V1model;

const PROGRAM: V1model<'_> = V1model {
    header: "bit<8> who; bit<8> flow; bit<64> rest;",
    metadata: "",
    declarations: "",
    ingress_declarations: "direct_counter(CounterType.packets_and_bytes) of_first;
    direct_counter(CounterType.packets_and_bytes) of_second;
    direct_counter(CounterType.packets_and_bytes) of_third;
    action first_hit() { of_first.count(); }
    action second_hit() { of_second.count(); }
    action third_hit() { of_third.count(); }
    table first {
        key = { hdr.name.who : exact; }
        actions = { first_hit; }
        default_action = first_hit();
        counters = of_first;
        support_timeout = true;
    }
    table second { key = { hdr.name.who : exact; } actions = { second_hit; } default_action = second_hit(); counters = of_second; support_timeout = true; }
    table third { key = { hdr.name.who : exact; } actions = { third_hit; } default_action = third_hit(); counters = of_third; support_timeout = true; }",
    ingress: "standard.egress_spec = 1;
        first.apply();
        second.apply();
        third.apply();
        if (hdr.name.flow[7:7] == 1) { first.apply(); }
        // Such packets are run.
        if (hdr.name.flow == 99) { random(hdr.name.flow, 0, 9); }",
    egress_declarations: "",
    egress: "",
};

const SECOND: u64 = 1_000_000_000;
const KEY: [Match; 1] = [Match::Exact(BigUint::ZERO)];

/// The program with an entry in each table for who is 0.
fn program(kind: BackendKind) -> (Arc<loader::Program>, Vec<TableId>) {
    let program = Arc::new(loader::load(&PROGRAM.text(), kind).unwrap_or_else(|error| panic!("{error}")));
    let device = &program.loaded.device;
    let tables: Vec<TableId> = program.loaded.program.tables.keys().collect();
    for (table, action) in tables.iter().zip(["first_hit", "second_hit", "third_hit"]) {
        device.insert_entry(*table, &entry(device, action), 0).unwrap();
    }
    (program, tables)
}

fn entry(device: &Device, action: &str) -> NewEntry {
    let (action, _) = device.program().actions.iter().find(|(_, known)| known.name.ends_with(action)).unwrap();
    NewEntry {
        keys: KEY.to_vec(),
        priority: 0,
        action: EntryAction::Action(ActionCall { action, args: vec![] }),
        idle_timeout: SECOND,
        metadata: vec![],
        counter: None,
        meter: None,
    }
}

/// What entry and default entry of each table counted of packets of these flows in turn.
fn counted(kind: BackendKind, who: u8, flows: [u8; 4]) -> Vec<[CounterData; 2]> {
    let (program, tables) = program(kind);
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    for round in 0..40 {
        let packet = [&[who, flows[round % 4]], &[0; 8][..]].concat();
        engine.receive(7, &packet, 1000 * round as u64, &mut sent);
    }
    engine.idle();
    assert!(kind == BackendKind::Interpreter || engine.traffic().flows.hits == 36);
    let device = &program.loaded.device;
    let of_table = |table: &TableId| {
        let entry = device.entry(*table, &KEY, 0, 0).unwrap();
        let default = device.default_entry(*table).unwrap();
        [entry.counter, default.counter].map(Option::unwrap)
    };
    tables.iter().map(of_table).collect()
}

#[test]
fn a_table_that_some_packets_are_looked_up_in_twice_counts_them_twice() {
    for who in [0, 1] {
        for flows in [[0, 2, 0x83, 0x84], [0x80, 0x82, 3, 4], [0, 0x82, 0x83, 4]] {
            let [expected, got] = [BackendKind::Interpreter, BackendKind::Flows].map(|kind| counted(kind, who, flows));
            assert_eq!(got, expected, "who is {who}, flows {flows:x?}");
            let twice = flows.iter().filter(|flow| **flow >= 0x80).count() as u64;
            assert_eq!(got[0][usize::from(who)].packets, 40 + 10 * twice);
        }
    }
}

/// Nanoseconds since the first table's entry was hit, four seconds after the start.
fn since_hit(device: &Device, table: TableId) -> Option<u64> {
    device.entry(table, &KEY, 0, 4 * SECOND).unwrap().since_hit
}

#[test]
fn an_entry_was_hit_last_by_the_last_packet_that_hit_it() {
    for kind in [BackendKind::Interpreter, BackendKind::Flows] {
        let (program, tables) = program(kind);
        let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
        let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
        // Two ways that find the same, and then a packet that is run.
        for (flow, at) in [(1, SECOND), (2, SECOND), (1, SECOND), (2, SECOND), (99, 3 * SECOND)] {
            engine.receive(7, &[0, flow, 0, 0, 0, 0, 0, 0, 0, 0], at, &mut sent);
        }
        engine.idle();
        assert_eq!(since_hit(&program.loaded.device, tables[0]), Some(SECOND), "{kind:?}");
        // A known way once more.
        engine.receive(7, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 4 * SECOND, &mut sent);
        engine.idle();
        assert_eq!(since_hit(&program.loaded.device, tables[0]), Some(0), "{kind:?}");
    }
}

#[test]
fn what_one_thread_tells_late_does_not_make_a_hit_of_another_older() {
    let (program, tables) = program(BackendKind::Flows);
    let [mut first, mut second] = [Traffic::default(), Traffic::default()];
    let mut sent = Sent::default();
    let [mut first, mut second] = [&mut first, &mut second].map(|traffic| Engine::new(&program.loaded, traffic, 1));
    for flow in [1, 2, 1, 2] {
        first.receive(7, &[0, flow, 0, 0, 0, 0, 0, 0, 0, 0], SECOND, &mut sent);
    }
    second.receive(7, &[0, 3, 0, 0, 0, 0, 0, 0, 0, 0], 3 * SECOND, &mut sent);
    first.idle();
    assert_eq!(since_hit(&program.loaded.device, tables[0]), Some(SECOND));
}
