//! Everything that needs priorities: a tuple space, one hash per group of masks.
//!
//! The hash of a tuple is over the bits that all of its masks have; an entry that it finds is compared under its own mask.
//! So a lookup asks few tuples where there are many masks (TupleMerge, Daly and others, IEEE/ACM Transactions on
//! Networking 27(4), 2019). A new mask gets a tuple of its own or joins one that fits; from time to time all are grouped
//! anew ([`grouping`]).
//!
//! The mask of a range is the prefix its two ends share; the ends themselves stand in the entry and are compared when
//! the hash has found it. So a range never becomes several entries, and those that overlap under one mask are passed
//! in the order of their priorities.

mod grouping;
mod parts;
mod writer;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::blocks::Blocks;
use crate::hash::HashIndex;
use crate::key::{FieldKind, Schema, bits, hash};
use crate::segments::{Segments, Words};
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

/// Where things stand in a record. Word 0 and word 2 are links of hashes, word 1 `priority << 32 | body`, then the masked
/// key, the mask's number, and for each range the words of its lowest and of its highest value.
#[derive(Debug)]
struct Layout {
    bytes: usize,
    words: usize,
    has_priorities: bool,
    ranges: Vec<Range>,
}

/// When masks are grouped anew, the new tuples have the links that the old ones do not have, which readers still follow.
const LINKS: [usize; 2] = [0, 2];
const STATE: usize = 1;
const KEY: usize = 3;

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

/// Words of a filter per so many entries: two bits of a word are set for each, so few that are not there pass.
const ENTRIES_PER_WORD: u64 = 4;

/// The bits of an entry in its word of a filter.
#[inline]
fn filter_bits(hash: u32) -> u64 {
    1 << (hash >> 20 & 63) | 1 << (hash >> 26)
}

#[derive(Debug)]
pub(crate) struct TupleSpace {
    layout: Layout,
    /// One index per tuple. One that is out of use serves another tuple when no reader can still be there.
    tuples: Segments<HashIndex>,
    masks: Words,
    /// The block of the search order: number of tuples, which of [`LINKS`] they have, then for each, highest priority
    /// first, `highest priority << 32 | tuple`, `block of the filter << 8 | logarithm of its words`, and the bits that its
    /// masks have in common.
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
        Self { layout, tuples: Segments::new(2, 1), masks, order: AtomicU64::new(0), blocks: Blocks::arena() }
    }

    /// Words of a record.
    pub fn stride(&self) -> usize {
        let ends: u32 = self.layout.ranges.iter().map(|range| 2 * range.len.div_ceil(64)).sum();
        self.layout.mask() + 1 + ends as usize
    }

    /// The slot and body of the entry of the highest priority. `masked` has the key's length.
    #[inline]
    pub fn find(&self, records: &Words, key: &[u64], masked: &mut [u64]) -> Option<(u32, u32)> {
        let order = self.order.load(Acquire) as u32;
        if order == 0 {
            return None;
        }
        let order = self.blocks.tail(order);
        let stride = 2 + self.layout.words;
        let (count, link) = (order[0].load(Relaxed) as usize, order[1].load(Relaxed) as usize);
        let tuples = order[2..].chunks_exact(stride).take(count);
        let mut best: Option<(u64, u32)> = None;
        for tuple in tuples {
            let (head, filter) = (tuple[0].load(Relaxed), tuple[1].load(Relaxed));
            if best.is_some_and(|(state, _)| state >> 32 >= head >> 32) {
                break;
            }
            for ((masked, key), mask) in masked.iter_mut().zip(key).zip(&tuple[2..]) {
                *masked = key & mask.load(Relaxed);
            }
            let hash = hash(masked);
            let word = hash & ((1 << (filter & 0xff)) - 1) as u32;
            let wanted = filter_bits(hash);
            if self.blocks.tail((filter >> 8) as u32)[word as usize].load(Relaxed) & wanted != wanted {
                continue;
            }
            let found = self.tuples.record(head as u32)[0].find(records, link, hash, |record| {
                let mask = self.masks.record(record[self.layout.mask()].load(Relaxed) as u32);
                key.iter()
                    .zip(mask)
                    .zip(&record[KEY..])
                    .all(|((key, mask), stored)| key & mask.load(Relaxed) == stored.load(Relaxed))
                    && self.layout.in_ranges(key, record)
            });
            if let Some((slot, record)) = found {
                let state = record[STATE].load(Acquire);
                if best.is_none_or(|(best, _)| state >> 32 > best >> 32) {
                    best = Some((state, slot));
                }
            }
        }
        best.map(|(state, slot)| (slot, state as u32))
    }
}
