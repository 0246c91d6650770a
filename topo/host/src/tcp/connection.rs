//! One connection: its states (RFC 9293, section 3.3.2), what segments do to it, and what it sends.

mod incoming;
mod transmit;

use std::net::SocketAddrV6;

use super::acks::Acks;
use super::congestion::Congestion;
use super::receive::Reassembly;
use super::segment::{Flags, IPV6_HEADER, Segment, TCP_HEADER, TIMESTAMPS};
use super::sender::Sender;
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
}
