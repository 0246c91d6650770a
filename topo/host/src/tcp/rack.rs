//! Which segments are lost, from when others that were sent later arrived: RACK (RFC 8985, section 6).

use super::rtt::Rtt;
use super::scoreboard::{Fate, Scoreboard, Sent};

/// Segments behind a hole that mean a loss as long as nothing was ever reordered.
const DUPLICATE_THRESHOLD: u32 = 3;
/// Recoveries after which a wider window for reordering is given up.
const PERSISTS: u32 = 16;

#[derive(Debug, Clone, Copy)]
pub struct Rack {
    /// When the latest delivered segment was sent, its end, and how long it took.
    sent_at: u64,
    end: u64,
    rtt: u64,
    /// The highest position that was delivered.
    highest: u64,
    reordering_seen: bool,
    /// Quarters of a round trip that segments may be late.
    quarters: u32,
    persists: u32,
    /// What had been sent when the window was widened last.
    widened_at: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self { sent_at: 0, end: 0, rtt: 0, highest: 0, reordering_seen: false, quarters: 1, persists: 0, widened_at: 0 }
    }
}

impl Rack {
    /// A segment arrived; `answered` if by its last transmission.
    pub fn delivered(&mut self, sent: &Sent, answered: bool, now: u64) {
        if sent.end >= self.highest {
            self.highest = sent.end;
        } else if !sent.retransmitted {
            self.reordering_seen = true;
        }
        if answered {
            self.rtt = now - sent.sent_at;
            if (sent.sent_at, sent.end) > (self.sent_at, self.end) {
                (self.sent_at, self.end) = (sent.sent_at, sent.end);
            }
        }
    }

    /// A segment was sent again in vain (RFC 8985, section 6.2, step 4).
    pub fn duplicate_told(&mut self, acknowledged: u64, next: u64) {
        if acknowledged > self.widened_at {
            self.widened_at = next;
            self.quarters += 1;
        }
        self.persists = PERSISTS;
    }

    pub fn recovery_ended(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.quarters = 1;
        }
    }

    /// Marks what is lost; answers after how many nanoseconds more might be.
    pub fn detect(&self, board: &mut Scoreboard, rtt: &Rtt, recovering: bool, now: u64) -> Option<u64> {
        let window = self.reordering_window(board, rtt, recovering);
        let was_sent_before = |sent: &Sent| (sent.sent_at, sent.end) < (self.sent_at, self.end);
        let deadline = |sent: &Sent| sent.sent_at + self.rtt + window;
        board.lose(|sent| was_sent_before(sent) && deadline(sent) <= now);
        let waiting = board.iter().filter(|sent| sent.fate == Fate::InFlight && was_sent_before(sent));
        waiting.map(deadline).max().map(|deadline| deadline - now)
    }

    /// What was sent by then would have been told by now, if it had arrived.
    pub fn recent(&self, now: u64) -> u64 {
        now.saturating_sub(self.rtt)
    }

    fn reordering_window(&self, board: &Scoreboard, rtt: &Rtt, recovering: bool) -> u64 {
        if !self.reordering_seen && (recovering || board.sacked() >= DUPLICATE_THRESHOLD) {
            return 0;
        }
        let (least, smoothed) = (rtt.least().unwrap_or(0), rtt.smoothed().unwrap_or(0));
        (least / 4 * u64::from(self.quarters)).min(smoothed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Ten segments, sent a millisecond apart, and what came back after 20 ms.
    fn after(delivered: &[u64], now: u64) -> (Scoreboard, Rack, Option<u64>) {
        let (mut board, mut rack, mut rtt) = (Scoreboard::default(), Rack::default(), Rtt::default());
        rtt.take(20 * MS, 0);
        for number in 0..10 {
            board.push(number * 10, number * 10 + 10, number * MS, 0);
        }
        for number in delivered {
            for sent in board.sack(number * 10, number * 10 + 10) {
                rack.delivered(&sent, true, sent.sent_at + 20 * MS);
            }
        }
        let more = rack.detect(&mut board, &rtt, false, now);
        (board, rack, more)
    }

    #[test]
    fn three_behind_a_hole_mean_a_loss_at_once() {
        let (board, _, _) = after(&[1, 2], 22 * MS);
        assert_eq!(board.lost(), 0);
        let (board, _, more) = after(&[1, 2, 3], 23 * MS);
        assert_eq!((board.lost(), more), (1, None));
    }

    #[test]
    fn one_behind_a_hole_means_a_loss_a_quarter_round_trip_later() {
        let (board, _, more) = after(&[1], 21 * MS);
        assert_eq!((board.lost(), more), (0, Some(4 * MS)));
        let (board, _, _) = after(&[1], 25 * MS);
        assert_eq!(board.lost(), 1);
    }

    #[test]
    fn where_reordering_was_seen_three_do_not_suffice() {
        let (board, _, more) = after(&[5, 3, 6, 7], 27 * MS);
        assert!(more.is_some());
        // Of 0, 1, 2 and 4 those whose time is over.
        assert_eq!(board.lost(), 3);
    }

    #[test]
    fn a_duplicate_widens_the_window_once_a_round_trip_and_sixteen_recoveries_narrow_it() {
        let mut rack = Rack::default();
        rack.duplicate_told(10, 100);
        rack.duplicate_told(20, 100);
        assert_eq!(rack.quarters, 2);
        rack.duplicate_told(101, 200);
        assert_eq!(rack.quarters, 3);
        for _ in 0..PERSISTS {
            rack.recovery_ended();
        }
        assert_eq!(rack.quarters, 1);
    }
}
