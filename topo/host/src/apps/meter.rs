//! How much goes through in each interval.

use crate::event::What;
use crate::units::bits_per_second;

#[derive(Debug)]
pub struct Meter {
    interval: u64,
    last_at: u64,
    last_total: u64,
    seen: u64,
    /// When the total grew last.
    grown_at: u64,
    longest_gap: u64,
}

impl Meter {
    pub fn new(interval: u64, now: u64) -> Self {
        Self { interval, last_at: now, last_total: 0, seen: 0, grown_at: now, longest_gap: 0 }
    }

    /// The report of an interval, if one is over. It has to hear of every total, so that it knows for how long nothing came.
    pub fn report(&mut self, total_bytes: u64, now: u64) -> Option<What> {
        self.longest_gap = self.longest_gap.max(now - self.grown_at);
        if total_bytes > self.seen {
            (self.seen, self.grown_at) = (total_bytes, now);
        }
        if now < self.next_wake() {
            return None;
        }
        let interval_ns = now - self.last_at;
        let bytes = total_bytes - self.last_total;
        self.last_at = now;
        self.last_total = total_bytes;
        let bits_per_second = bits_per_second(bytes, interval_ns);
        let longest_gap_ns = std::mem::take(&mut self.longest_gap);
        Some(What::Rate { bytes, total_bytes, interval_ns, bits_per_second, longest_gap_ns })
    }

    pub fn next_wake(&self) -> u64 {
        self.last_at + self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_told_in_the_interval_in_which_it_ends_and_as_far_as_it_lasts_before() {
        let mut meter = Meter::new(100, 0);
        let gaps: Vec<_> = [(10, 30), (20, 100), (20, 200), (30, 250), (31, 300)]
            .into_iter()
            .filter_map(|(total, now)| match meter.report(total, now) {
                Some(What::Rate { longest_gap_ns, .. }) => Some(longest_gap_ns),
                _ => None,
            })
            .collect();
        assert_eq!(gaps, [70, 100, 150]);
    }
}
