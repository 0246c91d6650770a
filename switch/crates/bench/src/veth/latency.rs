//! How long a packet takes when no other is under way: whoever forwards may sleep before each.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use bench::measure::{Effort, Spread, percentile};
use bench::traffic::{GENERATOR, pinned};
use fastrand::Rng;

use super::contestants::{Kind, Running};
use super::in_turns;
use crate::goals::Goals;

pub const WHAT: &str = "latency of a lone packet above the kernel's";
/// Microseconds above the kernel's.
const MOST_ABOVE: f64 = 10.0;
/// In each draw.
const PACKETS: usize = 1000;
/// Microseconds from an arrival to the next packet.
const PAUSE: std::ops::Range<u64> = 100..500;
/// So many may be lost: another program may hold the processor for longer than is waited.
const MOST_LOST: usize = PACKETS / 100;
const TAIL: f64 = 0.999;

/// Each contestant in turn, with the same packets in a draw.
pub fn measure(kinds: &[Kind], programs: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    if !kinds.iter().any(Kind::is_ours) {
        goals.unmeasured(WHAT, "wayname-switch is not built");
    }
    let mut medians = vec![vec![]; kinds.len()];
    let mut all = vec![vec![]; kinds.len()];
    let mut turn = 0;
    in_turns(effort, kinds.len(), |index, packets| {
        turn += 1;
        let times = pass(&mut kinds[index].start(programs, packets)?, &mut effort.numbers(effort.draws + turn))?;
        medians[index].push(Spread::of(&times).median);
        all[index].extend(times);
        Ok(())
    })?;
    for ((kind, medians), all) in kinds.iter().zip(&medians).zip(&all) {
        let spread = Spread::of(medians);
        let tail = percentile(all, TAIL);
        println!(
            "  {:24} {:>6.1} us ({}); 99.9th percentile {tail:.1} us",
            kind.name(),
            spread.median,
            spread.around(tenths)
        );
    }
    let Some(kernel) = kinds.iter().position(|kind| !kind.is_ours()) else { return Ok(()) };
    for (kind, medians_of) in kinds.iter().zip(&medians).filter(|(kind, _)| kind.is_ours()) {
        let above: Vec<f64> = medians_of.iter().zip(&medians[kernel]).map(|(ours, its)| ours - its).collect();
        let above = Spread::of(&above);
        println!("  {} above the kernel {:.1} us ({})", kind.name(), above.median, above.around(tenths));
        goals.at_most(MOST_ABOVE, format!("{}: {WHAT}", kind.name()), above.median, microseconds);
    }
    Ok(())
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
