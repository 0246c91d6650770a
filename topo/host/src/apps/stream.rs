//! What a receiver makes of the numbers and times of one stream.

use std::net::SocketAddrV6;

use super::datagram::Datagram;
use crate::event::UdpReport;

/// How far back duplicates are known; a datagram that comes later than that counts as one.
const WINDOW: u64 = 65_536;

pub struct Stream {
    from: SocketAddrV6,
    received: u64,
    bytes: u64,
    /// One more than the highest sequence number.
    expected: u64,
    duplicates: u64,
    reordered: u64,
    /// A bit for each of the last [`WINDOW`] sequence numbers.
    seen: Vec<u64>,
    /// Sixteen times the jitter, so that nothing is lost by rounding (RFC 3550, appendix A.8).
    jitter: u64,
    transit: Option<u64>,
    arrived_at: u64,
    longest_gap: (u64, u64),
    /// Its silence was told.
    pub ended: bool,
}

impl Stream {
    pub fn new(from: SocketAddrV6, now: u64) -> Self {
        Self {
            from,
            received: 0,
            bytes: 0,
            expected: 0,
            duplicates: 0,
            reordered: 0,
            seen: vec![0; (WINDOW / 64) as usize],
            jitter: 0,
            transit: None,
            arrived_at: now,
            longest_gap: (0, now),
            ended: false,
        }
    }

    pub fn take(&mut self, datagram: &Datagram, bytes: usize, now: u64) {
        self.ended = false;
        let gap = now - self.arrived_at;
        if gap > self.longest_gap.0 {
            self.longest_gap = (gap, self.arrived_at);
        }
        self.arrived_at = now;
        if !self.is_new(datagram.sequence) {
            self.duplicates += 1;
            return;
        }
        self.received += 1;
        self.bytes += bytes as u64;
        // The two clocks need not agree: only differences count.
        let transit = now.wrapping_sub(datagram.sent_at);
        if let Some(last) = self.transit.replace(transit) {
            let difference = (transit.wrapping_sub(last) as i64).unsigned_abs();
            self.jitter = self.jitter - ((self.jitter + 8) >> 4) + difference;
        }
    }

    fn is_new(&mut self, sequence: u64) -> bool {
        if sequence >= self.expected {
            let skipped = (sequence - self.expected).min(WINDOW);
            for later in sequence - skipped..=sequence {
                self.mark(later, false);
            }
            self.expected = sequence.saturating_add(1);
        } else if sequence + WINDOW < self.expected || self.is_marked(sequence) {
            return false;
        } else {
            self.reordered += 1;
        }
        self.mark(sequence, true);
        true
    }

    fn mark(&mut self, sequence: u64, seen: bool) {
        let word = &mut self.seen[(sequence % WINDOW / 64) as usize];
        let bit = 1 << (sequence % 64);
        *word = if seen { *word | bit } else { *word & !bit };
    }

    fn is_marked(&self, sequence: u64) -> bool {
        self.seen[(sequence % WINDOW / 64) as usize] & 1 << (sequence % 64) != 0
    }

    pub fn arrived_at(&self) -> u64 {
        self.arrived_at
    }

    pub fn report(&self) -> UdpReport {
        UdpReport {
            from: self.from,
            received: self.received,
            bytes: self.bytes,
            expected: self.expected,
            lost: self.expected - self.received,
            duplicates: self.duplicates,
            reordered: self.reordered,
            jitter_ns: self.jitter >> 4,
            longest_gap_ns: self.longest_gap.0,
            longest_gap_at_ns: self.longest_gap.1,
            ended: self.ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream whose datagrams were sent a millisecond apart and arrived at these times.
    fn stream(arrivals: &[(u64, u64)]) -> UdpReport {
        let from = "[2001:db8::1]:5000".parse().unwrap();
        let mut stream = Stream::new(from, arrivals[0].1);
        for (sequence, at) in arrivals {
            stream.take(&Datagram { stream: 1, sequence: *sequence, sent_at: sequence * 1000 }, 100, *at);
        }
        stream.report()
    }

    #[test]
    fn losses_duplicates_and_late_ones_are_told_apart() {
        let report = stream(&[(0, 0), (1, 1000), (4, 4000), (3, 4100), (3, 4200), (6, 6000), (0, 6001)]);
        assert_eq!((report.received, report.bytes, report.expected, report.lost), (5, 500, 7, 2));
        assert_eq!((report.duplicates, report.reordered), (2, 1));
        assert_eq!((report.longest_gap_ns, report.longest_gap_at_ns), (3000, 1000));
    }

    #[test]
    fn even_arrivals_have_no_jitter() {
        assert_eq!(stream(&[(0, 50), (1, 1050), (2, 2050), (5, 5050)]).jitter_ns, 0);
    }

    #[test]
    fn jitter_is_a_sixteenth_of_a_first_difference() {
        assert_eq!(stream(&[(0, 0), (1, 2600)]).jitter_ns, 100);
    }

    #[test]
    fn what_is_older_than_the_window_says_nothing() {
        let report = stream(&[(0, 0), (WINDOW * 3, 1), (1, 2), (WINDOW * 3 - 1, 3)]);
        assert_eq!((report.received, report.duplicates, report.reordered), (3, 1, 1));
    }
}
