//! What comes: RFC 9293, 3.10.7.

use super::super::receive::Arrival;
use super::super::segment::Segment;
use super::super::sender::Acknowledgement;
use super::super::sequence::{START, Sequence};
use super::{
    CHALLENGE_INTERVAL, Connection, DEFAULT_MSS, End, LEAST_MSS, MOST_SHIFT, State, TIME_WAIT, TIMESTAMPS_LAST,
};

impl Connection {
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
                self.replies.push(super::super::reset(segment).emit());
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
    pub(super) fn take_syn(&mut self, syn: &Segment<'_>, now: u64) {
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
                self.replies.push(super::super::reset(segment).emit());
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
}
