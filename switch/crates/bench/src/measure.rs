//! Contestants take turns, in an order that is drawn anew each time, so that a slow minute of the machine meets all of them.

use std::fmt;
use std::time::Duration;

use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};

#[derive(Clone, Copy)]
pub struct Effort {
    pub seed: u64,
    pub draws: usize,
    /// How long a contestant runs in a draw.
    pub millis: u64,
}

impl Effort {
    /// What a draw draws from: the same numbers for the same seed.
    pub fn numbers(&self, draw: usize) -> Rng {
        Rng::with_seed(self.seed << 32 | draw as u64)
    }
}

/// Processor time of the running thread.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Something to measure: each call does a piece of work and says how many units it was.
pub struct Contestant<'a> {
    pub name: String,
    pub work: Box<dyn FnMut() -> u64 + 'a>,
}

impl<'a> Contestant<'a> {
    pub fn new(name: impl Into<String>, work: impl FnMut() -> u64 + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }
}

/// Units per second of each contestant, draw by draw.
#[derive(Default)]
pub struct Rates(Vec<(String, Vec<f64>)>);

impl Rates {
    /// One draw: each contestant warms up, and then runs for so long by the processor time of this thread, so that what else
    /// the machine does costs it little. All its work must be done here.
    pub fn take_turns(&mut self, effort: Effort, numbers: &mut Rng, contestants: Vec<Contestant<'_>>) {
        self.take_turns_by(thread_time, effort, numbers, contestants);
    }

    /// The same by another clock.
    pub fn take_turns_by(
        &mut self,
        clock: impl Fn() -> Duration,
        effort: Effort,
        numbers: &mut Rng,
        mut contestants: Vec<Contestant<'_>>,
    ) {
        if self.0.is_empty() {
            self.0 = contestants.iter().map(|contestant| (contestant.name.clone(), vec![])).collect();
        }
        numbers.shuffle(&mut contestants);
        for contestant in &mut contestants {
            (contestant.work)();
        }
        for contestant in &mut contestants {
            let (start, mut units) = (clock(), 0);
            let mut took = Duration::ZERO;
            while took < Duration::from_millis(effort.millis) {
                units += (contestant.work)();
                took = clock() - start;
            }
            let rate = units as f64 / took.as_secs_f64();
            self.0.iter_mut().filter(|(name, _)| *name == contestant.name).for_each(|(_, rates)| rates.push(rate));
        }
    }

    /// In the order in which the contestants were named first.
    pub fn spreads(&self) -> impl Iterator<Item = (&str, Spread)> {
        self.0.iter().map(|(name, rates)| (name.as_str(), Spread::of(rates)))
    }

    pub fn of(&self, name: &str) -> Spread {
        Spread::of(self.drawn(name))
    }

    /// How many times the rate of another, each time in the same draw.
    pub fn ratio(&self, one: &str, other: &str) -> Spread {
        Spread::of(&ratios(self.drawn(one), self.drawn(other)))
    }

    fn drawn(&self, name: &str) -> &[f64] {
        self.0.iter().find(|(known, _)| *known == name).map_or(&[], |(_, rates)| rates)
    }
}

pub fn ratios(ones: &[f64], others: &[f64]) -> Vec<f64> {
    ones.iter().zip(others).map(|(one, other)| one / other).collect()
}

/// The value below which such a share of all is; of nothing no number.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted, share)
}

fn of_sorted(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(rank).copied().unwrap_or(f64::NAN)
}

/// What some draws came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub tenth: f64,
    pub ninetieth: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Spread {
    /// Of nothing all are no numbers.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share| of_sorted(&sorted, share);
        Self { median: at(0.5), tenth: at(0.1), ninetieth: at(0.9), least: at(0.0), greatest: at(1.0) }
    }

    /// In another unit.
    pub fn times(self, factor: f64) -> Self {
        let Self { median, tenth, ninetieth, least, greatest } = self;
        let [median, tenth, ninetieth, least, greatest] =
            [median, tenth, ninetieth, least, greatest].map(|value| factor * value);
        Self { median, tenth, ninetieth, least, greatest }
    }

    /// Beside the median: from the 10th to the 90th percentile, and from the least to the greatest.
    pub fn around(self, write: impl Fn(f64) -> String) -> String {
        let [tenth, ninetieth, least, greatest] = [self.tenth, self.ninetieth, self.least, self.greatest].map(write);
        format!("10 to 90 %: {tenth} to {ninetieth}; all: {least} to {greatest}")
    }
}

/// A ratio: its median, and the rest in brackets.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({})", self.median, self.around(|value| format!("{value:.2}")))
    }
}

/// All of them, for who sums them up elsewhere.
pub fn listed(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.1}")).collect::<Vec<_>>().join(" ")
}

/// A number for people: 3.21 M, 45.6 k.
pub fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.2} M", value / 1e6),
        value if value >= 1e3 => format!("{:.1} k", value / 1e3),
        value => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_median_the_deciles_and_both_ends() {
        let values: Vec<f64> = (0..=30).rev().map(f64::from).collect();
        let expected = Spread { median: 15.0, tenth: 3.0, ninetieth: 27.0, least: 0.0, greatest: 30.0 };
        assert_eq!(Spread::of(&values), expected);
        assert_eq!(expected.to_string(), "15.00 (10 to 90 %: 3.00 to 27.00; all: 0.00 to 30.00)");
        assert!(Spread::of(&[]).median.is_nan());
        assert_eq!(expected.times(2.0).around(short), "10 to 90 %: 6.0 to 54.0; all: 0.0 to 60.0");
    }

    #[test]
    fn a_percentile_leaves_so_many_above() {
        let values: Vec<f64> = (1..=1001).rev().map(f64::from).collect();
        assert_eq!([0.5, 0.99, 0.999, 1.0].map(|share| percentile(&values, share)), [501.0, 991.0, 1000.0, 1001.0]);
        assert!(percentile(&[], 0.99).is_nan());
    }

    #[test]
    fn each_draw_gives_each_contestant_a_rate_in_whatever_order_they_ran() {
        let effort = Effort { seed: 7, draws: 5, millis: 1 };
        let mut rates = Rates::default();
        for draw in 0..effort.draws {
            let turns = vec![Contestant::new("one", || 1000), Contestant::new("many", || 1_000_000)];
            rates.take_turns(effort, &mut effort.numbers(draw), turns);
        }
        assert_eq!(rates.spreads().map(|(name, _)| name).collect::<Vec<_>>(), ["one", "many"]);
        assert_eq!([rates.drawn("one").len(), rates.drawn("many").len()], [effort.draws; 2]);
    }

    #[test]
    fn a_ratio_is_of_one_draw() {
        let rates = Rates(vec![("one".into(), vec![1.0, 3.0]), ("other".into(), vec![2.0, 9.0])]);
        assert_eq!(ratios(rates.drawn("other"), rates.drawn("one")), [2.0, 3.0]);
        assert_eq!((rates.ratio("other", "one").least, rates.ratio("other", "one").greatest), (2.0, 3.0));
    }

    #[test]
    fn a_seed_draws_the_same_again_and_each_draw_something_else() {
        let effort = Effort { seed: 7, draws: 2, millis: 1 };
        assert_eq!(effort.numbers(0).u64(..), effort.numbers(0).u64(..));
        assert_ne!(effort.numbers(0).u64(..), effort.numbers(1).u64(..));
        assert_ne!(effort.numbers(0).u64(..), Effort { seed: 8, ..effort }.numbers(0).u64(..));
    }
}
