//! How a window shrinks while losses are mended: by as much as arrives (RFC 6937, with its slow start bound).

#[derive(Debug, Clone, Copy, Default)]
pub struct Reduction {
    /// The window before.
    before: u32,
    delivered: u32,
    pub sent: u32,
}

/// What an acknowledgement says.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub delivered: u32,
    /// It acknowledges more than the one before, and nothing new is lost.
    pub advances: bool,
    pub in_flight: u32,
}

impl Reduction {
    pub fn new(before: u32) -> Self {
        Self { before: before.max(1), delivered: 0, sent: 0 }
    }

    /// The window after an acknowledgement.
    pub fn window(&mut self, threshold: u32, progress: Progress) -> u32 {
        let Progress { delivered, advances, in_flight } = progress;
        self.delivered += delivered;
        let allowed = if in_flight > threshold {
            let share = (u64::from(threshold) * u64::from(self.delivered)).div_ceil(u64::from(self.before));
            (share as u32).saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered) + u32::from(advances);
            limit.min(threshold - in_flight)
        };
        // The first segment is sent again at once.
        in_flight + allowed.max(u32::from(self.sent == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_halved_over_a_round_trip() {
        let mut reduction = Reduction::new(20);
        let mut in_flight = 18;
        let mut sent = 0;
        for _ in 0..18 {
            in_flight -= 1;
            let progress = Progress { delivered: 1, advances: false, in_flight };
            let allowed = reduction.window(10, progress) - in_flight;
            reduction.sent += allowed;
            in_flight += allowed;
            sent += allowed;
        }
        assert!((9..=10).contains(&sent) && (9..=10).contains(&in_flight), "{sent} {in_flight}");
    }

    #[test]
    fn after_heavy_losses_it_grows_as_fast_as_slow_start() {
        let mut reduction = Reduction::new(20);
        let progress = Progress { delivered: 1, advances: true, in_flight: 2 };
        assert_eq!(reduction.window(10, progress), 4);
    }
}
