//! How much goes through in each interval.

use crate::event::What;
use crate::units::bits_per_second;

#[derive(Debug)]
pub struct Meter {
    interval: u64,
    last_at: u64,
    last_total: u64,
}

impl Meter {
    pub fn new(interval: u64, now: u64) -> Self {
        Self { interval, last_at: now, last_total: 0 }
    }

    /// The report of an interval, if one is over.
    pub fn report(&mut self, total_bytes: u64, now: u64) -> Option<What> {
        if now < self.next_wake() {
            return None;
        }
        let interval_ns = now - self.last_at;
        let bytes = total_bytes - self.last_total;
        self.last_at = now;
        self.last_total = total_bytes;
        let bits_per_second = bits_per_second(bytes, interval_ns);
        Some(What::Rate { bytes, total_bytes, interval_ns, bits_per_second })
    }

    pub fn next_wake(&self) -> u64 {
        self.last_at + self.interval
    }
}
