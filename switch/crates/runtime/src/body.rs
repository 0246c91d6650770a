//! What a packet finds behind an entry: one record of words. Entries that do the same, as routes to one next hop, share a
//! record, which is then more likely in the processor's cache.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use tables::sync::AtomicU64;
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

/// So many contents are looked for when another is put: where there are more, hardly one is met again.
const SHARED: usize = 1024;

/// The writer's book of [`Bodies`]. Record 0 is none.
pub(crate) struct BodyBook {
    numbers: Slots,
    epochs: Arc<Epochs>,
    /// How many have a record, by number.
    users: Vec<u32>,
    /// Records that others may have too, by their content: head and data.
    shared: HashMap<Arc<[u64]>, u32>,
    /// And their contents.
    contents: HashMap<u32, Arc<[u64]>>,
}

impl Bodies {
    /// Records with room for `words` words of data.
    pub fn new(words: usize, epochs: &Arc<Epochs>) -> (Self, BodyBook) {
        let book = BodyBook {
            numbers: Slots::starting_at(1),
            epochs: epochs.clone(),
            users: Vec::new(),
            shared: HashMap::new(),
            contents: HashMap::new(),
        };
        (Self { records: Words::new(3, words + 1) }, book)
    }

    #[inline]
    pub fn record(&self, body: u32) -> &[AtomicU64] {
        self.records.record(body)
    }
}

impl BodyBook {
    /// A record with this content: another user's, or one that no packet knows yet.
    pub fn put(&mut self, bodies: &Bodies, head: Head, data: &[u64]) -> u32 {
        let content: Arc<[u64]> = [head.pack()].iter().chain(data).copied().collect();
        if let Some(&body) = self.shared.get(&content) {
            self.users[body as usize] += 1;
            return body;
        }
        let body = self.numbers.take(&self.epochs);
        if self.users.len() <= body as usize {
            self.users.resize(body as usize + 1, 0);
        }
        self.users[body as usize] = 1;
        if self.shared.len() < SHARED {
            self.shared.insert(content.clone(), body);
            self.contents.insert(body, content);
        }
        bodies.records.ensure(body);
        let record = bodies.record(body);
        record[0].store(head.pack(), Relaxed);
        for (word, value) in record[1..].iter().zip(data) {
            word.store(*value, Relaxed);
        }
        body
    }

    /// Gives a record back that packets can find no more by this user.
    pub fn retire(&mut self, body: u32) {
        let users = &mut self.users[body as usize];
        *users -= 1;
        if *users > 0 {
            return;
        }
        if let Some(content) = self.contents.remove(&body) {
            self.shared.remove(&content);
        }
        self.numbers.retire(body, &self.epochs);
    }

    /// Bytes of all records ever used, and of the book.
    pub fn memory(&self, bodies: &Bodies) -> usize {
        self.numbers.end() as usize * bodies.records.stride() * 8
            + self.numbers.memory()
            + self.users.capacity() * size_of::<u32>()
            + self.shared.capacity() * (2 * size_of::<(Arc<[u64]>, u32)>() + bodies.records.stride() * 8)
    }
}

#[cfg(test)]
mod tests {
    use tables::Reader;

    use super::*;

    fn call(number: u32) -> Head {
        Head::Action { number, words: 1 }
    }

    #[test]
    fn equal_contents_share_a_record_until_the_last_user_gives_it_back() {
        let epochs = Epochs::new();
        let mut reader = Reader::new(&epochs);
        let (bodies, mut book) = Bodies::new(1, &epochs);
        let first = book.put(&bodies, call(3), &[7]);
        assert_eq!(book.put(&bodies, call(3), &[7]), first);
        assert!(book.put(&bodies, call(3), &[8]) != first && book.put(&bodies, call(4), &[7]) != first);
        reader.pin();
        book.retire(first);
        assert_eq!(book.put(&bodies, call(3), &[7]), first, "one user was left");
        book.retire(first);
        book.retire(first);
        assert_ne!(book.put(&bodies, call(3), &[7]), first, "a packet may still look at it");
        assert_ne!(book.put(&bodies, call(5), &[7]), first, "and nothing else may stand there");
        reader.park();
        assert_eq!(book.put(&bodies, call(6), &[9]), first);
        assert_eq!(Head::of(bodies.record(first)), call(6));
    }

    #[test]
    fn contents_beyond_those_that_are_looked_for_have_records_of_their_own() {
        let epochs = Epochs::new();
        let (bodies, mut book) = Bodies::new(1, &epochs);
        let put = |book: &mut BodyBook, data| book.put(&bodies, call(1), &[data]);
        let last = SHARED as u64;
        let records: Vec<_> = (0..=last).map(|data| put(&mut book, data)).collect();
        let again = put(&mut book, last);
        assert_ne!(again, records[SHARED]);
        book.retire(records[SHARED]);
        book.retire(records[0]);
        assert_eq!(put(&mut book, 1), records[1]);
        assert_eq!(bodies.record(again)[1].load(Relaxed), last);
    }
}
