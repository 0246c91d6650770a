//! Rates without loss and processor times of all contestants, draw by draw, and what is wanted of them.

use std::path::Path;

use anyhow::Result;
use bench::measure::{Effort, Spread, ratios, short};

use super::contestants::Kind;
use super::network::{self, Network};
use super::{Costs, LONG_STEP, STEP, in_turns};
use crate::goals::{Goals, ratio};

const SEARCH_STEPS: usize = 8;
const SLOWEST: f64 = 5_000.0;
/// A loss of one packet may be the machine's: a rate is without loss if one of so many tries was.
const TRIES: usize = 2;
/// Of BMv2's processor time for a packet.
const MOST_OF_BMV2S_TIME: f64 = 1.0 / 12.0;
pub const BMV2S_TIME: &str = "processor time of a packet / BMv2's at the same rate";
/// Where the kernel forwards packets by ways that it was given, without the switch's process.
const MOST_OF_BMV2S_TIME_IN_KERNEL: f64 = 1.0 / 20.0;
const LEAST_OF_KERNELS_RATE: f64 = 1.1;
pub const KERNELS_RATE: &str = "hits in the kernel, learned before: rate without loss / the Linux kernel's";
const MOST_OF_KERNELS_TIME: f64 = 1.0;
pub const KERNELS_TIME: &str =
    "hits in the kernel, learned before: processor time of a packet / the Linux kernel's at the same rate";
/// Processor time is measured below the limit, where nothing waits for long.
const COMFORT: f64 = 0.8;

pub struct Figures<'k> {
    kinds: &'k [Kind],
    /// Rates without loss.
    limits: Vec<Vec<f64>>,
    /// Seconds until all ways of a draw are in the kernel, of who waits for that.
    learning: Vec<f64>,
    /// Costs at a rate that all reach, and at one that BMv2 reaches, too.
    at_same: [(f64, Vec<Costs>); 2],
    /// At most of one's own rate.
    at_own: Vec<Costs>,
}

impl<'k> Figures<'k> {
    pub fn measure(kinds: &'k [Kind], programs: &Path, effort: Effort) -> Result<Self> {
        let most = generator_limit(effort)?;
        println!("  the generator's own limit is {}packets/s", short(most));
        let (mut limits, mut learning) = (vec![vec![]; kinds.len()], vec![]);
        in_turns(kinds, programs, effort, |index, running, _| {
            learning.extend(running.learned.as_ref().map(|learned| learned.took.as_secs_f64()));
            limits[index].push(search(&mut running.network, most)?);
            Ok(())
        })?;
        let medians: Vec<f64> = limits.iter().map(|drawn| Spread::of(drawn).median).collect();
        // BMv2 is so much slower that at its rate a process that does nothing counts for most of others' packets.
        let slowest = |with_bmv2: bool| {
            let of_them = kinds.iter().zip(&medians).filter(|(kind, _)| with_bmv2 || !is_bmv2(kind));
            COMFORT * of_them.map(|(_, median)| *median).fold(most, f64::min)
        };
        let fresh = || vec![Costs::default(); kinds.len()];
        let (mut at_same, mut at_own) = ([false, true].map(|with_bmv2| (slowest(with_bmv2), fresh())), fresh());
        let [(fast, at_fast), (slow, at_slow)] = &mut at_same;
        in_turns(kinds, programs, effort, |index, running, packets| {
            if !is_bmv2(&kinds[index]) {
                at_fast[index].measure(running, packets, *fast)?;
            }
            if slow < fast {
                at_slow[index].measure(running, packets, *slow)?;
            }
            at_own[index].measure(running, packets, COMFORT * medians[index])
        })?;
        Ok(Self { kinds, limits, learning, at_same, at_own })
    }

    /// What one of them reached.
    pub fn print(&self, index: usize) {
        let (name, limit) = (self.kinds[index].name(), Spread::of(&self.limits[index]));
        println!("  {name:48} without loss      {:>10}/s ({})", short(limit.median), limit.around(short));
        for (rate, costs) in self.at_same.iter().filter(|(_, costs)| !costs[index].packets.is_empty()) {
            println!("  {name:48} at {:>8}/s     {}", short(*rate), costs[index]);
        }
        println!("  {name:48} at 80 % of its own {}", self.at_own[index]);
        if self.kinds[index].hits_in_kernel() {
            let (took, seconds) = (Spread::of(&self.learning), |value| format!("{value:.1}"));
            println!("  {name:48} learned in {:>12.1} s ({}), in no other figure", took.median, took.around(seconds));
        }
    }

    /// One of ours beside another's.
    pub fn compare(&self, ours: usize, reference: usize, goals: &mut Goals) {
        let [kind, other] = [ours, reference].map(|index| &self.kinds[index]);
        let names = format!("{} / {}", kind.name(), other.name());
        let times = |costs: &[Costs]| Spread::of(&ratios(&costs[ours].packets, &costs[reference].packets));
        let rate = Spread::of(&ratios(&self.limits[ours], &self.limits[reference]));
        println!("  {names}: rate {rate}");
        let same = times(&self.at_same[usize::from(is_bmv2(other))].1);
        println!("  {names}: time at the same rate {same}");
        println!("  {names}: time at its own {}", times(&self.at_own));
        let in_kernel = kind.hits_in_kernel();
        if is_bmv2(other) {
            let most = if in_kernel { MOST_OF_BMV2S_TIME_IN_KERNEL } else { MOST_OF_BMV2S_TIME };
            goals.at_most(most, format!("{}: {BMV2S_TIME}", kind.name()), same.median, ratio);
        } else if in_kernel {
            goals.at_least(LEAST_OF_KERNELS_RATE, KERNELS_RATE, rate.median, ratio);
            goals.at_most(MOST_OF_KERNELS_TIME, KERNELS_TIME, same.median, ratio);
        }
    }
}

fn is_bmv2(kind: &Kind) -> bool {
    matches!(kind, Kind::Bmv2)
}

/// What the generator and one veth pair can do.
fn generator_limit(effort: Effort) -> Result<f64> {
    let mut network = Network::plain(&network::packets(&mut effort.numbers(0)))?;
    let rates = (0..3).map(|_| Ok(network.drive(f64::INFINITY, LONG_STEP)?.rate)).collect::<Result<Vec<_>>>()?;
    Ok(Spread::of(&rates).median)
}

/// The highest rate without loss: what a flood reaches if nothing of it is lost, otherwise what a search by halves finds. What
/// forwards a packet on the time of whoever sends it, as the kernel does, loses nothing: it is the generator that gets slower,
/// and there is no higher rate to ask for.
fn search(network: &mut Network, most: f64) -> Result<f64> {
    if let Some(rate) = without_loss(network, f64::INFINITY)? {
        return Ok(rate);
    }
    let (mut low, mut high) = (SLOWEST, most);
    for _ in 0..SEARCH_STEPS {
        let guess = (low * high).sqrt();
        match without_loss(network, guess)? {
            Some(rate) => low = rate.max(low),
            None => high = guess,
        }
    }
    Ok(low)
}

/// The rate at which packets arrived, if none was lost. It may be below the one asked for. A generator that was held up says
/// nothing against the rate asked for, so this is no loss, and nothing for it. And what only waits in a queue has not passed yet.
fn without_loss(network: &mut Network, rate: f64) -> Result<Option<f64>> {
    for _ in 0..TRIES {
        let outcome = network.drive(rate, STEP)?;
        if outcome.sent == outcome.received {
            return Ok(Some(outcome.received as f64 / outcome.passing.as_secs_f64()));
        }
    }
    Ok(None)
}
