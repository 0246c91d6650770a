//! How often something may be asked: so many times at once, and then so many a second.

use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub per_second: u32,
    pub at_once: u32,
}

/// A token bucket, full at first.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    tokens: f64,
    pub(crate) filled: Instant,
}

impl Bucket {
    pub fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, tokens: f64::from(rate.at_once), filled: now }
    }

    /// Whether there may be one more now.
    pub fn take(&mut self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + since * f64::from(self.rate.per_second)).min(f64::from(self.rate.at_once));
        self.filled = now;
        let may = self.tokens >= 1.0;
        if may {
            self.tokens -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn so_many_at_once_and_then_so_many_a_second() {
        let start = Instant::now();
        let mut bucket = Bucket::new(Rate { per_second: 2, at_once: 5 }, start);
        let mut passed = |now| (0..100).filter(|_| bucket.take(now)).count();
        assert_eq!(passed(start), 5);
        assert_eq!(passed(start + Duration::from_millis(500)), 1);
        assert_eq!(passed(start + Duration::from_secs(1000)), 5);
    }
}
