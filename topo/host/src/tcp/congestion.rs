//! How many segments may be in flight: slow start, Reno (RFC 5681), CUBIC (RFC 9438), or no limit at all.

use serde::Deserialize;

use crate::units::SECOND;

/// How a sender finds out how fast it may send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Congestion {
    None,
    Reno,
    #[default]
    Cubic,
}

/// RFC 6928.
const FIRST_WINDOW: u32 = 10;
/// Less makes no progress (RFC 5681, equation 4).
const LEAST_THRESHOLD: u32 = 2;
const NO_LIMIT: u32 = u32::MAX / 2;

/// A congestion window, in segments as Linux counts it.
#[derive(Debug, Clone)]
pub struct Window {
    kind: Congestion,
    pub size: u32,
    pub threshold: u32,
    /// What is gained of the next segment.
    gained: f64,
    cubic: Cubic,
}

impl Window {
    pub fn new(kind: Congestion) -> Self {
        let size = if kind == Congestion::None { NO_LIMIT } else { FIRST_WINDOW };
        Self { kind, size, threshold: NO_LIMIT, gained: 0.0, cubic: Cubic::default() }
    }

    pub fn is_limited(&self) -> bool {
        self.kind != Congestion::None
    }

    pub fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// Segments were acknowledged while the window was used up.
    pub fn grow(&mut self, acknowledged: u32, rtt: u64, now: u64) {
        if !self.is_limited() {
            return;
        }
        let slow = if self.in_slow_start() { acknowledged.min(self.threshold - self.size) } else { 0 };
        self.size += slow;
        let rest = f64::from(acknowledged - slow);
        if rest == 0.0 {
            return;
        }
        let size = f64::from(self.size);
        self.gained += match self.kind {
            Congestion::Cubic => self.cubic.growth(size, rest, rtt, now),
            Congestion::Reno | Congestion::None => rest / size,
        };
        self.size = self.size.saturating_add(self.gained as u32).min(NO_LIMIT);
        self.gained = self.gained.fract();
    }

    /// Something was lost: sets what the window is to become.
    pub fn reduce(&mut self) {
        if !self.is_limited() {
            return;
        }
        self.gained = 0.0;
        let threshold = match self.kind {
            Congestion::Cubic => self.cubic.reduced(self.size),
            Congestion::Reno | Congestion::None => self.size / 2,
        };
        self.threshold = threshold.max(LEAST_THRESHOLD);
    }

    /// Sets the window, where there is one.
    pub fn set(&mut self, size: u32) {
        if self.is_limited() {
            self.size = size.max(1);
        }
    }

    /// Nothing was sent for some timeouts: what was known is old (RFC 5681, section 4.1; RFC 2861 as Linux does it).
    pub fn decay(&mut self, idle: u64, timeout: u64) {
        if !self.is_limited() {
            return;
        }
        self.threshold = self.threshold.max(self.size / 4 * 3);
        let halvings = (idle / timeout.max(1)).min(31) as u32;
        self.size = (self.size >> halvings).max(FIRST_WINDOW.min(self.size));
        self.cubic.epoch = None;
    }
}

/// RFC 9438, section 4.6.
const BETA: f64 = 0.7;
/// RFC 9438, section 5.
const C: f64 = 0.4;

#[derive(Debug, Clone, Default)]
struct Cubic {
    /// The window before the last reduction; less after several (RFC 9438, section 4.7).
    most: f64,
    epoch: Option<Epoch>,
}

/// Growth since congestion avoidance began.
#[derive(Debug, Clone)]
struct Epoch {
    began: u64,
    /// Seconds until the window is `plateau` again.
    k: f64,
    plateau: f64,
    /// What Reno's window would be.
    reno: f64,
}

impl Cubic {
    /// What the window gains (RFC 9438, sections 4.2 to 4.5).
    fn growth(&mut self, size: f64, acknowledged: f64, rtt: u64, now: u64) -> f64 {
        let most = self.most;
        let epoch = self.epoch.get_or_insert_with(|| {
            let plateau = most.max(size);
            Epoch { began: now, k: ((plateau - size) / C).cbrt(), plateau, reno: size }
        });
        let at = (now - epoch.began + rtt) as f64 / SECOND as f64 - epoch.k;
        let target = (C * at.powi(3) + epoch.plateau).clamp(size, 1.5 * size);
        let alpha = if epoch.reno < most { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        epoch.reno += alpha * acknowledged / size;
        let cubic = (target - size) / size * acknowledged;
        cubic.max((epoch.reno - size).min(acknowledged / size).max(0.0))
    }

    fn reduced(&mut self, size: u32) -> u32 {
        let size = f64::from(size);
        self.most = if size < self.most { size * (1.0 + BETA) / 2.0 } else { size };
        self.epoch = None;
        (size * BETA) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::MILLISECOND;

    const RTT: u64 = 100 * MILLISECOND;

    /// Windows at the end of each round trip.
    fn rounds(window: &mut Window, rounds: u64) -> Vec<u32> {
        (1..=rounds)
            .map(|round| {
                window.grow(window.size, RTT, round * RTT);
                window.size
            })
            .collect()
    }

    #[test]
    fn slow_start_doubles_up_to_the_threshold() {
        let mut window = Window::new(Congestion::Reno);
        assert_eq!(rounds(&mut window, 3), [20, 40, 80]);
        window.reduce();
        window.set(10);
        assert_eq!(rounds(&mut window, 4), [20, 40, 41, 42]);
    }

    #[test]
    fn cubic_comes_back_to_where_it_was_and_stays_there_a_while() {
        let mut window = Window::new(Congestion::Cubic);
        window.set(100);
        window.reduce();
        window.set(window.threshold);
        assert_eq!(window.size, 70);
        // K = cbrt(30 / 0.4), 4.2 s.
        let sizes = rounds(&mut window, 80);
        assert!((98..=101).contains(&sizes[41]), "{sizes:?}");
        assert!(sizes[35] + 4 >= sizes[41] && sizes[79] > 115, "{sizes:?}");
    }

    #[test]
    fn a_second_reduction_soon_after_gives_room_to_others() {
        let mut window = Window::new(Congestion::Cubic);
        window.set(100);
        window.reduce();
        window.set(80);
        window.reduce();
        assert_eq!((window.threshold, window.cubic.most), (56, 68.0));
    }

    #[test]
    fn without_control_nothing_changes_the_window() {
        let mut window = Window::new(Congestion::None);
        window.reduce();
        window.set(1);
        window.grow(5, RTT, 0);
        assert_eq!((window.size, window.threshold), (NO_LIMIT, NO_LIMIT));
    }
}
