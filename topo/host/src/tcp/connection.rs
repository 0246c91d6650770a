//! One connection: its states (RFC 9293, section 3.3.2), what segments do to it, and what it sends.

use std::net::SocketAddrV6;
use std::ops::Range;

use super::acks::Acks;
use super::congestion::Congestion;
use super::receive::{Arrival, Reassembly};
use super::segment::{Flags, IPV6_HEADER, Options, Segment, TCP_HEADER, TIMESTAMPS, Timestamps};
use super::sender::{Acknowledgement, Sender};
use super::sequence::{START, Sequence};
use crate::units::{MILLISECOND, SECOND};

/// What an end that says nothing takes over IPv6 (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u16 = 1220;
/// Less is taken for this much, as in Linux: nobody is made to send octet by octet.
const LEAST_MSS: u16 = 88;
/// RFC 7323, section 2.3.
const MOST_SHIFT: u8 = 14;
/// How long the last acknowledgement can be repeated, and an end that was left waits for a FIN: Linux's.
const TIME_WAIT: u64 = 60 * SECOND;
/// Answers to what does not fit are no more frequent than this (RFC 5961, section 7), Linux's.
const CHALLENGE_INTERVAL: u64 = 500 * MILLISECOND;
/// Questions to a silent end before it counts as gone.
const KEEP_ALIVES: u64 = 4;
/// Timestamps older than that are no sign of an old segment (RFC 7323, section 5.5).
const TIMESTAMPS_LAST: u64 = 24 * 86_400 * SECOND;

/// What a program wants of its connections.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Octets, of each direction; the window that is offered is as large.
    pub buffer: usize,
    pub congestion: Congestion,
    /// Nanoseconds of silence after which a connection is given up.
    pub timeout: u64,
    /// Nanoseconds that an acknowledgement may wait for a second segment; 0: each segment is acknowledged at once.
    pub ack_delay: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed(End),
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In order, or by this end.
    Done,
    Refused,
    Reset,
    TimedOut,
}

/// Timestamps, where both ends have them.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// The other end's latest, and when it came.
    recent: u32,
    recent_at: u64,
}

/// Who the ends are, and what decides about the first numbers.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    pub local: SocketAddrV6,
    pub remote: SocketAddrV6,
    pub initial: u32,
    /// Where timestamps begin.
    pub clock: u32,
    pub mtu: usize,
}

pub struct Connection {
    ends: Ends,
    state: State,
    timeout: u64,
    ours: Sequence,
    theirs: Sequence,
    sender: Sender,
    received: Reassembly,
    acks: Acks,
    /// The position of the other end's FIN, and whether everything before it came.
    fin: Option<u64>,
    fin_came: bool,
    /// The right edge of the window that was offered last, and how far was acknowledged.
    offered: u64,
    acknowledged: u64,
    shift: u8,
    their_shift: u8,
    /// The segments that this end sends are no longer.
    their_mss: u16,
    clock: Option<Clock>,
    heard_at: u64,
    kept_alive_at: u64,
    challenged_at: Option<u64>,
    /// Where the segment began that told the other end's window.
    window_at: u64,
    /// When a connection that waits for nothing but time is over.
    over_at: Option<u64>,
    /// The program has left.
    left: bool,
    /// Segments that answer at once.
    replies: Vec<Vec<u8>>,
}

impl Connection {
    /// One that sends a SYN.
    pub fn connect(ends: Ends, settings: Settings, now: u64) -> Self {
        let clock = Some(Clock { recent: 0, recent_at: now });
        Self::new(ends, settings, State::SynSent, clock, now)
    }

    /// One that answers a SYN.
    pub fn answer(ends: Ends, settings: Settings, syn: &Segment<'_>, now: u64) -> Self {
        let clock = syn.options.timestamps.map(|_| Clock { recent: 0, recent_at: now });
        let mut this = Self::new(ends, settings, State::SynReceived, clock, now);
        this.take_syn(syn, now);
        this
    }

    fn new(ends: Ends, settings: Settings, state: State, clock: Option<Clock>, now: u64) -> Self {
        let scale = (0..MOST_SHIFT).find(|shift| settings.buffer >> shift <= usize::from(u16::MAX));
        let received = Reassembly::new(settings.buffer, START + 1);
        let offered = received.edge();
        let mut this = Self {
            ends,
            state,
            timeout: settings.timeout,
            ours: Sequence { initial: ends.initial },
            theirs: Sequence { initial: 0 },
            sender: Sender::new(settings.buffer, settings.congestion, 0),
            received,
            acks: Acks::new(settings.ack_delay),
            fin: None,
            fin_came: false,
            offered,
            acknowledged: START,
            shift: scale.unwrap_or(MOST_SHIFT),
            their_shift: 0,
            their_mss: DEFAULT_MSS,
            clock,
            heard_at: now,
            kept_alive_at: now,
            challenged_at: None,
            window_at: START,
            over_at: None,
            left: false,
            replies: vec![],
        };
        this.set_mtu(ends.mtu);
        this
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn local(&self) -> SocketAddrV6 {
        self.ends.local
    }

    pub fn remote(&self) -> SocketAddrV6 {
        self.ends.remote
    }

    /// Whether the handshake is over.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed(_))
    }

    /// Whether a program can still write.
    pub fn may_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait)
    }

    /// Octets that can be written.
    pub fn room(&self) -> usize {
        if self.may_send() { self.sender.outgoing.capacity() - self.sender.outgoing.len() } else { 0 }
    }

    /// Octets that are written and not acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.sender.outgoing.len()
    }

    /// Small segments do not wait for acknowledgements of others.
    pub fn send_small_at_once(&mut self) {
        self.sender.nagle = false;
    }

    /// Lets a program fill some of the room; it says how much it filled.
    pub fn send_with(&mut self, write: impl FnOnce(&mut [u8]) -> usize) -> usize {
        if self.room() == 0 {
            return 0;
        }
        let write = |room: &mut [u8]| {
            let length = write(room);
            (length, length)
        };
        self.sender.outgoing.write(write)
    }

    /// Writes as much of the octets as there is room for.
    pub fn send(&mut self, mut octets: &[u8]) -> usize {
        let before = octets.len();
        while !octets.is_empty() && self.room() > 0 {
            let written = self.send_with(|room| {
                let length = room.len().min(octets.len());
                room[..length].copy_from_slice(&octets[..length]);
                length
            });
            octets = &octets[written..];
        }
        before - octets.len()
    }

    /// Octets that a program can read.
    pub fn readable(&self) -> usize {
        self.received.readable()
    }

    /// Shows a program octets in order; it says how many it took.
    pub fn receive_with<T>(&mut self, read: impl FnOnce(&mut [u8]) -> (usize, T)) -> T {
        self.received.read(read)
    }

    /// Whether everything up to the other end's FIN was read.
    pub fn is_finished(&self) -> bool {
        self.fin_came && self.received.readable() == 0
    }

    /// Ends this end's direction in order.
    pub fn close(&mut self) {
        match self.state {
            State::SynSent => self.end(End::Done),
            State::SynReceived | State::Established => {
                self.sender.finish();
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.sender.finish();
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// Breaks the connection off.
    pub fn abort(&mut self) {
        if !matches!(self.state, State::SynSent | State::TimeWait | State::Closed(_)) {
            let reset = self.bare(self.sender.next(), Flags { rst: true, ..Flags::default() });
            self.replies.push(reset.emit());
        }
        if !matches!(self.state, State::Closed(_)) {
            self.end(End::Done);
        }
    }

    /// No program reads or closes it any more.
    pub fn leave(&mut self, now: u64) {
        self.left = true;
        self.received.close();
        self.wait_for_fin(now);
    }

    /// Packets are no longer than this.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.ends.mtu = mtu;
        let most = usize::from(self.their_mss).min(mtu - IPV6_HEADER - TCP_HEADER);
        self.sender.set_mss(most - if self.clock.is_some() { TIMESTAMPS } else { 0 });
    }

    /// Whether a SYN to the same ends may begin another connection (RFC 6191, section 2).
    pub fn gives_way_to(&self, syn: &Segment<'_>) -> bool {
        let newer = match (self.clock, syn.options.timestamps) {
            (Some(clock), Some(stamps)) => stamps.value.wrapping_sub(clock.recent).cast_signed() > 0,
            _ => false,
        };
        self.state == State::TimeWait
            && (newer || self.theirs.position(syn.sequence, self.expected()) > self.expected())
    }

    /// Takes a segment between the two ends.
    pub fn receive(&mut self, segment: &Segment<'_>, now: u64) {
        match self.state {
            State::Closed(_) => {}
            State::SynSent => self.receive_in_syn_sent(segment, now),
            _ => self.receive_synchronised(segment, now),
        }
        // At once, segment by segment: the other end counts acknowledgements, and each lets something new leave.
        let mut replies = std::mem::take(&mut self.replies);
        self.transmit(now, &mut replies);
        self.replies = replies;
    }

    fn receive_in_syn_sent(&mut self, segment: &Segment<'_>, now: u64) {
        let acknowledged = segment.acknowledgement.map(|number| self.ours.position(number, START));
        if let Some(position) = acknowledged
            && position != self.sender.next()
        {
            if !segment.flags.rst {
                self.replies.push(super::reset(segment).emit());
            }
            return;
        }
        if segment.flags.rst {
            if acknowledged.is_some() {
                self.end(End::Refused);
            }
            return;
        }
        if !segment.flags.syn {
            return;
        }
        self.take_syn(segment, now);
        match acknowledged {
            Some(up_to) => {
                self.open();
                self.take_acknowledgement(segment, START, up_to, now);
                self.acks.at_once();
            }
            None => {
                // Both ends began at once (RFC 9293, section 3.5).
                self.state = State::SynReceived;
                self.sender.repeat_syn();
            }
        }
    }

    /// Takes what a SYN says: the first number and what the other end is able to do.
    fn take_syn(&mut self, syn: &Segment<'_>, now: u64) {
        self.theirs = Sequence { initial: syn.sequence };
        self.acknowledged = START + 1;
        self.heard_at = now;
        self.their_mss = syn.options.mss.unwrap_or(DEFAULT_MSS).max(LEAST_MSS);
        match syn.options.window_scale {
            Some(shift) => self.their_shift = shift.min(MOST_SHIFT),
            None => self.shift = 0,
        }
        match (&mut self.clock, syn.options.timestamps) {
            (Some(clock), Some(stamps)) => (clock.recent, clock.recent_at) = (stamps.value, now),
            (clock, _) => *clock = None,
        }
        self.sender.sack = syn.options.sack_permitted;
        self.offered = self.expected() + u64::from(self.window_of_syn());
        self.set_mtu(self.ends.mtu);
        self.sender.set_edge(START + 1 + u64::from(syn.window));
    }

    fn open(&mut self) {
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.state = State::Established;
        }
        self.sender.is_open = true;
    }

    fn receive_synchronised(&mut self, segment: &Segment<'_>, now: u64) {
        let position = self.theirs.position(segment.sequence, self.expected());
        let end = position + segment.length();
        if self.is_old(segment, now) || end < self.acknowledged || position > self.offered.max(self.expected()) {
            self.refuse(segment, position, now);
            return;
        }
        if segment.flags.rst {
            // RFC 5961, section 3.2.
            if position == self.expected() {
                self.end(if self.state == State::SynReceived { End::Refused } else { End::Reset });
            } else {
                self.challenge(now);
            }
            return;
        }
        if segment.flags.syn {
            // RFC 5961, section 4.2; the SYN may be one whose answer was lost.
            if self.state == State::SynReceived && position == START && segment.acknowledgement.is_none() {
                self.sender.repeat_syn();
            } else {
                self.challenge(now);
            }
            return;
        }
        let Some(number) = segment.acknowledgement else { return };
        let up_to = self.ours.position(number, self.sender.una());
        if !self.sender.is_open {
            if up_to != START + 1 || self.sender.next() == START {
                self.replies.push(super::reset(segment).emit());
                return;
            }
            self.open();
        }
        // RFC 5961, section 5.2.
        if up_to > self.sender.next() || up_to + self.sender.most_room() < self.sender.una() {
            self.challenge(now);
            return;
        }
        self.heard_at = now;
        self.take_timestamp(segment, position, now);
        self.take_acknowledgement(segment, position, up_to, now);
        self.take_data(segment, position, now);
        if !matches!(self.state, State::Closed(_)) {
            self.advance(now);
        }
    }

    /// Protection against wrapped sequence numbers (RFC 7323, section 5).
    fn is_old(&self, segment: &Segment<'_>, now: u64) -> bool {
        let (Some(clock), Some(stamps)) = (self.clock, segment.options.timestamps) else {
            return false;
        };
        let older = stamps.value.wrapping_sub(clock.recent).cast_signed() < 0;
        older && !segment.flags.rst && !segment.flags.syn && now < clock.recent_at + TIMESTAMPS_LAST
    }

    fn take_timestamp(&mut self, segment: &Segment<'_>, position: u64, now: u64) {
        if let (Some(clock), Some(stamps)) = (&mut self.clock, segment.options.timestamps)
            && position <= self.acknowledged
            && stamps.value.wrapping_sub(clock.recent).cast_signed() >= 0
        {
            (clock.recent, clock.recent_at) = (stamps.value, now);
        }
    }

    /// Says what was expected; a segment with octets is answered always, so that a duplicate is told.
    fn refuse(&mut self, segment: &Segment<'_>, position: u64, now: u64) {
        if segment.flags.rst {
            return;
        }
        if segment.data.is_empty() {
            self.challenge(now);
            return;
        }
        self.heard_at = now;
        if position < self.expected() {
            self.received.take(position, segment.data);
        }
        self.acks.at_once();
    }

    fn challenge(&mut self, now: u64) {
        if self.challenged_at.is_none_or(|at| now >= at + CHALLENGE_INTERVAL) {
            self.challenged_at = Some(now);
            self.acks.at_once();
        }
    }

    fn take_acknowledgement(&mut self, segment: &Segment<'_>, position: u64, up_to: u64, now: u64) {
        let una = self.sender.una();
        let shift = if segment.flags.syn { 0 } else { self.their_shift };
        let edge = up_to + (u64::from(segment.window) << shift);
        let same_window = edge == self.sender.edge();
        // RFC 9293, section 3.10.7.4: an old segment does not tell the window.
        let newer = position > self.window_at || position == self.window_at && edge > self.sender.edge();
        if up_to > una || up_to == una && newer {
            self.window_at = position;
            self.sender.set_edge(edge);
        }
        let blocks = segment.options.sack.iter().map(|(start, end)| {
            let start = self.ours.position(*start, una);
            start..self.ours.position(*end, start)
        });
        let said = Acknowledgement {
            up_to,
            blocks: blocks.filter(|block| block.start < block.end).collect(),
            timestamps: self.clock.and(segment.options.timestamps),
            is_bare: up_to == una && segment.length() == 0 && same_window,
        };
        self.sender.acknowledge(&said, now);
    }

    fn take_data(&mut self, segment: &Segment<'_>, position: u64, now: u64) {
        if matches!(self.state, State::TimeWait | State::CloseWait | State::LastAck | State::Closing) {
            if segment.length() > 0 {
                self.acks.at_once();
            }
            if segment.flags.fin && self.state == State::TimeWait {
                self.over_at = Some(now + TIME_WAIT);
            }
            return;
        }
        if self.left && position + segment.data.len() as u64 > self.expected() && !segment.data.is_empty() {
            // Nobody reads it (RFC 9293, section 3.6.1).
            self.abort();
            return;
        }
        if !segment.data.is_empty() {
            match self.received.take(position, segment.data) {
                Arrival::InOrder => self.acks.arrived(segment.data.len(), self.sender.timeout(), now),
                Arrival::OutOfOrder | Arrival::Duplicate => self.acks.at_once(),
            }
        }
        if segment.flags.fin {
            self.fin = Some(position + segment.data.len() as u64);
            self.acks.at_once();
        }
        if self.fin == Some(self.received.next()) {
            self.fin_came = true;
            self.acks.at_once();
        }
    }

    /// Goes on to the next state.
    fn advance(&mut self, now: u64) {
        let acknowledged = self.sender.fin_is_acknowledged();
        self.state = match (self.state, acknowledged, self.fin_came) {
            (State::Established, _, true) => State::CloseWait,
            (State::FinWait1, true, false) => State::FinWait2,
            (State::FinWait1, false, true) => State::Closing,
            (State::FinWait1 | State::FinWait2, true, true) | (State::Closing, true, _) => {
                self.over_at = Some(now + TIME_WAIT);
                State::TimeWait
            }
            (State::LastAck, true, _) => {
                self.end(End::Done);
                return;
            }
            (state, ..) => state,
        };
        self.wait_for_fin(now);
    }

    /// An end whose program has left does not wait for ever for the other's FIN.
    fn wait_for_fin(&mut self, now: u64) {
        if self.left && self.state == State::FinWait2 && self.over_at.is_none() {
            self.over_at = Some(now + TIME_WAIT);
        }
    }

    fn end(&mut self, end: End) {
        self.state = State::Closed(end);
        self.over_at = None;
    }

    /// When there is something to do even if nothing comes.
    pub fn next_wake(&self) -> Option<u64> {
        if matches!(self.state, State::Closed(_)) {
            return None;
        }
        if self.over_at.is_some() {
            return [self.over_at, self.acks.due].into_iter().flatten().min();
        }
        let silence = Some(self.heard_at + self.timeout);
        [self.sender.next_wake(), self.acks.due, silence, self.keep_alive_at()].into_iter().flatten().min()
    }

    fn keep_alive_at(&self) -> Option<u64> {
        let idle = self.sender.is_open && self.sender.is_idle();
        idle.then(|| self.heard_at.max(self.kept_alive_at) + self.timeout / KEEP_ALIVES)
    }

    /// Does what is due, and sends what can be sent.
    pub fn poll(&mut self, now: u64, packets: &mut Vec<Vec<u8>>) {
        packets.append(&mut self.replies);
        if self.over_at.is_some_and(|at| at <= now) {
            self.end(End::Done);
        } else if self.over_at.is_none() && now >= self.heard_at + self.timeout {
            self.end(End::TimedOut);
        }
        if matches!(self.state, State::Closed(_)) {
            return;
        }
        let asks = self.sender.poll(now);
        let keeps_alive = self.keep_alive_at().is_some_and(|at| at <= now) && self.over_at.is_none();
        if keeps_alive {
            self.kept_alive_at = now;
        }
        if asks || keeps_alive {
            // An old number asks for an acknowledgement (RFC 9293, section 3.8.4).
            packets.push(self.acknowledging(self.sender.una() - 1, now).emit());
        }
        self.acks.poll(now);
        self.acks.now |= self.window_opened();
        self.transmit(now, packets);
    }

    /// Sends what may be sent now: octets, and acknowledgements that are due.
    fn transmit(&mut self, now: u64, packets: &mut Vec<Vec<u8>>) {
        if matches!(self.state, State::Closed(_)) {
            return;
        }
        if self.acks.now && self.received.has_holes() {
            // Beside octets there may be no room for what has come out of order.
            self.acknowledge(now, packets);
        }
        let stamp = self.stamp(now);
        while let Some(range) = self.sender.take_next(now, stamp) {
            self.send_range(range.start, range.end, now, packets);
        }
        if self.acks.now {
            self.acknowledge(now, packets);
        }
    }

    fn acknowledge(&mut self, now: u64, packets: &mut Vec<Vec<u8>>) {
        packets.push(self.acknowledging(self.sender.next(), now).emit());
        self.acks.sent(false);
    }

    fn send_range(&mut self, start: u64, end: u64, now: u64, packets: &mut Vec<Vec<u8>>) {
        let syn = start == START;
        let fin = self.sender.has_fin(end);
        let acknowledging = self.state != State::SynSent;
        let push = !syn && end >= self.sender.outgoing.end();
        let room = self.ends.mtu - IPV6_HEADER - TCP_HEADER - (end - start) as usize;
        let mut options = self.options(now, acknowledging);
        if syn {
            let offers = self.state == State::SynSent;
            options.mss = Some((self.ends.mtu - IPV6_HEADER - TCP_HEADER) as u16);
            options.window_scale = (offers || self.shift > 0 || self.their_shift > 0).then_some(self.shift);
            options.sack_permitted = offers || self.sender.sack;
        } else {
            let blocks = room.saturating_sub(TIMESTAMPS + 4) / 8;
            options.sack.truncate(blocks);
        }
        let window = self.offer();
        let segment = Segment {
            from: self.ends.local,
            to: self.ends.remote,
            sequence: self.ours.wire(start),
            acknowledgement: acknowledging.then(|| self.theirs.wire(self.expected())),
            flags: Flags { syn, fin, push, rst: false },
            window: if syn { self.window_of_syn() } else { window },
            options,
            data: self.sender.outgoing.slice(start, end),
        };
        packets.push(segment.emit());
        if acknowledging {
            self.acks.sent(end > start);
        }
    }

    /// A segment without octets that says what is expected.
    fn acknowledging(&mut self, position: u64, now: u64) -> Segment<'static> {
        let options = self.options(now, true);
        let window = self.offer();
        Segment { window, options, ..self.bare(position, Flags::default()) }
    }

    fn bare(&self, position: u64, flags: Flags) -> Segment<'static> {
        Segment {
            from: self.ends.local,
            to: self.ends.remote,
            sequence: self.ours.wire(position),
            acknowledgement: Some(self.theirs.wire(self.expected())),
            flags,
            window: 0,
            options: Options::default(),
            data: &[],
        }
    }

    fn options(&mut self, now: u64, acknowledging: bool) -> Options {
        let stamp = self.stamp(now);
        let timestamps = self.clock.map(|clock| Timestamps { value: stamp, echo: clock.recent });
        let blocks = if acknowledging && self.sender.sack { self.received.blocks() } else { vec![] };
        // A FIN behind a hole has come too; without it the other end takes the segment that bears it for missing.
        let fin = |end: u64| u64::from(self.fin == Some(end) && !self.fin_came);
        let wire = |block: &Range<u64>| (self.theirs.wire(block.start), self.theirs.wire(block.end + fin(block.end)));
        let sack = blocks.iter().map(wire).collect();
        Options { timestamps, sack, ..Options::default() }
    }

    /// A timestamp of milliseconds.
    fn stamp(&self, now: u64) -> u32 {
        self.ends.clock.wrapping_add((now / MILLISECOND) as u32)
    }

    /// The position that is expected next.
    fn expected(&self) -> u64 {
        self.received.next() + u64::from(self.fin_came)
    }

    /// The least that makes it worth to move the window (RFC 9293, section 3.8.6.2.2): a segment as the other end sends them.
    fn worth(&self) -> u64 {
        (self.acks.longest as u64).min((self.received.edge() - self.received.next()) / 2).max(1)
    }

    /// The window to be offered now: its edge never goes back.
    fn offer(&mut self) -> u16 {
        if self.received.edge() >= self.offered + self.worth() {
            let room = self.received.edge() - self.expected();
            let most = u64::from(u16::MAX) << self.shift;
            self.offered = self.offered.max(self.expected() + (room.min(most) >> self.shift << self.shift));
        }
        self.acknowledged = self.expected();
        let room = self.offered.saturating_sub(self.expected());
        (room.div_ceil(1 << self.shift)).min(u16::MAX.into()) as u16
    }

    /// Whether the other end should hear that there is room again: twice as much as it knows of, as in Linux.
    fn window_opened(&self) -> bool {
        let known = self.offered.saturating_sub(self.expected());
        let most = u64::from(u16::MAX) << self.shift;
        let room = (self.received.edge() - self.received.next()).min(most);
        self.is_open() && !self.fin_came && room >= 2 * known && self.received.edge() >= self.offered + self.worth()
    }

    /// That of a SYN is not scaled (RFC 7323, section 2.2).
    fn window_of_syn(&self) -> u16 {
        (self.received.edge() - self.received.next()).min(u16::MAX.into()) as u16
    }
}
