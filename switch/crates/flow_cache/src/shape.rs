//! The form of a key: which bits of a packet it holds.

use std::array::from_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::{Key, Octets, Range};

/// Words of a key at most: a way that looks at more costs more to find again than to run.
pub const MOST_WORDS: usize = 20;

/// When there are so many, ranges that no way has are forgotten.
const MANY_RANGES: usize = 64;

/// A key's words: pairs of eight octets, and one that holds the port, and the length where it matters.
pub type Words = [u64; MOST_WORDS + 1];

/// A mask for eight octets of the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    at: u32,
    mask: u64,
}

/// Which bits a key holds.
#[derive(Debug, Clone)]
pub struct Shape {
    /// What the keys of all its ways have in common.
    key: Key,
    /// Ranges of ways, each once.
    ranges: Vec<Arc<[Range]>>,
    words: Box<[[Word; 2]]>,
    /// How often a packet's way was found by it.
    pub hits: u64,
}

impl Shape {
    /// None for keys that are too long, or of packets too short to be worth it.
    pub fn new(key: &Key) -> Option<Self> {
        let words = key.words()?;
        let mut words = words.into_iter().map(|(at, mask)| Word { at: at as u32, mask: u64::from_le_bytes(mask) });
        let mut pairs = vec![];
        while let Some(first) = words.next() {
            // What is missing of the last pair is zero.
            pairs.push([first, words.next().unwrap_or(Word { at: 0, mask: 0 })]);
        }
        (pairs.len() <= MOST_WORDS / 2).then(|| Self {
            key: Key { ranges: vec![], ..key.clone() },
            ranges: vec![],
            words: pairs.into(),
            hits: 0,
        })
    }

    pub fn is_of(&self, key: &Key) -> bool {
        let Key { octets, at_least, exact_length, ranges: _ } = key;
        (&self.key.octets, &self.key.at_least, &self.key.exact_length) == (octets, at_least, exact_length)
    }

    /// The ranges as ways of this shape share them.
    pub fn shared(&mut self, ranges: &[Range]) -> Arc<[Range]> {
        if let Some(known) = self.ranges.iter().find(|known| ***known == *ranges) {
            return known.clone();
        }
        if self.ranges.len() >= MANY_RANGES {
            self.ranges.retain(|known| Arc::strong_count(known) > 1);
        }
        self.ranges.push(ranges.into());
        self.ranges[self.ranges.len() - 1].clone()
    }

    /// The key of a way with these ranges.
    pub fn key_of(&self, ranges: &[Range]) -> Key {
        Key { ranges: ranges.to_vec(), ..self.key.clone() }
    }

    pub fn octets(&self) -> &Octets {
        &self.key.octets
    }

    /// Words of its keys.
    pub fn len(&self) -> usize {
        2 * self.words.len() + 1
    }

    /// The key of a packet and its hash; none of a packet that is too short.
    #[inline]
    pub fn key(&self, port: u32, packet: &[u8], secret: &Secret, words: &mut Words) -> Option<u64> {
        if packet.len() < self.key.at_least {
            return None;
        }
        let (mut pairs, _) = words.as_chunks_mut();
        let mut sum = Sum::default();
        for (pair, with) in self.words.iter().zip(secret.0.as_chunks().0) {
            let (into, rest) = pairs.split_first_mut()?;
            *into = [pair[0].of(packet)?, pair[1].of(packet)?];
            sum.add(*into, *with);
            pairs = rest;
        }
        let length = if self.key.exact_length { packet.len() as u64 } else { 0 };
        let last = length << 32 | u64::from(port);
        words[2 * self.words.len()] = last;
        Some(mix(sum.hash(secret), last))
    }
}

impl Word {
    #[inline]
    fn of(self, packet: &[u8]) -> Option<u64> {
        let at = self.at as usize;
        let octets = packet.get(at..at + 8)?.try_into().expect("eight octets");
        Some(u64::from_le_bytes(octets) & self.mask)
    }
}

/// Keys come from the network: whoever does not know these numbers finds no keys of one hash.
pub struct Secret([u64; MOST_WORDS]);

impl Secret {
    pub fn new() -> Self {
        let random = RandomState::new();
        Self(from_fn(|at| random.hash_one(at)))
    }

    /// A number of it.
    pub fn first(&self) -> u64 {
        self.0[0]
    }
}

/// Of words, two by two, as UMAC's NH does it (RFC 4418, section 5.2): no product waits for another. It is mixed afterwards.
#[derive(Default)]
struct Sum(u128);

impl Sum {
    #[inline]
    fn add(&mut self, [a, b]: [u64; 2], [with_a, with_b]: [u64; 2]) {
        let product = u128::from(a.wrapping_add(with_a)) * u128::from(b.wrapping_add(with_b));
        self.0 = self.0.wrapping_add(product);
    }

    #[inline]
    fn hash(&self, secret: &Secret) -> u64 {
        mix(mix(secret.0[0], self.0 as u64), (self.0 >> 64) as u64)
    }
}

/// A multiplication whose high half is not lost: whoever does not know the secret that `hash` began with finds no keys of
/// one hash.
#[inline]
pub fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WINDOW;

    fn key(bits: &[(usize, usize)], at_least: usize) -> Key {
        let mut octets = Octets::default();
        assert!(bits.iter().all(|(first, count)| octets.add_bits(*first, *count)));
        Key { octets, at_least, exact_length: false, ranges: vec![] }
    }

    fn words(shape: &Shape, port: u32, packet: &[u8]) -> Option<Vec<u64>> {
        let mut words = Words::default();
        shape.key(port, packet, &Secret::new(), &mut words).map(|_| words[..shape.len()].to_vec())
    }

    #[test]
    fn every_word_of_a_key_makes_another_hash() {
        let secret = Secret::new();
        for length in 1..=20 {
            let shape = Shape::new(&key(&[(0, 64 * length)], 8 * length)).unwrap();
            let hash = |port, packet: &[u8]| shape.key(port, packet, &secret, &mut Words::default()).unwrap();
            let packet = vec![0x5a; 8 * length];
            let before = hash(1, &packet);
            assert_eq!(hash(1, &packet), before);
            assert_ne!(hash(2, &packet), before);
            for word in 0..length {
                let mut other = packet.clone();
                other[8 * word + 3] ^= 1;
                assert_ne!(hash(1, &other), before, "word {word} of {length}");
            }
        }
    }

    #[test]
    fn packets_that_agree_in_the_bits_of_a_shape_have_one_key() {
        let shape = Shape::new(&key(&[(12, 4), (96, 16), (150, 1)], 19)).unwrap();
        let mut packet: Vec<u8> = (0..40).collect();
        let before = words(&shape, 3, &packet);
        for octet in [0, 2, 11, 14, 17, 19, 39] {
            packet[octet] ^= 0xff;
        }
        packet[1] ^= 0xf0;
        packet[18] ^= 0xfd;
        packet.truncate(19);
        assert_eq!(words(&shape, 3, &packet), before);
        assert_ne!(words(&shape, 4, &packet), before);
        for (octet, bit) in [(1, 1), (12, 0x80), (13, 1), (18, 2)] {
            packet[octet] ^= bit;
            assert_ne!(words(&shape, 3, &packet), before, "octet {octet}");
            packet[octet] ^= bit;
        }
        assert_eq!(words(&shape, 3, &packet[..18]), None);
    }

    #[test]
    fn a_length_that_matters_is_part_of_the_key() {
        let exact = Shape::new(&Key { exact_length: true, ..key(&[(0, 8)], 8) }).unwrap();
        assert_ne!(words(&exact, 0, &[1; 9]), words(&exact, 0, &[1; 10]));
    }

    #[test]
    fn ranges_are_no_part_of_the_shape_and_ways_share_them() {
        let range = |most| Range { of_length: true, less: None, least: 3, most };
        let with = |most| Key { ranges: vec![range(most)], ..key(&[(8, 8)], 8) };
        let mut shape = Shape::new(&with(10)).unwrap();
        assert!(shape.is_of(&with(20)) && !shape.is_of(&key(&[(8, 8)], 9)));
        let shared = shape.shared(&[range(10)]);
        assert!(Arc::ptr_eq(&shared, &shape.shared(&[range(10)])));
        (11..1000).for_each(|most| drop(shape.shared(&[range(most)])));
        assert!(shape.ranges.len() <= MANY_RANGES && Arc::ptr_eq(&shared, &shape.shared(&[range(10)])));
        assert_eq!(shape.key_of(&shared), with(10));
    }

    #[test]
    fn what_is_too_long_or_too_short_has_no_shape() {
        assert!(Shape::new(&key(&[(0, 8)], 7)).is_none());
        assert!(Shape::new(&key(&[(0, 8 * WINDOW)], WINDOW)).is_none());
        assert!(Shape::new(&key(&[(8 * WINDOW - 1, 1)], WINDOW)).is_some());
    }
}
