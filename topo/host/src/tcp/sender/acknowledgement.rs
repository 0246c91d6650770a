//! What an acknowledgement changes.

use std::ops::Range;

use super::super::prr::Progress;
use super::super::scoreboard::{Fate, Sent};
use super::super::segment::Timestamps;
use super::Sender;
use super::recovery::Phase;
use crate::units::MILLISECOND;

/// An acknowledgement, in positions.
pub struct Acknowledgement {
    pub up_to: u64,
    pub blocks: Vec<Range<u64>>,
    pub timestamps: Option<Timestamps>,
    /// It brings nothing but the same number and window again.
    pub is_bare: bool,
}

impl Sender {
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
}
