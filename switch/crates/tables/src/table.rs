//! A table: one of the structures, with the records of its entries.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::direct::{self, DirectIndex};
use crate::epoch::{Epochs, Reader};
use crate::hash::HashIndex;
use crate::key::{FieldKind, FieldSpec, Pattern, Schema, hash, load, unload};
use crate::lpm::{self, LpmIndex, LpmWriter, SLOT_BITS, length_of};
use crate::segments::Words;
use crate::slots::Slots;
use crate::sync::AtomicU64;
use crate::tuple::{self, TupleSpace, TupleWriter};

/// What a lookup found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The entry's own number as long as it lives.
    pub slot: u32,
    /// What its owner made it stand for.
    pub body: u32,
}

/// Why an entry can't be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertError {
    /// There is one with the same match and priority, in this slot.
    Exists(u32),
    Full,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exists(_) => "there is an entry with the same match and priority",
            Self::Full => "the table is full",
        })
    }
}

impl std::error::Error for InsertError {}

/// The word of a record that has the body, above it the length of a prefix in an index of prefixes, the priority in a tuple
/// space. Links follow where there are hashes, and then the key.
const STATE: usize = 0;

/// The word of a record that links it in a hash.
const LINK: usize = 1;

/// First word of the key in a record with such a link.
const LINKED_KEY: usize = 2;

/// Keys of up to this many words are handled without an allocation.
const INLINE: usize = 8;

#[derive(Debug)]
enum Store {
    Direct(DirectIndex),
    Exact(HashIndex),
    Lpm(Lpm),
    Tuples(Box<TupleSpace>),
}

/// An index of the exact fields followed by the lpm field: an exact field is a prefix that is always whole.
#[derive(Debug)]
struct Lpm {
    index: LpmIndex,
    /// The bytes of the lpm field if they must be moved to the end of the key.
    moved: Option<(usize, usize)>,
    /// First bit of the lpm field in the key so ordered; bits that fill its first byte are part of the prefix.
    start: u32,
}

impl Lpm {
    fn new(schema: &Schema) -> Self {
        let (at, field) = schema.placed().find(|(_, field)| field.kind == FieldKind::Lpm).expect("an lpm field");
        let end = at + field.bytes();
        let bits = 8 * schema.bytes() as u32;
        Self { index: LpmIndex::new(), moved: (end < schema.bytes()).then_some((at, end)), start: bits - field.width }
    }

    fn order(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.moved.map(|(start, end)| [&key[..start], &key[end..], &key[start..end]].concat())
    }

    fn restore(&self, key: Vec<u8>) -> Vec<u8> {
        match self.moved {
            Some((start, end)) => {
                let (others, field) = key.split_at(key.len() - (end - start));
                [&others[..start], field, &others[start..]].concat()
            }
            None => key,
        }
    }
}

/// Longer keys are not remembered.
const REMEMBERED: usize = 4;

/// What one reader asked a table last. Packets that follow one another often ask the same of tables of ports, VLANs,
/// next hops and neighbours.
#[derive(Debug, Clone)]
pub struct Recent {
    /// [`Table::changes`] before the table was asked.
    changes: u64,
    words: [u64; REMEMBERED],
    found: Option<Hit>,
}

impl Default for Recent {
    /// Nothing: no table changes so often.
    fn default() -> Self {
        Self { changes: u64::MAX, words: [0; REMEMBERED], found: None }
    }
}

/// A table as packets see it.
#[derive(Debug)]
pub struct Table {
    store: Store,
    /// How often an entry came, went or got another body: it grows after the change, and before anything that the change
    /// took out is given back. So who sees the number that he saw before he looked would find the same again.
    changes: AtomicU64,
    records: Words,
    /// First word of the key in a record.
    key: usize,
    bytes: usize,
    words: usize,
}

#[derive(Debug)]
enum Book {
    /// The records say everything.
    Exact,
    Lpm(LpmWriter),
    Tuples(Box<TupleWriter>),
}

/// A table as the control plane changes it. There is one for each table.
#[derive(Debug)]
pub struct Writer {
    table: Arc<Table>,
    epochs: Arc<Epochs>,
    schema: Schema,
    capacity: u64,
    len: u64,
    slots: Slots,
    /// A bit for each slot with an entry.
    live: Vec<u64>,
    book: Book,
}

/// A new table that holds at most `capacity` entries; of prefixes, not more than 2^26.
pub fn table(schema: Schema, mut capacity: u64, epochs: &Arc<Epochs>) -> (Arc<Table>, Writer) {
    let count = |kind| schema.fields.iter().filter(|field| field.kind == kind).count();
    let exact = count(FieldKind::Exact);
    let bytes = schema.bytes();
    let words = bytes.div_ceil(8);
    let (store, book, key) =
        if let [FieldSpec { kind: FieldKind::Exact, width: width @ 1..=direct::MOST_BITS }] = schema.fields[..] {
            (Store::Direct(DirectIndex::new(width)), Book::Exact, STATE + 1)
        } else if exact == schema.fields.len() {
            (Store::Exact(HashIndex::new()), Book::Exact, LINKED_KEY)
        } else if exact + 1 == schema.fields.len() && count(FieldKind::Lpm) == 1 {
            capacity = capacity.min(1 << SLOT_BITS);
            (Store::Lpm(Lpm::new(&schema)), Book::Lpm(LpmWriter::default()), lpm::KEY)
        } else {
            let writer = TupleWriter::new(schema.clone());
            (Store::Tuples(Box::new(TupleSpace::new(&schema))), Book::Tuples(Box::new(writer)), tuple::KEY)
        };
    let stride = if let Store::Tuples(space) = &store { space.stride() } else { key + words };
    let records = Words::new(4, stride);
    let table = Arc::new(Table { store, changes: AtomicU64::new(0), records, key, bytes, words });
    let writer = Writer {
        table: table.clone(),
        epochs: epochs.clone(),
        schema,
        capacity,
        len: 0,
        slots: Slots::default(),
        live: Vec::new(),
        book,
    };
    (table, writer)
}

impl Table {
    /// The entry that matches a packed key: of the highest priority, or with the longest prefix.
    #[inline]
    pub fn lookup(&self, reader: &Reader, key: &[u8]) -> Option<Hit> {
        assert!(reader.is_pinned(), "a reader is pinned before it looks something up");
        debug_assert_eq!(key.len(), self.bytes);
        match self.words {
            1 => self.find(key, &mut [0; 1]),
            2 => self.find(key, &mut [0; 2]),
            3 => self.find(key, &mut [0; 3]),
            words if words <= INLINE => self.find(key, &mut [0; INLINE][..words]),
            words => self.find(key, &mut vec![0; words]),
        }
    }

    /// The same, without a look if the reader asked the same last and nothing has changed since.
    #[inline]
    pub fn lookup_again(&self, reader: &Reader, key: &[u8], recent: &mut Recent) -> Option<Hit> {
        if !matches!(self.store, Store::Exact(_) | Store::Tuples(_)) || self.words > REMEMBERED {
            return self.lookup(reader, key);
        }
        let mut words = [0; REMEMBERED];
        load(key, &mut words[..self.words]);
        let changes = self.changes.load(Acquire);
        if changes != recent.changes || words != recent.words {
            *recent = Recent { changes, words, found: self.lookup(reader, key) };
        }
        recent.found
    }

    /// Inlined where it is called, so that short keys are hashed and compared without loops.
    #[inline(always)]
    fn find(&self, key: &[u8], words: &mut [u64]) -> Option<Hit> {
        match &self.store {
            Store::Direct(index) => {
                load(key, words);
                let (slot, body) = index.find(words[0])?;
                Some(Hit { slot, body })
            }
            Store::Exact(index) => {
                load(key, words);
                let (slot, record) = index.find(&self.records, LINK, hash(words), |record| {
                    words.iter().zip(&record[LINKED_KEY..]).all(|(word, stored)| *word == stored.load(Relaxed))
                })?;
                Some(Hit { slot, body: record[STATE].load(Acquire) as u32 })
            }
            Store::Lpm(lpm) => {
                match lpm.order(key) {
                    Some(ordered) => load(&ordered, words),
                    None => load(key, words),
                }
                let (slot, body) = lpm.index.find(&self.records, words)?;
                Some(Hit { slot, body })
            }
            Store::Tuples(space) => {
                load(key, words);
                let (slot, body) = space.find(&self.records, words)?;
                Some(Hit { slot, body })
            }
        }
    }

    /// The words of a packed key, lpm field last, and its prefix in a table with one.
    fn pattern_words(&self, pattern: &Pattern) -> (Vec<u64>, u32) {
        let mut words = vec![0; self.words];
        match &self.store {
            Store::Lpm(lpm) => {
                let mask = lpm.order(&pattern.second).unwrap_or_else(|| pattern.second.clone());
                let field = &mask[lpm.start as usize / 8..];
                // The field's mask has ones only in the prefix, below the bits that fill its first byte.
                let prefix: u32 = field.iter().map(|byte| byte.count_ones()).sum();
                load(&lpm.order(&pattern.first).unwrap_or_else(|| pattern.first.clone()), &mut words);
                (words, lpm.start + prefix)
            }
            _ => {
                load(&pattern.first, &mut words);
                (words, 0)
            }
        }
    }
}

impl Writer {
    /// Entries it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entries it holds at most.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The fields of its keys.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The slot of the entry with this very match and priority.
    pub fn get(&self, pattern: &Pattern) -> Option<u32> {
        let records = &self.table.records;
        match (&self.table.store, &self.book) {
            (Store::Direct(index), _) => {
                let (words, _) = self.table.pattern_words(pattern);
                index.find(words[0]).map(|(slot, _)| slot)
            }
            (Store::Exact(index), _) => {
                let (words, _) = self.table.pattern_words(pattern);
                let found = index.find(records, LINK, hash(&words), |record| {
                    words.iter().zip(&record[LINKED_KEY..]).all(|(word, stored)| *word == stored.load(Relaxed))
                });
                found.map(|(slot, _)| slot)
            }
            (Store::Lpm(lpm), _) => {
                let (words, length) = self.table.pattern_words(pattern);
                lpm.index.get(records, &words, length)
            }
            (Store::Tuples(space), Book::Tuples(writer)) => writer.get(space, records, pattern),
            (Store::Tuples(_), _) => unreachable!("a tuple space has its book"),
        }
    }

    /// Adds an entry. `fill` is told its slot and answers its body; what they stand for must be in place then, since
    /// packets can find the entry when this returns, and none before.
    pub fn insert(&mut self, pattern: &Pattern, fill: impl FnOnce(u32) -> u32) -> Result<u32, InsertError> {
        if let Some(slot) = self.get(pattern) {
            return Err(InsertError::Exists(slot));
        }
        if self.len >= self.capacity {
            return Err(InsertError::Full);
        }
        let slot = self.slots.take(&self.epochs);
        let body = fill(slot);
        let (table, records) = (&self.table, &self.table.records);
        records.ensure(slot);
        let record = records.record(slot);
        match (&table.store, &mut self.book) {
            (Store::Tuples(space), Book::Tuples(writer)) => {
                writer.insert(space, records, &self.epochs, pattern, slot, body);
            }
            (store, book) => {
                let (words, length) = table.pattern_words(pattern);
                record[STATE].store(u64::from(length) << 32 | u64::from(body), Relaxed);
                for (word, value) in record[table.key..].iter().zip(&words) {
                    word.store(*value, Relaxed);
                }
                match (store, book) {
                    (Store::Lpm(lpm), Book::Lpm(writer)) => {
                        writer.insert(&lpm.index, records, &self.epochs, slot);
                    }
                    (Store::Direct(index), _) => index.set(words[0], slot, body),
                    (Store::Exact(index), _) => {
                        index.insert(records, LINK, hash(&words), slot, self.len + 1, |_| true);
                    }
                    _ => unreachable!("a store has its book"),
                }
            }
        }
        self.changed();
        self.len += 1;
        let word = slot as usize / 64;
        if self.live.len() <= word {
            self.live.resize(word + 1, 0);
        }
        self.live[word] |= 1 << (slot % 64);
        self.make_index();
        Ok(slot)
    }

    /// Takes the entry in a slot out. Its body is no longer found, but packets may still be busy with it: it must wait
    /// for them as the slot does.
    pub fn remove(&mut self, slot: u32) {
        if !self.is_live(slot) {
            return;
        }
        let records = &self.table.records;
        let record = records.record(slot);
        match (&self.table.store, &mut self.book) {
            (Store::Tuples(space), Book::Tuples(writer)) => writer.remove(space, records, &self.epochs, slot),
            (store, book) => {
                let words: Vec<u64> = record[self.table.key..].iter().map(|word| word.load(Relaxed)).collect();
                match (store, book) {
                    (Store::Lpm(lpm), Book::Lpm(writer)) => {
                        writer.remove(&lpm.index, records, &self.epochs, slot);
                    }
                    (Store::Direct(index), _) => index.remove(words[0]),
                    (Store::Exact(index), _) => index.remove(records, LINK, hash(&words), slot),
                    _ => unreachable!("a store has its book"),
                }
            }
        }
        self.changed();
        self.slots.retire(slot, &self.epochs);
        self.live[slot as usize / 64] &= !(1 << (slot % 64));
        self.len -= 1;
        self.make_index();
    }

    /// Makes the index of prefixes anew where it is outgrown.
    fn make_index(&mut self) {
        if !matches!(&self.book, Book::Lpm(writer) if writer.is_outgrown(self.len)) {
            return;
        }
        let slots: Vec<u32> = self.slots().collect();
        if let (Store::Lpm(lpm), Book::Lpm(writer)) = (&self.table.store, &mut self.book) {
            writer.make(&lpm.index, &self.table.records, &self.epochs, &slots);
        }
    }

    /// Gives the entry in a slot another body, in one step.
    pub fn set_body(&mut self, slot: u32, body: u32) {
        let record = self.table.records.record(slot);
        let above = record[STATE].load(Relaxed) & !u64::from(u32::MAX);
        record[STATE].store(above | u64::from(body), Release);
        match &self.table.store {
            Store::Lpm(lpm) => {
                let words: Vec<u64> = record[self.table.key..].iter().map(|word| word.load(Relaxed)).collect();
                let value = u64::from(slot) << 32 | u64::from(body);
                lpm.index.set(&words, length_of(record), value);
            }
            Store::Direct(index) => index.set(record[self.table.key].load(Relaxed), slot, body),
            _ => {}
        }
        self.changed();
    }

    fn changed(&self) {
        self.table.changes.fetch_add(1, Release);
    }

    /// The body of the entry in a slot.
    pub fn body(&self, slot: u32) -> u32 {
        self.table.records.record(slot)[STATE].load(Relaxed) as u32
    }

    /// Whether there is an entry in a slot.
    pub fn is_live(&self, slot: u32) -> bool {
        self.live.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// The slots with an entry, ascending. An entry keeps its place while others come and go.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.slots_from(0)
    }

    /// The slots with an entry from one on.
    pub fn slots_from(&self, first: u32) -> impl Iterator<Item = u32> {
        let start = first as usize / 64;
        self.live.iter().enumerate().skip(start).flat_map(move |(i, &word)| {
            let mut left = if i == start { word & (u64::MAX << (first % 64)) } else { word };
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(i as u32 * 64 + bit)
            })
        })
    }

    /// What the entry in a slot matches.
    pub fn pattern(&self, slot: u32) -> Pattern {
        let record = self.table.records.record(slot);
        let key = || unload(record[self.table.key..].iter().map(|word| word.load(Relaxed)), self.table.bytes);
        match (&self.table.store, &self.book) {
            (Store::Tuples(space), Book::Tuples(writer)) => writer.pattern(space, &self.table.records, slot),
            (Store::Lpm(lpm), _) => {
                let first = lpm.restore(key());
                let mut second = first.clone();
                let (at, field) =
                    self.schema.placed().find(|(_, field)| field.kind == FieldKind::Lpm).expect("an lpm field");
                let fill = 8 * field.bytes() as u32 - field.width;
                let end = length_of(record) - lpm.start + fill;
                for (i, byte) in second[at..at + field.bytes()].iter_mut().enumerate() {
                    let bit = |b: u32| (fill..end).contains(&(8 * i as u32 + b));
                    *byte = (0..8).filter(|&b| bit(b)).map(|b| 0x80 >> b).sum();
                }
                Pattern { first, second, priority: 0 }
            }
            _ => {
                let first = key();
                Pattern { second: first.clone(), first, priority: 0 }
            }
        }
    }

    /// Bytes the table takes, its free places included.
    pub fn memory(&self) -> usize {
        let records = self.slots.end() as usize * self.table.records.stride() * size_of::<AtomicU64>();
        let store = match (&self.table.store, &self.book) {
            (Store::Direct(index), _) => index.memory(),
            (Store::Exact(index), _) => index.memory(),
            (_, Book::Lpm(writer)) => writer.memory(),
            (Store::Tuples(space), Book::Tuples(writer)) => writer.memory(space),
            _ => unreachable!("a store has its book"),
        };
        records + store + self.slots.memory() + self.live.capacity() * 8
    }
}
