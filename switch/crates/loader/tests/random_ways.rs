//! Random programs that compute with registers, the time and the packet, and look into tables: what leaves, what cells have and what
//! is counted is the same whether ways are known or not.

#[path = "random_ways/program.rs"]
mod program;
mod sent;
mod v1model;

use std::sync::Arc;

use fastrand::Rng;
use pipeline::{BackendKind, Engine, FlowStats, Traffic};
use runtime::{BigUint, CounterData, Device};

use self::program::Registers;
use self::sent::Sent;

const PROGRAMS: usize = 60;
const EVENTS: usize = 300;

/// What happens, in order.
enum Event {
    /// At a microsecond, by one of two engines.
    Packet { at: u64, engine: usize, bytes: Vec<u8> },
    /// A controller sets a cell of a register.
    Write { register: usize, index: u64, value: BigUint },
}

/// Packets of a few flows at random times, often soon and sometimes late behind one another.
fn events(registers: &Registers, numbers: &mut Rng) -> Vec<Event> {
    let mut at = match numbers.u8(..4) {
        0 => (1 << 48) - numbers.u64(..3000),
        1 => 0,
        _ => numbers.u64(..1 << 34),
    };
    let steps = [3, 50, 40_000, 1 << 40][numbers.usize(..4)];
    let flows: Vec<Vec<u8>> = (0..numbers.usize(1..4)).map(|_| packet(numbers)).collect();
    let mut event = || {
        if numbers.u8(..60) == 0 {
            let register = numbers.usize(..registers.0.len());
            let declared = &registers.0[register];
            let value = if numbers.bool() { numbers.u64(..4) } else { numbers.u64(..) };
            let value = BigUint::from(value) % (BigUint::from(1u8) << declared.width);
            return Event::Write { register, index: numbers.u64(..declared.size), value };
        }
        at += if numbers.u8(..20) == 0 { numbers.u64(..1 << 47) } else { numbers.u64(..steps) };
        Event::Packet {
            at,
            engine: usize::from(numbers.u8(..4) == 0),
            bytes: flows[numbers.usize(..flows.len())].clone(),
        }
    };
    (0..EVENTS).map(|_| event()).collect()
}

/// Of the header that programs have, and a payload.
fn packet(numbers: &mut Rng) -> Vec<u8> {
    let last = match numbers.u8(..3) {
        0 => numbers.u64(..4),
        1 => u64::MAX - numbers.u64(..3),
        _ => numbers.u64(..),
    };
    let middle = if numbers.bool() { numbers.u64(..9) } else { numbers.u64(..) };
    let payload = vec![0; numbers.usize(..8)];
    let fields =
        [&[numbers.u8(..3)][..], &numbers.u16(..4).to_be_bytes(), &middle.to_be_bytes()[2..], &last.to_be_bytes()];
    [&fields.concat(), &[0; 2][..], &payload].concat()
}

/// After an event.
#[derive(Debug, PartialEq)]
struct After {
    sent: Vec<(u32, Vec<u8>)>,
    cells: Vec<BigUint>,
}

/// What a run comes to.
#[derive(Debug, PartialEq)]
struct Outcome {
    after: Vec<After>,
    counted: Vec<CounterData>,
}

fn run(text: &str, kind: BackendKind, events: &[Event]) -> (Outcome, FlowStats) {
    let program = Arc::new(loader::load(text, kind).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let device = &program.loaded.device;
    let registers: Vec<_> = program.loaded.program.registers.iter().map(|(id, info)| (id, info.size)).collect();
    let mut traffic: [Traffic; 2] = Default::default();
    let mut engines = traffic.each_mut().map(|traffic| Engine::new(&program.loaded, traffic, 1));
    let mut after = vec![];
    for event in events {
        let mut sent = Sent::default();
        match event {
            Event::Packet { at, engine, bytes } => engines[*engine].receive(7, bytes, at * 1000, &mut sent),
            Event::Write { register, index, value } => {
                device.set_register(registers[*register].0, *index, value).expect("the cell takes it");
            }
        }
        let cells = registers.iter().flat_map(|(id, size)| (0..*size).map(move |index| device.register(*id, index)));
        let cells = cells.map(|cell| cell.expect("the register has the cell")).collect();
        after.push(After { sent: sent.0, cells });
    }
    engines.iter_mut().for_each(Engine::idle);
    let mut flows = FlowStats::default();
    engines.iter_mut().for_each(|engine| flows.add(&engine.traffic().flows));
    (Outcome { after, counted: counted(device) }, flows)
}

/// By all entries and cells.
fn counted(device: &Device) -> Vec<CounterData> {
    let program = device.program();
    let cells =
        program.counters.iter().flat_map(|(id, info)| (0..info.size).map(move |index| device.counter(id, index)));
    let mut all: Vec<CounterData> = cells.map(|cell| cell.expect("the counter has the cell")).collect();
    for table in program.tables.keys() {
        all.extend(device.default_entry(table).expect("the table has one").counter);
        all.extend(device.entries(table, u64::MAX >> 1).iter().filter_map(|entry| entry.counter));
    }
    all
}

#[test]
fn random_programs_do_the_same_whether_ways_are_known_or_not() {
    let mut hits = 0;
    for _ in 0..PROGRAMS {
        let seed = fastrand::u64(..);
        let mut numbers = Rng::with_seed(seed);
        let (text, registers) = program::random(&mut numbers);
        let events = events(&registers, &mut numbers);
        let (expected, _) = run(&text, BackendKind::Interpreter, &events);
        for kind in [BackendKind::Flows, BackendKind::CheckedFlows] {
            let (got, flows) = run(&text, kind, &events);
            let first = got.after.iter().zip(&expected.after).position(|(got, expected)| got != expected);
            assert!(
                got == expected,
                "{kind:?} differs from the interpreter, first after event {first:?}; seed {seed}\n{text}"
            );
            hits += flows.hits;
        }
    }
    assert!(hits > (PROGRAMS * EVENTS) as u64 / 20, "{hits} packets took known ways");
}
