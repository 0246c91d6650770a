//! Ways of packets that are known, while the control plane writes; what counts them and what is not kept.

mod sent;
mod v1model;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ir::Match;
use pipeline::{BackendKind, Engine, FlowStats, Traffic};
use runtime::{ActionCall, CounterData, Device, EntryAction, NewEntry, Recorder};

use self::sent::Sent;
use self::v1model::V1model;

const PROGRAM: V1model<'_> = V1model {
    header: "bit<32> who; bit<16> lives; bit<16> payload; bit<48> more;",
    metadata: "",
    declarations: "",
    ingress_declarations: "direct_counter(CounterType.packets_and_bytes) hits;
    counter(4, CounterType.packets_and_bytes) lives;
    register<bit<16>>(4) last;
    action forward(bit<9> port) { standard.egress_spec = port; hits.count(); }
    action drop() { mark_to_drop(standard); hits.count(); }
    action remember() { last.write(0, hdr.name.lives); standard.egress_spec = 3; }
    table by_who {
        key = { hdr.name.who : exact; }
        actions = { forward; drop; remember; }
        default_action = drop();
        counters = hits;
        support_timeout = true;
    }",
    ingress: "by_who.apply();
        hdr.name.lives = hdr.name.lives - 1;
        lives.count((bit<32>)hdr.name.lives);",
    egress_declarations: "",
    egress: "",
};

const SECOND: u64 = 1_000_000_000;

fn program(kind: BackendKind) -> Arc<loader::Program> {
    Arc::new(loader::load(&PROGRAM.text(), kind).unwrap_or_else(|error| panic!("{error}")))
}

/// What an entry does with the packets of somebody.
fn entry(device: &Device, who: u32, action: &str, args: &[u32]) -> NewEntry {
    let (action, _) = device.program().actions.iter().find(|(_, known)| known.name.ends_with(action)).unwrap();
    NewEntry {
        keys: vec![Match::Exact(who.into())],
        priority: 0,
        action: EntryAction::Action(ActionCall { action, args: args.iter().map(|arg| (*arg).into()).collect() }),
        idle_timeout: SECOND,
        metadata: vec![],
        counter: None,
        meter: None,
    }
}

fn packet(who: u8, lives: u8, payload: u8) -> Vec<u8> {
    [&[0, 0, 0, who, 0, lives, payload], &[payload; 20][..]].concat()
}

/// Everything that packets leave behind.
struct Left {
    sent: Vec<(u32, Vec<u8>)>,
    /// Of the entries and the default one.
    counters: Vec<CounterData>,
    /// Nanoseconds since each entry was hit.
    since: Vec<u64>,
    cells: Vec<CounterData>,
    flows: FlowStats,
}

fn left(kind: BackendKind) -> Left {
    let program = program(kind);
    let (device, loaded) = (&program.loaded.device, &program.loaded);
    let table = loaded.program.tables.keys().next().unwrap();
    for (who, action, args) in [(1, "forward", &[5][..]), (2, "drop", &[]), (3, "remember", &[])] {
        device.insert_entry(table, &entry(device, who, action, args), 0).unwrap();
    }
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    for round in 0..20u8 {
        for who in 1..=4 {
            engine.receive(7, &packet(who, 2 + round % 2, round), SECOND + u64::from(round) * 1_000_000, &mut sent);
        }
    }
    engine.idle();
    let entry = |who: u32| device.entry(table, &[Match::Exact(who.into())], 0, 2 * SECOND).unwrap();
    let default = device.default_entry(table).unwrap();
    let counters = [entry(1), entry(2), entry(3), default].map(|entry| entry.counter.unwrap()).to_vec();
    let since = [1, 2, 3].map(|who| entry(who).since_hit.unwrap()).to_vec();
    let cells = loaded.program.counters.keys().next().unwrap();
    let cells = (0..4).map(|index| device.counter(cells, index).unwrap()).collect();
    let flows = engine.traffic().flows;
    Left { sent: sent.0, counters, since, cells, flows }
}

#[test]
fn what_packets_leave_behind_is_as_if_their_ways_were_not_known() {
    let expected = left(BackendKind::Interpreter);
    assert_eq!((expected.sent.len(), expected.counters[3].packets), (40, 20));
    for kind in [BackendKind::Flows, BackendKind::CheckedFlows] {
        let got = left(kind);
        assert_eq!((&got.sent, &got.counters), (&expected.sent, &expected.counters), "{kind:?}");
        assert_eq!((&got.cells, &got.since), (&expected.cells, &expected.since), "{kind:?}");
        // Of each of them with each of two numbers of lives the first packet is learned.
        let FlowStats { hits, learned, kept_out, .. } = got.flows;
        assert_eq!((hits, learned, kept_out), (72, 8, 0), "{kind:?}");
    }
}

#[test]
fn a_packet_behind_a_write_takes_no_way_from_before_it() {
    let program = program(BackendKind::Flows);
    let (device, loaded) = (&program.loaded.device, &program.loaded);
    let table = loaded.program.tables.keys().next().unwrap();
    let write = |port| device.modify_entry(table, &entry(device, 1, "forward", &[port]), 0).unwrap();
    device.insert_entry(table, &entry(device, 1, "forward", &[1]), 0).unwrap();
    // The port of the last write that was answered; the one under way, if any, has the next.
    let answered = AtomicU32::new(1);
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for port in 2..=400 {
                write(port);
                answered.store(port, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        });
        let mut last = 0;
        let mut now = 0;
        while !writing.is_finished() {
            now += 1000;
            let least = answered.load(Ordering::SeqCst).max(last);
            sent.0.clear();
            engine.receive(7, &packet(1, 9, 0), now, &mut sent);
            let most = answered.load(Ordering::SeqCst) + 1;
            last = sent.0[0].0;
            assert!((least..=most).contains(&last), "port {last} is not one of {least} to {most}");
        }
    });
    let flows = engine.traffic().flows;
    assert!(flows.hits > 0 && flows.forgotten > 0, "{flows:?}");
}

#[test]
fn a_packet_that_is_traced_is_run() {
    let program = program(BackendKind::Flows);
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    let (sender, traces) = std::sync::mpsc::channel();
    for round in 0..3 {
        if round == 2 {
            let sender = sender.clone();
            engine.trace_next(Recorder::new(move |steps, _| sender.send(steps.len()).unwrap()));
        }
        engine.receive(7, &packet(1, 9, 0), round, &mut sent);
    }
    assert!(traces.try_iter().next().is_some_and(|steps| steps > 10));
    assert_eq!(engine.traffic().flows.hits, 1);
}
