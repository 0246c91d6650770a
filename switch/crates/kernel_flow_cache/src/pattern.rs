//! Which packets take a way, as the program on a port's socket finds it out.

use flow_cache::{Key, MOST_WORDS, Number, Range, WINDOW};

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const ETHERNET_END: usize = 14;
const IPV6_END: usize = 54;
const PAYLOAD_LENGTH: std::ops::Range<usize> = 18..20;

/// Eight octets of a packet, and which of their bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    pub at: usize,
    pub mask: [u8; 8],
}

/// What packets of many ways agree in; the values are a way's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub words: Vec<Word>,
    pub at_least: usize,
    pub ranges: Vec<Range>,
}

impl Pattern {
    /// None if the program would need more than it has room for.
    pub fn of(key: &Key) -> Option<Self> {
        let words: Vec<Word> = key.words()?.into_iter().map(|(at, mask)| Word { at, mask }).collect();
        let is_within = |range: &Range| {
            range.less.is_none_or(|number| number.first + number.width as usize <= 8 * key.at_least.min(WINDOW))
        };
        (words.len() <= MOST_WORDS && key.ranges.iter().all(is_within)).then(|| Self {
            words,
            at_least: key.at_least,
            ranges: key.ranges.clone(),
        })
    }

    /// The octets that it looks at: the first, and behind the last.
    pub fn span(&self) -> (usize, usize) {
        let words = self.words.iter().map(|word| word.at);
        let numbers = self.ranges.iter().filter_map(|range| Some(self.number_at(range.less?.first)));
        let starts = || words.clone().chain(numbers.clone());
        (starts().min().unwrap_or(0), starts().max().unwrap_or(0) + 8)
    }

    /// Where to read eight octets that hold a number which begins at that bit, and is no longer than 32.
    pub fn number_at(&self, first: usize) -> usize {
        (first / 8).min(self.at_least - 8)
    }

    /// Octets of a key: its words, then the interface.
    pub fn key_len(&self) -> usize {
        8 * (self.words.len() + 1)
    }

    /// The key of a packet that came by an interface.
    pub fn key(&self, packet: &[u8], interface: u32) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.key_len());
        for Word { at, mask } in &self.words {
            key.extend(packet[*at..at + 8].iter().zip(mask).map(|(octet, mask)| octet & mask));
        }
        key.extend(u64::from(interface).to_ne_bytes());
        key
    }

    /// Whether all packets of a flow take the way that this one took, also those that are not segmented yet: nothing that
    /// differs from one to the next was looked at. Otherwise those that go through the switch would be overtaken by those
    /// that do not. IPv6's payload length may have been compared: most packets are on one side of it.
    pub fn keeps_order(key: &Key, packet: &[u8]) -> bool {
        let masks = key.octets.masks();
        let kind = (masks[12..14] == [0xff; 2]).then(|| [packet[12], packet[13]]);
        // The ports of TCP and UDP are those of all segments.
        let is_same = |at: usize| match kind {
            _ if at < ETHERNET_END => true,
            None | Some(IPV4) => false,
            Some(IPV6) => !PAYLOAD_LENGTH.contains(&at) && at < IPV6_END + 4,
            Some(_) => true,
        };
        let is_same_number =
            |number: Number| (number.first / 8..(number.first + number.width as usize).div_ceil(8)).all(is_same);
        let is_same_range = |range: &Range| match range.less {
            Some(number) if kind == Some(IPV6) && is_payload_length(number) => true,
            number => !range.of_length && number.is_none_or(is_same_number),
        };
        !key.exact_length
            && (0..masks.len()).filter(|at| masks[*at] != 0).all(is_same)
            && key.ranges.iter().all(is_same_range)
    }
}

/// Whether a number is an IPv6 packet's payload length.
pub fn is_payload_length(number: Number) -> bool {
    (number.first, number.width) == (8 * PAYLOAD_LENGTH.start, 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow_cache::Octets;

    fn key(octets: &[(usize, usize)], at_least: usize) -> Key {
        let mut of = Octets::default();
        assert!(octets.iter().all(|(start, end)| of.add_bits(8 * start, 8 * (end - start))));
        Key { octets: of, at_least, exact_length: false, ranges: vec![] }
    }

    #[test]
    fn packets_that_agree_in_a_pattern_have_one_key() {
        let pattern = Pattern::of(&key(&[(1, 2), (12, 14), (17, 19)], 19)).unwrap();
        let mut packet: Vec<u8> = (0..40).collect();
        let before = pattern.key(&packet, 7);
        assert_eq!((before.len(), pattern.span()), (pattern.key_len(), (1, 19)));
        for octet in [0, 2, 11, 14, 16, 19, 39] {
            packet[octet] ^= 0xff;
        }
        assert_eq!(pattern.key(&packet, 7), before);
        assert_ne!(pattern.key(&packet, 8), before);
        for octet in [1, 12, 13, 17, 18] {
            packet[octet] ^= 1;
            assert_ne!(pattern.key(&packet, 7), before, "octet {octet}");
            packet[octet] ^= 1;
        }
    }

    #[test]
    fn what_is_too_long_or_too_short_is_no_pattern() {
        assert!(Pattern::of(&key(&[(0, 1)], 7)).is_none());
        assert!(Pattern::of(&key(&[(0, 8 * MOST_WORDS)], 8 * MOST_WORDS)).is_some());
        assert!(Pattern::of(&key(&[(0, 8 * MOST_WORDS + 1)], WINDOW)).is_none());
        let number = Number { first: 8 * 18, width: 16 };
        let range = Range { of_length: true, less: Some(number), least: 0, most: 0 };
        let with_range = |at_least| Key { ranges: vec![range.clone()], ..key(&[(12, 14)], at_least) };
        assert!(Pattern::of(&with_range(19)).is_none() && Pattern::of(&with_range(20)).is_some());
    }

    #[test]
    fn a_way_that_not_all_packets_of_a_flow_take_is_known() {
        let packet = |kind: [u8; 2]| [[0; 12].as_slice(), &kind, &[0; 60]].concat();
        let keeps = |octets: &[(usize, usize)], kind| Pattern::keeps_order(&key(octets, 60), &packet(kind));
        assert!(keeps(&[(0, 12)], IPV4) && !keeps(&[(0, 12), (30, 34)], IPV6), "what was it?");
        assert!(keeps(&[(12, 14), (21, 22), (38, 58)], IPV6) && !keeps(&[(12, 14), (57, 59)], IPV6));
        assert!(!keeps(&[(12, 14), (18, 19)], IPV6), "one length");
        assert!(!keeps(&[(12, 14), (30, 34)], IPV4), "the identification may have been looked at, too");
        assert!(keeps(&[(12, 14), (16, 40)], [0x12, 0x12]));
        let less = |first| Some(Number { first, width: 16 });
        let range = |less| Range { of_length: true, less, least: 54, most: i64::MAX };
        let ranged = |range| Key { ranges: vec![range], ..key(&[(12, 14)], 60) };
        assert!(Pattern::keeps_order(&ranged(range(less(144))), &packet(IPV6)));
        assert!(!Pattern::keeps_order(&ranged(range(less(144))), &packet(IPV4)));
        assert!(!Pattern::keeps_order(&ranged(range(less(152))), &packet(IPV6)));
        assert!(!Pattern::keeps_order(&ranged(range(None)), &packet(IPV6)), "one way for short ones");
        let number =
            |first, width| Range { of_length: false, less: Some(Number { first, width }), least: -9, most: -2 };
        assert!(Pattern::keeps_order(&ranged(number(168, 8)), &packet(IPV6)), "the hop limit");
        assert!(Pattern::keeps_order(&ranged(number(144, 16)), &packet(IPV6)), "the payload length");
        assert!(!Pattern::keeps_order(&ranged(number(136, 16)), &packet(IPV6)));
        assert!(!Pattern::keeps_order(&Key { exact_length: true, ..key(&[(0, 6)], 60) }, &packet(IPV6)));
    }
}
