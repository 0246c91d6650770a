//! How a tuple space is changed.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::grouping::{Entries, Group, group, masked, needed_bits, ones};
use super::parts::{Parts, pattern};
use super::{ENTRIES_PER_WORD, KEY, LINKS, ORDER, STATE, TupleSpace, filter_bits};
use crate::blocks::Blocks;
use crate::epoch::Epochs;
use crate::hash::HashIndex;
use crate::key::{Pattern, Schema, hash};
use crate::segments::Words;
use crate::slots::Slots;
use crate::sync::AtomicU64;

/// So few tuples are not worth grouping.
const FEW: usize = 4;
/// Fewer entries than these are not worth it either.
const FEWEST: u64 = 16;
/// Where more entries of a tuple than these share a hash, its masks may not go together after all.
const CROWD: u32 = 32;
/// What tells that is looked at after one in so many entries has come.
const SHARE: u64 = 16;

#[derive(Debug, Default)]
struct MaskBook {
    tuple: u32,
    len: u64,
}

#[derive(Debug, Default)]
struct TupleBook {
    /// What its masks have in common.
    mask: Box<[u64]>,
    /// How many entries there are of each priority.
    ranks: BTreeMap<u32, u32>,
    len: u64,
}

impl TupleBook {
    fn hash(&self, key: &[u64]) -> u32 {
        hash(&masked(key, &self.mask))
    }
}

/// The filter's block, its words, and the entries put into it, deleted ones too.
#[derive(Debug, Default)]
struct Filter {
    block: u32,
    words: usize,
    entries: u64,
}

impl Filter {
    fn is_full(&self) -> bool {
        self.entries >= self.words as u64 * ENTRIES_PER_WORD
    }
}

/// The writer's side of a tuple space.
#[derive(Debug)]
pub(crate) struct TupleWriter {
    schema: Schema,
    by_bits: HashMap<Box<[u64]>, u32>,
    masks: Vec<MaskBook>,
    mask_numbers: Slots,
    tuples: Vec<TupleBook>,
    filter: Filter,
    blocks: Blocks,
    /// The search order as published: (highest priority, tuple).
    order: Vec<(u32, u32)>,
    len: u64,
    /// Which index they are in.
    side: usize,
    grouped: Grouped,
}

/// When masks were grouped last.
#[derive(Debug, Default)]
struct Grouped {
    /// Readers that are as old as this follow the links of the tuples before.
    ticket: Option<u64>,
    /// How many entries and tuples there were.
    len: u64,
    tuples: usize,
    /// Entries that came since.
    since: u64,
    /// Whether many share a hash.
    is_crowded: bool,
}

impl TupleWriter {
    pub fn new(schema: Schema) -> Self {
        Self {
            schema,
            by_bits: HashMap::new(),
            masks: Vec::new(),
            mask_numbers: Slots::default(),
            tuples: Vec::new(),
            filter: Filter::default(),
            blocks: Blocks::default(),
            order: Vec::new(),
            len: 0,
            side: 0,
            grouped: Grouped::default(),
        }
    }

    /// The slot of the entry with this very pattern.
    pub fn get(&self, space: &TupleSpace, records: &Words, pattern: &Pattern) -> Option<u32> {
        let mut parts = Parts::new(&self.schema, &space.layout, pattern);
        let mask = *self.by_bits.get(&parts.mask)?;
        let words = space.layout.words;
        parts.words[words] = u64::from(mask);
        let tuple = self.masks[mask as usize].tuple;
        let hash = self.tuples[tuple as usize].hash(&parts.words[..words]);
        let found = space.indexes[self.side].find(records, LINKS[self.side], hash, |record| {
            record[STATE].load(Relaxed) >> 32 == u64::from(parts.rank)
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
        let mut parts = Parts::new(&self.schema, &space.layout, pattern);
        let mask = match self.by_bits.get(&parts.mask) {
            Some(&mask) => mask,
            None => self.new_mask(space, epochs, &parts.mask),
        };
        let words = space.layout.words;
        parts.words[words] = u64::from(mask);
        let record = records.record(slot);
        record[STATE].store(u64::from(parts.rank) << 32 | u64::from(body), Relaxed);
        for (word, value) in record[KEY..].iter().zip(&parts.words) {
            word.store(*value, Relaxed);
        }
        let mask = &mut self.masks[mask as usize];
        mask.len += 1;
        let tuple = mask.tuple;
        let book = &mut self.tuples[tuple as usize];
        let hash = book.hash(&parts.words[..words]);
        *book.ranks.entry(parts.rank).or_insert(0) += 1;
        book.len += 1;
        let is_shared = book.mask != parts.mask;
        self.len += 1;
        // The filter and the order first: no reader may pass the entry by for want of them.
        let replaced = self.filter(space, records, epochs, hash);
        self.publish_place(space, epochs, tuple, replaced.is_some());
        self.retire_filter(epochs, replaced);
        let (index, link) = (&space.indexes[self.side], LINKS[self.side]);
        index.insert(records, link, hash, slot, self.len, below(parts.rank));
        self.grouped.since += 1;
        self.grouped.is_crowded |= is_shared && index.count(records, link, hash, CROWD) == CROWD;
        if self.is_outgrown() {
            self.group(space, records, epochs);
        }
    }

    /// Puts a hash into the filter. When that has become full, also of entries that are gone, there is a new one to
    /// publish; the answer is then the old one, to be retired after that.
    fn filter(&mut self, space: &TupleSpace, records: &Words, epochs: &Epochs, hash: u32) -> Option<Filter> {
        if self.filter.is_full() {
            return Some(self.make_filter(space, records, epochs, Some(hash)));
        }
        self.filter.entries += 1;
        let word = &space.blocks.tail(self.filter.block)[hash as usize & (self.filter.words - 1)];
        word.fetch_or(filter_bits(hash), Release);
        None
    }

    /// Makes a filter of all entries, and of one that comes. The answer is the one before.
    fn make_filter(&mut self, space: &TupleSpace, records: &Words, epochs: &Epochs, coming: Option<u32>) -> Filter {
        let words = (2 * self.len).div_ceil(ENTRIES_PER_WORD).next_power_of_two() as usize;
        let mut filter = vec![0; words];
        let mut add = |hash: u32| filter[hash as usize & (words - 1)] |= filter_bits(hash);
        coming.into_iter().for_each(&mut add);
        space.indexes[self.side].each(records, LINKS[self.side], |hash, _| add(hash));
        let block = self.blocks.put(&space.blocks, epochs, &filter);
        std::mem::replace(&mut self.filter, Filter { block, words, entries: self.len })
    }

    fn retire_filter(&mut self, epochs: &Epochs, filter: Option<Filter>) {
        if let Some(Filter { block, words, .. }) = filter.filter(|filter| filter.block != 0) {
            self.blocks.retire(epochs, block, words);
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, space: &TupleSpace, records: &Words, epochs: &Epochs, slot: u32) {
        let record = records.record(slot);
        let number = record[space.layout.mask()].load(Relaxed) as u32;
        let tuple = self.masks[number as usize].tuple;
        let book = &mut self.tuples[tuple as usize];
        let hash = book.hash(&key(space, record));
        space.indexes[self.side].remove(records, LINKS[self.side], hash, slot);
        let rank = rank(record);
        book.len -= 1;
        let left = book.ranks.get_mut(&rank).expect("the entry's priority is counted");
        *left -= 1;
        if *left == 0 {
            book.ranks.remove(&rank);
        }
        self.len -= 1;
        self.publish_place(space, epochs, tuple, false);
        let mask = &mut self.masks[number as usize];
        mask.len -= 1;
        if mask.len == 0 {
            self.by_bits.remove(&bits(space, number));
            self.mask_numbers.retire(number, epochs);
        }
    }

    /// Gives a mask a number, and a tuple: one that it fits if there are many, else one of its own.
    fn new_mask(&mut self, space: &TupleSpace, epochs: &Epochs, bits: &[u64]) -> u32 {
        let number = self.mask_numbers.take(epochs);
        space.masks.ensure(number);
        for (word, value) in space.masks.record(number).iter().zip(bits) {
            word.store(*value, Relaxed);
        }
        let fits = |&tuple: &u32| {
            let book = &self.tuples[tuple as usize];
            masked(&book.mask, bits) == *book.mask && ones(&book.mask) >= needed_bits(book.len + 1)
        };
        let tuples = self.order.iter().map(|&(_, tuple)| tuple);
        let fitting = tuples.filter(fits).max_by_key(|&tuple| ones(&self.tuples[tuple as usize].mask));
        let tuple = match fitting.filter(|_| self.order.len() > FEW) {
            Some(tuple) => tuple,
            None => self.new_tuple(bits),
        };
        if self.masks.len() <= number as usize {
            self.masks.resize_with(number as usize + 1, MaskBook::default);
        }
        self.masks[number as usize] = MaskBook { tuple, len: 0 };
        self.by_bits.insert(bits.into(), number);
        number
    }

    /// A tuple of no entries, in the place of one that has none any more.
    fn new_tuple(&mut self, mask: &[u64]) -> u32 {
        let empty = self.tuples.iter().position(|book| book.len == 0).unwrap_or(self.tuples.len());
        if empty == self.tuples.len() {
            self.tuples.push(TupleBook::default());
        }
        self.tuples[empty].mask = mask.into();
        empty as u32
    }

    /// Whether it is time to look which masks go together: a look at every entry, so after a part of them has come.
    fn is_outgrown(&self) -> bool {
        let Grouped { len, tuples, since, is_crowded, .. } = self.grouped;
        let has_more = is_crowded || self.order.len() > 2 * tuples.max(FEW);
        (since > len.max(FEWEST) && self.order.len() > FEW) || (has_more && since * SHARE > self.len.max(FEWEST))
    }

    /// Groups all masks anew. Readers go by the tuples of before until the new ones are published.
    fn group(&mut self, space: &TupleSpace, records: &Words, epochs: &Epochs) {
        if self.grouped.ticket.is_some_and(|ticket| ticket >= epochs.safe()) {
            // Somebody may be among the links that would be written now.
            return;
        }
        let (mut numbers, mut all, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = vec![usize::MAX; self.masks.len()];
        for number in (0..self.masks.len()).filter(|&number| self.masks[number].len > 0) {
            places[number] = all.len();
            numbers.push(number);
            all.push(Entries { mask: bits(space, number as u32), keys: Vec::new() });
            slots.push(Vec::new());
        }
        space.indexes[self.side].each(records, LINKS[self.side], |_, slot| {
            let record = records.record(slot);
            let place = places[record[space.layout.mask()].load(Relaxed) as usize];
            all[place].keys.extend(key(space, record));
            slots[place].push(slot);
        });
        let groups = group(&all);
        self.grouped =
            Grouped { ticket: self.grouped.ticket, len: self.len, tuples: groups.len(), ..Grouped::default() };
        let tuple_of = |place: usize| self.masks[numbers[place]].tuple;
        let is_tuple = |group: &Group| {
            let tuple = tuple_of(group.members[0]);
            self.tuples[tuple as usize].mask == group.mask
                && group.members.iter().all(|&place| tuple_of(place) == tuple)
        };
        if groups.len() == self.order.len() && groups.iter().all(is_tuple) {
            return;
        }
        self.order.clear();
        self.tuples.clear();
        self.side = 1 - self.side;
        space.indexes[self.side].clear(self.len);
        for group in groups {
            let tuple = self.new_tuple(&group.mask);
            for place in group.members {
                self.masks[numbers[place]].tuple = tuple;
                for &slot in &slots[place] {
                    self.link(space, records, tuple, slot);
                }
            }
            self.place(tuple);
        }
        let before = self.make_filter(space, records, epochs, None);
        self.publish(space, epochs);
        self.retire_filter(epochs, Some(before));
        self.grouped.ticket = Some(epochs.retire());
    }

    /// Puts an entry into another tuple, and into the index that no reader knows.
    fn link(&mut self, space: &TupleSpace, records: &Words, tuple: u32, slot: u32) {
        let record = records.record(slot);
        let (book, rank) = (&mut self.tuples[tuple as usize], rank(record));
        book.len += 1;
        *book.ranks.entry(rank).or_insert(0) += 1;
        let hash = book.hash(&key(space, record));
        space.indexes[self.side].insert(records, LINKS[self.side], hash, slot, self.len, below(rank));
    }

    /// Publishes the search order if the tuple's highest priority or the filter changed.
    fn publish_place(&mut self, space: &TupleSpace, epochs: &Epochs, tuple: u32, new_filter: bool) {
        let highest = self.tuples[tuple as usize].ranks.last_key_value().map(|(&rank, _)| rank);
        let old = self.order.iter().position(|&(_, number)| number == tuple);
        if old.map(|i| self.order[i].0) == highest && !new_filter {
            return;
        }
        if let Some(i) = old {
            self.order.remove(i);
        }
        self.place(tuple);
        self.publish(space, epochs);
    }

    /// Puts a tuple with entries where it belongs in the search order.
    fn place(&mut self, tuple: u32) {
        if let Some((&highest, _)) = self.tuples[tuple as usize].ranks.last_key_value() {
            let i = self.order.partition_point(|&(rank, _)| rank >= highest);
            self.order.insert(i, (highest, tuple));
        }
    }

    fn publish(&mut self, space: &TupleSpace, epochs: &Epochs) {
        let stride = 1 + space.layout.words;
        let mut contents = Vec::with_capacity(ORDER + self.order.len() * stride);
        let Filter { block, words, .. } = self.filter;
        contents.extend([self.order.len() as u64, self.side as u64, u64::from(block), words as u64 - 1]);
        for &(rank, tuple) in &self.order {
            contents.push(u64::from(rank));
            contents.extend(&self.tuples[tuple as usize].mask);
        }
        let new = self.blocks.put(&space.blocks, epochs, &contents);
        let old = space.order.swap(u64::from(new), Release) as u32;
        if old != 0 {
            let tuples = space.blocks.tail(old)[0].load(Relaxed) as usize;
            self.blocks.retire(epochs, old, ORDER + tuples * stride);
        }
    }

    /// What an entry matches.
    pub fn pattern(&self, space: &TupleSpace, records: &Words, slot: u32) -> Pattern {
        let record = records.record(slot);
        let mask = bits(space, record[space.layout.mask()].load(Relaxed) as u32);
        pattern(&self.schema, &space.layout, record, &mask)
    }

    /// Bytes of buckets, lists and books.
    pub fn memory(&self, space: &TupleSpace) -> usize {
        let indexes: usize = space.indexes.iter().map(|index| size_of::<HashIndex>() + index.memory()).sum();
        let tuples: usize = self.tuples.iter().map(|book| size_of::<TupleBook>() + book.ranks.len() * 12).sum();
        let masks = self.masks.len() * (size_of::<MaskBook>() + 2 * 8 * space.layout.words);
        indexes + tuples + masks + self.blocks.memory()
    }
}

/// The bits of a mask.
fn bits(space: &TupleSpace, mask: u32) -> Box<[u64]> {
    space.masks.record(mask).iter().map(|word| word.load(Relaxed)).collect()
}

fn key(space: &TupleSpace, record: &[AtomicU64]) -> Vec<u64> {
    record[KEY..][..space.layout.words].iter().map(|word| word.load(Relaxed)).collect()
}

fn rank(record: &[AtomicU64]) -> u32 {
    (record[STATE].load(Relaxed) >> 32) as u32
}

/// Whether a record comes behind entries of a rank.
fn below(rank: u32) -> impl Fn(&[AtomicU64]) -> bool {
    move |record| self::rank(record) < rank
}
