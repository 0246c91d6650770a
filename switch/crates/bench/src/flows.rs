//! What it brings to keep the ways of packets, and what it costs where that is for nothing: the edge program with code for
//! what its tables hold, with and without.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};
use bench::measure::{Contestant, Effort, Rates, short, thread_time};
use fastrand::Rng;
use ir::TableId;
use pipeline::{BackendKind, DEFAULT_WAYS, Engine, FlowStats, Loaded, Traffic};

use crate::edge;
use crate::forwarding::{BURST, Last};
use crate::goals::{self, Goals};
use crate::packets::{ROUTES, packets, routes};
use crate::scenes;

/// Packets of a stream, sent again and again; those of a flood never come again.
pub const PACKETS: usize = 1 << 14;

/// Where ways are learned in vain, so much of the rate without them must be left.
const LEAST_OF_A_FLOOD: f64 = 0.95;

/// Packets in which another way is learned, if any is.
const ROUND: u64 = 1 << 17;
const ROUNDS: usize = 96;
/// After the last write it is waited no longer than for so many rounds until packets take known ways again.
const MOST_ROUNDS: u64 = 200;
/// A write for so many packets: some thousand a second.
const PACKETS_A_WRITE: usize = 1 << 10;

/// Packets from one side, of so many flows in turn.
struct Stream {
    name: &'static str,
    flows: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    /// Each packet has a length of its own.
    Lengths,
    /// No flow comes twice.
    Flood,
    /// Somebody writes to the table meanwhile.
    Writes(&'static str),
}

const STREAMS: [Stream; 7] = [
    Stream { name: "16 flows", flows: 16, kind: Kind::Plain },
    Stream { name: "1024 flows", flows: 1024, kind: Kind::Plain },
    Stream { name: "8192 flows", flows: 8192, kind: Kind::Plain },
    Stream { name: "flood", flows: PACKETS, kind: Kind::Flood },
    Stream { name: "lengths", flows: 1024, kind: Kind::Lengths },
    // Routed packets do not look into the first, and do into the second.
    Stream { name: "far writes", flows: 1024, kind: Kind::Writes("paths") },
    Stream { name: "near writes", flows: 1024, kind: Kind::Writes("neighbours") },
];

/// What came of a stream.
#[derive(Default)]
pub struct Outcome {
    rates: Rates,
    stats: FlowStats,
    /// To learn its ways, in all draws.
    took: Duration,
    /// Of each draw of a stream with writes: packets after the last one until nine of ten took a known way, and how long
    /// that took.
    recovered: Vec<(u64, Duration)>,
}

/// What is sent in turn, by which port.
pub struct Sent {
    pub packets: Vec<(u32, Vec<u8>)>,
    pub is_flood: bool,
    /// The table that is written meanwhile.
    pub written: Option<TableId>,
}

pub fn run(p4src: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    println!("ways of packets: the edge program, {ROUTES} routes, code for what its tables hold, {DEFAULT_WAYS} ways");
    let program = edge::load(p4src, BackendKind::Jit, &[])?;
    let mut outcomes: [Outcome; STREAMS.len()] = Default::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let routes = routes(ROUTES, &mut numbers);
        // One for all: where tables lie in memory makes a difference of some percent.
        let loaded = program.fresh().map_err(|error| anyhow!("{error}"))?;
        edge::fill(&loaded, &routes)?;
        specialise(&loaded, None)?;
        for (stream, outcome) in STREAMS.iter().zip(&mut outcomes) {
            let mut firsts = packets(&routes, stream.flows, &mut numbers);
            if stream.kind == Kind::Lengths {
                firsts = (0..PACKETS).map(|at| with_length(&firsts[at % stream.flows], &mut numbers)).collect();
            }
            let written = match stream.kind {
                Kind::Writes(name) => Some(table(&loaded, name)?),
                _ => None,
            };
            if written.is_some() {
                specialise(&loaded, written)?;
            }
            let packets = firsts.into_iter().map(|packet| (0, packet)).collect();
            let sent = Sent { packets, is_flood: stream.kind == Kind::Flood, written };
            contest([&loaded; 2], &sent, effort, &mut numbers, outcome)?;
        }
    }
    for (stream, outcome) in STREAMS.iter().zip(&outcomes) {
        print(stream.name, outcome, effort.draws as u32);
        if stream.kind == Kind::Flood {
            let left = outcome.rates.ratio("with", "without").median;
            goals.at_least(LEAST_OF_A_FLOOD, "flood, with flow cache / without", left, goals::ratio);
        }
    }
    scenes::run(p4src, &program, effort)
}

/// The packet with a payload of some length.
fn with_length(packet: &[u8], numbers: &mut Rng) -> Vec<u8> {
    let payload = numbers.u16(8..1400);
    let mut packet = packet.to_vec();
    packet[18..20].copy_from_slice(&payload.to_be_bytes());
    packet.resize(54 + usize::from(payload), 0);
    packet
}

fn table(loaded: &Loaded, name: &str) -> Result<TableId> {
    let mut tables = loaded.program.tables.iter();
    let found = tables.find(|(_, table)| table.name.rsplit('.').next() == Some(name));
    found.map(|(id, _)| id).ok_or_else(|| anyhow!("the edge program has no table {name}"))
}

/// As the switch does by itself once its tables stand still, but for one that never does.
pub fn specialise(loaded: &Loaded, restless: Option<TableId>) -> Result<()> {
    let holdings = loaded.device.holdings(&|table| Some(table) != restless);
    let installed = loaded.specialise_for(&holdings).map_err(|error| anyhow!("{error}"))?;
    ensure!(installed, "nobody writes to the tables meanwhile");
    Ok(())
}

/// One draw of a stream: without ways, with them, and without them once more, which shows how far rates of the same differ.
/// Where somebody writes meanwhile, also how soon ways are taken again after the last write.
pub fn contest(
    [plain, keeping]: [&Loaded; 2],
    sent: &Sent,
    effort: Effort,
    numbers: &mut Rng,
    outcome: &mut Outcome,
) -> Result<()> {
    let devices = [plain, keeping, plain].map(|loaded| &loaded.device);
    let [mut plain_traffic, mut keeping_traffic, mut control_traffic]: [Traffic; 3] = Default::default();
    let mut engines = [
        Engine::new(plain, &mut plain_traffic, 1),
        Engine::new(keeping, &mut keeping_traffic, 1),
        Engine::new(plain, &mut control_traffic, 1),
    ];
    let [plain, keeping, control] = &mut engines;
    keeping.keep_flows(DEFAULT_WAYS);
    for (port, packet) in sent.packets.iter().cycle().take(4096) {
        let [expected, got] = [&mut *plain, &mut *keeping].map(|engine| {
            let mut last = Last::default();
            engine.receive(*port, packet, 0, &mut last);
            last
        });
        ensure!(got == expected, "a way that is kept is not that of {packet:02x?}");
    }
    let learning = Instant::now();
    learn(keeping, devices[1], sent);
    outcome.took += learning.elapsed();
    let before = keeping.traffic().flows;
    let contestants = vec![
        Contestant::new("without", work(plain, devices[0], sent)),
        Contestant::new("with", work(keeping, devices[1], sent)),
        Contestant::new("control", work(control, devices[2], sent)),
    ];
    outcome.rates.take_turns(effort, numbers, contestants);
    let mut stats = keeping.traffic().flows;
    // How many took a known way is asked of the time when they were learned.
    stats.hits -= before.hits;
    stats.misses -= before.misses;
    stats.passed -= before.passed;
    outcome.stats.add(&stats);
    if sent.written.is_some() {
        outcome.recovered.push(recover(keeping, devices[1], sent)?);
    }
    Ok(())
}

/// Sends the packets without writes until nine of ten take a known way.
fn recover(engine: &mut Engine<'_>, device: &runtime::Device, sent: &Sent) -> Result<(u64, Duration)> {
    let still = Sent { packets: sent.packets.clone(), is_flood: false, written: None };
    let (start, mut count) = (thread_time(), 0);
    while count < MOST_ROUNDS * ROUND {
        let before = engine.traffic().flows.hits;
        let sent = work(engine, device, &still)();
        count += sent;
        if (engine.traffic().flows.hits - before) * 10 >= sent * 9 {
            return Ok((count, thread_time() - start));
        }
    }
    bail!("after {count} packets without a write, fewer than nine of ten take a known way")
}

pub fn print(name: &str, Outcome { rates, stats, took, recovered }: &Outcome, draws: u32) {
    for (contestant, rate) in rates.spreads() {
        let each = 1e9 / rate.median;
        println!("  {name:12} {contestant:8} {:>10}packets/s  {each:6.0} ns each", short(rate.median));
    }
    println!("  {name:12} with / without    {}", rates.ratio("with", "without"));
    println!("  {name:12} control / without {}", rates.ratio("control", "without"));
    let all = stats.hits + stats.misses + stats.passed;
    let share = 100.0 * stats.hits as f64 / all as f64;
    let learned = stats.learned / u64::from(draws);
    println!("  {name:12} {share:.1} % took a way that was known; {learned} learned, {:.1?} at first", *took / draws);
    if let (Some(least), Some(most)) = (recovered.iter().min(), recovered.iter().max()) {
        let [least, most] =
            [least, most].map(|(packets, took)| format!("{}packets, {took:.1?}", short(*packets as f64)));
        println!("  {name:12} 90 % take known ways again after {least} to {most}");
    }
}

/// Sends the packets until no more ways are learned, or they would never be.
fn learn(engine: &mut Engine<'_>, device: &runtime::Device, sent: &Sent) {
    for _ in 0..ROUNDS {
        let before = engine.traffic().flows.learned;
        let mut send = work(engine, device, sent);
        let mut count = 0;
        while count < ROUND {
            count += send();
        }
        drop(send);
        if engine.traffic().flows.learned == before || sent.written.is_some() {
            return;
        }
    }
}

/// Sends the packets in turn. In a flood each comes from another host each time.
fn work<'a>(engine: &'a mut Engine<'_>, device: &'a runtime::Device, sent: &'a Sent) -> impl FnMut() -> u64 + 'a {
    let mut now = 0;
    let mut packet = Vec::new();
    let mut number = 0u64;
    move || {
        let mut last = Last::default();
        for (burst, packets) in sent.packets.chunks(BURST).enumerate() {
            now += 1000;
            if let Some(table) = sent.written
                && (burst * BURST).is_multiple_of(PACKETS_A_WRITE)
            {
                device.reset_default(table).expect("the program's own default action");
            }
            for (port, one) in packets {
                packet.clear();
                packet.extend_from_slice(one);
                if sent.is_flood {
                    number += 1;
                    // The destination's low half.
                    packet[46..54].copy_from_slice(&number.to_be_bytes());
                }
                engine.receive(*port, &packet, now, &mut last);
            }
        }
        sent.packets.len() as u64
    }
}
