//! The sending half: what may be sent now.

mod acknowledgement;
mod loss_detection;
mod recovery;
mod tail_loss_probe;
mod timers;
mod undo;

use std::ops::Range;

pub use acknowledgement::Acknowledgement;
use recovery::Phase;
use tail_loss_probe::Probe;
use timers::Timer;
use undo::Undo;

use super::congestion::{Congestion, Window};
use super::outgoing::Outgoing;
use super::prr::Reduction;
use super::rack::Rack;
use super::rtt::Rtt;
use super::scoreboard::{Scoreboard, Sent};
use super::sequence::START;

/// Whether the window was used up since `until` was sent.
#[derive(Default)]
struct Usage {
    until: u64,
    most: u32,
    limited: bool,
}

pub struct Sender {
    pub outgoing: Outgoing,
    /// The first position that is not acknowledged, and the first that was not sent.
    una: u64,
    next: u64,
    /// The first position that the other end has no room for, and the most room that it ever had.
    edge: u64,
    most_room: u64,
    mss: usize,
    /// The handshake is over.
    pub is_open: bool,
    /// A FIN stands at the end.
    finished: bool,
    pub nagle: bool,
    pub sack: bool,
    /// The end of the last segment that was not full.
    short_end: u64,
    sent_at: u64,
    board: Scoreboard,
    rtt: Rtt,
    rack: Rack,
    window: Window,
    usage: Usage,
    phase: Phase,
    /// What had been sent when recovery began.
    recovery_point: u64,
    reduction: Reduction,
    undo: Option<Undo>,
    /// Duplicates of an end without SACK.
    duplicates: u32,
    probe: Option<Probe>,
    timer: Option<(u64, Timer)>,
    /// When to ask for a window, and how often that was done.
    persist: Option<u64>,
    persisted: u32,
    /// Segments to be sent whatever the window says.
    forced: bool,
}

impl Sender {
    pub fn new(capacity: usize, congestion: Congestion, mss: usize) -> Self {
        Self {
            outgoing: Outgoing::new(capacity, START + 1),
            una: START,
            next: START,
            edge: START + 1,
            most_room: 0,
            mss,
            is_open: false,
            finished: false,
            nagle: true,
            sack: false,
            short_end: START,
            sent_at: 0,
            board: Scoreboard::default(),
            rtt: Rtt::default(),
            rack: Rack::default(),
            window: Window::new(congestion),
            usage: Usage::default(),
            phase: Phase::Open,
            recovery_point: START,
            reduction: Reduction::default(),
            undo: None,
            duplicates: 0,
            probe: None,
            timer: None,
            persist: None,
            persisted: 0,
            forced: false,
        }
    }

    pub fn una(&self) -> u64 {
        self.una
    }

    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn edge(&self) -> u64 {
        self.edge
    }

    pub fn most_room(&self) -> u64 {
        self.most_room
    }

    pub fn timeout(&self) -> u64 {
        self.rtt.timeout()
    }

    pub fn is_idle(&self) -> bool {
        self.board.is_empty() && self.persist.is_none()
    }

    /// Nothing more will be written.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    pub fn fin_is_acknowledged(&self) -> bool {
        self.finished && self.una > self.outgoing.end()
    }

    /// Whether a segment up to there is the last, with a FIN.
    pub fn has_fin(&self, end: u64) -> bool {
        self.finished && end > self.outgoing.end()
    }

    /// Sends the SYN again.
    pub fn repeat_syn(&mut self) {
        self.board.lose(|sent| sent.start == START);
    }

    /// The other end has room up to there.
    pub fn set_edge(&mut self, edge: u64) {
        if edge > self.edge {
            self.persist = None;
            self.persisted = 0;
        }
        self.edge = edge;
        self.most_room = self.most_room.max(edge.saturating_sub(self.una));
    }

    /// Segments are no longer than this from now on; longer ones that are under way were thrown away.
    pub fn set_mss(&mut self, mss: usize) {
        let shorter = mss < self.mss;
        self.mss = mss;
        if shorter && self.board.lose(|sent| sent.end - sent.start > mss as u64) && self.phase == Phase::Open {
            self.phase = Phase::Shortening;
            self.recovery_point = self.next;
        }
    }

    fn in_flight(&self) -> u32 {
        self.board.in_flight().saturating_sub(self.duplicates)
    }

    /// What is to be sent now: from where to where.
    pub fn take_next(&mut self, now: u64, stamp: u32) -> Option<Range<u64>> {
        let forced = std::mem::take(&mut self.forced);
        let has_room = forced || self.in_flight() < self.window.size;
        if self.board.lost() > 0 && (has_room || !self.is_open) {
            let sent = self.board.resend_lost(self.mss as u64, now, stamp)?;
            self.resent(&sent, now);
            return Some(sent.start..sent.end);
        }
        let new = self.new_range(forced, now);
        if new.is_some() && !has_room {
            self.note_usage(true);
            return None;
        }
        let Some(range) = new else {
            self.note_usage(false);
            return None;
        };
        self.send_new(&range, now, stamp);
        Some(range)
    }

    fn new_range(&mut self, forced: bool, now: u64) -> Option<Range<u64>> {
        if self.next == START {
            return Some(START..START + 1);
        }
        if !self.is_open || self.next > self.outgoing.end() {
            return None;
        }
        let available = self.outgoing.end() - self.next;
        let room = self.edge.saturating_sub(self.next);
        let length = available.min(room).min(self.mss as u64);
        let fin = self.finished && length == available && length < self.mss as u64;
        if length == 0 && !fin {
            self.persist_if_stuck(available > 0, now);
            return None;
        }
        if length < self.mss as u64 && !forced {
            // A window that is silly (RFC 9293, section 3.8.6.2.1), and Nagle's rule as Minshall has it: one segment that
            // is not full at a time.
            let silly = length < available && length < self.most_room / 2;
            if silly {
                self.persist_if_stuck(true, now);
            }
            if silly || length == available && self.nagle && !fin && self.short_end > self.una {
                return None;
            }
        }
        Some(self.next..self.next + length + u64::from(fin))
    }

    fn send_new(&mut self, range: &Range<u64>, now: u64, stamp: u32) {
        if self.board.is_empty() && self.sent_at > 0 && now - self.sent_at > self.rtt.timeout() {
            self.window.decay(now - self.sent_at, self.rtt.timeout());
        }
        if range.end - range.start < self.mss as u64 {
            self.short_end = range.end;
        }
        self.board.push(range.start, range.end, now, stamp);
        self.next = range.end;
        self.sent_at = now;
        self.persist = None;
        if self.phase == Phase::Recovery {
            self.reduction.sent += 1;
        }
        if !matches!(self.timer, Some((_, Timer::Retransmit | Timer::Reorder))) {
            self.arm(now);
        }
    }

    /// Something was sent again.
    fn resent(&mut self, sent: &Sent, now: u64) {
        self.sent_at = now;
        if self.phase == Phase::Recovery {
            self.reduction.sent += 1;
        }
        if let Some(undo) = &mut self.undo {
            undo.stamp.get_or_insert(sent.stamp);
            undo.resent += 1;
        }
        let is_first = self.board.first().is_some_and(|first| first.start == sent.start);
        if is_first && !matches!(self.timer, Some((_, Timer::Reorder))) {
            self.timer = Some((now + self.rtt.timeout(), Timer::Retransmit));
        }
    }

    fn note_usage(&mut self, limited: bool) {
        let flight = self.board.len();
        if self.una > self.usage.until || limited {
            self.usage = Usage { until: self.next, most: flight, limited };
        } else {
            self.usage.most = self.usage.most.max(flight);
        }
    }

    fn is_window_used(&self) -> bool {
        if self.window.in_slow_start() { self.window.size < 2 * self.usage.most } else { self.usage.limited }
    }
}
