//! Medians over rounds in which the contestants take turns, so that a slow minute of the machine meets all of them.

use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    pub millis: u64,
}

/// Something to measure: each call does a piece of work and says how many units it was.
pub struct Contestant<'a> {
    pub name: String,
    pub work: Box<dyn FnMut() -> u64 + 'a>,
}

impl<'a> Contestant<'a> {
    pub fn new(name: &str, work: impl FnMut() -> u64 + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }
}

/// The median rate of each contestant, in units per second, in order.
pub fn rates(effort: Effort, contestants: &mut [Contestant<'_>]) -> Vec<f64> {
    let mut rates = vec![vec![]; contestants.len()];
    for contestant in contestants.iter_mut() {
        (contestant.work)();
    }
    for _ in 0..effort.rounds {
        for (contestant, rates) in contestants.iter_mut().zip(&mut rates) {
            let start = Instant::now();
            let mut units = 0;
            while start.elapsed() < Duration::from_millis(effort.millis) {
                units += (contestant.work)();
            }
            rates.push(units as f64 / start.elapsed().as_secs_f64());
        }
    }
    rates.into_iter().map(median).collect()
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A number for people: 3.21 M, 45.6 k.
pub fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.2} M", value / 1e6),
        value if value >= 1e3 => format!("{:.1} k", value / 1e3),
        value => format!("{value:.1}"),
    }
}
