//! The sending half: what may be sent now, and what acknowledgements and timers change.
//!
//! Losses are found by RACK and probes of the tail (RFC 8985); without SACK by duplicates (RFC 6582). What was taken for a
//! loss and was none is undone, by timestamps (Eifel, RFC 4015) or by the duplicates that the receiver tells (RFC 3708).

use std::ops::Range;

use super::congestion::{Congestion, Window};
use super::outgoing::Outgoing;
use super::prr::{Progress, Reduction};
use super::rack::Rack;
use super::rtt::{LEAST_MARGIN, Rtt};
use super::scoreboard::{Fate, Scoreboard, Sent};
use super::segment::Timestamps;
use super::sequence::START;
use crate::units::{MILLISECOND, SECOND};

/// Duplicates that mean a loss where the other end does not speak SACK.
const DUPLICATE_THRESHOLD: u32 = 3;
/// What a probe of the tail waits for beside two round trips: Linux's two ticks of its clock.
const PROBE_MARGIN: u64 = 2 * MILLISECOND;
/// Most doublings of the time between questions for a window.
const MOST_BACKOFF: u32 = 9;

/// An acknowledgement, in positions.
pub struct Acknowledgement {
    pub up_to: u64,
    pub blocks: Vec<Range<u64>>,
    pub timestamps: Option<Timestamps>,
    /// It brings nothing but the same number and window again.
    pub is_bare: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Losses that duplicates or RACK found are mended.
    Recovery,
    /// The timer ran out.
    Loss,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    /// Everything is lost (RFC 6298).
    Retransmit,
    /// The tail may be lost (RFC 8985, section 7).
    Probe,
    /// What was overtaken is late enough to be lost (RFC 8985, section 6.2, step 5).
    Reorder,
}

/// A probe of the tail under way.
struct Probe {
    end: u64,
    /// It repeats the last segment.
    repeats: bool,
}

/// How things were before a loss, in case it was none.
struct Undo {
    window: Window,
    from: u64,
    /// The timestamp of the first retransmission.
    stamp: Option<u32>,
    /// Retransmissions of which the receiver has not said that they were in vain.
    resent: u32,
}

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
            // No sign of a queue that is full: the window stays (RFC 8201, section 5.4).
            self.phase = Phase::Recovery;
            self.recovery_point = self.next;
            self.window.threshold = self.window.size;
            self.reduction = Reduction::new(self.window.size);
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

    /// Asks for room if only that would (RFC 9293, section 3.8.6.1).
    fn persist_if_stuck(&mut self, has_data: bool, now: u64) {
        if has_data && self.board.is_empty() && self.persist.is_none() {
            self.persist = Some(now + (self.rtt.timeout() << self.persisted.min(MOST_BACKOFF)));
        }
    }

    /// Sets the timer after something was sent or acknowledged.
    fn arm(&mut self, now: u64) {
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

    /// Linux counts the time that another timer took.
    fn arm_from_first(&mut self, now: u64) {
        let first = self.board.first();
        let at = first.map(|first| (first.sent_at + self.rtt.timeout()).max(now + MILLISECOND));
        self.timer = at.map(|at| (at, Timer::Retransmit));
    }

    fn probe_tail(&mut self, now: u64) {
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmit));
        let repeats = self.new_range(true, now).is_none();
        if repeats {
            // Taken for lost so that it is sent again; nothing else is.
            let start =
                self.board.last().map_or(self.una, |last| last.end.saturating_sub(self.mss as u64).max(last.start));
            self.board.split_at(start);
            self.board.lose(|sent| sent.start == start);
        }
        self.probe = Some(Probe { end: self.next, repeats });
        self.forced = true;
    }

    /// The timer ran out (RFC 6298, section 5; RFC 5681, section 3.1).
    fn time_out(&mut self, now: u64) {
        self.probe = None;
        if self.is_open {
            if self.phase == Phase::Open || self.una >= self.recovery_point {
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

    fn save(&mut self) {
        self.undo = Some(Undo { window: self.window.clone(), from: self.una, stamp: None, resent: 0 });
    }

    /// An acknowledgement came that is not beyond what was sent.
    pub fn acknowledge(&mut self, said: &Acknowledgement, now: u64) {
        let advances = said.up_to > self.una;
        let in_vain = self.told_duplicate(said);
        let lost_before = self.board.lost();
        let done = if advances { self.board.acknowledge(said.up_to) } else { vec![] };
        if advances {
            self.una = said.up_to;
            self.outgoing.release(said.up_to);
        }
        let mut new: Vec<Sent> = done.iter().copied().filter(|sent| sent.fate != Fate::Sacked).collect();
        if self.sack {
            for block in said.blocks.iter().filter(|block| block.start >= self.una && block.end <= self.next) {
                new.extend(self.board.sack(block.start, block.end));
            }
        }
        self.measure(&done, &new, said, now);
        // Blocks come in another order: that is no reordering.
        new.sort_by_key(|sent| sent.end);
        for sent in &new {
            // Behind a hole the echo is that of the segment before it; of a probe of the tail nothing else could tell.
            let timestamps = said.timestamps.filter(|_| !self.is_repeated_by_probe(sent));
            let answered = sent.is_answered_by(timestamps, self.rtt.least(), now);
            self.rack.delivered(sent, answered, now);
        }
        let mut delivered = new.len() as u32;
        if !self.sack {
            delivered += self.count_duplicate(said, advances, done.len() as u32);
        }
        self.end_probe(said, advances, in_vain);
        if advances {
            self.timer = None;
        }
        self.undo_if_in_vain(said, advances, in_vain);
        if self.phase != Phase::Open && self.is_recovered() {
            self.recovered();
        }
        self.detect(now);
        if !self.sack {
            self.detect_without_sack(advances);
        }
        self.begin_recovery();
        if self.phase == Phase::Recovery {
            let advances = advances && self.board.lost() <= lost_before;
            self.reduce(Progress { delivered, advances, in_flight: self.in_flight() });
        } else if !done.is_empty() && self.is_window_used() {
            self.window.grow(delivered, self.rtt.smoothed().unwrap_or(0), now);
        }
        if self.timer.is_none() {
            self.arm(now);
        }
    }

    /// Whether the first block tells of octets that came twice (RFC 2883, section 4).
    fn told_duplicate(&mut self, said: &Acknowledgement) -> bool {
        let Some(first) = said.blocks.first().filter(|_| self.sack) else {
            return false;
        };
        let within = said.blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
        let told = first.start < said.up_to || within;
        if told {
            self.rack.duplicate_told(self.una, self.next);
            if let Some(undo) = self.undo.as_mut().filter(|undo| first.start >= undo.from) {
                undo.resent = undo.resent.saturating_sub(1);
            }
        }
        told
    }

    /// Takes a sample of the round trip time (RFC 6298, section 3; RFC 7323, section 4).
    fn measure(&mut self, done: &[Sent], new: &[Sent], said: &Acknowledgement, now: u64) {
        let resent = done.iter().any(|sent| sent.retransmitted);
        let once = new.iter().find(|sent| !sent.retransmitted).filter(|_| !resent);
        let echoed = said.timestamps.filter(|_| resent).and_then(|stamps| {
            let sent = done.iter().rev().find(|sent| sent.retransmitted)?;
            // Of the last transmission, or of one that was so much earlier.
            let earlier = sent.stamp.wrapping_sub(stamps.echo).cast_signed().max(0);
            Some(now - sent.sent_at + u64::from(earlier.cast_unsigned()) * MILLISECOND)
        });
        if let Some(sample) = once.map(|sent| now - sent.sent_at).or(echoed) {
            self.rtt.take(sample, now);
        }
    }

    fn is_repeated_by_probe(&self, sent: &Sent) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.repeats && probe.end == sent.end)
    }

    fn count_duplicate(&mut self, said: &Acknowledgement, advances: bool, done: u32) -> u32 {
        if advances {
            let left = self.duplicates.saturating_sub(done.saturating_sub(1));
            self.duplicates = if self.phase == Phase::Open { 0 } else { left };
            return 0;
        }
        let counts = said.is_bare && !self.board.is_empty() && self.duplicates < self.board.in_flight();
        self.duplicates += u32::from(counts);
        u32::from(counts)
    }

    /// Ends the episode of a probe (RFC 8985, section 7.4).
    fn end_probe(&mut self, said: &Acknowledgement, advances: bool, in_vain: bool) {
        let Some(probe) = self.probe.as_ref().filter(|probe| said.up_to >= probe.end) else {
            return;
        };
        let mended = probe.repeats && !in_vain && said.up_to > probe.end;
        if !probe.repeats || in_vain || mended || !advances {
            self.probe = None;
        }
        if mended {
            // The probe repaired a loss that nobody else saw.
            self.window.reduce();
            self.window.set(self.window.threshold);
        }
    }

    /// Takes back what was done about a loss that was none.
    fn undo_if_in_vain(&mut self, said: &Acknowledgement, advances: bool, in_vain: bool) {
        let Some(undo) = &self.undo else { return };
        let Some(stamp) = undo.stamp else { return };
        let echoes_older = |stamps: Timestamps| stamps.echo.wrapping_sub(stamp).cast_signed() < 0;
        let eifel = advances && self.phase != Phase::Open && said.timestamps.is_some_and(echoes_older);
        if !(eifel || in_vain && undo.resent == 0) {
            return;
        }
        if let Some(undo) = self.undo.take() {
            let size = self.window.size.max(undo.window.size);
            self.window = undo.window;
            self.window.set(size);
        }
        self.board.find();
        self.phase = Phase::Open;
        self.duplicates = 0;
    }

    fn is_recovered(&self) -> bool {
        // Without SACK duplicates of what was sent again look like those of a loss (RFC 6582, section 4.1).
        let enough = if self.sack { self.una >= self.recovery_point } else { self.una > self.recovery_point };
        enough || self.board.is_empty()
    }

    fn recovered(&mut self) {
        if self.phase == Phase::Recovery {
            self.window.set(self.window.threshold);
        }
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.rack.recovery_ended();
    }

    fn detect(&mut self, now: u64) {
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

    /// RFC 6582: the first is lost after three duplicates, and again where an acknowledgement ends within recovery.
    fn detect_without_sack(&mut self, advances: bool) {
        let lost = match self.phase {
            Phase::Open => self.duplicates >= DUPLICATE_THRESHOLD,
            Phase::Recovery => advances,
            Phase::Loss => false,
        };
        if lost {
            let una = self.una;
            self.board.lose(|sent| sent.start <= una);
        }
    }

    fn begin_recovery(&mut self) {
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

    fn reduce(&mut self, progress: Progress) {
        if self.phase == Phase::Recovery && (progress.delivered > 0 || self.reduction.sent == 0) {
            let size = self.reduction.window(self.window.threshold, progress);
            self.window.set(size);
        }
    }

    fn is_window_used(&self) -> bool {
        if self.window.in_slow_start() { self.window.size < 2 * self.usage.most } else { self.usage.limited }
    }
}
