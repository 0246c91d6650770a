//! Finds losses: by RACK (RFC 8985), without SACK by duplicates (RFC 6582).

use super::Sender;
use super::acknowledgement::Acknowledgement;
use super::recovery::Phase;
use super::timers::Timer;

/// Duplicates that mean a loss where the other end does not speak SACK.
const DUPLICATE_THRESHOLD: u32 = 3;

impl Sender {
    pub(super) fn detect(&mut self, now: u64) {
        if !self.sack || self.board.sacked() == 0 && self.phase == Phase::Open {
            if matches!(self.timer, Some((_, Timer::Reorder))) {
                self.arm_from_first(now);
            }
            return;
        }
        match self.rack.detect(&mut self.board, &self.rtt, self.phase != Phase::Open, now) {
            Some(wait) => self.timer = Some((now + wait, Timer::Reorder)),
            None if matches!(self.timer, Some((_, Timer::Reorder | Timer::Probe))) => self.arm_from_first(now),
            None => {}
        }
    }

    pub(super) fn count_duplicate(&mut self, said: &Acknowledgement, advances: bool, done: u32) -> u32 {
        if advances {
            let left = self.duplicates.saturating_sub(done.saturating_sub(1));
            self.duplicates = if self.phase == Phase::Open { 0 } else { left };
            return 0;
        }
        let counts = said.is_bare && !self.board.is_empty() && self.duplicates < self.board.in_flight();
        self.duplicates += u32::from(counts);
        u32::from(counts)
    }

    /// RFC 6582: the first is lost after three duplicates, and again where an acknowledgement ends within recovery.
    pub(super) fn detect_without_sack(&mut self, advances: bool) {
        let lost = match self.phase {
            Phase::Open => self.duplicates >= DUPLICATE_THRESHOLD,
            Phase::Recovery | Phase::Shortening => advances,
            Phase::Loss => false,
        };
        if lost {
            let una = self.una;
            self.board.lose(|sent| sent.start <= una);
        }
    }
}
