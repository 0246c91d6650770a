//! Which packets are looked up, and whose ways are worth learning. A flood of flows that never come again must cost next
//! to nothing: it is looked at now and then only, and what is seen for the first time leaves four octets behind.

use fastrand::Rng;

use crate::Octets;
use crate::shape::{Shape, mix};

/// Looks after which the share of hits is worked out: while each packet is looked up, and while few are.
const LOOKS: u32 = 1024;
const FEW_LOOKS: u32 = 64;
/// Looking each packet up is worth it from one hit in so many looks on.
const WORTH: u32 = 3;
/// Where it is not, one packet in so many is looked up, at random.
const SELDOM: u32 = 128;

/// Flows that are remembered while they were not seen often enough, and how many of them share a place.
const SEEN: usize = 1 << 14;
const PLACES: usize = 4;
/// In such a memory: the low bits count, the others tell flows apart.
const COUNT: u32 = 0xf;

/// Looks packets up as long as that finds something.
#[derive(Debug)]
pub struct Gate {
    random: Rng,
    /// Packets that are let pass before the next look.
    pass: u32,
    is_seldom: bool,
    /// Looks until the share of hits is worked out.
    left: u32,
    hits: u32,
}

/// What some looks found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Packets that came meanwhile; about so many where few were looked up.
    pub packets: u32,
    /// How many of them took a way that was known, or would have.
    pub hits: u32,
    /// Few packets were looked up.
    pub is_sample: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self { random: Rng::new(), pass: 0, is_seldom: false, left: LOOKS, hits: 0 }
    }
}

impl Gate {
    /// Whether to look the next packet up.
    #[inline]
    pub fn opens(&mut self) -> bool {
        if self.pass > 0 {
            self.pass -= 1;
            return false;
        }
        true
    }

    /// What a look found. Answers now and then what all since the last answer found.
    #[inline]
    pub fn looked(&mut self, hit: bool) -> Option<Tally> {
        self.left -= 1;
        self.hits += u32::from(hit);
        if self.is_seldom {
            self.pass = self.random.u32(..2 * SELDOM - 1);
        }
        (self.left == 0).then(|| self.tally())
    }

    /// What all looks since the last time found.
    #[cold]
    fn tally(&mut self) -> Tally {
        let looks = self.looks();
        let [packets, hits] = [looks, self.hits].map(|looks| looks * self.packets_a_look());
        let tally = Tally { packets, hits, is_sample: self.is_seldom };
        self.is_seldom = self.hits * WORTH < looks;
        (self.left, self.hits) = (self.looks(), 0);
        tally
    }

    /// Looks until the share of hits is worked out.
    fn looks(&self) -> u32 {
        if self.is_seldom { FEW_LOOKS } else { LOOKS }
    }

    /// Packets for each that is looked up, about.
    pub fn packets_a_look(&self) -> u32 {
        if self.is_seldom { SELDOM } else { 1 }
    }

    /// Whether few packets are looked up.
    pub fn is_seldom(&self) -> bool {
        self.is_seldom
    }
}

/// Counts how often flows were seen whose ways are not known. A flow is here what agrees in the octets that any known
/// way looks at; what is in none of them, such as a payload, is no mark of a flow.
#[derive(Debug)]
pub struct Seen {
    places: Box<[[u32; PLACES]]>,
    octets: Octets,
    /// Of `octets`: where to read, and what.
    words: Vec<(usize, u64)>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { places: vec![[0; PLACES]; SEEN / PLACES].into(), octets: Octets::default(), words: Vec::new() }
    }
}

impl Seen {
    /// A way with such a key was learned.
    pub fn learned(&mut self, shape: &Shape) {
        let before = self.octets.clone();
        self.octets.add(shape.octets());
        if self.octets == before {
            return;
        }
        let (eights, _) = self.octets.masks().as_chunks::<8>();
        let masks = eights.iter().map(|eight| u64::from_le_bytes(*eight));
        self.words = masks.enumerate().map(|(at, mask)| (8 * at, mask)).filter(|(_, mask)| *mask != 0).collect();
        self.places.fill([0; PLACES]);
    }

    /// What tells the packet's flow from others.
    #[inline]
    pub fn flow(&self, port: u32, packet: &[u8], secret: u64) -> u64 {
        let words = self.words.iter().map_while(|(at, mask)| {
            let octets = packet.get(*at..)?;
            let eight = octets.first_chunk().copied().unwrap_or_else(|| {
                let mut eight = [0; 8];
                eight[..octets.len()].copy_from_slice(octets);
                eight
            });
            Some(u64::from_le_bytes(eight) & mask)
        });
        words.fold(mix(secret, port.into()), mix)
    }

    /// Counts a packet of the flow; whether it is the `wanted`-th now.
    #[inline]
    pub fn is_often(&mut self, flow: u64, wanted: u32) -> bool {
        let Some(place) = self.place(flow) else { return false };
        let (mark, count) = (*place & !COUNT, *place & COUNT);
        if count == COUNT {
            // It stays out.
            return false;
        }
        let count = (count + 1).min(COUNT - 1);
        *place = mark | count;
        count >= wanted
    }

    /// The flow is as if it had not been seen.
    pub fn begin_anew(&mut self, flow: u64) {
        if let Some(place) = self.place(flow) {
            *place &= !COUNT;
        }
    }

    /// Where the flow is remembered, perhaps from now on; none while all who share its place were seen more often. One of
    /// these is taken for a little rarer then: flows that come no more do not stay.
    #[inline]
    fn place(&mut self, flow: u64) -> Option<&mut u32> {
        let places = &mut self.places[flow as usize % (SEEN / PLACES)];
        let mark = (flow >> 32) as u32 & !COUNT;
        if let Some(known) = places.iter().position(|place| place & !COUNT == mark) {
            return Some(&mut places[known]);
        }
        let rarest = places.iter_mut().min_by_key(|place| **place & COUNT)?;
        if *rarest & COUNT > 0 {
            *rarest -= 1;
            return None;
        }
        *rarest = mark;
        Some(rarest)
    }

    /// The flow's way is not one to keep: it is not asked for again until others took its place here.
    pub fn keep_out(&mut self, flow: u64) {
        if let Some(place) = self.place(flow) {
            *place |= COUNT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    #[test]
    fn packets_are_looked_up_seldom_while_that_finds_nothing() {
        let mut gate = Gate::default();
        let looks = |gate: &mut Gate, hit: bool| {
            let opened = |_: &u32| {
                let opens = gate.opens();
                if opens {
                    gate.looked(hit);
                }
                opens
            };
            (0..100_000).filter(opened).count()
        };
        assert_eq!(looks(&mut gate, true), 100_000);
        let without_hits = looks(&mut gate, false);
        assert!((1024..3500).contains(&without_hits), "{without_hits} looks");
        // It takes a while until it is seen that it is worth it again.
        let again = looks(&mut gate, true);
        assert!((80_000..100_000).contains(&again), "{again} looks");
    }

    #[test]
    fn what_few_looks_found_stands_for_the_packets_between_them() {
        let mut gate = Gate::default();
        let tally = |gate: &mut Gate, hits: u32| {
            let mut looks = 0..;
            looks.find_map(|look| gate.looked(look < hits)).unwrap()
        };
        assert_eq!(tally(&mut gate, 1000), Tally { packets: 1024, hits: 1000, is_sample: false });
        assert_eq!(tally(&mut gate, 0), Tally { packets: 1024, hits: 0, is_sample: false });
        assert_eq!(tally(&mut gate, 3), Tally { packets: 64 * 128, hits: 3 * 128, is_sample: true });
    }

    #[test]
    fn a_flow_is_told_by_octets_that_ways_look_at() {
        let mut seen = Seen::default();
        let mut key = Key { octets: Octets::default(), at_least: 16, exact_length: false, ranges: vec![] };
        assert!(key.octets.add_bits(8, 8));
        seen.learned(&Shape::new(&key).unwrap());
        let flow = |port, packet: &[u8]| seen.flow(port, packet, 7);
        assert_eq!(flow(1, &[1; 16]), flow(1, &[[9].as_slice(), &[1; 15]].concat()));
        assert_ne!(flow(1, &[1; 16]), flow(2, &[1; 16]));
        assert_ne!(flow(1, &[1; 16]), flow(1, &[2; 16]));
        assert_ne!(flow(1, &[1; 5]), flow(1, &[1, 2, 1, 1, 1]), "too short for a word");
    }

    #[test]
    fn a_flow_is_often_seen_at_the_wanted_packet_unless_it_is_kept_out() {
        let mut seen = Seen::default();
        assert_eq!([0; 3].map(|_| seen.is_often(5 << 40, 2)), [false, true, true]);
        assert!((0..1000).all(|_| seen.is_often(5 << 40, 2)));
        seen.keep_out(5 << 40);
        assert!((0..100).all(|_| !seen.is_often(5 << 40, 1)));
        assert!(seen.is_often(6 << 40, 1), "there is room beside it");
    }

    #[test]
    fn flows_that_share_a_place_are_seen_often_though_they_come_in_turn() {
        let mut seen = Seen::default();
        let flows = [1, 2, 3, 4].map(|flow| flow << 40);
        let rounds = [0; 8].map(|_| flows.map(|flow| seen.is_often(flow, 8)));
        assert_eq!(rounds[6..], [[false; 4], [true; 4]]);
    }

    #[test]
    fn flows_that_come_no_more_do_not_stay() {
        let mut seen = Seen::default();
        for flow in [1, 2, 3, 4].map(|flow| flow << 40) {
            assert!(!seen.is_often(flow, 8));
            seen.keep_out(flow);
        }
        let new = [0; 100].map(|_| seen.is_often(5 << 40, 8));
        assert!(!new[8] && new[99]);
    }
}
