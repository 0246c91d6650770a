//! When an acknowledgement leaves: at once, with the second segment, or after a delay (RFC 5681, section 4.2).

/// Acknowledgements that are not delayed when a stream begins, or after a hole: its sender is in slow start.
const QUICK: u32 = 16;

#[derive(Debug)]
pub struct Acks {
    /// Nanoseconds; 0: each segment is acknowledged at once.
    delay: u64,
    /// How many more leave at once.
    quick: u32,
    pub now: bool,
    pub due: Option<u64>,
    /// Octets since the last acknowledgement.
    pending: usize,
    /// Those of the longest segment.
    pub longest: usize,
    last_arrival: u64,
}

impl Acks {
    pub fn new(delay: u64) -> Self {
        Self { delay, quick: QUICK, now: false, due: None, pending: 0, longest: 536, last_arrival: 0 }
    }

    /// Data came in order.
    pub fn arrived(&mut self, octets: usize, timeout: u64, now: u64) {
        if now > self.last_arrival + timeout {
            self.quick = QUICK;
        }
        self.last_arrival = now;
        self.longest = self.longest.max(octets);
        self.pending += octets;
        if self.delay == 0 || self.quick > 0 || self.pending > self.longest {
            self.now = true;
        } else if self.due.is_none() {
            self.due = Some(now + self.delay);
        }
    }

    /// What came is to be acknowledged at once: a hole, a duplicate, a FIN.
    pub fn at_once(&mut self) {
        self.now = true;
        self.quick = QUICK;
    }

    /// An acknowledgement left, with data of this end's or alone.
    pub fn sent(&mut self, with_data: bool) {
        if with_data && self.pending > 0 {
            // Requests and answers: the next answer will carry it.
            self.quick = 0;
        }
        self.quick = self.quick.saturating_sub(1);
        (self.now, self.due, self.pending) = (false, None, 0);
    }

    /// Does what is due.
    pub fn poll(&mut self, now: u64) {
        self.now |= self.due.is_some_and(|due| due <= now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: u64 = 10;

    fn after_the_beginning() -> Acks {
        let mut acks = Acks::new(DELAY);
        for _ in 0..QUICK {
            acks.arrived(1000, 1_000_000, 1);
            assert!(acks.now);
            acks.sent(false);
        }
        acks
    }

    #[test]
    fn every_second_full_segment_is_acknowledged_after_the_first_ones() {
        let mut acks = after_the_beginning();
        acks.arrived(1000, 1_000_000, 2);
        assert!(!acks.now && acks.due == Some(2 + DELAY));
        acks.arrived(1000, 1_000_000, 3);
        assert!(acks.now);
    }

    #[test]
    fn a_single_segment_waits_no_longer_than_the_delay() {
        let mut acks = after_the_beginning();
        acks.arrived(1000, 1_000_000, 2);
        acks.poll(2 + DELAY);
        assert!(acks.now);
    }

    #[test]
    fn an_answer_ends_the_haste_and_a_hole_brings_it_back() {
        let mut acks = Acks::new(DELAY);
        acks.arrived(10, 1_000_000, 1);
        acks.sent(true);
        acks.arrived(10, 1_000_000, 2);
        assert!(!acks.now);
        acks.at_once();
        acks.sent(false);
        acks.arrived(10, 1_000_000, 3);
        assert!(acks.now);
    }
}
