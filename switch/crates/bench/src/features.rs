//! Packets per second of the whole edge in memory, feature by feature, beside the loop by hand that only routes.

mod crowd;
mod segments;
mod sessions;
mod translated;

use std::path::Path;

use anyhow::{Result, anyhow};
use bench::measure::{Contestant, Effort, Rates, Spread, short};
use pipeline::{BackendKind, DEFAULT_WAYS, Engine, Loaded, Traffic};
use stf::script;

use crate::goals::{Goals, ratio};
use crate::handwritten::Router;
use crate::learning::Learned;
use crate::packets::{PACKETS, ROUTES, Route, packets, routes};
use crate::{edge, flows, forwarding, scenes};
use crowd::Crowd;

const BY_HAND: &str = "by hand";
/// What the loop by hand made on the machine for which the rates below are wanted; elsewhere they are in proportion.
const BY_HAND_THERE: f64 = 18.4e6;
/// The features and what is wanted of each, packets a second.
const ROUTED: [(&str, usize, f64); 3] =
    [("routed only", 0, 5.0e6), ("3 segments", 3, 4.0e6), ("36 segments", 36, 3.0e6)];
const CROWDS: [&str; 3] = ["sessions", "NPTv6 flows", "schedule with feedback"];
const NAMES: [&str; 6] = [ROUTED[0].0, ROUTED[1].0, ROUTED[2].0, CROWDS[0], CROWDS[1], CROWDS[2]];
/// Without ways of packets that are kept.
const UNCACHED: &str = ", no flow cache";
const LEAST_OF_A_CROWD: f64 = 2.5e6;
const MEMBERS: u32 = 4096;

const FEW: u32 = 64;
const MANY: u32 = 1_000_000;
/// A packet of one of a million may take so many times as long as one of few.
const MOST_OF_A_MILLION: f64 = 1.3;

pub fn run(p4src: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    println!(
        "features in memory: the edge program, {ROUTES} routes, or {MEMBERS} sessions or flows, one core, \
         a flow cache of {DEFAULT_WAYS} ways, learned before"
    );
    let program = edge::load(p4src, BackendKind::Jit, &[])?;
    let crowds = [
        sessions::plain(p4src, &program, MEMBERS)?,
        translated::flows(p4src, &program, MEMBERS)?,
        sessions::scheduled(p4src, &program, MEMBERS)?,
    ];
    crowds.iter().try_for_each(|crowd| crowd.ports().map(drop))?;
    let (mut rates, mut learned) = (Rates::default(), [Learned::default(); NAMES.len()]);
    for draw in 0..effort.draws {
        measure(&program, &crowds, effort, draw, &mut rates, &mut learned)?;
    }
    for (name, rate) in rates.spreads().filter(|(name, _)| *name != BY_HAND) {
        let each = 1e9 / rate.median;
        let (median, around) = (short(rate.median), rate.around(short));
        println!("  edge {name:38} {median:>10}packets/s  {each:6.0} ns each  ({around})");
    }
    for (name, learned) in NAMES.iter().zip(learned) {
        println!("  {name}: {learned}");
    }
    let by_hand = rates.of(BY_HAND);
    println!("  routing by hand {:>21}packets/s  ({})", short(by_hand.median), by_hand.around(short));
    println!("  in proportion, where routing by hand makes {}packets/s:", short(BY_HAND_THERE));
    let wanted = ROUTED.map(|(name, _, least)| (name, least)).into_iter();
    for (name, least) in wanted.chain(CROWDS.map(|name| (name, LEAST_OF_A_CROWD))) {
        let rate = rates.ratio(name, BY_HAND).times(BY_HAND_THERE);
        println!("  {name:27} {:>10}packets/s  ({})", short(rate.median), rate.around(short));
        goals.at_least(least, format!("edge, {name}, packets a second in proportion"), rate.median, short);
    }
    Ok(())
}

/// One draw: each feature once, and the loop by hand.
fn measure(
    program: &Loaded,
    crowds: &[Crowd],
    effort: Effort,
    draw: usize,
    rates: &mut Rates,
    learned: &mut [Learned],
) -> Result<()> {
    let mut numbers = effort.numbers(draw);
    let routes = routes(ROUTES, &mut numbers);
    let packets = packets(&routes, PACKETS, &mut numbers);
    let routed = ROUTED.map(|(_, segments, _)| routed(program, &routes, segments, &mut numbers));
    let routed = routed.into_iter().collect::<Result<Vec<_>>>()?;
    let drawn: Vec<Vec<u32>> = crowds.iter().map(|crowd| crowd.draw(&mut numbers)).collect();
    let mut traffic: [[Traffic; 2]; NAMES.len()] = Default::default();
    let programs = routed.iter().chain(crowds.iter().map(|crowd| &crowd.loaded));
    let mut engines: Vec<[Engine<'_>; 2]> = programs
        .zip(&mut traffic)
        .map(|(loaded, traffic)| traffic.each_mut().map(|traffic| Engine::new(loaded, traffic, 1)))
        .collect();
    let mut router = Router::new(&routes);
    let work = forwarding::work_by_hand(&mut router, Router::route, &packets);
    let mut contestants = vec![Contestant::new(BY_HAND, work)];
    for (number, ([cached, uncached], learned)) in engines.iter_mut().zip(learned).enumerate() {
        cached.keep_flows(DEFAULT_WAYS);
        learned.learn(cached, |engine| send(engine, number, &packets, crowds, &drawn));
        contestants.push(Contestant::new(NAMES[number], send(cached, number, &packets, crowds, &drawn)));
        let name = format!("{}{UNCACHED}", NAMES[number]);
        contestants.push(Contestant::new(name, send(uncached, number, &packets, crowds, &drawn)));
    }
    rates.take_turns(effort, &mut numbers, contestants);
    Ok(())
}

/// The packets of a feature, by its number.
fn send<'a>(
    engine: &'a mut Engine<'_>,
    number: usize,
    packets: &'a [Vec<u8>],
    crowds: &'a [Crowd],
    drawn: &'a [Vec<u32>],
) -> Box<dyn FnMut() -> u64 + 'a> {
    match number.checked_sub(ROUTED.len()) {
        None => Box::new(forwarding::engine_work(engine, packets)),
        Some(crowd) => Box::new(crowds[crowd].work(engine, &drawn[crowd])),
    }
}

/// The edge with routes, and segments for what they lead to.
fn routed(program: &Loaded, routes: &[Route], segments: usize, numbers: &mut fastrand::Rng) -> Result<Loaded> {
    let loaded = program.fresh().map_err(|error| anyhow!("{error}"))?;
    edge::fill(&loaded, routes)?;
    if segments > 0 {
        let lines = script::parse(&segments::entries(segments, routes, numbers)).map_err(|error| anyhow!("{error}"))?;
        scenes::fill(&loaded, &lines)?;
    }
    flows::specialise(&loaded, None)?;
    Ok(loaded)
}

/// What a million sessions or flows cost, of which any may be next, against few.
pub fn run_million(p4src: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    println!("{MANY} sessions or flows at random against {FEW}: the edge program in memory, one core");
    let program = edge::load(p4src, BackendKind::Jit, &[])?;
    let kinds: [(&str, [Crowd; 2]); 2] = [
        ("sessions", [sessions::plain(p4src, &program, FEW)?, sessions::plain(p4src, &program, MANY)?]),
        ("flows", [translated::flows(p4src, &program, FEW)?, translated::flows(p4src, &program, MANY)?]),
    ];
    let names = |kind: &str| [FEW, MANY].map(|count| format!("{count} {kind}"));
    let mut rates = Rates::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let crowds: Vec<(String, &Crowd, Vec<u32>)> = kinds
            .iter()
            .flat_map(|(kind, crowds)| names(kind).into_iter().zip(crowds))
            .map(|(name, crowd)| (name, crowd, crowd.draw(&mut numbers)))
            .collect();
        let mut traffic: [Traffic; 4] = Default::default();
        let mut engines: Vec<Engine<'_>> =
            crowds.iter().zip(&mut traffic).map(|((_, crowd, _), traffic)| crowd.engine(traffic)).collect();
        let contestants = crowds
            .iter()
            .zip(&mut engines)
            .map(|((name, crowd, drawn), engine)| Contestant::new(name.clone(), crowd.work(engine, drawn)))
            .collect();
        rates.take_turns(effort, &mut numbers, contestants);
    }
    for (name, rate) in rates.spreads() {
        let each = 1e9 / rate.median;
        println!("  {name:18} {:>10}packets/s  {each:6.0} ns each  ({})", short(rate.median), rate.around(short));
    }
    for (kind, _) in &kinds {
        let [few, many] = names(kind);
        let times: Spread = rates.ratio(&few, &many);
        println!("  time of {many} / {few} {times}");
        goals.at_most(MOST_OF_A_MILLION, format!("time of {many} / {few}"), times.median, ratio);
    }
    Ok(())
}
