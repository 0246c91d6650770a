//! Ways of a program that reads and writes registers and compares times: packets leave as if each had been run, and cells have
//! what they would have.

mod sent;
mod v1model;

use std::cell::Cell;
use std::sync::Arc;

use fastrand::Rng;
use pipeline::{BackendKind, Engine, FlowStats, Message, Sink, Traffic};
use runtime::{BigUint, Device};

use self::sent::Sent;
use self::v1model::V1model;

const PROGRAM: V1model<'_> = V1model {
    header: "bit<8> kind; bit<8> who; bit<16> more; bit<48> said;",
    metadata: "bit<48> arrived;",
    declarations: "",
    ingress_declarations: "register<bit<48>>(4) seen;
    register<bit<48>>(4) until;
    register<bit<32>>(4) packets;
    register<bit<8>>(4) turns;
    register<bit<16>>(4) choices;
    register<bit<200>>(4) holders;
    register<int<16>>(4) signed;",
    ingress: "bit<32> who = (bit<32>)hdr.name.who;
        bit<48> now = standard.ingress_global_timestamp;
        meta.arrived = now;
        standard.egress_spec = 1;
        if (hdr.name.kind == 0) {
            // Was it quiet for long? A sum, a difference, and what it wrote itself.
            bit<48> last;
            seen.read(last, who);
            if (last == 0) { standard.egress_spec = 2; }
            else if (now - last >= 3000) { standard.egress_spec = 3; until.write(who, now + 5000); }
            seen.write(who, meta.arrived);
            seen.read(last, who);
            bit<48> end;
            until.read(end, who);
            if (end > last) { standard.egress_spec = 4; }
        } else if (hdr.name.kind == 1) {
            // Each packet counts, and a cell goes round; another follows it.
            bit<32> count;
            packets.read(count, who);
            packets.write(who, count + 1);
            bit<8> turn;
            turns.read(turn, who);
            turns.write(who, turn + 100);
            if (turn < 100) { standard.egress_spec = 2; }
        } else if (hdr.name.kind == 2) {
            // What is chosen stays until somebody chooses anew; the packet says it.
            bit<16> choice;
            choices.read(choice, who);
            if (hdr.name.more[0:0] == 1) { choice = hdr.name.more; choices.write(who, choice); }
            hdr.name.more = choice;
            standard.egress_spec = (bit<9>)choice[3:0];
        } else if (hdr.name.kind == 3) {
            // A place that is held for a while.
            bit<200> holder;
            bit<48> last;
            holders.read(holder, 0);
            seen.read(last, 3);
            bit<200> its = hdr.name.said ++ 144w5 ++ hdr.name.who;
            if (holder == its) { seen.write(3, now); }
            else if (now - last > 2000) { holders.write(0, its); seen.write(3, now); standard.egress_spec = 2; }
            else { mark_to_drop(standard); }
        } else if (hdr.name.kind == 4) {
            // Signs, and one cell less another.
            int<16> balance;
            signed.read(balance, who);
            if (balance < 0) { standard.egress_spec = 2; }
            signed.write(who, balance - 16384);
            bit<48> one;
            bit<48> other;
            seen.read(one, 1);
            seen.read(other, 2);
            if (one - other < 1 << 47) { standard.egress_spec = standard.egress_spec + 4; }
        } else if (hdr.name.kind == 5) {
            hdr.name.said = now;
        } else if (hdr.name.kind == 6) {
            // Beyond the end.
            bit<32> count;
            packets.read(count, who + 2);
            packets.write(who + 2, 9);
            hdr.name.more = (bit<16>)count;
        } else if (hdr.name.kind == 7) {
            // A part of the time.
            bit<12> low = (bit<12>)now;
            if (low > 2000) { hdr.name.more = 1; }
        } else if (hdr.name.kind == 8) {
            // A sum that wraps before it gets more bits.
            bit<8> turn;
            turns.read(turn, who);
            turns.write(who, turn + 100);
            if ((bit<16>)(turn + 200) + 100 < 200) { standard.egress_spec = 2; }
        }",
    egress_declarations: "register<bit<48>>(1) last;",
    egress: "if (hdr.name.kind == 0) { last.write(0, meta.arrived + 1); }",
};

/// What is sent when, in microseconds.
type Arrivals = Vec<(u64, Vec<u8>)>;

fn arrivals(count: usize, numbers: &mut Rng) -> Arrivals {
    let mut now = 1000;
    let mut arrival = || {
        let longest = if numbers.u8(..8) == 0 { 4000 } else { 60 };
        now += numbers.u64(..longest);
        let (kind, who) = (numbers.u8(..9), numbers.u8(..3));
        let more = if numbers.u8(..20) == 0 { numbers.u16(..8) } else { 0 };
        let said = u64::from(numbers.u8(..2)) << 40;
        (now, [&[kind, who][..], &more.to_be_bytes(), &said.to_be_bytes()[2..], &[numbers.u8(..)]].concat())
    };
    (0..count).map(|_| arrival()).collect()
}

/// What left, what all cells have, and how many took known ways.
fn run(kind: BackendKind, arrivals: &Arrivals) -> (Sent, Vec<BigUint>, FlowStats) {
    let program = Arc::new(loader::load(&PROGRAM.text(), kind).unwrap_or_else(|error| panic!("{error}")));
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    for (now, packet) in arrivals {
        engine.receive(7, packet, now * 1000, &mut sent);
    }
    let device = &program.loaded.device;
    let registers = program.loaded.program.registers.iter();
    let cells = registers.flat_map(|(register, info)| {
        (0..info.size).map(move |index| device.register(register, index).expect("the register has the cell"))
    });
    (sent, cells.collect(), engine.traffic().flows)
}

#[test]
fn packets_leave_and_cells_change_as_if_each_packet_was_run() {
    let mut numbers = Rng::new();
    for _ in 0..6 {
        let seed = numbers.get_seed();
        let arrivals = arrivals(3000, &mut numbers);
        let (expected, cells, _) = run(BackendKind::Interpreter, &arrivals);
        for kind in [BackendKind::Flows, BackendKind::CheckedFlows] {
            let (sent, got, flows) = run(kind, &arrivals);
            let first = sent.0.iter().zip(&expected.0).position(|(sent, expected)| sent != expected);
            assert_eq!((sent.0.len(), first), (expected.0.len(), None), "{kind:?}, seed {seed}");
            assert_eq!(got, cells, "{kind:?}, seed {seed}");
            // Those that read the time into the packet, cut it or go beyond the end are not kept.
            assert!(flows.hits > 1000 && flows.kept_out > 200, "{flows:?}, seed {seed}");
        }
    }
}

#[test]
fn a_flow_has_a_way_for_each_of_the_few_things_that_registers_say() {
    // One kind of packet by itself, slow and fast in turn.
    let packet = |kind: u8| vec![kind, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let slow_and_fast = |round: u64| 10_000 * (1 + round / 2) + round % 2;
    let arrivals: Arrivals = (0..400).map(|round| (slow_and_fast(round), packet(0))).collect();
    let (_, _, flows) = run(BackendKind::Flows, &arrivals);
    assert!(flows.learned <= 4 && flows.hits >= 396, "{flows:?}");
    // A count is written without being asked for, and a cell that goes round 256 by 100 is less than 100 or not.
    let arrivals: Arrivals = (0..400).map(|round| (round, packet(1))).collect();
    let (_, cells, flows) = run(BackendKind::Flows, &arrivals);
    assert_eq!((flows.learned, flows.hits), (2, 398));
    assert!(cells.contains(&BigUint::from(400u32)));
}

#[test]
fn what_holds_by_the_packet_too_does_not_ask_the_time() {
    let program = V1model {
        ingress_declarations: "",
        // Where both hold, it is the second that a way can be kept for.
        ingress: "standard.egress_spec = 1;
            bit<200> none = 0;
            if ((3w4 <= (bit<3>)none || 8w56 < (bit<8>)standard.ingress_global_timestamp) || hdr.name.more != 0) {
                standard.egress_spec = 2;
            }",
        egress_declarations: "",
        egress: "",
        ..PROGRAM
    };
    for kind in [BackendKind::Flows, BackendKind::CheckedFlows] {
        let program = Arc::new(loader::load(&program.text(), kind).unwrap_or_else(|error| panic!("{error}")));
        let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
        let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
        for round in 0..300 {
            engine.receive(7, &[0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 77_000 * round, &mut sent);
        }
        drop(engine);
        let flows = traffic.flows;
        assert_eq!((flows.learned, flows.hits, flows.kept_out), (1, 299, 0), "{kind:?}");
    }
}

/// Has a register changed between ingress and egress of the next packet, as another thread or a controller may.
struct Between<'d> {
    sent: Sent,
    device: &'d Device,
    value: Cell<Option<u8>>,
}

impl Sink for Between<'_> {
    fn ready(&self, _port: u32) -> bool {
        if let Some(value) = self.value.take() {
            let register = self.device.program().registers.keys().next().expect("the program has one");
            self.device.set_register(register, 0, &value.into()).expect("the register has the cell");
        }
        true
    }

    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64) {
        self.sent.transmit(port, bytes, at);
    }

    fn message(&mut self, message: Message) {
        panic!("{message:?}");
    }
}

/// What packets leave as of which the first met a register that somebody else wrote between two blocks.
fn after_a_race(kind: BackendKind, ingress: &str, egress: &str) -> Sent {
    let program = V1model {
        declarations: "register<bit<8>>(1) shared;",
        ingress_declarations: "",
        ingress: &format!("standard.egress_spec = 1; bit<8> value; {ingress}"),
        egress_declarations: "",
        egress: &format!("bit<8> value; shared.read(value, 0); {egress}"),
        ..PROGRAM
    };
    let program = Arc::new(loader::load(&program.text(), kind).unwrap_or_else(|error| panic!("{error}")));
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    let device = &program.loaded.device;
    let mut sink = Between { sent: Sent::default(), device, value: Cell::new(Some(9)) };
    for now in 1..5 {
        engine.receive(7, &[0; 11], now * 1000, &mut sink);
        let register = device.program().registers.keys().next().expect("the program has one");
        device.set_register(register, 0, &BigUint::ZERO).expect("the register has the cell");
    }
    sink.sent
}

#[test]
fn no_way_is_kept_of_a_packet_for_which_somebody_else_changed_a_cell_meanwhile() {
    let asks = "shared.read(value, 0); if (value > 200) { standard.egress_spec = 3; }";
    let cases = [
        ("shared.write(0, 3);", "if (value == 3) { hdr.name.more = 33; } else { hdr.name.more = 99; }"),
        (asks, "if (value == 9) { hdr.name.more = 99; }"),
        (asks, "hdr.name.more = 8w0 ++ value;"),
    ];
    for (ingress, egress) in cases {
        let [expected, got] =
            [BackendKind::Interpreter, BackendKind::Flows].map(|kind| after_a_race(kind, ingress, egress));
        assert_ne!(expected.0[0], expected.0[1], "the race makes a difference");
        assert_eq!(got.0, expected.0, "{ingress} {egress}");
    }
}

#[test]
fn threads_that_take_known_ways_lose_no_packet_in_registers() {
    let program = Arc::new(loader::load(&PROGRAM.text(), BackendKind::Flows).unwrap_or_else(|error| panic!("{error}")));
    let device = &program.loaded.device;
    device.serve_threads();
    let packet = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const PACKETS: u32 = 50_000;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
                let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
                for _ in 0..PACKETS {
                    sent.0.clear();
                    engine.receive(7, &packet, 1000, &mut sent);
                }
                assert!(engine.traffic().flows.hits > u64::from(PACKETS) / 2);
            });
        }
    });
    let packets = program.loaded.program.registers.iter().find(|(_, info)| info.name.ends_with("packets"));
    let (packets, _) = packets.expect("the program has it");
    assert_eq!(device.register(packets, 1), Ok(BigUint::from(2 * PACKETS)));
}
