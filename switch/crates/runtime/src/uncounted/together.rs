//! Entries that packets of known ways find together: most ways find the same entries in most tables, or none there, and those
//! of an SRv6 policy, say, the same ones besides.

use std::collections::HashMap;
use std::sync::Arc;

use ir::TableId;

use crate::table::DEFAULT;

/// Sets at most of what most ways find, which each burst of packets hits, and of what some find besides.
const COMMON: usize = 16;
const OTHERS: usize = 1024;
/// A set has so many entries at least. A common one is worth its place if it has as many more than another one that would
/// do: each burst hits it too. Of the others, each more entry is worth one.
const WORTH: usize = 2;
/// Where there is no room, so many sets are looked at whether nobody has them any more.
const LOOKED_AT: usize = 64;
/// What one in so many of the last thousands of ways found is common; what so many of them found, others find too.
const COMMON_IN: u32 = 8;
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
    /// How many of the last ways found an entry.
    ways_of: HashMap<Found, u32>,
    ways: u32,
}

#[derive(Debug, Default)]
struct Sets {
    sets: Vec<Set>,
    /// Their numbers, by what stands first in each.
    by_first: HashMap<Found, Vec<usize>>,
    /// Numbers of those that have hits.
    hit: Vec<usize>,
    /// Where it is looked next for one that nobody has.
    looked_at: usize,
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
        let (all, ways_of) = (self.ways, |one: &Found| self.ways_of.get(one).copied().unwrap_or(0));
        let is_common = |one: &Found| one.1 == DEFAULT || ways_of(one) * COMMON_IN > all;
        let common = self.common.take(found, COMMON, WORTH, is_common);
        let others = self.others.take(found, OTHERS, 1, |one| ways_of(one) >= OFTEN);
        self.note_way(&before);
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
            self.ways /= 2;
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
    /// Takes a set of what is shared out of what a way found; a new one if it has so many `more` than those that are known.
    fn take(
        &mut self,
        found: &mut Vec<Found>,
        most: usize,
        more: usize,
        is_shared: impl Fn(&Found) -> bool,
    ) -> Option<(usize, Arc<[Found]>)> {
        // What a way finds twice counts twice.
        let once: Vec<Found> =
            found.iter().filter(|one| found.iter().filter(|it| it == one).count() == 1).copied().collect();
        let begun = once.iter().filter_map(|one| self.by_first.get(one)).flatten();
        let known = begun.filter(|set| self.sets[**set].found.iter().all(|one| once.contains(one)));
        let known = known.copied().max_by_key(|set| self.sets[*set].found.len());
        let known_len = known.map_or(0, |set| self.sets[set].found.len());
        let (entries, missed): (Vec<_>, Vec<_>) =
            once.into_iter().filter(is_shared).partition(|(_, slot)| *slot != DEFAULT);
        let shared = entries.len() + missed.len();
        let room = if shared >= WORTH.max(known_len + more) { self.room(most) } else { None };
        let number = match room {
            Some(number) => {
                self.put(number, &[&entries[..], &missed].concat(), entries.len());
                number
            }
            None => known?,
        };
        let set = &self.sets[number].found;
        found.retain(|one| !set.contains(one));
        Some((number, set.clone()))
    }

    /// Puts a set in the place of another one, or behind all.
    fn put(&mut self, number: usize, found: &[Found], entries: usize) {
        let set = Set { found: found.into(), entries, hits: Hits::default(), missed: Hits::default() };
        if number == self.sets.len() {
            self.sets.push(set);
        } else {
            let before = std::mem::replace(&mut self.sets[number], set);
            let first = before.found[0];
            let numbers = self.by_first.get_mut(&first).expect("each set is among those of what stands first in it");
            numbers.retain(|it| *it != number);
            if numbers.is_empty() {
                self.by_first.remove(&first);
            }
        }
        self.by_first.entry(found[0]).or_default().push(number);
    }

    /// The place behind all sets, or of one that nobody has, if one is found.
    fn room(&mut self, most: usize) -> Option<usize> {
        if self.sets.len() < most {
            return Some(self.sets.len());
        }
        let is_free =
            |set: &Set| Arc::strong_count(&set.found) == 1 && set.hits.packets == 0 && set.missed.packets == 0;
        let looked_at = (self.looked_at..).take(LOOKED_AT.min(most)).map(|number| number % most);
        self.looked_at = (self.looked_at + LOOKED_AT) % most;
        looked_at.into_iter().find(|number| is_free(&self.sets[*number]))
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
