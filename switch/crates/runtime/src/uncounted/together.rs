//! Entries that packets of known ways find together: most ways find the same entries in most tables, or none there, and those
//! of an SRv6 policy, say, the same ones besides.

use std::collections::HashMap;
use std::sync::Arc;

use ir::TableId;

use crate::table::DEFAULT;

/// Sets at most of what most ways find, which each burst of packets hits, and of what some find besides.
const COMMON: usize = 16;
const OTHERS: usize = 256;
/// A set is worth its place if it has so many entries more than another one that would do.
const WORTH: usize = 2;
/// What so many of the last thousands of ways found, others find too.
const OFTEN: u32 = 4;
/// After so many ways, what they found counts half.
const MANY_WAYS: u32 = 2048;

/// What was found, by table: the slot of an entry, or [`DEFAULT`](crate::DEFAULT).
pub type Found = (TableId, u32);

/// A set of entries that are counted together, as long as somebody has this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundTogether {
    is_common: bool,
    number: usize,
    found: Arc<[Found]>,
}

/// What most ways found too, and what some did besides.
pub type AllTogether = [Option<FoundTogether>; 2];

/// The sets of one context.
#[derive(Debug, Default)]
pub(crate) struct Together {
    common: Sets,
    others: Sets,
    /// All that the last way found.
    last: Vec<Found>,
    /// How many ways found an entry.
    ways_of: HashMap<Found, u32>,
    ways: u32,
}

#[derive(Debug, Default)]
struct Sets {
    sets: Vec<Set>,
    /// Numbers of those that have hits.
    hit: Vec<usize>,
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
    /// Takes sets out of what a way found, where there are some to take, and room for them.
    pub fn take(&mut self, found: &mut Vec<Found>) -> AllTogether {
        let before = found.clone();
        let common = self.common.take(found, COMMON, |one| one.1 == DEFAULT || self.last.contains(one));
        let others = self.others.take(found, OTHERS, |one| self.ways_of.get(one).is_some_and(|ways| *ways >= OFTEN));
        self.note_way(&before);
        self.last = before;
        [(true, common), (false, others)].map(|(is_common, taken)| {
            let (number, found) = taken?;
            Some(FoundTogether { is_common, number, found })
        })
    }

    /// Another way found these.
    fn note_way(&mut self, found: &[Found]) {
        for one in found.iter().filter(|(_, slot)| *slot != DEFAULT) {
            *self.ways_of.entry(*one).or_default() += 1;
        }
        self.ways += 1;
        if self.ways == MANY_WAYS {
            self.ways = 0;
            self.ways_of.retain(|_, ways| {
                *ways /= 2;
                *ways > 0
            });
        }
    }

    /// A packet found all of a set.
    #[inline]
    pub fn add(&mut self, together: &FoundTogether, bytes: u64, now: u64) {
        let sets = if together.is_common { &mut self.common } else { &mut self.others };
        sets.add(together.number, bytes, now);
    }

    /// Hands over what packets found, entry by entry; what they found nothing in is kept for [`Self::hand_over_missed`].
    pub fn hand_over(&mut self, mut count: impl FnMut(TableId, u32, Hits)) {
        [&mut self.common, &mut self.others].into_iter().for_each(|sets| sets.hand_over(&mut count));
    }

    /// Hands over in which tables packets found nothing.
    pub fn hand_over_missed(&mut self, mut count: impl FnMut(TableId, Hits)) {
        // Others have no default entries.
        for set in self.common.sets.iter_mut().filter(|set| set.missed.packets != 0) {
            let missed = std::mem::take(&mut set.missed);
            set.found[set.entries..].iter().for_each(|(table, _)| count(*table, missed));
        }
    }
}

impl Sets {
    /// Takes a set of what is shared out of what a way found.
    fn take(
        &mut self,
        found: &mut Vec<Found>,
        most: usize,
        is_shared: impl Fn(&Found) -> bool,
    ) -> Option<(usize, Arc<[Found]>)> {
        // What a way finds twice counts twice.
        let once: Vec<Found> =
            found.iter().filter(|one| found.iter().filter(|it| it == one).count() == 1).copied().collect();
        let known = (0..self.sets.len()).filter(|set| self.sets[*set].found.iter().all(|one| once.contains(one)));
        let known = known.max_by_key(|set| self.sets[*set].found.len());
        let known_len = known.map_or(0, |set| self.sets[set].found.len());
        let (entries, missed): (Vec<_>, Vec<_>) =
            once.into_iter().filter(is_shared).partition(|(_, slot)| *slot != DEFAULT);
        let shared = entries.len() + missed.len();
        let room = if shared >= known_len + WORTH { self.room(most) } else { None };
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
        Some((number, set.clone()))
    }

    /// The place of a set that nobody has, or of another one.
    fn room(&self, most: usize) -> Option<usize> {
        let is_free =
            |set: &Set| Arc::strong_count(&set.found) == 1 && set.hits.packets == 0 && set.missed.packets == 0;
        let free = self.sets.iter().position(is_free);
        free.or_else(|| (self.sets.len() < most).then_some(self.sets.len()))
    }

    #[inline]
    fn add(&mut self, number: usize, bytes: u64, now: u64) {
        let hits = &mut self.sets[number].hits;
        if hits.packets == 0 {
            self.hit.push(number);
        }
        hits.packets += 1;
        hits.bytes += bytes;
        hits.at = now;
    }

    fn hand_over(&mut self, mut count: impl FnMut(TableId, u32, Hits)) {
        for number in self.hit.drain(..) {
            let set = &mut self.sets[number];
            let hits = std::mem::take(&mut set.hits);
            set.found[..set.entries].iter().for_each(|(table, slot)| count(*table, *slot, hits));
            if set.entries < set.found.len() {
                set.missed.packets += hits.packets;
                set.missed.bytes += hits.bytes;
            }
        }
    }
}
