//! Tables: entries as the control plane writes them, bodies as packets find them.

mod direct;
mod program;
mod state;

use std::ops::Bound;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ir::*;
use tables::InsertError;

use crate::action::{decode, encode};
use crate::body::Head;
use crate::cells::{MeterCell, check_rates};
use crate::device::Device;
use crate::entry::*;
use crate::error::WriteError;
use crate::matching::{describe, matches, pattern};
use crate::special::{FEW, Held, HeldEntry, Outcome};
use crate::writes::{Object, Write};
pub use state::DEFAULT;
pub(crate) use state::TableState;
use state::{Book, Extra, LAST_HIT, SCAN};

/// The name of an action as the table's user reads it.
fn bad_action(program: &Program, table: &Table, action: ActionId, problem: &'static str) -> WriteError {
    WriteError::BadAction { table: table.name.clone(), action: program.actions[action].name.clone(), problem }
}

/// Of two entries that match a packet, the one of the larger rank wins.
fn rank(keys: &[Match], priority: u32) -> u32 {
    let prefix = |key: &Match| if let Match::Lpm { prefix, .. } = key { Some(*prefix) } else { None };
    if priority != 0 { priority } else { keys.iter().find_map(prefix).unwrap_or(0) }
}

/// The head and data of an action in a table's body.
fn call_body(
    program: &Program,
    table: &Table,
    call: &ActionCall,
    as_default: bool,
) -> Result<(Head, Vec<u64>), WriteError> {
    let Some(number) = table.actions.iter().position(|action| action.action == call.action) else {
        return Err(bad_action(program, table, call.action, "is not in the table"));
    };
    let flags = &table.actions[number];
    if as_default && flags.table_only {
        return Err(bad_action(program, table, call.action, "is for entries only (@tableonly)"));
    }
    if !as_default && flags.default_only {
        return Err(bad_action(program, table, call.action, "is for the default action only (@defaultonly)"));
    }
    let data = encode(&table.name, &program.actions[call.action], &call.args)?;
    Ok((Head::Action { number: number as u32, words: data.len() as u32 }, data))
}

impl Device {
    fn table_parts(&self, table: TableId) -> (&Table, &TableState) {
        (&self.program().tables[table], &self.tables[table.index()])
    }

    fn not_found(table: &Table, keys: &[Match], priority: u32) -> WriteError {
        WriteError::NotFound { object: table.name.clone(), what: describe(&table.keys, keys, priority) }
    }

    /// The head and data of an entry's body; what it takes from the profile is then in use.
    fn entry_body(&self, table: &Table, action: &EntryAction) -> Result<(Head, Vec<u64>), WriteError> {
        let unsupported = |feature| WriteError::Unsupported { object: table.name.clone(), feature };
        let profile = table.profile.map(|profile| &self.profiles[profile.index()]);
        let head = match (action, profile) {
            (EntryAction::Action(call), None) => return call_body(self.program(), table, call, false),
            (EntryAction::Action(_), Some(_)) => {
                return Err(unsupported("actions of its own: it takes members or groups of its profile"));
            }
            (_, None) => return Err(unsupported("an action profile: it takes actions")),
            (EntryAction::Member(id), Some(profile)) => Head::Member(profile.take_member(*id)?),
            (EntryAction::Group(id), Some(profile)) => Head::Group(profile.take_group(*id)?),
            (EntryAction::OneShot(shots), Some(profile)) => Head::Group(profile.take_one_shot(self.program(), shots)?),
        };
        Ok((head, Vec::new()))
    }

    fn release_body(&self, state: &TableState, book: &mut Book, body: u32) {
        let head = Head::of(state.bodies.record(body));
        book.bodies.retire(body);
        self.release(state, head);
    }

    /// What a body took from the profile is no longer in use by it.
    fn release(&self, state: &TableState, head: Head) {
        if let (Some(profile), Head::Member(_) | Head::Group(_)) = (state.profile, head) {
            self.profiles[profile.index()].release(head);
        }
    }

    /// To be called with the table's book locked, before packets can find another content; until they do.
    fn begin_change(&self, table: TableId, built_in: &mut bool) -> Write<'_> {
        let write = self.writes.begin(Object::Table(table));
        if std::mem::take(built_in) {
            self.special.make_void();
        }
        write
    }

    /// The content of a table that code can do without looking up: no entries, or few. From now on a change of it makes
    /// code void.
    pub(crate) fn hold(&self, table: TableId) -> Option<Held> {
        let (info, state) = self.table_parts(table);
        let mut book = state.lock();
        // The meter of an entry is asked for by its slot, which only a lookup notes.
        if book.writer.len() > FEW || state.meters.is_some() {
            return None;
        }
        let default = match state.default.load(Acquire) {
            0 => Outcome { action: NO_ACTION, data: Vec::new() },
            body => Self::outcome(state, body)?,
        };
        let mut ranked = Vec::new();
        for slot in book.writer.slots() {
            let pattern = book.writer.pattern(slot);
            let keys = matches(&info.keys, &pattern);
            let outcome = Self::outcome(state, book.writer.body(slot))?;
            ranked.push((rank(&keys, pattern.priority), HeldEntry { slot, keys, outcome }));
        }
        ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        // Which of two wins that have one priority, only the table knows.
        let has_priorities = book.writer.schema().has_priorities();
        if has_priorities && ranked.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        book.built_in = true;
        let entries = ranked.into_iter().map(|(_, entry)| entry).collect();
        Some(Held { entries, notes_hits: state.has_stats(), default })
    }

    /// What a body stands for, if it is one action.
    fn outcome(state: &TableState, body: u32) -> Option<Outcome> {
        let record = state.bodies.record(body);
        let Head::Action { number, words } = Head::of(record) else { return None };
        let data = record[1..][..words as usize].iter().map(|word| word.load(Relaxed)).collect();
        Some(Outcome { action: number, data })
    }

    fn check_extras(table: &Table, entry: &NewEntry) -> Result<(), WriteError> {
        let unsupported = |feature| Err(WriteError::Unsupported { object: table.name.clone(), feature });
        if entry.idle_timeout != 0 && !table.idle_timeout {
            return unsupported("idle timeouts");
        }
        if entry.counter.is_some() && table.direct_counter.is_none() {
            return unsupported("a direct counter");
        }
        if entry.meter.is_some() && table.direct_meter.is_none() {
            return unsupported("a direct meter");
        }
        check_rates(&table.name, entry.meter)
    }

    /// Adds an entry.
    pub fn insert_entry(&self, table: TableId, entry: &NewEntry, now: u64) -> Result<(), WriteError> {
        let (info, state) = self.table_parts(table);
        if info.const_entries {
            return Err(WriteError::ConstTable { table: info.name.clone() });
        }
        Self::check_extras(info, entry)?;
        let pattern = pattern(info, &entry.keys, entry.priority)?;
        let mut book = state.lock();
        // First of all, so that what can never be right is not refused as a matter of room.
        let (head, data) = self.entry_body(info, &entry.action)?;
        let Book { writer, bodies, built_in, .. } = &mut *book;
        let mut change = None;
        let fill = |slot| {
            state.clear(slot, now);
            if let Some(data) = entry.counter {
                state.set_counter(slot, data);
            }
            if let (Some(cell), Some(_)) = (state.meter(slot), entry.meter) {
                cell.configure(entry.meter);
            }
            change = Some(self.begin_change(table, built_in));
            bodies.put(&state.bodies, head, &data)
        };
        let slot = writer.insert(&pattern, fill).map_err(|error| {
            self.release(state, head);
            let object = info.name.clone();
            match error {
                InsertError::Exists(_) => {
                    WriteError::AlreadyExists { object, what: describe(&info.keys, &entry.keys, entry.priority) }
                }
                InsertError::Full => WriteError::Full { object, size: info.size },
            }
        })?;
        let extra = Extra { idle_timeout: entry.idle_timeout, metadata: entry.metadata.clone(), ..Extra::default() };
        book.set_extra(slot, extra);
        self.note_occupied(table, true);
        drop(change);
        Ok(())
    }

    /// The slot of an entry that may be changed.
    fn changeable(info: &Table, book: &Book, keys: &[Match], priority: u32) -> Result<u32, WriteError> {
        if info.const_entries {
            return Err(WriteError::ConstTable { table: info.name.clone() });
        }
        let pattern = pattern(info, keys, priority)?;
        let slot = book.writer.get(&pattern).ok_or_else(|| Self::not_found(info, keys, priority))?;
        match book.extra.get(&slot).is_some_and(|extra| extra.is_const) {
            true => Err(WriteError::ConstEntry { table: info.name.clone() }),
            false => Ok(slot),
        }
    }

    /// Changes action, timeout and metadata of an entry in one step for packets; counter and meter where given. Counts
    /// stay otherwise.
    pub fn modify_entry(&self, table: TableId, entry: &NewEntry, _now: u64) -> Result<(), WriteError> {
        let (info, state) = self.table_parts(table);
        Self::check_extras(info, entry)?;
        let mut book = state.lock();
        let slot = Self::changeable(info, &book, &entry.keys, entry.priority)?;
        let (head, data) = self.entry_body(info, &entry.action)?;
        let body = book.bodies.put(&state.bodies, head, &data);
        let old = book.writer.body(slot);
        let _change = self.begin_change(table, &mut book.built_in);
        book.writer.set_body(slot, body);
        self.release_body(state, &mut book, old);
        if let Some(data) = entry.counter {
            state.set_counter(slot, data);
        }
        if let (Some(cell), Some(_)) = (state.meter(slot), entry.meter) {
            cell.configure(entry.meter);
        }
        let extra = Extra { idle_timeout: entry.idle_timeout, metadata: entry.metadata.clone(), ..Extra::default() };
        book.set_extra(slot, extra);
        Ok(())
    }

    /// Takes an entry out.
    pub fn delete_entry(&self, table: TableId, keys: &[Match], priority: u32) -> Result<(), WriteError> {
        let (info, state) = self.table_parts(table);
        let mut book = state.lock();
        let slot = Self::changeable(info, &book, keys, priority)?;
        let body = book.writer.body(slot);
        let _change = self.begin_change(table, &mut book.built_in);
        book.writer.remove(slot);
        self.release_body(state, &mut book, body);
        book.set_extra(slot, Extra::default());
        self.note_occupied(table, !book.writer.is_empty());
        Ok(())
    }

    /// An entry as it stands.
    pub fn entry(&self, table: TableId, keys: &[Match], priority: u32, now: u64) -> Result<TableEntry, WriteError> {
        let (info, state) = self.table_parts(table);
        let pattern = pattern(info, keys, priority)?;
        let book = state.lock();
        let slot = book.writer.get(&pattern).ok_or_else(|| Self::not_found(info, keys, priority))?;
        Ok(self.read_entry(info, state, &book, slot, now))
    }

    /// All entries; their order does not change while the table doesn't.
    pub fn entries(&self, table: TableId, now: u64) -> Vec<TableEntry> {
        let (info, state) = self.table_parts(table);
        let book = state.lock();
        book.writer.slots().map(|slot| self.read_entry(info, state, &book, slot, now)).collect()
    }

    /// The entry in a slot, as [`crate::Context::hit_entry`] knows it.
    pub(crate) fn entry_in(&self, table: TableId, slot: u32, now: u64) -> Option<TableEntry> {
        let (info, state) = self.table_parts(table);
        let book = state.lock();
        book.writer.is_live(slot).then(|| self.read_entry(info, state, &book, slot, now))
    }

    /// How many entries a table has.
    pub fn entry_count(&self, table: TableId) -> u64 {
        self.tables[table.index()].lock().writer.len()
    }

    /// Bytes that a table's keys, actions and statistics take.
    pub fn table_memory(&self, table: TableId) -> usize {
        let (_, state) = self.table_parts(table);
        let book = state.lock();
        let end = book.writer.slots().last().map_or(0, |slot| slot as usize + 1);
        let stats = if state.has_stats() { end * state.stats.stride() * 8 } else { 0 };
        let meters = if state.meters.is_some() { end * size_of::<MeterCell>() } else { 0 };
        let extra = book.extra.capacity() * size_of::<(u32, Extra)>();
        book.writer.memory() + book.bodies.memory(&state.bodies) + stats + meters + extra
    }

    fn read_entry(&self, info: &Table, state: &TableState, book: &Book, slot: u32, now: u64) -> TableEntry {
        let pattern = book.writer.pattern(slot);
        let extra = book.extra.get(&slot);
        let last_hit = || state.stat(slot, LAST_HIT).load(Relaxed);
        TableEntry {
            keys: matches(&info.keys, &pattern),
            priority: pattern.priority,
            action: self.read_action(info, state, book.writer.body(slot)),
            idle_timeout: extra.map_or(0, |extra| extra.idle_timeout),
            metadata: extra.map_or(Vec::new(), |extra| extra.metadata.clone()),
            is_const: info.const_entries || extra.is_some_and(|extra| extra.is_const),
            since_hit: state.times.then(|| now.saturating_sub(last_hit())),
            counter: state.counter(slot),
            meter: state.meter(slot).and_then(MeterCell::config),
            colours: state.meter(slot).map(MeterCell::counts),
        }
    }

    fn read_action(&self, info: &Table, state: &TableState, body: u32) -> EntryAction {
        let record = state.bodies.record(body);
        let profile = || &self.profiles[state.profile.expect("a table with members has a profile").index()];
        match Head::of(record) {
            Head::Action { number, .. } => {
                let action = info.actions[number as usize].action;
                EntryAction::Action(ActionCall { action, args: decode(&self.program().actions[action], &record[1..]) })
            }
            Head::Member(slot) => EntryAction::Member(profile().member_id(slot)),
            Head::Group(slot) => match profile().group_id(slot) {
                Some(id) => EntryAction::Group(id),
                None => EntryAction::OneShot(profile().one_shot(self.program(), slot)),
            },
        }
    }

    /// The default action as an entry without keys.
    pub fn default_entry(&self, table: TableId) -> Option<TableEntry> {
        let (info, state) = self.table_parts(table);
        let call = state.lock().default.clone()?;
        Some(TableEntry {
            keys: Vec::new(),
            priority: 0,
            action: EntryAction::Action(call),
            idle_timeout: 0,
            metadata: Vec::new(),
            is_const: info.default_action.as_ref().is_some_and(|action| action.is_const),
            since_hit: None,
            counter: state.counter(DEFAULT),
            meter: state.meter(DEFAULT).and_then(MeterCell::config),
            colours: state.meter(DEFAULT).map(MeterCell::counts),
        })
    }

    /// Gives a table another default action.
    pub fn set_default(&self, table: TableId, call: &ActionCall) -> Result<(), WriteError> {
        let (info, _) = self.table_parts(table);
        if info.default_action.as_ref().is_some_and(|action| action.is_const) {
            return Err(WriteError::ConstDefault { table: info.name.clone() });
        }
        self.put_default(table, Some(call))
    }

    /// Back to the program's default action.
    pub fn reset_default(&self, table: TableId) -> Result<(), WriteError> {
        let (info, _) = self.table_parts(table);
        let call = info
            .default_action
            .as_ref()
            .map(|default| ActionCall { action: info.actions[default.action].action, args: default.args.clone() });
        self.put_default(table, call.as_ref())
    }

    fn put_default(&self, table: TableId, call: Option<&ActionCall>) -> Result<(), WriteError> {
        let (info, state) = self.table_parts(table);
        let body = call.map(|call| call_body(self.program(), info, call, true)).transpose()?;
        let mut book = state.lock();
        let body = body.map_or(0, |(head, data)| book.bodies.put(&state.bodies, head, &data));
        let old = state.default.load(Acquire);
        let _change = self.begin_change(table, &mut book.built_in);
        state.default.store(body, Release);
        if old != 0 {
            book.bodies.retire(old);
        }
        book.default = call.cloned();
        Ok(())
    }

    /// At most `max` entries that went without a hit for their idle timeout, and for it again since they were last
    /// reported. A call looks at a bounded number of entries and the next goes on from there.
    pub fn expired(&self, now: u64, max: usize) -> Vec<Expired> {
        let mut expired = Vec::new();
        for table in self.program().tables.keys() {
            let (info, state) = self.table_parts(table);
            if !state.times {
                continue;
            }
            let book = &mut *state.lock();
            let behind = book.timed.range((Bound::Excluded(book.scanned), Bound::Unbounded));
            let slots: Vec<u32> = behind.chain(book.timed.range(..=book.scanned)).copied().take(SCAN).collect();
            for slot in slots {
                if expired.len() >= max {
                    return expired;
                }
                book.scanned = slot;
                let last_hit = state.stat(slot, LAST_HIT).load(Relaxed);
                let Some(extra) = book.extra.get_mut(&slot) else { continue };
                if now.saturating_sub(last_hit.max(extra.reported)) < extra.idle_timeout {
                    continue;
                }
                extra.reported = now;
                expired.push(Expired { table, entry: self.read_entry(info, state, book, slot, now) });
            }
        }
        expired
    }
}
