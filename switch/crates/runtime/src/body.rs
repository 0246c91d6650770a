//! What a packet finds behind an entry: one record of words.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tables::{Epochs, Slots, Words};

/// The meaning of a record's first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// An action's number and how many words of data follow. In a table's records it is the index in the table's
    /// actions, in a profile's the action's own.
    Action { number: u32, words: u32 },
    /// Slot of a member of the table's profile.
    Member(u32),
    /// Slot of a group of the table's profile.
    Group(u32),
}

const ACTION: u64 = 1;
const MEMBER: u64 = 2;
const GROUP: u64 = 3;

impl Head {
    fn pack(self) -> u64 {
        match self {
            Self::Action { number, words } => ACTION << 60 | u64::from(words) << 32 | u64::from(number),
            Self::Member(slot) => MEMBER << 60 | u64::from(slot),
            Self::Group(slot) => GROUP << 60 | u64::from(slot),
        }
    }

    #[inline]
    pub fn of(record: &[AtomicU64]) -> Self {
        let word = record[0].load(Relaxed);
        match word >> 60 {
            MEMBER => Self::Member(word as u32),
            GROUP => Self::Group(word as u32),
            _ => Self::Action { number: word as u32, words: (word >> 32) as u32 & 0x0fff_ffff },
        }
    }
}

/// Records of one size, as packets read them.
pub(crate) struct Bodies {
    records: Words,
}

/// The writer's book of [`Bodies`]. Record 0 is none.
pub(crate) struct BodyBook {
    numbers: Slots,
    epochs: Arc<Epochs>,
}

impl Bodies {
    /// Records with room for `words` words of data.
    pub fn new(words: usize, epochs: &Arc<Epochs>) -> (Self, BodyBook) {
        let book = BodyBook { numbers: Slots::starting_at(1), epochs: epochs.clone() };
        (Self { records: Words::new(3, words + 1) }, book)
    }

    #[inline]
    pub fn record(&self, body: u32) -> &[AtomicU64] {
        self.records.record(body)
    }
}

impl BodyBook {
    /// A record with this content that no packet knows yet.
    pub fn put(&mut self, bodies: &Bodies, head: Head, data: &[u64]) -> u32 {
        let body = self.numbers.take(&self.epochs);
        bodies.records.ensure(body);
        let record = bodies.record(body);
        record[0].store(head.pack(), Relaxed);
        for (word, value) in record[1..].iter().zip(data) {
            word.store(*value, Relaxed);
        }
        body
    }

    /// Gives a record back that no packet can find any more.
    pub fn retire(&mut self, body: u32) {
        self.numbers.retire(body, &self.epochs);
    }

    /// Bytes of all records ever used, and of the book.
    pub fn memory(&self, bodies: &Bodies) -> usize {
        self.numbers.end() as usize * bodies.records.stride() * 8 + self.numbers.memory()
    }
}
