//! Table entries (spec "TableEntry").

use ir::Match;
use num_traits::ToPrimitive;
use proto::p4::v1;
use proto::p4::v1::update::Type;
use runtime::{EntryAction, NewEntry, TableEntry};

use crate::action::{self, Use};
use crate::cell;
use crate::control::{Control, unknown};
use crate::matching;
use crate::schema::Table;
use crate::status::{Result, Status};

/// Both kinds of metadata in the one byte string that an entry keeps: nothing at all, or the old 64-bit cookie followed
/// by the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Metadata {
    cookie: u64,
    bytes: Vec<u8>,
}

impl Metadata {
    #[allow(deprecated)] // Old clients still send `controller_metadata`.
    fn given(entry: &v1::TableEntry) -> Self {
        Self { cookie: entry.controller_metadata, bytes: entry.metadata.clone() }
    }

    fn pack(self) -> Vec<u8> {
        if self == Self::default() {
            return Vec::new();
        }
        let mut packed = self.cookie.to_be_bytes().to_vec();
        packed.extend(self.bytes);
        packed
    }

    fn unpack(packed: &[u8]) -> Self {
        match packed.split_first_chunk::<8>() {
            Some((cookie, bytes)) => Self { cookie: u64::from_be_bytes(*cookie), bytes: bytes.to_vec() },
            None => Self::default(),
        }
    }
}

impl Control {
    pub(crate) fn write_entry(&self, kind: Type, given: &v1::TableEntry, now: u64) -> Result<()> {
        let table = self.table(given.table_id)?;
        self.write_entry_of(table, kind, given, now).map_err(|error| {
            // The device's own texts name the table already.
            let named = error.message.split([' ', ':']).any(|word| word == table.name);
            if named { error } else { error.within(&table.name) }
        })
    }

    fn write_entry_of(&self, table: &Table, kind: Type, given: &v1::TableEntry, now: u64) -> Result<()> {
        if given.is_const {
            return Err(Status::invalid("is_const must not be set in a write; only the program makes entries const"));
        }
        if given.is_default_action {
            return self.write_default(table, kind, given);
        }
        if table.is_const && kind != Type::Modify {
            return Err(Status::denied("its entries are const in the program; the control plane can't change them"));
        }
        if table.keys.is_empty() {
            return Err(Status::invalid("has no key, so it has no entry but the default one (is_default_action)"));
        }
        let (keys, priority) = self.entry_key(table, given)?;
        if kind == Type::Delete {
            return Ok(self.device().delete_entry(table.handle, &keys, priority)?);
        }

        has_resources(table, given)?;
        let counter = given.counter_data.as_ref().map(cell::counter_data).transpose()?;
        let meter_kind = table.direct_meter.unwrap_or_default();
        let meter = given.meter_config.as_ref().map(|config| cell::meter_config(config, meter_kind)).transpose()?;
        let clears = cell::clears_counts(given.meter_counter_data.as_ref())?;
        if given.time_since_last_hit.is_some() {
            return Err(Status::invalid("time_since_last_hit must not be set in a write"));
        }
        let idle_timeout = u64::try_from(given.idle_timeout_ns)
            .map_err(|_| Status::invalid(format!("has idle_timeout_ns {}, below 0", given.idle_timeout_ns)))?;
        if idle_timeout != 0 && !table.idle_timeout {
            return Err(Status::invalid("has no idle timeouts (support_timeout), but idle_timeout_ns is set"));
        }

        let Some(given_action) = given.action.as_ref().and_then(|action| action.r#type.as_ref()) else {
            if kind == Type::Insert {
                return Err(Status::invalid("an entry to insert comes without an action"));
            }
            self.modify_direct_resources(table, &keys, priority, counter, meter, now)?;
            return self.clear_counts(table, clears, &keys, priority);
        };
        if table.is_const {
            return Err(Status::denied(
                "its entries are const in the program; leave the action out to change counter or meter",
            ));
        }
        let action = self.entry_action(table, given_action)?;
        self.restrictions.check_entry(given)?;
        let metadata = Metadata::given(given).pack();
        let entry = NewEntry { keys, priority, action, idle_timeout, metadata, counter, meter };
        if kind == Type::Insert {
            return Ok(self.device().insert_entry(table.handle, &entry, now)?);
        }
        self.device().modify_entry(table.handle, &entry, now)?;
        // A modification without meter_config makes the meter green again (spec "Direct Resources").
        if table.direct_meter.is_some() && meter.is_none() {
            self.device().set_direct_meter(table.handle, &entry.keys, priority, None)?;
        }
        self.clear_counts(table, clears, &entry.keys, priority)
    }

    fn clear_counts(&self, table: &Table, clears: bool, keys: &[Match], priority: u32) -> Result<()> {
        if clears {
            self.device().clear_direct_meter_counts(table.handle, keys, priority)?;
        }
        Ok(())
    }

    fn modify_direct_resources(
        &self,
        table: &Table,
        keys: &[Match],
        priority: u32,
        counter: Option<runtime::CounterData>,
        meter: Option<runtime::MeterConfig>,
        now: u64,
    ) -> Result<()> {
        self.device().entry(table.handle, keys, priority, now)?;
        if let Some(counter) = counter {
            self.device().set_direct_counter(table.handle, keys, priority, counter)?;
        }
        if table.direct_meter.is_some() {
            self.device().set_direct_meter(table.handle, keys, priority, meter)?;
        }
        Ok(())
    }

    fn write_default(&self, table: &Table, kind: Type, given: &v1::TableEntry) -> Result<()> {
        if kind != Type::Modify {
            return Err(Status::invalid("the default entry is always there; it can only be modified"));
        }
        cell::no_key(given)?;
        if given.idle_timeout_ns != 0 || given.time_since_last_hit.is_some() {
            return Err(Status::invalid("the default entry has no idle timeout"));
        }
        if table.const_default {
            return Err(Status::denied("its default action is const in the program"));
        }
        if table.profile.is_some() {
            return Err(Status::denied("its actions are in an action profile, so its default action is fixed"));
        }
        has_resources(table, given)?;
        let counter = given.counter_data.as_ref().map(cell::counter_data).transpose()?;
        let meter_kind = table.direct_meter.unwrap_or_default();
        let meter = given.meter_config.as_ref().map(|config| cell::meter_config(config, meter_kind)).transpose()?;
        let clears = cell::clears_counts(given.meter_counter_data.as_ref())?;
        match given.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            None => {
                self.device().reset_default(table.handle)?;
                self.notes().default_metadata.remove(&table.id);
            }
            Some(v1::table_action::Type::Action(call)) => {
                let decoded = action::decode(&self.schema, &table.actions, call, Use::Default, &self.texts)?;
                self.restrictions.check_action(call)?;
                self.device().set_default(table.handle, &decoded)?;
                self.notes().default_metadata.insert(table.id, Metadata::given(given).pack());
            }
            Some(_) => {
                return Err(Status::invalid("its default entry takes an action, no member, group or action set"));
            }
        }
        if let Some(counter) = counter {
            self.device().set_default_counter(table.handle, counter)?;
        }
        // Without meter_config the meter is green again, as that of any entry.
        if table.direct_meter.is_some() {
            self.device().set_default_meter(table.handle, meter)?;
        }
        if clears {
            self.device().clear_default_meter_counts(table.handle)?;
        }
        Ok(())
    }

    /// Adds the entries that a request selects (spec "Wildcard Reads" of tables).
    pub(crate) fn read_entries(&self, wanted: &v1::TableEntry, now: u64) -> Result<Vec<(u32, v1::TableEntry)>> {
        if wanted.table_id == 0 {
            if !wanted.r#match.is_empty() || wanted.action.is_some() {
                return Err(Status::invalid("a read of all tables can't be narrowed by match or action; set table_id"));
            }
            let tables = self.schema.tables.values();
            let read: Result<Vec<_>> = tables.map(|table| self.entries_of(table, wanted, now)).collect();
            return Ok(read?.into_iter().flatten().collect());
        }
        let table = self.table(wanted.table_id)?;
        if wanted.time_since_last_hit.is_some() && !table.idle_timeout {
            return Err(Status::invalid(format!(
                "{}: has no idle timeouts, but time_since_last_hit is set",
                table.name
            )));
        }
        self.entries_of(table, wanted, now).map_err(|error| error.within(&table.name))
    }

    fn entries_of(&self, table: &Table, wanted: &v1::TableEntry, now: u64) -> Result<Vec<(u32, v1::TableEntry)>> {
        if wanted.is_default_action {
            cell::no_key(wanted)?;
            let mut entry = self.device().default_entry(table.handle);
            if let Some(entry) = &mut entry {
                entry.metadata = self.notes().default_metadata.get(&table.id).cloned().unwrap_or_default();
                entry.keys = Vec::new();
                entry.priority = 0;
            }
            return self.selected(table, wanted, true, entry);
        }
        if wanted.r#match.is_empty() {
            return self.selected(table, wanted, false, self.device().entries(table.handle, now));
        }
        let keys = matching::decode(&table.keys, &wanted.r#match, &self.texts)?;
        if table.has_priority() && wanted.priority == 0 {
            let entries = self.device().entries(table.handle, now);
            return self.selected(table, wanted, false, entries.into_iter().filter(|entry| entry.keys == keys));
        }
        let priority = self.priority(table, wanted)?;
        self.selected(table, wanted, false, self.device().entry(table.handle, &keys, priority, now).ok())
    }

    #[allow(deprecated)] // Old clients still filter by `controller_metadata`.
    fn selected(
        &self,
        table: &Table,
        wanted: &v1::TableEntry,
        is_default: bool,
        entries: impl IntoIterator<Item = TableEntry>,
    ) -> Result<Vec<(u32, v1::TableEntry)>> {
        let action =
            match wanted.action.as_ref().and_then(|action| action.r#type.as_ref()) {
                None => None,
                Some(v1::table_action::Type::Action(call)) if table.profile.is_none() => {
                    let known = table.actions.iter().find(|reference| reference.id == call.action_id);
                    Some(known.ok_or_else(|| {
                        Status::invalid(format!("action {} is not one of its actions", call.action_id))
                    })?)
                }
                Some(_) => {
                    return Err(Status::unimplemented(
                        "reads can be narrowed by an action's id only, in tables without action profile",
                    ));
                }
            };
        let selected = entries.into_iter().filter_map(|entry| {
            let metadata = Metadata::unpack(&entry.metadata);
            let fits = (wanted.priority == 0 || i64::from(entry.priority) == i64::from(wanted.priority))
                && (wanted.controller_metadata == 0 || metadata.cookie == wanted.controller_metadata)
                && (wanted.metadata.is_empty() || metadata.bytes == wanted.metadata)
                && action.is_none_or(
                    |action| matches!(&entry.action, EntryAction::Action(call) if call.action == action.handle),
                );
            fits.then(|| (table.id, self.entry_read(table, wanted, is_default, metadata, entry)))
        });
        Ok(selected.collect())
    }

    #[allow(deprecated)]
    fn entry_read(
        &self,
        table: &Table,
        wanted: &v1::TableEntry,
        is_default: bool,
        metadata: Metadata,
        entry: TableEntry,
    ) -> v1::TableEntry {
        let since_hit = entry.since_hit.filter(|_| wanted.time_since_last_hit.is_some() && table.idle_timeout);
        v1::TableEntry {
            table_id: table.id,
            r#match: matching::encode(&table.keys, &entry.keys, &self.texts),
            action: Some(self.action_read(table, &entry.action)),
            priority: entry.priority.to_i32().unwrap_or(i32::MAX),
            controller_metadata: metadata.cookie,
            metadata: metadata.bytes,
            meter_config: entry.meter.filter(|_| wanted.meter_config.is_some()).map(cell::meter_read),
            counter_data: entry.counter.filter(|_| wanted.counter_data.is_some()).map(cell::counter_read),
            // Left out, like the others, where the table has no meter (p4runtime.proto, "TableEntry").
            meter_counter_data: entry.colours.filter(|_| wanted.meter_counter_data.is_some()).map(cell::counts_read),
            is_default_action: is_default,
            idle_timeout_ns: entry.idle_timeout.to_i64().unwrap_or(i64::MAX),
            time_since_last_hit: since_hit
                .map(|elapsed| v1::table_entry::IdleTimeout { elapsed_ns: elapsed.to_i64().unwrap_or(i64::MAX) }),
            is_const: entry.is_const || (if is_default { table.const_default } else { table.is_const }),
        }
    }

    /// Entries that went without a hit for their idle timeout, at most `max`; empty when there are none.
    pub fn expired(&self, now: u64, max: usize) -> Vec<v1::TableEntry> {
        if !self.device().program().tables.iter().any(|(_, table)| table.idle_timeout) {
            return vec![];
        }
        self.collect_counts();
        let wanted = v1::TableEntry::default();
        let expired = self.device().expired(now, max).into_iter().filter_map(|expired| {
            let table = self.schema.tables.values().find(|table| table.handle == expired.table)?;
            let metadata = Metadata::unpack(&expired.entry.metadata);
            Some(self.entry_read(table, &wanted, false, metadata, expired.entry))
        });
        expired.collect()
    }

    fn entry_action(&self, table: &Table, given: &v1::table_action::Type) -> Result<EntryAction> {
        use v1::table_action::Type as Given;
        match (given, table.profile) {
            (Given::Action(call), None) => {
                let call = action::decode(&self.schema, &table.actions, call, Use::Entry, &self.texts)?;
                Ok(EntryAction::Action(call))
            }
            (Given::ActionProfileMemberId(member), Some(_)) => Ok(EntryAction::Member(*member)),
            (Given::ActionProfileGroupId(group), Some(id)) if self.has_selector(id) => Ok(EntryAction::Group(*group)),
            (Given::ActionProfileActionSet(set), Some(id)) if self.has_selector(id) => {
                Ok(EntryAction::OneShot(self.one_shots(table, set)?))
            }
            (_, None) => Err(Status::invalid("has no action profile; give its entries an action")),
            (Given::Action(_), Some(_)) => {
                Err(Status::invalid("has an action profile; give its entries a member, group or action set, no action"))
            }
            (_, Some(_)) => Err(Status::invalid("has an action profile without selector; give its entries a member")),
        }
    }

    fn action_read(&self, table: &Table, action: &EntryAction) -> v1::TableAction {
        use v1::table_action::Type as Given;
        let given = match action {
            EntryAction::Action(call) => Given::Action(action::encode(&self.schema, &table.actions, call, &self.texts)),
            EntryAction::Member(member) => Given::ActionProfileMemberId(*member),
            EntryAction::Group(group) => Given::ActionProfileGroupId(*group),
            EntryAction::OneShot(shots) => Given::ActionProfileActionSet(self.action_set(table, shots)),
        };
        v1::TableAction { r#type: Some(given) }
    }

    /// Keys and priority that name an entry.
    pub(crate) fn entry_key(&self, table: &Table, given: &v1::TableEntry) -> Result<(Vec<Match>, u32)> {
        let keys = matching::decode(&table.keys, &given.r#match, &self.texts)?;
        Ok((keys, self.priority(table, given)?))
    }

    fn priority(&self, table: &Table, given: &v1::TableEntry) -> Result<u32> {
        match (table.has_priority(), given.priority) {
            (false, 0) => Ok(0),
            (false, _) => Err(Status::invalid("has no ternary, range or optional key, so priority must be 0")),
            (true, ..=0) => Err(Status::invalid(format!(
                "has a ternary, range or optional key, so priority must be above 0; it is {}",
                given.priority
            ))),
            (true, priority) => Ok(priority.unsigned_abs()),
        }
    }

    fn has_selector(&self, profile: u32) -> bool {
        self.schema.profiles.get(&profile).is_some_and(|profile| profile.has_selector)
    }

    pub(crate) fn table(&self, id: u32) -> Result<&Table> {
        self.schema.tables.get(&id).ok_or_else(|| unknown("table", id))
    }
}

/// A counter or meter may only be given to a table that has it (spec "Direct Resources").
fn has_resources(table: &Table, given: &v1::TableEntry) -> Result<()> {
    if given.counter_data.is_some() && !table.direct_counter {
        return Err(Status::invalid("has no direct counter, but counter_data is set"));
    }
    if given.meter_config.is_some() && table.direct_meter.is_none() {
        return Err(Status::invalid("has no direct meter, but meter_config is set"));
    }
    if given.meter_counter_data.is_some() && table.direct_meter.is_none() {
        return Err(Status::invalid("has no direct meter, but meter_counter_data is set"));
    }
    if let Some(v1::table_action::Type::Action(call)) = given.action.as_ref().and_then(|action| action.r#type.as_ref())
        && given.meter_config.is_some()
        && table.unmetered.contains(&call.action_id)
    {
        return Err(Status::invalid(format!(
            "its action {} does not read the direct meter, but meter_config is set",
            call.action_id
        )));
    }
    Ok(())
}
