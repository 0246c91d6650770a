//! How the index of prefixes is changed.

use std::sync::atomic::Ordering::{Relaxed, Release};

use super::shape::Shape;
use super::{FEW, Found, KEY, LpmIndex, NEAR, SLOT_BITS, STATE, State, TRIE, at_place, entries, length_of, slot_in};
use crate::blocks::{Arena, Blocks};
use crate::epoch::Epochs;
use crate::key::bits;
use crate::segments::Words;
use crate::sync::{AtomicU64, zeroed};
use crate::trie::{self, Place};

/// A table of fewer entries has no array: its trie is in the cache. Loom would not get through the steps of many.
const LARGE: u64 = if cfg!(loom) { 16 } else { 1024 };
/// The most entries in a block: half a line of the cache.
const MOST_IN_BLOCK: usize = 7;

/// A prefix, and where its entry is.
struct Entry {
    key: Vec<u64>,
    length: u32,
    slot: u32,
    body: u32,
}

impl Entry {
    fn read(records: &Words, slot: u32) -> Self {
        let record = records.record(slot);
        Self {
            key: record[KEY..].iter().map(|word| word.load(Relaxed)).collect(),
            length: length_of(record),
            slot,
            body: record[0].load(Relaxed) as u32,
        }
    }

    fn value(&self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.body)
    }

    /// As it stands at a place or in a block of few.
    fn near(&self, shape: Shape) -> u32 {
        let given = (self.length - shape.depth()).min(NEAR);
        self.slot << (NEAR + 1) | (bits(&self.key, shape.depth(), NEAR) as u32) << 1 | 1 << (NEAR - given)
    }
}

/// The writer's side of the index.
#[derive(Debug, Default)]
pub struct LpmWriter {
    blocks: Blocks,
    /// How many entries the table had when the array was made.
    made_for: u64,
    /// How many entries stand in the trie beside the array: now, and when the array was made.
    left: u64,
    left_then: u64,
}

impl LpmWriter {
    /// Adds the prefix of a filled record, which is not there.
    pub fn insert(&mut self, index: &LpmIndex, records: &Words, epochs: &Epochs, slot: u32) {
        assert!(slot < 1 << SLOT_BITS, "a table of prefixes is not larger");
        let entry = Entry::read(records, slot);
        if index.state.load(Relaxed) == 0 {
            self.publish(index, epochs, 0, None);
        }
        let state = index.state().expect("just made");
        let arena = &mut Arena { words: &index.words, blocks: &mut self.blocks, epochs };
        match state.place_of_prefix(&entry.key, entry.length) {
            None => {
                self.left += 1;
                trie::insert(arena, state.trie, 0, &entry.key, entry.length, entry.value());
            }
            Some((shape, place)) => insert_at(arena, records, shape, place, &entry),
        }
    }

    /// Takes out the prefix of a record, which is there.
    pub fn remove(&mut self, index: &LpmIndex, records: &Words, epochs: &Epochs, slot: u32) {
        let entry = Entry::read(records, slot);
        let Some(state) = index.state() else { return };
        let arena = &mut Arena { words: &index.words, blocks: &mut self.blocks, epochs };
        let Some((shape, place)) = state.place_of_prefix(&entry.key, entry.length) else {
            self.left -= 1;
            return trie::remove(arena, state.trie, 0, &entry.key, entry.length);
        };
        match at_place(arena.words, place) {
            Found::Trie(root) => {
                trie::remove(arena, root, shape.depth(), &entry.key, entry.length);
                if root.load() == 0 {
                    place.store(0, Release);
                }
            }
            found => {
                let (mut left, block) = taken_apart(&found);
                left.retain(|entry| slot_in(*entry) != slot);
                put(arena, place, &left);
                block.into_iter().for_each(|(block, len)| arena.retire(block, len));
            }
        }
    }

    /// Whether an array is to be made, or another one, for so many entries. Those that came in order may all have another base.
    pub fn is_outgrown(&self, len: u64) -> bool {
        let is_left_alone = self.left >= LARGE.max(len / 8).max(2 * self.left_then);
        len >= LARGE.max(2 * self.made_for) || (self.made_for > 0 && is_left_alone) || len < self.made_for / 8
    }

    /// Makes the index anew, for these entries.
    pub fn make(&mut self, index: &LpmIndex, records: &Words, epochs: &Epochs, slots: &[u32]) {
        let mut order: Vec<(u64, u32, u32)> = slots
            .iter()
            .map(|slot| {
                let record = records.record(*slot);
                let first = record.get(KEY).map_or(0, |word| word.load(Relaxed));
                (first, length_of(record), *slot)
            })
            .collect();
        order.sort_unstable();
        let large = slots.len() as u64 >= LARGE;
        self.made_for = if large { slots.len() as u64 } else { 0 };
        let shape = Shape::of(&order.iter().map(|(first, length, _)| (*first, *length)).collect::<Vec<_>>());
        let shape = shape.filter(|_| large);
        let array: Box<[AtomicU64]> = shape.map(|shape| zeroed(1 << shape.index_bits)).unwrap_or_default();
        let root = AtomicU64::new(0);
        let state = State { trie: Place::of(&root), array: shape.map(|shape| (shape, &array[..])) };
        let arena = &mut Arena { words: &index.words, blocks: &mut self.blocks, epochs };
        self.left = 0;
        for (_, _, slot) in order {
            let entry = Entry::read(records, slot);
            match state.place_of_prefix(&entry.key, entry.length) {
                None => {
                    self.left += 1;
                    trie::insert(arena, state.trie, 0, &entry.key, entry.length, entry.value());
                }
                Some((shape, place)) => insert_at(arena, records, shape, place, &entry),
            }
        }
        self.left_then = self.left;
        let array = shape.map(|shape| (shape, array.iter().map(|word| word.load(Relaxed)).collect::<Vec<_>>()));
        self.publish(index, epochs, root.load(Relaxed), array);
    }

    /// Has keys looked up by a new state, and takes back all that the state before it led to.
    fn publish(&mut self, index: &LpmIndex, epochs: &Epochs, trie: u64, array: Option<(Shape, Vec<u64>)>) {
        let arena = &mut Arena { words: &index.words, blocks: &mut self.blocks, epochs };
        let mut state = [trie, 0, 0, 0];
        if let Some((shape, words)) = array {
            let bits = shape.base_bits | shape.index_bits << 8;
            state = [trie, shape.base, bits.into(), arena.put(&words).into()];
        }
        let block = arena.put(&state);
        let old = index.state();
        let old_block = index.state.swap(block.into(), Release) as u32;
        let Some(old) = old else { return };
        trie::retire(arena, old.trie.load());
        if let Some((shape, array)) = old.array {
            let words = 1 << shape.index_bits;
            for place in &array[..words] {
                match at_place(arena.words, place) {
                    Found::Few(block, few) => arena.retire(block, words_of(entries(few).count())),
                    Found::Trie(root) => trie::retire(arena, root.load()),
                    Found::Two(..) => {}
                }
            }
            let block = arena.words.tail(old_block)[3].load(Relaxed) as u32;
            arena.retire(block, words);
        }
        arena.retire(old_block, STATE);
    }

    /// Bytes of the index, free blocks included.
    pub fn memory(&self) -> usize {
        self.blocks.memory()
    }
}

/// Words of a block with so many entries.
fn words_of(entries: usize) -> usize {
    entries / 2 + 1
}

/// The entries at a place without a trie, and the block and words of those that have one.
fn taken_apart(found: &Found<'_>) -> (Vec<u32>, Option<(u32, usize)>) {
    match found {
        Found::Two(first, other) => ([*first, *other].into_iter().filter(|entry| *entry != 0).collect(), None),
        Found::Few(block, few) => {
            let entries: Vec<u32> = entries(few).collect();
            let words = words_of(entries.len());
            (entries, Some((*block, words)))
        }
        Found::Trie(_) => unreachable!("a trie is changed, not taken apart"),
    }
}

/// Puts entries, longest prefix first, at a place that no trie is at.
fn put(arena: &mut Arena<'_>, place: &AtomicU64, entries: &[u32]) {
    let word = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
    let found = match entries {
        [] => 0,
        [_] | [_, _] => word(entries),
        _ => {
            let halves: Vec<u32> = std::iter::once(entries.len() as u32).chain(entries.iter().copied()).collect();
            let block = arena.put(&halves.chunks(2).map(word).collect::<Vec<u64>>());
            u64::from(block) << 32 | u64::from(FEW)
        }
    };
    place.store(found, Release);
}

/// Adds a prefix at its place in the array.
fn insert_at(arena: &mut Arena<'_>, records: &Words, shape: Shape, place: &AtomicU64, entry: &Entry) {
    let found = at_place(arena.words, place);
    if let Found::Trie(root) = found {
        return trie::insert(arena, root, shape.depth(), &entry.key, entry.length, entry.value());
    }
    let (there, block) = taken_apart(&found);
    let slots = there.into_iter().map(slot_in).chain([entry.slot]);
    let mut entries: Vec<Entry> = slots.map(|slot| Entry::read(records, slot)).collect();
    if entries.len() <= MOST_IN_BLOCK {
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.length));
        put(arena, place, &entries.iter().map(|entry| entry.near(shape)).collect::<Vec<u32>>());
    } else {
        let root = AtomicU64::new(0);
        for entry in &entries {
            trie::insert(arena, Place::of(&root), shape.depth(), &entry.key, entry.length, entry.value());
        }
        place.store(root.load(Relaxed) << 32 | u64::from(TRIE), Release);
    }
    block.into_iter().for_each(|(block, len)| arena.retire(block, len));
}
