//! Everything that needs priorities: a tuple space, one hash per combination of masks.
//!
//! The mask of a range is the prefix its two ends share; the ends themselves stand in the entry and are compared when
//! the hash has found it. So a range never becomes several entries, and those that overlap under one mask are passed
//! in the order of their priorities.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::blocks::Blocks;
use crate::epoch::Epochs;
use crate::hash::HashIndex;
use crate::key::{FieldKind, Pattern, Schema, bits, hash, load, unload};
use crate::segments::{Segments, Words};
use crate::slots::Slots;

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

/// Where things stand in a record. Word 0 is the hash's link, word 1 `priority << 32 | body`, then the masked key, the
/// tuple's number, and for each range the words of its lowest and of its highest value.
#[derive(Debug)]
struct Layout {
    bytes: usize,
    words: usize,
    has_priorities: bool,
    ranges: Vec<Range>,
}

const KEY: usize = 2;

impl Layout {
    fn tuple(&self) -> usize {
        KEY + self.words
    }

    /// Whether the key is in all ranges of the record.
    #[inline]
    fn in_ranges(&self, key: &[u64], record: &[AtomicU64]) -> bool {
        let mut at = self.tuple() + 1;
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
    /// One index per combination of masks. An empty one serves another combination when no reader can still be there.
    tuples: Segments<HashIndex>,
    /// The block of the search order: number of tuples, then for each, highest priority first,
    /// `highest priority << 32 | tuple`, `block of the filter << 8 | logarithm of its words`, and the mask.
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
        Self { layout, tuples: Segments::new(2, 1), order: AtomicU64::new(0), blocks: Blocks::arena() }
    }

    /// Words of a record.
    pub fn stride(&self) -> usize {
        let ends: u32 = self.layout.ranges.iter().map(|range| 2 * range.len.div_ceil(64)).sum();
        self.layout.tuple() + 1 + ends as usize
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
        let tuples = order[1..].chunks_exact(stride).take(order[0].load(Relaxed) as usize);
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
            let found = self.tuples.record(head as u32)[0].find(records, hash, |record| {
                masked.iter().zip(&record[KEY..]).all(|(word, stored)| *word == stored.load(Relaxed))
                    && self.layout.in_ranges(key, record)
            });
            if let Some((slot, record)) = found {
                let state = record[1].load(Acquire);
                if best.is_none_or(|(best, _)| state >> 32 > best >> 32) {
                    best = Some((state, slot));
                }
            }
        }
        best.map(|(state, slot)| (slot, state as u32))
    }
}

/// A pattern in the form of records.
struct Parts {
    mask: Box<[u64]>,
    /// Key, tuple (set later), ends of ranges.
    words: Vec<u64>,
    rank: u32,
}

#[derive(Debug, Default)]
struct TupleBook {
    mask: Box<[u64]>,
    /// How many entries there are of each priority.
    ranks: BTreeMap<u32, u32>,
    len: u64,
    /// The filter's block, the logarithm of its words, and the entries put into it, deleted ones too.
    filter: u32,
    filter_log: u32,
    filtered: u64,
}

impl TupleBook {
    fn filter_words(&self) -> usize {
        1 << self.filter_log
    }
}

/// The writer's side of a tuple space.
#[derive(Debug)]
pub(crate) struct TupleWriter {
    schema: Schema,
    by_mask: HashMap<Box<[u64]>, u32>,
    books: Vec<TupleBook>,
    numbers: Slots,
    blocks: Blocks,
    /// The search order as published: (highest priority, tuple).
    order: Vec<(u32, u32)>,
}

impl TupleWriter {
    pub fn new(schema: Schema) -> Self {
        Self {
            schema,
            by_mask: HashMap::new(),
            books: Vec::new(),
            numbers: Slots::default(),
            blocks: Blocks::default(),
            order: Vec::new(),
        }
    }

    fn parts(&self, space: &TupleSpace, pattern: &Pattern) -> Parts {
        let mut mask_bytes = vec![0; pattern.first.len()];
        let mut set_bits = 0;
        for (at, field) in self.schema.placed() {
            let span = at..at + field.bytes();
            let mask = &mut mask_bytes[span.clone()];
            match field.kind {
                FieldKind::Exact => mask.fill(0xff),
                FieldKind::Lpm | FieldKind::Ternary | FieldKind::Optional => {
                    mask.copy_from_slice(&pattern.second[span]);
                    set_bits += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
                }
                FieldKind::Range => {
                    for (i, mask) in span.clone().zip(mask) {
                        let differ = pattern.first[i] ^ pattern.second[i];
                        *mask = !(0xff_u8.checked_shr(differ.leading_zeros()).unwrap_or(0));
                        if differ != 0 {
                            break;
                        }
                    }
                }
            }
        }
        let load_all = |bytes: &[u8]| {
            let mut words = vec![0; space.layout.words];
            load(bytes, &mut words);
            words
        };
        let (mask, first, second) = (load_all(&mask_bytes), load_all(&pattern.first), load_all(&pattern.second));
        let mut words: Vec<u64> = first.iter().zip(&mask).map(|(first, mask)| first & mask).collect();
        words.push(0);
        for range in &space.layout.ranges {
            words.extend(range.chunks().map(|(at, len)| bits(&first, at, len)));
            words.extend(range.chunks().map(|(at, len)| bits(&second, at, len)));
        }
        // Without priorities (several lpm keys), the entry with more bits given wins.
        let rank = if space.layout.has_priorities { pattern.priority } else { set_bits };
        Parts { mask: mask.into(), words, rank }
    }

    /// The slot of the entry with this very pattern.
    pub fn get(&self, space: &TupleSpace, records: &Words, pattern: &Pattern) -> Option<u32> {
        let mut parts = self.parts(space, pattern);
        let tuple = *self.by_mask.get(&parts.mask)?;
        let words = space.layout.words;
        parts.words[words] = u64::from(tuple);
        let index = &space.tuples.record(tuple)[0];
        let found = index.find(records, hash(&parts.words[..words]), |record| {
            record[1].load(Relaxed) >> 32 == u64::from(parts.rank)
                && parts.words.iter().zip(&record[KEY..]).all(|(word, stored)| *word == stored.load(Relaxed))
        });
        found.map(|(slot, _)| slot)
    }

    /// Adds an entry whose pattern is not there.
    pub fn insert(
        &mut self,
        space: &TupleSpace,
        records: &Words,
        epochs: &Epochs,
        pattern: &Pattern,
        slot: u32,
        body: u32,
    ) {
        let mut parts = self.parts(space, pattern);
        let tuple = match self.by_mask.get(&parts.mask) {
            Some(&tuple) => tuple,
            None => self.new_tuple(space, epochs, &parts.mask),
        };
        let words = space.layout.words;
        parts.words[words] = u64::from(tuple);
        let record = records.record(slot);
        record[1].store(u64::from(parts.rank) << 32 | u64::from(body), Relaxed);
        for (word, value) in record[KEY..].iter().zip(&parts.words) {
            word.store(*value, Relaxed);
        }
        let hash = hash(&parts.words[..words]);
        let book = &mut self.books[tuple as usize];
        *book.ranks.entry(parts.rank).or_insert(0) += 1;
        book.len += 1;
        let len = book.len;
        // The filter and the order first: no reader may pass the tuple by for want of them.
        let replaced = self.filter(space, records, epochs, tuple, hash);
        self.publish_order(space, epochs, tuple, replaced.is_some());
        if let Some((block, len)) = replaced.filter(|(block, _)| *block != 0) {
            self.blocks.retire(epochs, block, len);
        }
        let below = |other: &[AtomicU64]| other[1].load(Relaxed) >> 32 < u64::from(parts.rank);
        space.tuples.record(tuple)[0].insert(records, hash, slot, len, below);
    }

    /// Puts a hash into a tuple's filter. When the filter has become full, also of entries that are gone, there is a
    /// new one to publish; the answer is then the old one's block (0 for none) and length, to be retired after that.
    fn filter(
        &mut self,
        space: &TupleSpace,
        records: &Words,
        epochs: &Epochs,
        tuple: u32,
        hash: u32,
    ) -> Option<(u32, usize)> {
        let book = &mut self.books[tuple as usize];
        if book.filter != 0 && book.filtered < book.filter_words() as u64 * ENTRIES_PER_WORD {
            book.filtered += 1;
            let word = &space.blocks.tail(book.filter)[hash as usize & (book.filter_words() - 1)];
            word.fetch_or(filter_bits(hash), Release);
            return None;
        }
        let old = (book.filter, book.filter_words());
        book.filter_log = (2 * book.len).div_ceil(ENTRIES_PER_WORD).next_power_of_two().ilog2();
        book.filtered = book.len;
        let mut filter = vec![0; book.filter_words()];
        let mut add = |hash: u32| filter[hash as usize & (book.filter_words() - 1)] |= filter_bits(hash);
        add(hash);
        space.tuples.record(tuple)[0].hashes(records, add);
        book.filter = self.blocks.put(&space.blocks, epochs, &filter);
        Some(old)
    }

    /// Takes an entry out.
    pub fn remove(&mut self, space: &TupleSpace, records: &Words, epochs: &Epochs, slot: u32) {
        let record = records.record(slot);
        let words = space.layout.words;
        let key: Vec<u64> = record[KEY..][..words].iter().map(|word| word.load(Relaxed)).collect();
        let tuple = record[space.layout.tuple()].load(Relaxed) as u32;
        space.tuples.record(tuple)[0].remove(records, hash(&key), slot);
        let book = &mut self.books[tuple as usize];
        let rank = (record[1].load(Relaxed) >> 32) as u32;
        book.len -= 1;
        let left = book.ranks.get_mut(&rank).expect("the entry's priority is counted");
        *left -= 1;
        if *left == 0 {
            book.ranks.remove(&rank);
        }
        let empty = book.ranks.is_empty();
        self.publish_order(space, epochs, tuple, false);
        if empty {
            let book = std::mem::take(&mut self.books[tuple as usize]);
            self.blocks.retire(epochs, book.filter, book.filter_words());
            self.by_mask.remove(&book.mask);
            self.numbers.retire(tuple, epochs);
        }
    }

    fn new_tuple(&mut self, space: &TupleSpace, epochs: &Epochs, mask: &[u64]) -> u32 {
        let tuple = self.numbers.take(epochs);
        space.tuples.ensure_with(tuple, |items| (0..items).map(|_| HashIndex::new()).collect());
        if self.books.len() <= tuple as usize {
            self.books.resize_with(tuple as usize + 1, TupleBook::default);
        }
        self.books[tuple as usize].mask = mask.into();
        self.by_mask.insert(mask.into(), tuple);
        tuple
    }

    /// Publishes the search order if the tuple's highest priority or its filter changed.
    fn publish_order(&mut self, space: &TupleSpace, epochs: &Epochs, tuple: u32, new_filter: bool) {
        let highest = self.books[tuple as usize].ranks.last_key_value().map(|(&rank, _)| rank);
        let old = self.order.iter().position(|&(_, number)| number == tuple);
        if old.map(|i| self.order[i].0) == highest && !new_filter {
            return;
        }
        if let Some(i) = old {
            self.order.remove(i);
        }
        if let Some(highest) = highest {
            let i = self.order.partition_point(|&(rank, _)| rank >= highest);
            self.order.insert(i, (highest, tuple));
        }
        let stride = 2 + space.layout.words;
        let mut contents = Vec::with_capacity(1 + self.order.len() * stride);
        contents.push(self.order.len() as u64);
        for &(rank, tuple) in &self.order {
            let book = &self.books[tuple as usize];
            contents.push(u64::from(rank) << 32 | u64::from(tuple));
            contents.push(u64::from(book.filter) << 8 | u64::from(book.filter_log));
            contents.extend(&book.mask);
        }
        let new = self.blocks.put(&space.blocks, epochs, &contents);
        let old = space.order.swap(u64::from(new), Release) as u32;
        if old != 0 {
            let tuples = space.blocks.tail(old)[0].load(Relaxed) as usize;
            self.blocks.retire(epochs, old, 1 + tuples * stride);
        }
    }

    /// What an entry matches.
    pub fn pattern(&self, space: &TupleSpace, records: &Words, slot: u32) -> Pattern {
        let layout = &space.layout;
        let record: Vec<u64> = records.record(slot).iter().map(|word| word.load(Relaxed)).collect();
        let key = record[KEY..][..layout.words].iter().copied();
        let mask = &self.books[record[layout.tuple()] as usize].mask;
        let mut pattern = Pattern {
            first: unload(key, layout.bytes),
            second: unload(mask.iter().copied(), layout.bytes),
            priority: if layout.has_priorities { (record[1] >> 32) as u32 } else { 0 },
        };
        for (at, field) in self.schema.placed().filter(|(_, field)| field.kind == FieldKind::Exact) {
            let span = at..at + field.bytes();
            pattern.second[span.clone()].copy_from_slice(&pattern.first[span]);
        }
        let mut ends = record[layout.tuple() + 1..].iter();
        for range in &layout.ranges {
            let start = (range.at / 8) as usize;
            for side in [&mut pattern.first, &mut pattern.second] {
                for (chunk, (_, len)) in range.chunks().enumerate() {
                    let bytes = (len / 8) as usize;
                    let word = ends.next().expect("a word per chunk").to_be_bytes();
                    side[start + 8 * chunk..][..bytes].copy_from_slice(&word[8 - bytes..]);
                }
            }
        }
        pattern
    }

    /// Bytes of buckets, lists and books.
    pub fn memory(&self, space: &TupleSpace) -> usize {
        let tuples: usize =
            (0..self.numbers.end()).map(|tuple| size_of::<HashIndex>() + space.tuples.record(tuple)[0].memory()).sum();
        let books: usize = self.books.iter().map(|book| size_of::<TupleBook>() + book.ranks.len() * 12).sum();
        tuples + books + self.blocks.memory()
    }
}
