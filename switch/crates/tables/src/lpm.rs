//! Longest prefix match: an array over the bits in which the prefixes of a large table differ first, before tries.
//!
//! Most prefixes of a large table are alone, or among few, behind the first twenty bits or so. The array has a place, a word,
//! for each value of these bits, and leads to them at once:
//!
//! ```text
//!   key:   | base | index |  the rest ...
//!                     |
//!   array: ... | place | place | ...        a place is one of
//!                 0                          nothing
//!                 other << 32 | entry        one entry or two, longest prefix first, to be compared with the key
//!                 block << 32 | FEW          a block with few entries, in halves of words: their number, then they
//!                 block << 32 | TRIE         a trie of more
//!
//!   entry: slot << 6 | the bits of it behind the index, five at most, and a one behind them
//! ```
//!
//! Which of two entries a key is compared with is worked out from these bits without a branch. So what a lookup waits for is
//! a place and a record, as in a hash, and the processor need not guess which.
//!
//! What is shorter than base and index together, or has another base, stands in a trie of its own. A key is looked up there
//! when the array leads to none of its prefixes: all of those are longer. The array is made anew when the table has twice as
//! many entries, or far fewer; small tables have none.

mod shape;
mod writer;

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::blocks::Blocks;
use crate::key::bits;
use crate::segments::Words;
use crate::sync::AtomicU64;
use crate::trie::{self, Place};
use shape::Shape;
pub(crate) use writer::LpmWriter;

/// First word of the key in a record; word 0 is the prefix's length above the body.
pub(crate) const KEY: usize = 1;
/// The most bits of an entry's prefix that stand beside its slot.
const NEAR: u32 = 5;
/// Bits of a slot's number, which stands above them.
pub(crate) const SLOT_BITS: u32 = 31 - NEAR;
/// What an entry has below its slot: never zero.
const BELOW_SLOT: u32 = (1 << (NEAR + 1)) - 1;
/// In the lower half of a place, what stands in its upper half: no entry has such a lower half.
const FEW: u32 = BELOW_SLOT + 1;
const TRIE: u32 = 2 * FEW;

/// What stands at a place.
enum Found<'a> {
    /// The first entry and the other one, each 0 if there is none.
    Two(u32, u32),
    Few(u32, &'a [AtomicU64]),
    Trie(Place<'a>),
}

#[inline]
fn at_place<'a>(words: &'a Words, place: &'a AtomicU64) -> Found<'a> {
    let found = place.load(Acquire);
    let (lower, upper) = (found as u32, (found >> 32) as u32);
    match lower {
        FEW => Found::Few(upper, words.tail(upper)),
        TRIE => Found::Trie(Place { word: place, shift: 32 }),
        _ => Found::Two(lower, upper),
    }
}

#[inline]
fn slot_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// The entries of a block of few.
#[inline]
fn entries(few: &[AtomicU64]) -> impl Iterator<Item = u32> {
    let count = few[0].load(Relaxed) as u32 as usize;
    (1..=count).map(|i| (few[i / 2].load(Relaxed) >> (32 * (i % 2))) as u32)
}

#[inline]
fn slot_in(entry: u32) -> u32 {
    entry >> (NEAR + 1)
}

/// Whether the bits beside an entry's slot are those of a key, which has as many and a zero behind them.
#[inline]
fn is_near(entry: u32, key: u32) -> bool {
    let end = entry & entry.wrapping_neg();
    (entry ^ key) & BELOW_SLOT & !(end | (end - 1)) == 0
}

/// The index of a table's prefixes.
///
/// Its state is a block: where the trie begins, the base, `base bits | index bits << 8` (0 without an array), the block of the
/// array.
#[derive(Debug)]
pub(crate) struct LpmIndex {
    words: Words,
    state: AtomicU64,
}

const STATE: usize = 4;

/// One state of the index.
struct State<'a> {
    trie: Place<'a>,
    array: Option<(Shape, &'a [AtomicU64])>,
}

impl<'a> State<'a> {
    /// The place of a prefix or key in the array; none if it is for the trie.
    #[inline]
    fn place(&self, key: &[u64]) -> Option<(Shape, &'a AtomicU64)> {
        let (shape, array) = self.array?;
        Some((shape, &array[shape.index(key)?]))
    }

    fn place_of_prefix(&self, key: &[u64], length: u32) -> Option<(Shape, &'a AtomicU64)> {
        self.place(key).filter(|(shape, _)| length >= shape.depth())
    }
}

impl LpmIndex {
    pub fn new() -> Self {
        Self { words: Blocks::arena(), state: AtomicU64::new(0) }
    }

    #[inline(always)]
    fn state(&self) -> Option<State<'_>> {
        let block = self.state.load(Acquire) as u32;
        let state = (block != 0).then(|| self.words.tail(block))?;
        let bits = state[2].load(Relaxed) as u32;
        let array = (bits != 0).then(|| {
            let shape = Shape { base: state[1].load(Relaxed), base_bits: bits & 0xff, index_bits: bits >> 8 };
            (shape, self.words.tail(state[3].load(Relaxed) as u32))
        });
        Some(State { trie: Place::of(&state[0]), array })
    }

    /// The slot and body of the longest prefix of the key. Inlined where the number of its words is known.
    #[inline(always)]
    pub fn find(&self, records: &Words, key: &[u64]) -> Option<(u32, u32)> {
        let state = self.state()?;
        let by_array = state.place(key).and_then(|(shape, place)| self.find_at(records, shape, place, key));
        by_array.or_else(|| trie::find(&self.words, state.trie.load(), 0, key).map(parts))
    }

    #[inline(always)]
    fn find_at(&self, records: &Words, shape: Shape, place: &AtomicU64, key: &[u64]) -> Option<(u32, u32)> {
        let near = (bits(key, shape.depth(), NEAR) as u32) << 1;
        let body = |entry| {
            let record = records.record(slot_in(entry));
            is_prefix(record, key).then(|| (slot_in(entry), record[0].load(Acquire) as u32))
        };
        match at_place(&self.words, place) {
            Found::Two(0, _) => None,
            Found::Two(first, other) => {
                let halves = u64::from(first) | u64::from(other) << 32;
                let is_first = is_near(first, near);
                let likely = (halves >> (32 * u32::from(!is_first))) as u32;
                if likely == 0 {
                    return None;
                }
                body(likely).or_else(|| if is_first && other != 0 { body(other) } else { None })
            }
            Found::Few(_, few) => entries(few).find_map(|entry| if is_near(entry, near) { body(entry) } else { None }),
            Found::Trie(root) => trie::find(&self.words, root.load(), shape.depth(), key).map(parts),
        }
    }

    /// The slot of exactly this prefix.
    pub fn get(&self, records: &Words, key: &[u64], length: u32) -> Option<u32> {
        let state = self.state()?;
        let in_trie = |root, depth| {
            let value = trie::exact(&self.words, root, depth, key, length)?;
            Some(slot_of(value.load(Relaxed)))
        };
        let Some((shape, place)) = state.place_of_prefix(key, length) else { return in_trie(state.trie.load(), 0) };
        let is_it = |slot: &u32| {
            let record = records.record(*slot);
            length_of(record) == length && is_prefix(record, key)
        };
        match at_place(&self.words, place) {
            Found::Two(first, other) => [first, other].into_iter().filter(|entry| *entry != 0).map(slot_in).find(is_it),
            Found::Few(_, few) => entries(few).map(slot_in).find(is_it),
            Found::Trie(root) => in_trie(root.load(), shape.depth()),
        }
    }

    /// Changes the value of a prefix that is there, whose record has its new body already. Only for the writer.
    pub fn set(&self, key: &[u64], length: u32, value: u64) {
        let Some(state) = self.state() else { return };
        let (root, depth) = match state.place_of_prefix(key, length) {
            None => (state.trie.load(), 0),
            Some((shape, place)) => match at_place(&self.words, place) {
                Found::Trie(root) => (root.load(), shape.depth()),
                // The record says it.
                _ => return,
            },
        };
        if let Some(place) = trie::exact(&self.words, root, depth, key, length) {
            place.store(value, Release);
        }
    }
}

/// The slot and body in a trie's value.
#[inline]
fn parts(value: u64) -> (u32, u32) {
    (slot_of(value), value as u32)
}

/// The length of the record's prefix.
#[inline]
pub(crate) fn length_of(record: &[AtomicU64]) -> u32 {
    (record[0].load(Relaxed) >> 32) as u32
}

/// Whether the record's prefix is one of the key. No branch depends on its length.
#[inline(always)]
fn is_prefix(record: &[AtomicU64], key: &[u64]) -> bool {
    let (mut left, mut differ) = (length_of(record), 0);
    for (key, stored) in key.iter().zip(&record[KEY..]) {
        differ |= (key ^ stored.load(Relaxed)) & !u64::MAX.checked_shr(left).unwrap_or(0);
        left = left.saturating_sub(64);
    }
    differ == 0
}
