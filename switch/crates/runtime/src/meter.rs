//! The two-rate three-colour marker of RFC 2698.

use crate::entry::MeterConfig;

/// Tokens are counted in billionths of a unit, so that a nanosecond at one unit per second is one token.
const UNIT: u128 = 1_000_000_000;

/// A packet's colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Green = 0,
    Yellow = 1,
    Red = 2,
}

/// The colour that a colour-blind meter takes packets for (RFC 2698, section 3).
pub const GREEN: u32 = Colour::Green as u32;

impl From<u32> for Colour {
    fn from(number: u32) -> Self {
        match number {
            0 => Self::Green,
            1 => Self::Yellow,
            _ => Self::Red,
        }
    }
}

/// A configured meter and its two buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meter {
    pub config: MeterConfig,
    committed: u128,
    peak: u128,
    last: Option<u64>,
}

impl Meter {
    /// Buckets start full (RFC 2698, section 3).
    pub fn new(config: MeterConfig) -> Self {
        Self { config, committed: u128::from(config.cburst) * UNIT, peak: u128::from(config.pburst) * UNIT, last: None }
    }

    /// Colours a packet of `size` units that had the colour `before`, and becomes no better.
    pub fn mark(&mut self, before: Colour, size: u64, now: u64) -> Colour {
        let elapsed = now.saturating_sub(self.last.unwrap_or(now));
        self.last = self.last.max(Some(now));
        let fill = |tokens: u128, rate: u64, burst: u64| {
            (tokens + u128::from(rate) * u128::from(elapsed)).min(u128::from(burst) * UNIT)
        };
        self.committed = fill(self.committed, self.config.cir, self.config.cburst);
        self.peak = fill(self.peak, self.config.pir, self.config.pburst);
        let size = u128::from(size) * UNIT;
        if before == Colour::Red || self.peak < size {
            return Colour::Red;
        }
        self.peak -= size;
        if before == Colour::Yellow || self.committed < size {
            return Colour::Yellow;
        }
        self.committed -= size;
        Colour::Green
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn bursts_are_coloured_by_both_buckets() {
        let mut meter = Meter::new(MeterConfig { cir: 1, cburst: 2, pir: 2, pburst: 4 });
        let colours: Vec<_> = (0..6).map(|_| meter.mark(Colour::Green, 1, 0)).collect();
        use Colour::*;
        assert_eq!(colours, [Green, Green, Yellow, Yellow, Red, Red]);
        // A second later there are one committed and two peak tokens.
        let colours: Vec<_> = (0..4).map(|_| meter.mark(Colour::Green, 1, SECOND)).collect();
        assert_eq!(colours, [Green, Yellow, Red, Red]);
    }

    /// RFC 2698, section 3, colour-aware: red takes no token, yellow only one of the peak's.
    #[test]
    fn a_colour_before_is_kept_or_gets_worse() {
        let mut meter = Meter::new(MeterConfig { cir: 1, cburst: 2, pir: 1, pburst: 4 });
        use Colour::*;
        let colours = [Red, Yellow, Green, Green, Yellow, Yellow, Green].map(|before| meter.mark(before, 1, 0));
        assert_eq!(colours, [Red, Yellow, Green, Green, Yellow, Red, Red]);
    }

    #[test]
    fn tokens_come_to_the_nanosecond_and_stop_at_the_burst() {
        let mut meter = Meter::new(MeterConfig { cir: 3, cburst: 1, pir: 3, pburst: 1 });
        assert_eq!(meter.mark(Colour::Green, 1, 0), Colour::Green);
        assert_eq!(meter.mark(Colour::Green, 1, SECOND / 3), Colour::Red);
        assert_eq!(meter.mark(Colour::Green, 1, SECOND / 3 + 1), Colour::Green);
        assert_eq!(meter.mark(Colour::Green, 2, 100 * SECOND), Colour::Red);
        assert_eq!(meter.mark(Colour::Green, 1, 100 * SECOND), Colour::Green);
    }

    #[test]
    fn a_clock_that_goes_back_gives_no_tokens() {
        let mut meter = Meter::new(MeterConfig { cir: 1, cburst: 1, pir: 1, pburst: 1 });
        assert_eq!(meter.mark(Colour::Green, 1, 5 * SECOND), Colour::Green);
        assert_eq!(meter.mark(Colour::Green, 1, 0), Colour::Red);
        assert_eq!(meter.mark(Colour::Green, 1, 5 * SECOND), Colour::Red);
        assert_eq!(meter.mark(Colour::Green, 1, 6 * SECOND), Colour::Green);
    }

    #[test]
    fn the_largest_rates_do_not_overflow() {
        let most = u64::MAX;
        let mut meter = Meter::new(MeterConfig { cir: most, cburst: most, pir: most, pburst: most });
        assert_eq!(meter.mark(Colour::Green, most, 0), Colour::Green);
        assert_eq!(meter.mark(Colour::Green, most, most), Colour::Green);
    }
}
