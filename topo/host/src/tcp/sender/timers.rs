//! The timers: of a retransmission, of a probe of the tail, of what was overtaken, and of a window that is shut.

use super::super::prr::Progress;
use super::super::rtt::LEAST_MARGIN;
use super::super::scoreboard::Fate;
use super::Sender;
use super::recovery::Phase;
use crate::units::{MILLISECOND, SECOND};

/// What a probe of the tail waits for beside two round trips: Linux's two ticks of its clock.
const PROBE_MARGIN: u64 = 2 * MILLISECOND;
/// Most doublings of the time between questions for a window.
const MOST_BACKOFF: u32 = 9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// Everything is lost (RFC 6298).
    Retransmit,
    /// The tail may be lost (RFC 8985, section 7).
    Probe,
    /// What was overtaken is late enough to be lost (RFC 8985, section 6.2, step 5).
    Reorder,
}

impl Sender {
    /// Sets the timer after something was sent or acknowledged.
    pub(super) fn arm(&mut self, now: u64) {
        let Some(first) = self.board.first() else {
            self.timer = None;
            return;
        };
        let timeout = now + self.rtt.timeout();
        let calm = self.phase == Phase::Open && self.board.sacked() == 0 && self.board.lost() == 0;
        if !(self.is_open && self.sack && calm && self.probe.is_none()) {
            self.timer = Some((timeout, Timer::Retransmit));
            return;
        }
        // A single segment may wait for a second one before it is acknowledged (RFC 8985, section 7.2).
        let margin = if self.board.len() == 1 { LEAST_MARGIN } else { PROBE_MARGIN };
        let probe = now + self.rtt.smoothed().map_or(SECOND, |smoothed| 2 * smoothed + margin);
        let last_chance = (first.sent_at + self.rtt.timeout()).max(now);
        self.timer = Some((probe.min(last_chance), Timer::Probe));
    }

    /// Linux counts the time that another timer took.
    pub(super) fn arm_from_first(&mut self, now: u64) {
        let first = self.board.first();
        let at = first.map(|first| (first.sent_at + self.rtt.timeout()).max(now + MILLISECOND));
        self.timer = at.map(|at| (at, Timer::Retransmit));
    }

    /// Asks for room if only that would (RFC 9293, section 3.8.6.1).
    pub(super) fn persist_if_stuck(&mut self, has_data: bool, now: u64) {
        if has_data && self.board.is_empty() && self.persist.is_none() {
            self.persist = Some(now + (self.rtt.timeout() << self.persisted.min(MOST_BACKOFF)));
        }
    }

    pub fn next_wake(&self) -> Option<u64> {
        [self.timer.map(|(at, _)| at), self.persist].into_iter().flatten().min()
    }

    /// Does what is due; true if the other end is to be asked for room.
    pub fn poll(&mut self, now: u64) -> bool {
        if let Some((_, timer)) = self.timer.filter(|(at, _)| *at <= now) {
            match timer {
                Timer::Retransmit => self.time_out(now),
                Timer::Probe => self.probe_tail(now),
                Timer::Reorder => {
                    self.timer = None;
                    self.detect(now);
                    self.begin_recovery();
                    self.reduce(Progress { delivered: 1, advances: false, in_flight: self.in_flight() });
                    if self.timer.is_none() {
                        self.arm_from_first(now);
                    }
                }
            }
        }
        if self.persist.is_some_and(|at| at <= now) {
            self.persisted += 1;
            self.persist = Some(now + (self.rtt.timeout() << self.persisted.min(MOST_BACKOFF)));
            self.forced = self.edge > self.next;
            return !self.forced;
        }
        false
    }

    /// The timer ran out (RFC 6298, section 5; RFC 5681, section 3.1).
    fn time_out(&mut self, now: u64) {
        self.probe = None;
        if self.is_open {
            if matches!(self.phase, Phase::Open | Phase::Shortening) || self.una >= self.recovery_point {
                self.save();
                self.window.reduce();
            }
            if self.board.first().is_some_and(|first| first.fate == Fate::Sacked) {
                self.board.forget_sacks();
            }
            self.duplicates = 0;
            self.phase = Phase::Loss;
            self.recovery_point = self.next;
        }
        // What was sent a moment ago may be under way still.
        let (una, recent) = (self.una, self.rack.recent(now));
        self.board.lose(|sent| sent.start <= una || sent.sent_at <= recent);
        if self.is_open {
            self.window.set(self.board.in_flight() + 1);
        }
        self.rtt.back_off();
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmit));
    }
}
