//! What a packet finds in tables.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use ir::*;
use tables::sync::AtomicU64;

use super::{Context, PACKET};
use crate::bits::BitString;
use crate::body::Head;
use crate::entry::TableEntry;
use crate::hash::hash;
use crate::table::{DEFAULT, TableState};
use crate::uncounted::{AllTogether, Found, FoundTogether};

impl Context<'_> {
    /// Looks a packed key up: fields in order, each big-endian in whole bytes. `selector` holds the selector's inputs.
    /// Answers whether an entry was hit and the index of the action in the table's actions, or `NO_ACTION`.
    pub fn lookup(&mut self, table: TableId, key: &[u8], selector: &BitString) -> (bool, u32) {
        if !self.reader.is_pinned() {
            self.reader.pin();
        }
        let device = self.device;
        let state = &device.tables[table.index()];
        let found = state.matches.lookup_again(&self.reader, key, &mut self.recent[table.index()]);
        let hit = found.is_some();
        let (slot, body) = match found {
            Some(found) => {
                state.hit(found.slot, self.now);
                (found.slot, found.body)
            }
            None => (DEFAULT, state.default.load(Acquire)),
        };
        if state.counts {
            let bytes = self.packet.len() as u64;
            match found {
                Some(_) => self.uncounted.add(table, state, slot, bytes),
                None => self.missed[table.index()] += PACKET + bytes,
            }
        }
        self.entry = Some((table, slot));
        self.chosen = None;
        self.data_len = 0;
        if body == 0 {
            return (hit, NO_ACTION);
        }
        let record = state.bodies.record(body);
        let profile = || &device.profiles[state.profile.expect("a table with members has a profile").index()];
        let member = match Head::of(record) {
            Head::Action { number, words } => return (hit, self.take_data(number, words, &record[1..])),
            Head::Member(slot) => profile().member(slot),
            Head::Group(slot) => {
                let profile = profile();
                let algorithm = profile.algorithm.unwrap_or(HashAlgorithm::Crc16);
                let hash = hash(algorithm, [selector.bytes(), &[]], || self.random.next());
                let Some(chosen) = profile.choose(slot, hash) else { return (hit, self.empty_group(state)) };
                self.chosen = Some(chosen);
                profile.member(chosen)
            }
        };
        let Head::Action { number, words } = Head::of(member) else { return (hit, NO_ACTION) };
        let index = state.index_of[number as usize];
        (hit, self.take_data(index, words, &member[1..]))
    }

    /// Takes the data of what a table does where none of a group's members is up; answers its action.
    fn empty_group(&mut self, state: &TableState) -> u32 {
        let body = state.empty_group.load(Acquire);
        if body == 0 {
            return NO_ACTION;
        }
        let record = state.bodies.record(body);
        let Head::Action { number, words } = Head::of(record) else { return NO_ACTION };
        self.take_data(number, words, &record[1..])
    }

    /// The table of the last lookup, and the slot of the entry that it found, or [`DEFAULT`]'s.
    pub fn last_found(&self) -> Option<(TableId, u32)> {
        self.entry
    }

    /// What a lookup does besides looking up, when it is known from [`Self::last_found`] what it would find.
    pub fn note_found(&mut self, table: TableId, slot: u32) {
        if slot != DEFAULT {
            self.note_hit(table, slot);
        } else if self.device.tables[table.index()].counts {
            self.missed[table.index()] += PACKET + self.packet.len() as u64;
        }
    }

    /// Takes out of what a way found what others find too, for [`Self::note_found_together`].
    pub fn found_together(&mut self, found: &mut Vec<Found>) -> AllTogether {
        self.together.take(found)
    }

    /// The packet found all of these.
    #[inline]
    pub fn note_found_together(&mut self, together: &FoundTogether) {
        self.together.add(together, self.packet.len() as u64, self.now);
    }

    /// What a lookup does besides looking up, when the code knows itself which entry is hit.
    pub fn note_hit(&mut self, table: TableId, slot: u32) {
        // The slot is the entry's own until the count is handed over, which is before the reader is pinned anew.
        if !self.reader.is_pinned() {
            self.reader.pin();
        }
        let state = &self.device.tables[table.index()];
        state.hit(slot, self.now);
        if state.counts {
            self.uncounted.add(table, state, slot, self.packet.len() as u64);
        }
    }

    #[inline]
    fn take_data(&mut self, action: u32, words: u32, data: &[AtomicU64]) -> u32 {
        self.data_len = words as usize;
        for (word, stored) in self.data[..words as usize].iter_mut().zip(data) {
            *word = stored.load(Relaxed);
        }
        action
    }

    /// The entry that the last lookup hit, unless it is gone already.
    pub fn hit_entry(&self) -> Option<TableEntry> {
        let (table, slot) = self.entry.filter(|(_, slot)| *slot != DEFAULT)?;
        self.device.entry_in(table, slot, self.now)
    }

    /// The id of the member that the last lookup chose from a group, unless it is gone already.
    pub fn chosen_member(&self) -> Option<u32> {
        let (table, _) = self.entry?;
        let profile = self.device.tables[table.index()].profile?;
        self.device.profiles[profile.index()].member_id_if_named(self.chosen?)
    }

    /// The data of the action that the last lookup found, laid out as [`ir::Action`] says; 8-byte aligned.
    #[inline]
    pub fn action_data(&self) -> &[u8] {
        bytemuck::cast_slice(&self.data[..self.data_len])
    }
}
