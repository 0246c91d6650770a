//! Round trip times and the retransmission timeout (RFC 6298) with Linux's bounds.

use crate::units::{MILLISECOND, SECOND};

/// RFC 6298, section 2.1.
const FIRST_TIMEOUT: u64 = SECOND;
/// The least that is added to the smoothed time: Linux's, a fifth of the RFC's.
pub const LEAST_MARGIN: u64 = 200 * MILLISECOND;
const MOST_TIMEOUT: u64 = 120 * SECOND;
/// How long the least round trip time is believed.
const LEAST_LASTS: u64 = 300 * SECOND;

#[derive(Debug, Clone, Default)]
pub struct Rtt {
    smoothed: Option<u64>,
    variation: u64,
    /// The least, and when it was seen.
    least: Option<(u64, u64)>,
    /// How often the timeout was doubled.
    backoff: u32,
}

impl Rtt {
    /// Takes a sample of a segment that was sent once, or whose echo tells which time it was.
    pub fn take(&mut self, sample: u64, now: u64) {
        if self.least.is_none_or(|(least, since)| sample <= least || now > since + LEAST_LASTS) {
            self.least = Some((sample, now));
        }
        self.backoff = 0;
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(sample), sample / 2),
            Some(smoothed) => {
                self.variation = (3 * self.variation + smoothed.abs_diff(sample)) / 4;
                self.smoothed = Some((7 * smoothed + sample) / 8);
            }
        }
    }

    pub fn smoothed(&self) -> Option<u64> {
        self.smoothed
    }

    pub fn least(&self) -> Option<u64> {
        self.least.map(|(least, _)| least)
    }

    /// Doubles the timeout (RFC 6298, section 5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    pub fn timeout(&self) -> u64 {
        let base = self.smoothed.map_or(FIRST_TIMEOUT, |smoothed| smoothed + (4 * self.variation).max(LEAST_MARGIN));
        base.saturating_mul(1 << self.backoff.min(16)).min(MOST_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_a_second_at_first_and_a_fifth_above_the_round_trip_later() {
        let mut rtt = Rtt::default();
        assert_eq!(rtt.timeout(), SECOND);
        for _ in 0..50 {
            rtt.take(20 * MILLISECOND, 0);
        }
        assert_eq!(rtt.timeout(), 220 * MILLISECOND);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), 880 * MILLISECOND);
        rtt.take(20 * MILLISECOND, 0);
        assert_eq!(rtt.timeout(), 220 * MILLISECOND);
    }

    #[test]
    fn the_least_is_forgotten_after_five_minutes() {
        let mut rtt = Rtt::default();
        rtt.take(5, 0);
        rtt.take(9, SECOND);
        assert_eq!(rtt.least(), Some(5));
        rtt.take(9, 301 * SECOND);
        assert_eq!(rtt.least(), Some(9));
    }
}
