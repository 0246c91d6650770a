//! What leaves.

use std::ops::Range;

use super::super::segment::{Flags, IPV6_HEADER, Options, Segment, TCP_HEADER, TIMESTAMPS, Timestamps};
use super::super::sequence::START;
use super::{Connection, State};
use crate::units::MILLISECOND;

impl Connection {
    /// Sends what may be sent now: octets, and acknowledgements that are due.
    pub(super) fn transmit(&mut self, now: u64, packets: &mut Vec<Vec<u8>>) {
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

    pub(super) fn acknowledge(&mut self, now: u64, packets: &mut Vec<Vec<u8>>) {
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
    pub(super) fn acknowledging(&mut self, position: u64, now: u64) -> Segment<'static> {
        let options = self.options(now, true);
        let window = self.offer();
        Segment { window, options, ..self.bare(position, Flags::default()) }
    }

    pub(super) fn bare(&self, position: u64, flags: Flags) -> Segment<'static> {
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
    pub(super) fn expected(&self) -> u64 {
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
    pub(super) fn window_opened(&self) -> bool {
        let known = self.offered.saturating_sub(self.expected());
        let most = u64::from(u16::MAX) << self.shift;
        let room = (self.received.edge() - self.received.next()).min(most);
        self.is_open() && !self.fin_came && room >= 2 * known && self.received.edge() >= self.offered + self.worth()
    }

    /// That of a SYN is not scaled (RFC 7323, section 2.2).
    pub(super) fn window_of_syn(&self) -> u16 {
        (self.received.edge() - self.received.next()).min(u16::MAX.into()) as u16
    }
}
