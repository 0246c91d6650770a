//! What was sent and is not acknowledged, segment by segment (RFC 6675, section 3).

use std::collections::VecDeque;

use super::segment::Timestamps;

/// What is believed of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    InFlight,
    Sacked,
    /// To be sent again.
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub start: u64,
    pub end: u64,
    pub sent_at: u64,
    /// The timestamp that it bore last.
    pub stamp: u32,
    pub retransmitted: bool,
    pub fate: Fate,
}

impl Sent {
    /// Whether an acknowledgement can be that of the last transmission (RFC 8985, section 6.2, step 2).
    pub fn is_answered_by(&self, timestamps: Option<Timestamps>, least_rtt: Option<u64>, now: u64) -> bool {
        let echoes_older = timestamps.is_some_and(|stamps| stamps.echo.wrapping_sub(self.stamp).cast_signed() < 0);
        let too_soon = least_rtt.is_some_and(|least| now - self.sent_at < least);
        !self.retransmitted || !(echoes_older || too_soon)
    }
}

#[derive(Default)]
pub struct Scoreboard {
    sent: VecDeque<Sent>,
    in_flight: u32,
    sacked: u32,
    lost: u32,
}

impl Scoreboard {
    pub fn len(&self) -> u32 {
        self.sent.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    pub fn lost(&self) -> u32 {
        self.lost
    }

    pub fn first(&self) -> Option<&Sent> {
        self.sent.front()
    }

    pub fn last(&self) -> Option<&Sent> {
        self.sent.back()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter()
    }

    /// A segment was sent for the first time.
    pub fn push(&mut self, start: u64, end: u64, sent_at: u64, stamp: u32) {
        self.sent.push_back(Sent { start, end, sent_at, stamp, retransmitted: false, fate: Fate::InFlight });
        self.in_flight += 1;
    }

    /// Takes out what is acknowledged; of a segment of which the end is not, the rest stays.
    pub fn acknowledge(&mut self, up_to: u64) -> Vec<Sent> {
        let mut done = vec![];
        while let Some(front) = self.sent.front_mut() {
            if front.start >= up_to {
                break;
            }
            if front.end > up_to {
                front.start = up_to;
                break;
            }
            let sent = *front;
            self.sent.pop_front();
            *self.count(sent.fate) -= 1;
            done.push(sent);
        }
        done
    }

    /// Marks what lies in a block; answers what is new, as it was before.
    pub fn sack(&mut self, start: u64, end: u64) -> Vec<Sent> {
        let from = self.sent.partition_point(|sent| sent.start < start);
        let mut new = vec![];
        for index in from..self.sent.len() {
            let sent = self.sent[index];
            if sent.end > end {
                break;
            }
            if sent.fate != Fate::Sacked {
                new.push(sent);
                self.set_fate(index, Fate::Sacked);
            }
        }
        new
    }

    /// Marks as lost what is in flight and fits; true if there was any.
    pub fn lose(&mut self, is_lost: impl Fn(&Sent) -> bool) -> bool {
        let before = self.lost;
        for index in 0..self.sent.len() {
            if self.sent[index].fate == Fate::InFlight && is_lost(&self.sent[index]) {
                self.set_fate(index, Fate::Lost);
            }
        }
        self.lost > before
    }

    /// The other end may have thrown away what it told by SACK (RFC 2018, section 8).
    pub fn forget_sacks(&mut self) {
        for index in 0..self.sent.len() {
            if self.sent[index].fate == Fate::Sacked {
                self.set_fate(index, Fate::InFlight);
            }
        }
    }

    /// What was taken for lost is under way after all.
    pub fn find(&mut self) {
        for index in 0..self.sent.len() {
            if self.sent[index].fate == Fate::Lost {
                self.set_fate(index, Fate::InFlight);
            }
        }
    }

    /// The first lost segment, cut to a length, as sent again now.
    pub fn resend_lost(&mut self, most: u64, now: u64, stamp: u32) -> Option<Sent> {
        if self.lost == 0 {
            return None;
        }
        let index = self.sent.iter().position(|sent| sent.fate == Fate::Lost)?;
        Some(self.resend(index, most, now, stamp))
    }

    /// Cuts the segment that reaches over a position there.
    pub fn split_at(&mut self, position: u64) {
        if let Some(index) = self.sent.iter().position(|sent| sent.start < position && position < sent.end) {
            self.split(index, position);
        }
    }

    fn resend(&mut self, index: usize, most: u64, now: u64, stamp: u32) -> Sent {
        let sent = self.sent[index];
        if sent.end - sent.start > most {
            self.split(index, sent.start + most);
        }
        self.set_fate(index, Fate::InFlight);
        let sent = &mut self.sent[index];
        (sent.sent_at, sent.stamp, sent.retransmitted) = (now, stamp, true);
        *sent
    }

    fn split(&mut self, index: usize, at: u64) {
        let rest = Sent { start: at, ..self.sent[index] };
        self.sent[index].end = at;
        self.sent.insert(index + 1, rest);
        *self.count(rest.fate) += 1;
    }

    fn set_fate(&mut self, index: usize, fate: Fate) {
        let before = std::mem::replace(&mut self.sent[index].fate, fate);
        *self.count(before) -= 1;
        *self.count(fate) += 1;
    }

    fn count(&mut self, fate: Fate) -> &mut u32 {
        match fate {
            Fate::InFlight => &mut self.in_flight,
            Fate::Sacked => &mut self.sacked,
            Fate::Lost => &mut self.lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Scoreboard {
        let mut board = Scoreboard::default();
        for number in 0..5 {
            board.push(number * 10, number * 10 + 10, number, number as u32);
        }
        board
    }

    fn counts(board: &Scoreboard) -> (u32, u32, u32) {
        (board.in_flight(), board.sacked(), board.lost())
    }

    #[test]
    fn segments_are_in_flight_sacked_or_lost() {
        let mut board = board();
        assert_eq!(board.sack(20, 40).len(), 2);
        assert_eq!(board.sack(15, 45).len(), 0);
        assert!(board.lose(|sent| sent.start < 20));
        assert_eq!(counts(&board), (1, 2, 2));
        assert_eq!(board.resend_lost(10, 9, 9).unwrap().start, 0);
        assert_eq!(counts(&board), (2, 2, 1));
        assert_eq!(board.acknowledge(25).len(), 2);
        assert_eq!((counts(&board), board.first().unwrap().start), ((1, 2, 0), 25));
    }

    #[test]
    fn a_segment_that_was_sent_again_is_answered_a_round_trip_later() {
        let mut board = board();
        board.lose(|sent| sent.start == 10);
        let again = board.resend_lost(10, 100, 9).unwrap();
        assert!(!again.is_answered_by(None, Some(20), 119) && again.is_answered_by(None, Some(20), 120));
        let before = Timestamps { value: 1, echo: again.stamp - 1 };
        assert!(!again.is_answered_by(Some(before), Some(20), 120));
    }

    #[test]
    fn what_is_too_long_is_sent_again_in_pieces() {
        let mut board = board();
        board.lose(|sent| sent.start == 10);
        let pieces: Vec<_> =
            std::iter::from_fn(|| board.resend_lost(4, 9, 9)).map(|sent| (sent.start, sent.end)).collect();
        assert_eq!(pieces, [(10, 14), (14, 18), (18, 20)]);
        board.split_at(47);
        assert_eq!((board.last().unwrap().start, board.len()), (47, 8));
    }
}
