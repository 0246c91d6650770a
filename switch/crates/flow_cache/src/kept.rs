//! A way as it is kept. What a packet of it needs stands side by side: with thousands of flows, hits wait for memory.

use std::sync::Arc;

use ir::{CounterId, Handle, TableId};
use runtime::{AllTogether, Found, FoundTogether, Packet};

use crate::edit::Plan;
use crate::reads::Read;
use crate::{Edit, End, Range, Replay, Way};

/// A way, and the key by which it is found.
#[derive(Debug)]
pub struct Kept {
    /// The number of its key's shape.
    pub(crate) shape: u32,
    /// Words of the key, then two for each count, one for each entry that was found, and those of the edit.
    memory: Box<[u64]>,
    /// Where the counts, the entries and the edit begin.
    counts_at: u16,
    found_at: u16,
    edit_at: u16,
    plan: Plan,
    /// Whether it has counts or entries, together with others or not.
    pub notes: bool,
    pub end: End,
    pub(crate) read: Read,
    /// What a packet's length and numbers have to be besides.
    pub(crate) ranges: Arc<[Range]>,
    /// What it asks of registers and the time, and what it writes.
    pub replay: Replay,
    /// What other ways find too.
    pub together: AllTogether,
    /// Where ways are offered: packets that took it, and how many of them it is offered at.
    pub(crate) taken: u64,
    pub(crate) offered_at: u64,
}

impl Kept {
    /// Offered when so many packets took it.
    pub(crate) fn new(shape: u32, key: &[u64], ranges: Arc<[Range]>, read: Read, way: Way, offered_at: u64) -> Self {
        let Way { end, edit: Edit { plan, words }, found, together, counts, replay } = way;
        let counts_at = key.len() as u16;
        let found_at = counts_at + 2 * counts.len() as u16;
        let edit_at = found_at + found.len() as u16;
        let notes = !counts.is_empty() || !found.is_empty() || together.iter().any(Option::is_some);
        let counts = counts.iter().flat_map(|(counter, index)| [counter.index() as u64, *index]);
        let found = found.iter().map(|(table, slot)| (table.index() as u64) << 32 | u64::from(*slot));
        let memory = key.iter().copied().chain(counts).chain(found).chain(words).collect();
        Self {
            shape,
            memory,
            counts_at,
            found_at,
            edit_at,
            plan,
            notes,
            end,
            read,
            ranges,
            replay,
            together,
            taken: 0,
            offered_at,
        }
    }

    /// The words of a packet that it is for.
    #[inline]
    pub(crate) fn key(&self) -> &[u64] {
        &self.memory[..usize::from(self.counts_at)]
    }

    #[inline]
    pub(crate) fn is_of(&self, shape: u32, key: &[u64]) -> bool {
        self.shape == shape && self.key() == key
    }

    /// The cells that count a packet.
    #[inline]
    pub fn counts(&self) -> impl Iterator<Item = (CounterId, u64)> {
        let (counts, _) = self.memory[self.counts_at.into()..self.found_at.into()].as_chunks();
        counts.iter().map(|[counter, index]| (CounterId::new(*counter as usize), *index))
    }

    /// What was found in tables, but for what is found together.
    #[inline]
    pub fn found(&self) -> impl Iterator<Item = Found> {
        let found = &self.memory[self.found_at.into()..self.edit_at.into()];
        found.iter().map(|found| (TableId::new((found >> 32) as usize), *found as u32))
    }

    /// The words of the edit.
    #[inline]
    fn edit(&self) -> &[u64] {
        &self.memory[self.edit_at.into()..]
    }

    /// Changes a packet, and takes memory for that from `copied`. It has so much in reserve for headers that it may gain.
    #[inline]
    pub fn apply(&self, packet: &mut Packet, copied: &mut Vec<u8>, reserve: usize) {
        self.plan.apply(self.edit(), packet, copied, reserve);
    }

    /// All that it was made of; what was found together is among what was found.
    pub fn way(&self) -> Way {
        let together = self.together.iter().flatten().flat_map(FoundTogether::found).copied();
        let mut found: Vec<Found> = self.found().chain(together).collect();
        found.sort_unstable();
        Way {
            end: self.end,
            edit: Edit { plan: self.plan, words: self.edit().into() },
            found: found.into(),
            together: AllTogether::default(),
            counts: self.counts().collect(),
            replay: self.replay.clone(),
        }
    }
}
