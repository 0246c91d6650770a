//! Longest prefix match: an array over the bits in which the prefixes of a large table differ first, before tries.
//!
//! Most prefixes of a large table are alone, or among few, behind the first twenty bits or so. The array has a place for each
//! value of these bits, and leads to them at once:
//!
//! ```text
//!   key:   | base | index |  the rest ...
//!                     |
//!   array: ... | place | place | ...        a place is one of
//!                 0                          nothing
//!                 slot << 2 | 1              one entry, to be compared with the key
//!                 block / 2 << 2 | 3         a block with few entries, in halves of words: their number, then for each,
//!                                            longest prefix first, slot << 6 | the bits of it behind the index, five at
//!                                            most, and a one behind them
//!                 block                      a trie of more
//! ```
//!
//! What is shorter than base and index together, or has another base, stands in a trie of its own. A key is looked up there
//! when the array leads to none of its prefixes: all of those are longer. The array is made anew when the table has twice as
//! many entries, or far fewer; small tables have none.

mod shape;
mod writer;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::blocks::Blocks;
use crate::key::bits;
use crate::segments::Words;
use crate::trie::{self, Place};
use shape::Shape;
pub(crate) use writer::LpmWriter;

/// First word of the key in a record; word 0 has the prefix's length, word 1 the body.
const KEY: usize = 2;
/// The most bits of a prefix that stand in a block of few.
const NEAR: u32 = 5;
/// Bits of a slot's number, which stands above them.
pub(crate) const SLOT_BITS: u32 = 31 - NEAR;

/// What stands at a place.
enum Found<'a> {
    Nothing,
    One(u32),
    Few(u32, &'a [AtomicU64]),
    Trie(u32),
}

/// A place with one entry.
fn one(slot: u32) -> u32 {
    slot << 2 | 1
}

/// A place with few entries.
fn few(block: u32) -> u32 {
    ((block / 2) << 2) | 3
}

#[inline]
fn at_place(words: &Words, place: u32) -> Found<'_> {
    match place & 3 {
        _ if place == 0 => Found::Nothing,
        1 => Found::One(place >> 2),
        3 => {
            let block = (place >> 2) * 2;
            Found::Few(block, words.tail(block))
        }
        // The numbers of blocks are even.
        _ => Found::Trie(place),
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

/// The slot of an entry in a block of few.
#[inline]
fn slot_in(entry: u32) -> u32 {
    entry >> (NEAR + 1)
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
    fn place(&self, key: &[u64]) -> Option<(Shape, Place<'a>)> {
        let (shape, array) = self.array?;
        let index = shape.index(key)?;
        Some((shape, Place { word: &array[index / 2], shift: 32 * (index as u32 % 2) }))
    }

    fn place_of_prefix(&self, key: &[u64], length: u32) -> Option<(Shape, Place<'a>)> {
        self.place(key).filter(|(shape, _)| length >= shape.depth())
    }
}

impl LpmIndex {
    pub fn new() -> Self {
        Self { words: Blocks::arena(), state: AtomicU64::new(0) }
    }

    #[inline]
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

    /// The slot and body of the longest prefix of the key.
    #[inline]
    pub fn find(&self, records: &Words, key: &[u64]) -> Option<(u32, u32)> {
        let state = self.state()?;
        let by_array = state.place(key).and_then(|(shape, place)| self.find_at(records, shape, place, key));
        by_array.or_else(|| trie::find(&self.words, state.trie.load(), 0, key).map(parts))
    }

    #[inline]
    fn find_at(&self, records: &Words, shape: Shape, place: Place<'_>, key: &[u64]) -> Option<(u32, u32)> {
        let body = |slot| {
            let record = records.record(slot);
            is_prefix(record, key).then(|| (slot, record[1].load(Acquire) as u32))
        };
        match at_place(&self.words, place.load()) {
            Found::Nothing => None,
            Found::One(slot) => body(slot),
            Found::Few(_, few) => {
                let near = (bits(key, shape.depth(), NEAR) as u32) << 1;
                entries(few).find_map(|entry| {
                    let open = entry.trailing_zeros() + 1;
                    if ((entry ^ near) & 63) >> open == 0 { body(slot_in(entry)) } else { None }
                })
            }
            Found::Trie(root) => trie::find(&self.words, root, shape.depth(), key).map(parts),
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
            record[0].load(Relaxed) == u64::from(length) && is_prefix(record, key)
        };
        match at_place(&self.words, place.load()) {
            Found::Nothing => None,
            Found::One(slot) => Some(slot).filter(is_it),
            Found::Few(_, few) => entries(few).map(slot_in).find(is_it),
            Found::Trie(root) => in_trie(root, shape.depth()),
        }
    }

    /// Changes the value of a prefix that is there, whose record has its new body already. Only for the writer.
    pub fn set(&self, key: &[u64], length: u32, value: u64) {
        let Some(state) = self.state() else { return };
        let (root, depth) = match state.place_of_prefix(key, length) {
            None => (state.trie.load(), 0),
            Some((shape, place)) => match at_place(&self.words, place.load()) {
                Found::Trie(root) => (root, shape.depth()),
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

/// Whether the record's prefix is one of the key.
#[inline]
fn is_prefix(record: &[AtomicU64], key: &[u64]) -> bool {
    let mut left = record[0].load(Relaxed) as u32;
    for (key, stored) in key.iter().zip(&record[KEY..]) {
        let differ = key ^ stored.load(Relaxed);
        if left < 64 {
            return left == 0 || differ >> (64 - left) == 0;
        }
        if differ != 0 {
            return false;
        }
        left -= 64;
    }
    true
}
