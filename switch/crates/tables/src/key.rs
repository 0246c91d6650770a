//! Keys as words, and what entries match.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// How a field is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
}

/// A field of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    pub kind: FieldKind,
    /// Bits.
    pub width: u32,
}

impl FieldSpec {
    /// Bytes it takes in a packed key.
    pub fn bytes(&self) -> usize {
        self.width.div_ceil(8) as usize
    }
}

/// The fields of a table's key. A packed key has them in order, each big-endian in whole bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    pub fields: Vec<FieldSpec>,
}

impl Schema {
    /// Bytes of a packed key.
    pub fn bytes(&self) -> usize {
        self.fields.iter().map(FieldSpec::bytes).sum()
    }

    /// Whether entries carry a priority: there is a ternary, range or optional field.
    pub fn has_priorities(&self) -> bool {
        self.fields
            .iter()
            .any(|field| matches!(field.kind, FieldKind::Ternary | FieldKind::Range | FieldKind::Optional))
    }

    /// The fields with their first byte in a packed key.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (usize, FieldSpec)> {
        self.fields.iter().scan(0, |at, &field| {
            let start = *at;
            *at += field.bytes();
            Some((start, field))
        })
    }
}

/// What an entry matches: two packed strings of the schema's length.
///
/// ```text
///   kind                    first          second
///   exact                   the value      the value
///   lpm, ternary, optional  the value      its mask; the value has no bits outside
///   range                   lowest         highest
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Pattern {
    pub first: Vec<u8>,
    pub second: Vec<u8>,
    /// Larger wins; 0 when the schema has no priorities.
    pub priority: u32,
}

/// Loads a packed key into words, first byte highest.
#[inline]
pub(crate) fn load(key: &[u8], words: &mut [u64]) {
    let (whole, rest) = key.as_chunks::<8>();
    for (word, bytes) in words.iter_mut().zip(whole) {
        *word = u64::from_be_bytes(*bytes);
    }
    if let (Some(word), false) = (words.get_mut(whole.len()), rest.is_empty()) {
        *word = rest.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)) << (64 - 8 * rest.len());
    }
}

/// The packed key of `bytes` bytes that was loaded into words.
pub(crate) fn unload(words: impl Iterator<Item = u64>, bytes: usize) -> Vec<u8> {
    let mut key: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
    key.truncate(bytes);
    key
}

/// `count` bits (1 to 64) from bit `at` on, counted from the highest; zeros beyond the end.
#[inline]
pub(crate) fn bits(words: &[u64], at: u32, count: u32) -> u64 {
    let (word, offset) = ((at / 64) as usize, at % 64);
    let mut value = words.get(word).copied().unwrap_or(0) << offset;
    if offset + count > 64 {
        value |= words.get(word + 1).copied().unwrap_or(0) >> (64 - offset);
    }
    value >> (64 - count)
}

/// Where hashes begin, and what they multiply by: other numbers in each process. Keys come from the network (addresses of
/// stations, of hosts), and nobody shall choose some that share a chain.
pub(crate) static SECRETS: LazyLock<(u64, u64)> = LazyLock::new(|| {
    let random = || RandomState::new().hash_one(0);
    (random(), random() | 1)
});

/// Spreads a key over 32 bits.
#[inline]
pub(crate) fn hash(words: &[u64]) -> u32 {
    spread(words.iter().copied(), *SECRETS)
}

/// The hash of words by such numbers. The products' halves are folded together, so every bit of the key reaches every bit.
#[inline]
pub(crate) fn spread(words: impl Iterator<Item = u64>, (mut state, multiplier): (u64, u64)) -> u32 {
    for word in words {
        let product = u128::from(state ^ word) * u128::from(multiplier);
        state = (product >> 64) as u64 ^ product as u64;
    }
    (state ^ (state >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn keys_that_share_a_hash_in_one_process_do_not_in_another() {
        let published = (0x2545_f491_4f6c_dd1d, 0x9e37_79b9_7f4a_7c15);
        let (mut seen, mut pairs) = (HashMap::new(), vec![]);
        for mac in 0..1 << 19 {
            let key = [7 << 48 | 0x02_0000_0000_u64 << 8 | mac];
            pairs.extend(seen.insert(spread(key.into_iter(), published), key).map(|other| [key, other]));
        }
        assert!(pairs.len() > 5, "{} pairs", pairs.len());
        assert!(pairs.iter().filter(|[a, b]| hash(a) == hash(b)).count() < 2);
    }

    #[test]
    fn keys_of_any_length_come_back() {
        for len in 0..=20 {
            let key: Vec<u8> = (1..=len).collect();
            let mut words = vec![0; usize::from(len).div_ceil(8)];
            load(&key, &mut words);
            assert_eq!(unload(words.into_iter(), key.len()), key);
        }
    }

    #[test]
    fn bits_cross_words_and_end_in_zeros() {
        let words = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
        assert_eq!(bits(&words, 0, 64), words[0]);
        assert_eq!(bits(&words, 60, 8), 0xff);
        assert_eq!(bits(&words, 4, 6), 0b000100);
        assert_eq!(bits(&words, 124, 6), 0);
        assert_eq!(bits(&words, 122, 6), 0x10);
        assert_eq!(bits(&words, 128, 6), 0);
        assert_eq!(bits(&words, 1, 64), (words[0] << 1) | 1);
    }
}
