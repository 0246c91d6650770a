//! How long a packet takes when no other is under way: whoever forwards may sleep before each, unless it polls busily. And how
//! much of a processor that takes.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bench::measure::{Effort, Spread, percentile};
use bench::traffic::{GENERATOR, ProcessTime, pinned};
use fastrand::Rng;

use super::contestants::{Kind, Running};
use super::in_turns;
use crate::goals::Goals;

pub const WHAT: &str = "latency of a lone packet above the kernel's";
/// Microseconds of `--busy-poll`: longer than packets are apart.
pub const BUSY_POLL: u32 = 1000;
/// Microseconds above the kernel's.
const MOST_ABOVE: f64 = 10.0;
/// In each draw.
const PACKETS: usize = 1000;
/// Microseconds from an arrival to the next packet.
const PAUSE: std::ops::Range<u64> = 100..500;
/// So many may be lost: another program may hold the processor for longer than is waited.
const MOST_LOST: usize = PACKETS / 100;
const TAIL: f64 = 0.999;

/// Without a packet: long enough for a switch that polls busily to fall asleep, and for what its threads do by the clock.
const IDLE: Duration = Duration::from_millis(500);

/// One contestant's draws.
#[derive(Clone, Default)]
struct Passes {
    /// Microseconds, of each draw.
    medians: Vec<f64>,
    /// Of each packet.
    times: Vec<f64>,
    /// Of one processor, the process's part while nothing comes and while packets pass; the kernel has none.
    idle: Vec<f64>,
    passing: Vec<f64>,
}

/// Each contestant in turn, with the same packets in a draw.
pub fn measure(kinds: &[Kind], programs: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    if !kinds.iter().any(Kind::is_ours) {
        goals.unmeasured(WHAT, "wayname-switch is not built");
    }
    let mut passes = vec![Passes::default(); kinds.len()];
    let mut turn = 0;
    in_turns(kinds, programs, effort, |index, running, _| {
        turn += 1;
        passes[index].add(running, &mut effort.numbers(effort.draws + turn))
    })?;
    for (kind, passes) in kinds.iter().zip(&passes) {
        println!("  {:48} {passes}", kind.name());
    }
    let Some(kernel) = kinds.iter().position(|kind| !kind.is_ours()) else { return Ok(()) };
    for (kind, ours) in kinds.iter().zip(&passes).filter(|(kind, _)| kind.is_ours()) {
        let above: Vec<f64> = ours.medians.iter().zip(&passes[kernel].medians).map(|(ours, its)| ours - its).collect();
        let above = Spread::of(&above);
        println!("  {} above the kernel {:.1} us ({})", kind.name(), above.median, above.around(tenths));
        // Whoever sleeps is woken first, which takes longer than all that is wanted.
        if kind.polls_busily() {
            goals.at_most(MOST_ABOVE, format!("{}: {WHAT}", kind.name()), above.median, microseconds);
        }
    }
    Ok(())
}

impl Passes {
    fn add(&mut self, running: &mut Running, numbers: &mut Rng) -> Result<()> {
        self.idle.extend(part(running, |_| {
            thread::sleep(IDLE);
            Ok(())
        })?);
        let mut times = vec![];
        self.passing.extend(part(running, |running| {
            times = pass(running, numbers)?;
            Ok(())
        })?);
        self.medians.push(Spread::of(&times).median);
        self.times.extend(times);
        Ok(())
    }
}

impl std::fmt::Display for Passes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (spread, tail) = (Spread::of(&self.medians), percentile(&self.times, TAIL));
        write!(f, "{:>6.1} us ({}); 99.9th percentile {tail:.1} us", spread.median, spread.around(tenths))?;
        if !self.idle.is_empty() {
            let percent = |parts: &[f64]| 100.0 * Spread::of(parts).median;
            write!(f, "; {:.1} % of a processor idle, {:.1} % meanwhile", percent(&self.idle), percent(&self.passing))?;
        }
        Ok(())
    }
}

/// What the process takes of one processor during the work; the kernel has no process.
fn part(running: &mut Running, work: impl FnOnce(&mut Running) -> Result<()>) -> Result<Option<f64>> {
    let (before, start) = (running.processor_time()?, Instant::now());
    work(running)?;
    let (after, took) = (running.processor_time()?, start.elapsed());
    let part = |(after, before): (ProcessTime, ProcessTime)| after.since(&before).as_secs_f64() / took.as_secs_f64();
    Ok(after.zip(before).map(part))
}

/// Microseconds of each packet.
fn pass(running: &mut Running, numbers: &mut Rng) -> Result<Vec<f64>> {
    let network = &mut running.network;
    // On a thread of its own: this one is never pinned.
    let times = thread::scope(|scope| {
        let passing = scope.spawn(|| {
            pinned(GENERATOR, || -> Result<Vec<f64>> {
                let mut times = vec![];
                for number in 0..PACKETS {
                    thread::sleep(Duration::from_micros(numbers.u64(PAUSE)));
                    times.extend(network.pass_one(number)?.map(|time| time.as_secs_f64() * 1e6));
                }
                Ok(times)
            })
        });
        passing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    ensure!(times.len() + MOST_LOST >= PACKETS, "{} of {PACKETS} lone packets are lost", PACKETS - times.len());
    Ok(times)
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

fn microseconds(value: f64) -> String {
    format!("{value:.1} us")
}
