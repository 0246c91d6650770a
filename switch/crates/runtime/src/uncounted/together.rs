//! Entries that packets of known ways find together: most ways find the same entries in most tables, or none there.

use std::sync::Arc;

use ir::TableId;

use crate::table::DEFAULT;

/// Sets of entries at most: counting for each of them what a burst of packets found must cost less than for each packet.
const SETS: usize = 16;
/// A set is worth its place if it has so many entries more than another one that would do.
const WORTH: usize = 2;

/// What was found, by table: the slot of an entry, or [`DEFAULT`](crate::DEFAULT).
pub type Found = (TableId, u32);

/// A set of entries that are counted together, as long as somebody has this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundTogether {
    number: usize,
    found: Arc<[Found]>,
}

/// The sets of one context.
#[derive(Debug, Default)]
pub(crate) struct Together {
    sets: Vec<Set>,
    /// All that the last way found.
    last: Vec<Found>,
}

#[derive(Debug)]
struct Set {
    /// Those at which something stands first.
    found: Arc<[Found]>,
    entries: usize,
    /// What the entries do not have yet.
    hits: Hits,
    /// What default entries do not have yet.
    missed: Hits,
}

/// Packets that were not handed over.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hits {
    pub packets: u64,
    pub bytes: u64,
    /// When the last of them came.
    pub at: u64,
}

impl FoundTogether {
    pub fn found(&self) -> &[Found] {
        &self.found
    }
}

impl Together {
    /// Takes a set out of what a way found; none if there is none to take, or no room for it.
    pub fn take(&mut self, found: &mut Vec<Found>) -> Option<FoundTogether> {
        // What a way finds twice counts twice.
        let once: Vec<Found> =
            found.iter().filter(|one| found.iter().filter(|it| it == one).count() == 1).copied().collect();
        let known = (0..self.sets.len()).filter(|set| self.sets[*set].found.iter().all(|one| once.contains(one)));
        let known = known.max_by_key(|set| self.sets[*set].found.len());
        let known_len = known.map_or(0, |set| self.sets[set].found.len());
        let is_shared = |one: &Found| one.1 == DEFAULT || self.last.contains(one);
        let (entries, missed): (Vec<_>, Vec<_>) =
            once.into_iter().filter(is_shared).partition(|(_, slot)| *slot != DEFAULT);
        self.last.clone_from(found);
        let shared = entries.len() + missed.len();
        let room = if shared >= known_len + WORTH { self.room() } else { None };
        let number = match room {
            Some(number) => {
                let all = [&entries[..], &missed].concat().into();
                let set = Set { found: all, entries: entries.len(), hits: Hits::default(), missed: Hits::default() };
                if number == self.sets.len() {
                    self.sets.push(set);
                } else {
                    self.sets[number] = set;
                }
                number
            }
            None => known?,
        };
        let set = &self.sets[number].found;
        found.retain(|one| !set.contains(one));
        Some(FoundTogether { number, found: set.clone() })
    }

    /// The place of a set that nobody has, or of another one.
    fn room(&self) -> Option<usize> {
        let is_free =
            |set: &Set| Arc::strong_count(&set.found) == 1 && set.hits.packets == 0 && set.missed.packets == 0;
        let free = self.sets.iter().position(is_free);
        free.or_else(|| (self.sets.len() < SETS).then_some(self.sets.len()))
    }

    /// A packet found all of a set.
    #[inline]
    pub fn add(&mut self, together: &FoundTogether, bytes: u64, now: u64) {
        let hits = &mut self.sets[together.number].hits;
        hits.packets += 1;
        hits.bytes += bytes;
        hits.at = now;
    }

    /// Hands over what packets found, entry by entry; what they found nothing in is kept for [`Self::hand_over_missed`].
    pub fn hand_over(&mut self, mut count: impl FnMut(TableId, u32, Hits)) {
        for set in self.sets.iter_mut().filter(|set| set.hits.packets != 0) {
            let hits = std::mem::take(&mut set.hits);
            set.found[..set.entries].iter().for_each(|(table, slot)| count(*table, *slot, hits));
            set.missed.packets += hits.packets;
            set.missed.bytes += hits.bytes;
        }
    }

    /// Hands over in which tables packets found nothing.
    pub fn hand_over_missed(&mut self, mut count: impl FnMut(TableId, Hits)) {
        for set in self.sets.iter_mut().filter(|set| set.missed.packets != 0) {
            let missed = std::mem::take(&mut set.missed);
            set.found[set.entries..].iter().for_each(|(table, _)| count(*table, missed));
        }
    }
}
