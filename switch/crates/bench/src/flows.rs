//! What it brings to keep the ways of packets, and what it costs where that is for nothing: the edge program with code for
//! what its tables hold, with and without.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bench::measure::{Contestant, Effort, Rates, short};
use pipeline::{BackendKind, Engine, FlowStats, Loaded, Traffic};

use crate::edge;
use crate::forwarding::{BURST, Last, specialise};
use crate::packets::{ROUTES, packets, routes};

/// Ways that are kept at most.
const WAYS: usize = 1 << 14;
/// Packets of a stream, sent again and again; those of a flood never come again.
const PACKETS: usize = 1 << 14;

/// Packets in which another way is learned, if any is.
const ROUND: u64 = 1 << 19;
const ROUNDS: usize = 16;

/// Packets of so many flows in turn, drawn anew in each draw.
const STREAMS: [(&str, usize); 4] = [("16 flows", 16), ("1024 flows", 1024), ("8192 flows", 8192), ("flood", PACKETS)];

pub fn run(p4src: &Path, effort: Effort) -> Result<()> {
    let mut rates: [Rates; STREAMS.len()] = Default::default();
    let mut took = [Duration::ZERO; STREAMS.len()];
    let mut stats = [FlowStats::default(); STREAMS.len()];
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let routes = routes(ROUTES, &mut numbers);
        let load = || -> Result<Loaded> {
            let loaded = edge::load(p4src, BackendKind::Jit, &routes)?;
            specialise(&loaded)?;
            Ok(loaded)
        };
        let (plain, keeping) = (load()?, load()?);
        for (place, (_, flows)) in STREAMS.into_iter().enumerate() {
            let firsts = packets(&routes, flows, &mut numbers);
            let is_flood = flows == PACKETS;
            let [mut plain_traffic, mut keeping_traffic]: [Traffic; 2] = Default::default();
            let mut plain = Engine::new(&plain, &mut plain_traffic, 1);
            let mut keeping = Engine::new(&keeping, &mut keeping_traffic, 1);
            keeping.keep_flows(WAYS);
            for packet in firsts.iter().cycle().take(PACKETS.min(4096)) {
                let [expected, got] = [&mut plain, &mut keeping].map(|engine| {
                    let mut last = Last::default();
                    engine.receive(0, packet, 0, &mut last);
                    last
                });
                ensure!(got == expected, "a way that is kept is not that of {packet:02x?}");
            }
            let learned = Instant::now();
            learn(&mut keeping, &firsts, is_flood);
            took[place] += learned.elapsed();
            let contestants = vec![
                Contestant::new("without", work(&mut plain, &firsts, is_flood)),
                Contestant::new("with", work(&mut keeping, &firsts, is_flood)),
            ];
            rates[place].take_turns(effort, &mut numbers, contestants);
            stats[place].add(&keeping.traffic().flows);
        }
    }
    let draws = effort.draws as u32;
    println!("ways of packets: the edge program, {ROUTES} routes, code for what its tables hold, {WAYS} ways");
    for ((((name, _), rates), stats), took) in STREAMS.iter().zip(&rates).zip(stats).zip(took) {
        for (contestant, rate) in rates.spreads() {
            let each = 1e9 / rate.median;
            println!("  {name:10} {contestant:8} {:>10}packets/s  {each:6.0} ns each", short(rate.median));
        }
        println!("  {name:10} with / without {}", rates.ratio("with", "without"));
        let all = stats.hits + stats.misses + stats.passed;
        let share = 100.0 * stats.hits as f64 / all as f64;
        let learned = stats.learned / u64::from(draws);
        println!("  {name:10} {share:.1} % took a way that was known; {learned} learned within {:.1?}", took / draws);
    }
    Ok(())
}

/// Sends the packets until no more ways are learned, or they would never be.
fn learn(engine: &mut Engine<'_>, packets: &[Vec<u8>], is_flood: bool) {
    for _ in 0..ROUNDS {
        let before = engine.traffic().flows.learned;
        let mut send = work(engine, packets, is_flood);
        let mut sent = 0;
        while sent < ROUND {
            sent += send();
        }
        drop(send);
        if engine.traffic().flows.learned == before {
            return;
        }
    }
}

/// Sends the packets in turn. In a flood each comes from another host each time.
fn work<'a>(engine: &'a mut Engine<'_>, packets: &'a [Vec<u8>], is_flood: bool) -> impl FnMut() -> u64 + 'a {
    let mut now = 0;
    let mut packet = Vec::new();
    let mut number = 0u64;
    move || {
        let mut last = Last::default();
        for burst in packets.chunks(BURST) {
            now += 1000;
            for one in burst {
                packet.clear();
                packet.extend_from_slice(one);
                if is_flood {
                    number += 1;
                    // The destination's low half.
                    packet[46..54].copy_from_slice(&number.to_be_bytes());
                }
                engine.receive(0, &packet, now, &mut last);
            }
        }
        packets.len() as u64
    }
}
