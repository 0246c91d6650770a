//! Whoever forwards between interfaces: each point is sent along each road in turn, so that all meet the same minute.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench::measure::listed;
use bench::traffic::{Ends, Outcome, QUIET};
use fastrand::Rng;

use crate::points::{self, Point};
use crate::road::Road;

/// The same as `traffic::QUIET` where nobody is held up for long, and there is much to measure.
const SHORT_QUIET: Duration = Duration::from_millis(15);
const FIRST_WITHIN: Duration = Duration::from_secs(10);
/// A loss may be the machine's: a rate is without loss if one of so many tries was.
const TRIES: usize = 2;
/// The generator may be held up for so much of its time.
const REACHED: f64 = 0.9;
/// A turn counts if something arrived, and nothing that was left of the turn before: after so many others it fails.
const TURNS: usize = 5;
const SEARCH_STEPS: usize = 7;
const SLOWEST: f64 = 500.0;

pub struct Effort {
    pub rounds: usize,
    pub seed: u64,
    /// How long a point takes in a round.
    pub millis: u64,
}

struct Candidate<'a> {
    road: &'a Road,
    ends: Ends,
    points: Vec<Point>,
    /// Of each point's frames, as they arrive.
    lengths: Vec<u64>,
}

fn open(roads: &[Road]) -> Result<Vec<Candidate<'_>>> {
    let mut candidates = vec![];
    for road in roads {
        let mut candidate =
            Candidate { road, ends: road.ends()?, points: points::read(&road.points)?, lengths: vec![] };
        for point in &candidate.points {
            let length = candidate.ends.wait_for_first(&point.packets, FIRST_WITHIN)?;
            candidate
                .lengths
                .push(length.with_context(|| format!("{}: no packet of {} arrives", road.name, point.name))?);
        }
        candidates.push(candidate);
    }
    Ok(candidates)
}

/// Each candidate's points, every one once in a round, in an order that is drawn anew: whoever has a point takes turns at
/// it, so that all meet the same moment of the machine. The first candidate has all points.
fn in_turns(
    candidates: &mut [Candidate<'_>],
    effort: &Effort,
    mut measure: impl FnMut(usize, usize, &Road, &mut Ends, &Point) -> Result<()>,
) -> Result<()> {
    let mut numbers = Rng::with_seed(effort.seed);
    let mut turns: Vec<usize> = (0..candidates.len()).collect();
    let mut names: Vec<String> =
        candidates.first().map_or(vec![], |first| first.points.iter().map(|point| point.name.clone()).collect());
    for _ in 0..effort.rounds {
        numbers.shuffle(&mut names);
        for name in &names {
            numbers.shuffle(&mut turns);
            for &number in &turns {
                let candidate = &mut candidates[number];
                if let Some(index) = candidate.points.iter().position(|point| point.name == *name) {
                    measure(number, index, candidate.road, &mut candidate.ends, &candidate.points[index])?;
                }
            }
        }
    }
    Ok(())
}

#[derive(Clone, Default)]
struct Flooded {
    rates: Vec<f64>,
    all: Vec<f64>,
    process: Vec<f64>,
}

/// Sends more than can pass; packets that arrive, by second, and processor time for each of them. Rounds of warm-up do not
/// count: in these, who keeps ways of flows learns them.
pub fn flood(roads: &[Road], warm_up: usize, effort: &Effort) -> Result<()> {
    let mut candidates = open(roads)?;
    let lengths: Vec<_> = candidates.iter().map(|candidate| candidate.lengths.clone()).collect();
    let mut taken: Vec<Vec<Flooded>> =
        candidates.iter().map(|candidate| vec![Flooded::default(); candidate.points.len()]).collect();
    let duration = Duration::from_millis(effort.millis);
    in_turns(&mut candidates, &Effort { rounds: warm_up, ..*effort }, |number, index, road, ends, point| {
        turn(road, ends, point, lengths[number][index], duration).map(drop)
    })?;
    in_turns(&mut candidates, effort, |number, index, road, ends, point| {
        let (outcome, process) = turn(road, ends, point, lengths[number][index], duration)?;
        let each = 1e9 / outcome.received as f64;
        let taken = &mut taken[number][index];
        taken.rates.push(outcome.received as f64 / outcome.passing.as_secs_f64());
        taken.all.push((outcome.processor_time + process).as_secs_f64() * each);
        taken.process.push(process.as_secs_f64() * each);
        Ok(())
    })?;
    println!("road,point,octets_out,rate,ns,ns_process");
    for (candidate, taken) in candidates.iter().zip(taken) {
        for ((point, length), taken) in candidate.points.iter().zip(&candidate.lengths).zip(taken) {
            println!(
                "{},{},{length},{},{},{}",
                candidate.road.name,
                point.name,
                listed(&taken.rates),
                listed(&taken.all),
                listed(&taken.process)
            );
        }
    }
    Ok(())
}

/// What came of a flood, and what the candidate's process took for it.
fn turn(road: &Road, ends: &mut Ends, point: &Point, length: u64, duration: Duration) -> Result<(Outcome, Duration)> {
    for _ in 0..TURNS {
        let before = road.processor_time()?;
        let outcome = ends.drive(&point.packets, f64::INFINITY, duration, SHORT_QUIET)?;
        let process = road.processor_time()?.since(&before);
        if outcome.received > 0 && outcome.octets == outcome.received * length {
            return Ok((outcome, process));
        }
    }
    bail!("{}: {} is not forwarded, or not only it", road.name, point.name)
}

/// The greatest rate without loss that a search by halves finds.
pub fn lossless(roads: &[Road], effort: &Effort, most: f64) -> Result<()> {
    let mut candidates = open(roads)?;
    let mut found: Vec<Vec<Vec<f64>>> =
        candidates.iter().map(|candidate| vec![vec![]; candidate.points.len()]).collect();
    in_turns(&mut candidates, effort, |number, index, _, ends, point| {
        let (mut low, mut high) = (SLOWEST, most);
        for _ in 0..SEARCH_STEPS {
            let guess = (low * high).sqrt();
            match without_loss(ends, point, guess, Duration::from_millis(effort.millis))? {
                Some(rate) => low = rate.max(low),
                None => high = guess,
            }
        }
        found[number][index].push(low);
        Ok(())
    })?;
    println!("road,point,rate");
    for (candidate, found) in candidates.iter().zip(found) {
        for (point, found) in candidate.points.iter().zip(found) {
            println!("{},{},{}", candidate.road.name, point.name, listed(&found));
        }
    }
    Ok(())
}

/// The rate that was reached, if no packet was lost at it.
fn without_loss(ends: &mut Ends, point: &Point, rate: f64, duration: Duration) -> Result<Option<f64>> {
    for _ in 0..TRIES {
        let outcome = ends.drive(&point.packets, rate, duration, QUIET)?;
        if outcome.sent == outcome.received && outcome.rate > REACHED * rate {
            return Ok(Some(outcome.rate));
        }
    }
    Ok(None)
}
