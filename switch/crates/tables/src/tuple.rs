//! Everything that needs priorities: a tuple space, which asks once per group of masks.
//!
//! The hash of a tuple is over the bits that all of its masks have; an entry that it finds is compared under its own mask.
//! So a lookup asks few tuples where there are many masks (TupleMerge, Daly and others, IEEE/ACM Transactions on
//! Networking 27(4), 2019). A new mask gets a tuple of its own or joins one that fits; from time to time all are grouped
//! anew ([`grouping`]).
//!
//! All entries stand in one index by these hashes, and in one filter, which is small enough for the cache. A lookup takes
//! the key under each tuple's bits through the filter, without a branch that depends on what comes out: so the processor
//! reads the words of all tuples at once, and guesses right what follows. Then it looks for the few that passed, mostly
//! one. An entry of another tuple that the index finds by the same hash is as good: it matches.
//!
//! The mask of a range is the prefix its two ends share; the ends themselves stand in the entry and are compared when
//! the hash has found it. So a range never becomes several entries, and those that overlap under one mask are passed
//! in the order of their priorities.

mod grouping;
mod parts;
mod writer;

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::blocks::Blocks;
use crate::hash::HashIndex;
use crate::key::{FieldKind, SECRETS, Schema, bits, spread};
use crate::segments::Words;
use crate::sync::AtomicU64;
pub(crate) use writer::TupleWriter;

/// A range field's bits in the key's words.
#[derive(Debug, Clone, Copy)]
struct Range {
    at: u32,
    len: u32,
}

impl Range {
    fn chunks(self) -> impl DoubleEndedIterator<Item = (u32, u32)> {
        (0..self.len.div_ceil(64)).map(move |i| (self.at + 64 * i, (self.len - 64 * i).min(64)))
    }
}

/// Where things stand in a record. Word 0 is `priority << 32 | body`, words 1 and 2 are links of the indexes, then come the
/// masked key, the mask's number, and for each range the words of its lowest and of its highest value.
#[derive(Debug)]
struct Layout {
    bytes: usize,
    words: usize,
    has_priorities: bool,
    ranges: Vec<Range>,
}

/// The links of each index: when masks are grouped anew, those that the readers follow stay as they are.
const LINKS: [usize; 2] = [1, 2];
const STATE: usize = 0;
pub(crate) const KEY: usize = 3;

impl Layout {
    fn mask(&self) -> usize {
        KEY + self.words
    }

    /// Whether the key is in all ranges of the record.
    #[inline]
    fn in_ranges(&self, key: &[u64], record: &[AtomicU64]) -> bool {
        let mut at = self.mask() + 1;
        self.ranges.iter().all(|range| {
            let count = range.len.div_ceil(64) as usize;
            let value = || range.chunks().map(|(at, len)| bits(key, at, len));
            let ends = &record[at..at + 2 * count];
            at += 2 * count;
            let (low, high) = ends.split_at(count);
            low.iter().map(|word| word.load(Relaxed)).le(value()) && value().le(high.iter().map(|w| w.load(Relaxed)))
        })
    }
}

/// Words of the filter per so many entries: two bits of a word are set for each, so few that are not there pass.
const ENTRIES_PER_WORD: u64 = 4;

/// Tuples that go through the filter before what passed is looked for.
const AT_ONCE: usize = 16;

/// The two bits of an entry in its word of the filter.
const BITS: [u32; 2] = [20, 26];

/// The bits of an entry in its word of the filter.
#[inline]
fn filter_bits(hash: u32) -> u64 {
    BITS.iter().fold(0, |bits, at| bits | 1 << (hash >> at & 63))
}

/// What stands before the tuples in the search order.
const ORDER: usize = 4;

#[derive(Debug)]
pub(crate) struct TupleSpace {
    layout: Layout,
    /// All entries by the hash of their tuple. One is in use; the other one is written when masks are grouped anew.
    indexes: [HashIndex; 2],
    masks: Words,
    /// The block of the search order: number of tuples, which index they are in, block of the filter, its words less one;
    /// then for each tuple, highest priority first, that priority and the bits that its masks have in common.
    order: AtomicU64,
    blocks: Words,
}

impl TupleSpace {
    pub fn new(schema: &Schema) -> Self {
        let ranges = schema
            .placed()
            .filter(|(_, field)| field.kind == FieldKind::Range)
            .map(|(at, field)| Range { at: 8 * at as u32, len: 8 * field.bytes() as u32 })
            .collect();
        let bytes = schema.bytes();
        let layout = Layout { bytes, words: bytes.div_ceil(8), has_priorities: schema.has_priorities(), ranges };
        let masks = Words::new(2, layout.words);
        let indexes = [HashIndex::new(), HashIndex::new()];
        Self { layout, indexes, masks, order: AtomicU64::new(0), blocks: Blocks::arena() }
    }

    /// Words of a record.
    pub fn stride(&self) -> usize {
        let ends: u32 = self.layout.ranges.iter().map(|range| 2 * range.len.div_ceil(64)).sum();
        self.layout.mask() + 1 + ends as usize
    }

    /// The slot and body of the entry of the highest priority.
    // Inlined where the key's length is known.
    #[inline(always)]
    pub fn find(&self, records: &Words, key: &[u64]) -> Option<(u32, u32)> {
        let order = self.order.load(Acquire) as u32;
        if order == 0 {
            return None;
        }
        let (head, tuples) = self.blocks.tail(order).split_at(ORDER);
        let [count, side, filter, last] = [0, 1, 2, 3].map(|i| head[i].load(Relaxed) as usize);
        let filter = &self.blocks.tail(filter as u32)[..=last];
        let passes = |hash: u32| {
            let word = filter[hash as usize & (filter.len() - 1)].load(Relaxed);
            BITS.iter().fold(1, |passes, at| passes & word >> (hash >> at & 63))
        };
        let (secrets, stride) = (*SECRETS, 1 + key.len());
        let mut best: Option<(u64, u32)> = None;
        let is_best = |best: Option<(u64, u32)>, tuple: &[AtomicU64]| {
            best.is_some_and(|(state, _)| state >> 32 >= tuple[0].load(Relaxed))
        };
        for tuples in tuples[..count * stride].chunks(AT_ONCE * stride) {
            if is_best(best, tuples) {
                break;
            }
            let (mut hashes, mut passed) = ([0; AT_ONCE], 0);
            for (i, (tuple, hash)) in tuples.chunks_exact(stride).zip(&mut hashes).enumerate() {
                *hash = spread(key.iter().zip(&tuple[1..]).map(|(key, mask)| key & mask.load(Relaxed)), secrets);
                passed |= passes(*hash) << i;
            }
            while passed != 0 {
                let i = passed.trailing_zeros() as usize;
                passed &= passed - 1;
                if is_best(best, &tuples[i * stride..]) {
                    break;
                }
                let found =
                    self.indexes[side].find(records, LINKS[side], hashes[i], |record| self.matches(key, record));
                if let Some((slot, record)) = found {
                    let state = record[STATE].load(Acquire);
                    if best.is_none_or(|(best, _)| state >> 32 > best >> 32) {
                        best = Some((state, slot));
                    }
                }
            }
        }
        best.map(|(state, slot)| (slot, state as u32))
    }

    /// Whether the entry of a record matches.
    #[inline]
    fn matches(&self, key: &[u64], record: &[AtomicU64]) -> bool {
        let mask = self.masks.record(record[self.layout.mask()].load(Relaxed) as u32);
        key.iter()
            .zip(mask)
            .zip(&record[KEY..])
            .all(|((key, mask), stored)| key & mask.load(Relaxed) == stored.load(Relaxed))
            && self.layout.in_ranges(key, record)
    }
}
