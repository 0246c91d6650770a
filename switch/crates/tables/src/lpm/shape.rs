//! Which bits of a prefix the array stands for.

/// An array has between two and four places for each entry that it is made for.
const PLACES: u32 = 2;
/// The least and the most bits of an index.
const INDEX: std::ops::RangeInclusive<u32> = 6..=26;
/// Base and index are within the first word.
const MOST_BITS: u32 = 48;
/// Of the entries, at most one in so many may be left to the trie.
const LEFT: usize = 16;

/// Which keys the array is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The bits that they begin with, highest first, and how many these are.
    pub base: u64,
    pub base_bits: u32,
    pub index_bits: u32,
}

impl Shape {
    /// Bits of base and index.
    pub fn depth(self) -> u32 {
        self.base_bits + self.index_bits
    }

    /// The key's place.
    #[inline]
    pub fn index(self, key: &[u64]) -> Option<usize> {
        let first = *key.first()?;
        let has_base = (first ^ self.base).leading_zeros() >= self.base_bits;
        has_base.then(|| (first << self.base_bits >> (64 - self.index_bits)) as usize)
    }

    /// A good one for entries, by the first words and lengths of their prefixes, ascending.
    pub fn of(entries: &[(u64, u32)]) -> Option<Self> {
        let mut lengths: Vec<u32> = entries.iter().map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        let most_bits = (*lengths.get(entries.len() / LEFT)?).min(MOST_BITS);
        let (mut within, mut base_bits) = (entries, 0);
        while base_bits < most_bits {
            let middle = within.partition_point(|(first, _)| first << base_bits >> 63 == 0);
            let (zeros, ones) = within.split_at(middle);
            let larger = if zeros.len() < ones.len() { ones } else { zeros };
            if larger.len() < entries.len() - entries.len() / LEFT {
                break;
            }
            (within, base_bits) = (larger, base_bits + 1);
        }
        let index_bits = (entries.len().ilog2() + PLACES).min(most_bits - base_bits).min(*INDEX.end());
        let base = within.first()?.0 & !(u64::MAX >> base_bits);
        INDEX.contains(&index_bits).then_some(Self { base, base_bits, index_bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(mut entries: Vec<(u64, u32)>) -> Option<Shape> {
        entries.sort_unstable();
        Shape::of(&entries)
    }

    #[test]
    fn bits_that_nearly_all_share_are_no_part_of_the_index() {
        let spread = |number: u64| 0x2001 << 48 | number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        let mut entries: Vec<_> = (0..4096).map(|number| (spread(number), 48)).collect();
        entries.extend([(0, 0), (0xff00 << 48, 48), (spread(1), 20)]);
        let shape = shape(entries).unwrap();
        assert_eq!((shape.base, shape.base_bits, shape.index_bits), (0x2001 << 48, 16, 14));
        assert_eq!(shape.index(&[0x2002 << 48]), None);
        assert_eq!(shape.index(&[0x2001_fffc << 32]), Some((1 << 14) - 1));
    }

    #[test]
    fn an_index_ends_before_most_prefixes_do() {
        let entries = (0..4096).map(|number| (number << 52, if number % 32 == 0 { 4 } else { 10 })).collect();
        assert_eq!(shape(entries).map(Shape::depth), Some(10));
        let short = (0..4096).map(|number| (number << 52, number as u32 % 5)).collect();
        assert_eq!(shape(short), None, "nothing to tell apart by");
    }
}
