//! Recovery: how losses are mended, and when that is over.

use super::super::prr::{Progress, Reduction};
use super::Sender;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// Losses that duplicates or RACK found are mended.
    Recovery,
    /// What is too long for the path is sent again in pieces. Nothing says that a queue is full, so the window goes on to
    /// grow (RFC 8201, section 5.4).
    Shortening,
    /// The timer ran out.
    Loss,
}

impl Sender {
    pub(super) fn begin_recovery(&mut self) {
        if self.phase != Phase::Open || self.board.lost() == 0 || !self.is_open {
            return;
        }
        self.save();
        self.reduction = Reduction::new(self.window.size);
        self.window.reduce();
        self.phase = Phase::Recovery;
        self.recovery_point = self.next;
        self.probe = None;
    }

    pub(super) fn reduce(&mut self, progress: Progress) {
        if self.phase == Phase::Recovery && (progress.delivered > 0 || self.reduction.sent == 0) {
            let size = self.reduction.window(self.window.threshold, progress);
            self.window.set(size);
        }
    }

    pub(super) fn is_recovered(&self) -> bool {
        // Without SACK duplicates of what was sent again look like those of a loss (RFC 6582, section 4.1).
        let enough = if self.sack { self.una >= self.recovery_point } else { self.una > self.recovery_point };
        enough || self.board.is_empty()
    }

    pub(super) fn recovered(&mut self) {
        if self.phase == Phase::Recovery {
            self.window.set(self.window.threshold);
        }
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.rack.recovery_ended();
    }
}
