//! Least, mean and greatest of round trip times.

use crate::event::Spread;

#[derive(Debug, Default)]
pub struct Collected {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Collected {
    pub fn add(&mut self, nanoseconds: u64) {
        self.min = if self.count == 0 { nanoseconds } else { self.min.min(nanoseconds) };
        self.max = self.max.max(nanoseconds);
        self.sum += nanoseconds;
        self.count += 1;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn spread(&self) -> Option<Spread> {
        (self.count > 0).then(|| Spread { min_ns: self.min, mean_ns: self.sum / self.count, max_ns: self.max })
    }
}
