//! How much learning may cost. The interpreter's run that finds a way out takes as long as 50 to 80 runs of native code,
//! which is worth it where many packets take the way later. So a share of what hits save is spent on more ways, and a small
//! share of the time besides, which becomes smaller and smaller while ways bring less than they cost.

use crate::admission::Tally;

/// Hits that save what a way costs.
const HITS_A_WAY: u64 = 128;
/// One part in so many of what hits save is spent, so that most is left where ways drive each other out.
const SPENT: u64 = 4;
/// Packets, whatever becomes of them, for which a way may be learned; they are also the fewest for a way while few are
/// looked up, since such hits save nothing yet.
const PACKETS_A_WAY: u64 = 1024;
/// Ways that may be saved up: so many new flows are learned as fast as they come.
const SAVED: u64 = 512;

/// Packets after which it is asked whether the ways that were learned meanwhile were worth it.
const WINDOW: u64 = 1 << 16;
/// Backed off n times, a way is learned for 2^n times as many packets; so often at most.
const MOST_BACKOFF: u32 = 8;

/// What is earned: by a packet when backed off to the utmost, the unit; by any other packet; by a hit.
const PACKET: u64 = 1 << MOST_BACKOFF;
const WAY: u64 = PACKETS_A_WAY * PACKET;
const HIT: u64 = WAY / HITS_A_WAY / SPENT;

/// Earned by packets, spent on ways.
#[derive(Debug)]
pub struct Budget {
    credit: u64,
    backoff: u32,
    /// Since it was last asked whether ways were worth it.
    packets: u64,
    hits: u64,
    ways: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { credit: SAVED * WAY, backoff: 0, packets: 0, hits: 0, ways: 0 }
    }
}

impl Budget {
    /// What looks found is credited.
    pub fn earn(&mut self, Tally { packets, hits, is_sample }: Tally) {
        let (packets, hits) = (u64::from(packets), u64::from(hits));
        let earned = ((packets * PACKET) >> self.backoff) + hits * HIT;
        let most = if is_sample { packets * PACKET } else { u64::MAX };
        self.credit = (SAVED * WAY).min(self.credit + earned.min(most));
        self.packets += packets;
        self.hits += hits;
        if self.ways > 0 && self.packets >= WINDOW {
            let was_worth_it = self.hits >= self.ways * HITS_A_WAY;
            self.backoff = if was_worth_it { 0 } else { MOST_BACKOFF.min(self.backoff + 1) };
            (self.packets, self.hits, self.ways) = (0, 0, 0);
        }
    }

    /// So many hits elsewhere, of ways that were learned here, are credited.
    pub fn earn_elsewhere(&mut self, hits: u64) {
        self.credit = (SAVED * WAY).min(self.credit.saturating_add(hits.saturating_mul(HIT)));
        self.hits += hits;
    }

    /// Whether a way may be learned now; it is paid for if so.
    pub fn take_way(&mut self) -> bool {
        let Some(left) = self.credit.checked_sub(WAY) else { return false };
        self.credit = left;
        self.ways += 1;
        true
    }

    pub fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Learns as many ways as it may for so many packets, `hits` of 64 of which are hits; answers how many.
    fn learn(budget: &mut Budget, packets: u64, hits: u32, is_sample: bool) -> u64 {
        let mut learned = 0;
        for _ in 0..packets / 1024 {
            budget.earn(Tally { packets: 1024, hits: hits * 16, is_sample });
            while budget.take_way() {
                learned += 1;
            }
        }
        learned
    }

    #[test]
    fn what_was_saved_up_is_learned_at_once() {
        let mut budget = Budget::default();
        assert_eq!((0..1000).filter(|_| budget.take_way()).count() as u64, SAVED);
    }

    #[test]
    fn ways_that_bring_nothing_are_learned_more_and_more_rarely() {
        let mut budget = Budget::default();
        learn(&mut budget, 1024, 0, true);
        let learned = [0; 4].map(|_| learn(&mut budget, 1 << 22, 0, true));
        // A way for 1024 packets would be 4096 ways.
        assert!(learned[0] < 160, "{learned:?}");
        assert_eq!(learned[1..], [((1 << 22) / PACKETS_A_WAY) >> MOST_BACKOFF; 3]);
        assert!(budget.is_backed_off());
    }

    #[test]
    fn what_hits_save_is_spent_on_other_ways() {
        let mut budget = Budget::default();
        learn(&mut budget, 1024, 0, false);
        let learned = learn(&mut budget, 1 << 22, 32, false);
        let (by_hits, by_packets) = ((1 << 21) / HITS_A_WAY / SPENT, (1 << 22) / PACKETS_A_WAY);
        assert!((by_hits..=by_hits + by_packets).contains(&learned), "{learned}");
    }

    #[test]
    fn hits_elsewhere_allow_for_other_ways() {
        let mut budget = Budget::default();
        while budget.take_way() {}
        budget.earn_elsewhere(10 * HITS_A_WAY * SPENT);
        assert_eq!((0..1000).filter(|_| budget.take_way()).count(), 10);
        // They are worth it, though no hit is seen here.
        budget.earn_elsewhere(1024 * HITS_A_WAY);
        learn(&mut budget, WINDOW, 0, true);
        assert!(!budget.is_backed_off());
        budget.earn_elsewhere(u64::MAX / 2);
        assert_eq!((0..1000).filter(|_| budget.take_way()).count() as u64, SAVED);
    }

    #[test]
    fn hits_that_save_nothing_yet_bring_no_more_than_packets_do() {
        let mut budget = Budget::default();
        learn(&mut budget, 1024, 0, true);
        assert_eq!(learn(&mut budget, 1 << 22, 16, true), (1 << 22) / PACKETS_A_WAY);
    }

    #[test]
    fn ways_are_learned_as_before_once_they_are_worth_it_again() {
        let mut budget = Budget::default();
        learn(&mut budget, 1 << 24, 0, true);
        // One way that every 1024th packet takes pays for itself.
        let mut packets = 0;
        while budget.is_backed_off() {
            budget.earn(Tally { packets: 1024, hits: 1, is_sample: true });
            budget.take_way();
            packets += 1024;
        }
        assert!(packets <= (2 * PACKETS_A_WAY) << MOST_BACKOFF, "{packets}");
        assert_eq!(learn(&mut budget, 1 << 20, 16, true), (1 << 20) / PACKETS_A_WAY);
    }

    #[test]
    fn a_flood_saves_up_for_what_comes_after_it() {
        let mut budget = Budget::default();
        learn(&mut budget, 1 << 22, 0, true);
        for _ in 0..(SAVED * PACKETS_A_WAY / 1024) << MOST_BACKOFF {
            budget.earn(Tally { packets: 1024, hits: 0, is_sample: true });
        }
        assert_eq!((0..1000).filter(|_| budget.take_way()).count() as u64, SAVED);
    }
}
