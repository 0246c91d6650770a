//! The table of ways.

use std::hash::{BuildHasher, RandomState};

use crate::admission::{Gate, Seen};
use crate::shape::{MOST_WORDS, Shape, Words};
use crate::{Key, Way};

/// Shapes at most; each costs a look in the table where those before it find nothing.
const MOST_SHAPES: usize = 8;
/// Ways that share a place.
const PLACES: usize = 8;

/// How many ways are kept, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Ways at most, rounded up to a power of two.
    pub ways: usize,
    /// A flow's way is learned at its packet of this number, while each packet is looked up.
    pub after: u32,
    /// Look each packet up and learn every way, whatever that costs: for tests.
    pub always: bool,
}

impl Settings {
    /// For so many ways.
    pub fn new(ways: usize) -> Self {
        Self { ways, after: 8, always: false }
    }
}

/// What is known of a packet's way.
#[derive(Debug)]
pub enum Look<'f> {
    Known(&'f Way),
    /// Nothing, and it is to be learned.
    Learn,
    /// Nothing.
    Unknown,
}

struct Kept {
    shape: u32,
    words: Box<[u64]>,
    way: Way,
}

/// Ways by their keys.
pub struct Flows {
    settings: Settings,
    /// Keys come from the network.
    secret: u64,
    /// With their numbers, those that find most first.
    shapes: Vec<(u32, Shape)>,
    next_shape: u32,
    /// Halves of hashes, 0 where nothing is kept.
    marks: Box<[[u32; PLACES]]>,
    /// By place a bit for each way that was taken since another one wanted its room.
    used: Box<[u8]>,
    ways: Box<[Option<Box<Kept>>]>,
    kept: usize,
    gate: Gate,
    seen: Seen,
}

impl Flows {
    pub fn new(settings: Settings) -> Self {
        let ways = settings.ways.max(PLACES).next_power_of_two();
        Self {
            settings,
            secret: RandomState::new().hash_one(0),
            shapes: Vec::new(),
            next_shape: 0,
            marks: vec![[0; PLACES]; ways / PLACES].into(),
            used: vec![0; ways / PLACES].into(),
            ways: (0..ways).map(|_| None).collect(),
            kept: 0,
            gate: Gate::default(),
            seen: Seen::default(),
        }
    }

    /// Ways that are kept.
    pub fn len(&self) -> usize {
        self.kept
    }

    pub fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// Forgets all ways. Which bits they looked at stays known: most are soon learned again.
    pub fn forget(&mut self) {
        if self.kept > 0 {
            self.marks.fill([0; PLACES]);
            self.ways.fill_with(|| None);
            self.kept = 0;
        }
    }

    /// Whether to look the next packet up.
    #[inline]
    pub fn opens(&mut self) -> bool {
        self.settings.always || self.gate.opens()
    }

    /// What is known of a packet's way.
    pub fn look(&mut self, port: u32, packet: &[u8]) -> Look<'_> {
        let found = self.find(port, packet);
        self.gate.looked(found.is_some());
        if let Some((order, place)) = found {
            self.note_hit(order);
            self.used[place / PLACES] |= 1 << (place % PLACES);
            return Look::Known(&self.ways[place].as_deref().expect("it was found there").way);
        }
        if self.settings.always {
            return Look::Learn;
        }
        let flow = self.seen.flow(port, packet, self.secret);
        // Who is met twice by few looks sends many packets.
        let after = if self.gate.is_seldom() { self.settings.after.min(2) } else { self.settings.after };
        let learn = self.seen.is_often(flow, after) && self.gate.take_way();
        if learn { Look::Learn } else { Look::Unknown }
    }

    /// The shape by which the packet's way is found, and where it is.
    #[inline]
    fn find(&self, port: u32, packet: &[u8]) -> Option<(usize, usize)> {
        let mut words: Words = [0; MOST_WORDS + 1];
        for (order, (number, shape)) in self.shapes.iter().enumerate() {
            let Some(hash) = shape.key(port, packet, self.secret, &mut words) else { continue };
            let (place, mark) = self.place(hash);
            for (at, other) in self.marks[place].iter().enumerate() {
                if *other != mark {
                    continue;
                }
                let at = PLACES * place + at;
                if let Some(kept) = &self.ways[at]
                    && kept.shape == *number
                    && *kept.words == words[..shape.len()]
                {
                    return Some((order, at));
                }
            }
        }
        None
    }

    fn place(&self, hash: u64) -> (usize, u32) {
        (hash as usize & (self.marks.len() - 1), (hash >> 32) as u32 | 1)
    }

    /// A shape that finds more than the one before it changes places with it.
    #[inline]
    fn note_hit(&mut self, order: usize) {
        self.shapes[order].1.hits += 1;
        if order > 0 && self.shapes[order].1.hits > self.shapes[order - 1].1.hits {
            self.shapes.swap(order, order - 1);
        }
    }

    /// Keeps the way of a packet, as it came in.
    pub fn keep(&mut self, port: u32, packet: &[u8], key: &Key, way: Way) {
        let Some(order) = self.shape_of(key) else { return self.keep_out(port, packet) };
        let mut words: Words = [0; MOST_WORDS + 1];
        let (number, shape) = &self.shapes[order];
        let Some(hash) = shape.key(port, packet, self.secret, &mut words) else { return };
        let kept = Kept { shape: *number, words: words[..shape.len()].into(), way };
        let (place, mark) = self.place(hash);
        let free = self.marks[place].iter().position(|mark| *mark == 0);
        let Some(at) = free.or_else(|| self.least_used(place)) else { return self.keep_out(port, packet) };
        self.kept += usize::from(free.is_some());
        self.marks[place][at] = mark;
        self.ways[PLACES * place + at] = Some(Box::new(kept));
    }

    /// A way that was not taken since another one wanted its room; where there is none, all have to be taken again until
    /// the next one wants it.
    fn least_used(&mut self, place: usize) -> Option<usize> {
        let used = std::mem::take(&mut self.used[place]);
        let at = used.trailing_ones() as usize;
        (at < PLACES).then_some(at)
    }

    /// The way of a packet, as it came in, can't be kept.
    pub fn keep_out(&mut self, port: u32, packet: &[u8]) {
        let flow = self.seen.flow(port, packet, self.secret);
        self.seen.keep_out(flow);
    }

    /// The shape of a key among those that are known; it may be a new one.
    fn shape_of(&mut self, key: &Key) -> Option<usize> {
        if let Some(order) = self.shapes.iter().position(|(_, shape)| shape.is_of(key)) {
            return Some(order);
        }
        let shape = Shape::new(key)?;
        self.seen.learned(&shape);
        if self.shapes.len() == MOST_SHAPES {
            // Its ways are found no more, and others take their places.
            self.shapes.pop();
        }
        self.shapes.push((self.next_shape, shape));
        self.next_shape += 1;
        Some(self.shapes.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, End, Octets};

    const ALWAYS: Settings = Settings { ways: 64, after: 1, always: true };

    fn key(octets: std::ops::Range<usize>) -> Key {
        let mut of = Octets::default();
        assert!(of.add_bits(8 * octets.start, 8 * octets.len()));
        Key { octets: of, at_least: octets.end.max(8), exact_length: false }
    }

    fn way(port: u32) -> Way {
        Way { end: End::Sent(port), edit: Edit::default(), found: [].into(), counts: [].into() }
    }

    fn known(flows: &mut Flows, packet: &[u8]) -> Option<u32> {
        match flows.look(0, packet) {
            Look::Known(Way { end: End::Sent(port), .. }) => Some(*port),
            _ => None,
        }
    }

    #[test]
    fn a_way_is_found_by_what_its_run_looked_at() {
        let mut flows = Flows::new(ALWAYS);
        flows.keep(0, &[1; 20], &key(0..4), way(1));
        flows.keep(0, &[2; 20], &key(2..12), way(2));
        let mut packet = [1; 20];
        packet[4..].fill(9);
        assert_eq!(known(&mut flows, &packet), Some(1));
        packet[2..12].fill(2);
        assert_eq!(known(&mut flows, &packet), Some(2));
        packet[11] = 3;
        assert_eq!(known(&mut flows, &packet), None);
        assert_eq!(known(&mut flows, &[1; 7]), None);
        flows.forget();
        assert_eq!((known(&mut flows, &[1; 20]), flows.len()), (None, 0));
    }

    #[test]
    fn no_more_ways_are_kept_than_there_is_room_for() {
        let mut flows = Flows::new(ALWAYS);
        for number in 0..1000u16 {
            if number == 500 {
                (0..500u16).for_each(|number| {
                    known(&mut flows, &[[0; 6].as_slice(), &number.to_be_bytes()].concat());
                });
            }
            flows.keep(0, &[[0; 6].as_slice(), &number.to_be_bytes()].concat(), &key(4..8), way(number.into()));
        }
        assert_eq!(flows.len(), 64);
        let found: Vec<_> = (0..1000u16)
            .filter(|number| {
                let found = known(&mut flows, &[[0; 6].as_slice(), &number.to_be_bytes()].concat());
                assert!(found.is_none_or(|port| port == u32::from(*number)));
                found.is_some()
            })
            .collect();
        assert_eq!(found.len(), 64);
        assert!(found.iter().any(|number| *number >= 500), "what is not taken makes room");
    }

    #[test]
    fn no_more_shapes_are_looked_at_than_are_worth_it() {
        let mut flows = Flows::new(ALWAYS);
        for octet in 0..20 {
            let mut packet = [0; 20];
            packet[octet] = 1;
            flows.keep(0, &packet, &key(octet..octet + 1), way(octet as u32));
        }
        assert_eq!(flows.shapes.len(), MOST_SHAPES);
        let mut packet = [0; 20];
        packet[19] = 1;
        assert_eq!(known(&mut flows, &packet), Some(19));
        let (_, first) = &flows.shapes[MOST_SHAPES - 2];
        assert_eq!(first.hits, 1, "it is looked at before others now");
    }

    #[test]
    fn a_way_is_learned_at_the_packet_of_the_given_number() {
        let mut flows = Flows::new(Settings { ways: 64, after: 3, always: false });
        flows.keep(0, &[9; 20], &key(0..4), way(1));
        let learns = |flows: &mut Flows| matches!(flows.look(0, &[1; 20]), Look::Learn);
        assert_eq!([0; 3].map(|_| learns(&mut flows)), [false, false, true]);
        flows.keep_out(0, &[1; 20]);
        assert!(!learns(&mut flows));
    }
}
