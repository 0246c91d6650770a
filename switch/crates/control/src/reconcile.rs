//! Taking over what was written to the program that ran before: `RECONCILE_AND_COMMIT`, and a warm restart.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::update::Type;

use crate::batch::writable;
use crate::control::Control;
use crate::scope::Scope;
use crate::status::{Code, Result, Status};

impl Control {
    /// Gives this program, just loaded, the state of another. What is configured must fit, or nothing is promised of
    /// this program and the error says what does not fit; counts and registers of objects that are gone are let go.
    pub fn take_over(&self, old: &Self, now: u64) -> Result<()> {
        self.suspend_references();
        self.take_over_state(old, now)?;
        self.resume_references(now)
    }

    fn take_over_state(&self, old: &Self, now: u64) -> Result<()> {
        self.texts.inherit(&old.texts);
        let kept = self.tables_kept(old, now)?;
        self.clear(&kept, now)?;
        for (kind, entity) in old.configured(now)? {
            let (kept, fixed) = match &entity {
                Entity::TableEntry(entry) => (kept.contains(&entry.table_id), entry.is_const),
                _ => (true, false),
            };
            if !kept {
                continue;
            }
            match self.keep(kind, entity, now) {
                // The new program has other const entries, and they are the ones that count.
                Err(error) if fixed && error.code == Code::NotFound => {}
                other => other?,
            }
        }
        for id in kept {
            self.take_over_default_counter(old, id)?;
        }
        for entity in old.all(Entity::CounterEntry(Default::default()), now)? {
            if let Entity::CounterEntry(counter) = &entity
                && counter.data != Some(v1::CounterData::default())
                && self.schema.counters.get(&counter.counter_id).map(|new| &new.name)
                    == old.schema.counters.get(&counter.counter_id).map(|old| &old.name)
                && self.has_index(counter.counter_id, counter.index)
            {
                self.keep(Type::Modify, entity, now)?;
            }
        }
        for (id, register) in &old.schema.registers {
            let Some(new) = self.schema.registers.get(id) else { continue };
            if new.name != register.name || new.shape != register.shape {
                continue;
            }
            for index in 0..register.size.min(new.size) {
                let value = old.device().register(register.handle, index)?;
                self.device().set_register(new.handle, index, &value)?;
            }
        }
        Ok(())
    }

    /// Everything that was configured, without counts, as updates for [`Self::restore`].
    pub fn configuration(&self, now: u64) -> Result<Vec<v1::Update>> {
        let _order = self.order.read().unwrap_or_else(PoisonError::into_inner);
        let uncounted = |(kind, entity)| match entity {
            Entity::TableEntry(entry) => {
                update(kind, Entity::TableEntry(v1::TableEntry { counter_data: None, ..entry }))
            }
            other => update(kind, other),
        };
        Ok(self.configured(now)?.into_iter().map(uncounted).collect())
    }

    /// Makes what [`Self::configuration`] gave in a program that was just loaded. Tells what was refused, and left out.
    pub fn restore(&self, updates: &[v1::Update], now: u64) -> Result<Vec<Status>> {
        let _order = self.order.write().unwrap_or_else(PoisonError::into_inner);
        self.suspend_references();
        self.clear(&self.schema.tables.keys().copied().collect(), now)?;
        let refused = updates.iter().filter_map(|update| self.apply(update, &Scope::All, now).err()).collect();
        self.resume_references(now)?;
        Ok(refused)
    }

    /// What is referred to comes before what refers to it.
    fn configured(&self, now: u64) -> Result<Vec<(Type, Entity)>> {
        let mut found = Vec::new();
        let mut add = |kind, entities: Vec<Entity>| found.extend(entities.into_iter().map(|entity| (kind, entity)));
        add(Type::Insert, self.all(Entity::ActionProfileMember(Default::default()), now)?);
        add(Type::Insert, self.all(Entity::ActionProfileGroup(Default::default()), now)?);
        for table in self.schema.tables.keys() {
            if self.notes().default_metadata.contains_key(table) {
                let wanted = v1::TableEntry {
                    table_id: *table,
                    is_default_action: true,
                    meter_config: Some(v1::MeterConfig::default()),
                    ..Default::default()
                };
                add(Type::Modify, self.all(Entity::TableEntry(wanted), now)?);
            }
            let wanted = v1::TableEntry {
                table_id: *table,
                counter_data: Some(v1::CounterData::default()),
                meter_config: Some(v1::MeterConfig::default()),
                ..Default::default()
            };
            let is_const = |entity: &Entity| matches!(entity, Entity::TableEntry(entry) if entry.is_const);
            let (fixed, written) = self.all(Entity::TableEntry(wanted), now)?.into_iter().partition(is_const);
            add(Type::Modify, fixed);
            add(Type::Insert, written);
        }
        let mut sets = self.all(Entity::ValueSetEntry(Default::default()), now)?;
        sets.retain(|entity| !matches!(entity, Entity::ValueSetEntry(set) if set.members.is_empty()));
        add(Type::Modify, sets);
        add(Type::Insert, self.all(Entity::PacketReplicationEngineEntry(Default::default()), now)?);
        add(Type::Insert, self.all(Entity::DigestEntry(Default::default()), now)?);
        let mut meters = self.all(Entity::MeterEntry(Default::default()), now)?;
        meters.retain(|entity| matches!(entity, Entity::MeterEntry(meter) if meter.config.is_some()));
        add(Type::Modify, meters);
        Ok(found)
    }

    fn all(&self, wanted: Entity, now: u64) -> Result<Vec<Entity>> {
        self.select(&v1::Entity { entity: Some(wanted) }, now)
    }

    /// The old program's tables whose entries fit this one. An error, if somebody wrote to one of the others.
    fn tables_kept(&self, old: &Self, now: u64) -> Result<BTreeSet<u32>> {
        let mut kept = BTreeSet::new();
        for (id, table) in &old.schema.tables {
            let Some(difference) = difference(&old.p4info().tables, &self.p4info().tables, *id)
                .or_else(|| actions_difference(old.p4info(), self.p4info(), *id))
            else {
                kept.insert(*id);
                continue;
            };
            let entries = old.read_entries(&v1::TableEntry { table_id: *id, ..Default::default() }, now)?;
            let default_written = old.notes().default_metadata.contains_key(id);
            // Entries that no one wrote go with the program that brought them.
            if default_written || entries.iter().any(|(_, entry)| !entry.is_const) {
                return Err(Status::invalid(format!("{}: {difference}, so its entries can't be kept", table.name)));
            }
        }
        Ok(kept)
    }

    /// Takes out of the tables what the program itself put in: a controller may have deleted or changed it.
    fn clear(&self, tables: &BTreeSet<u32>, now: u64) -> Result<()> {
        for table in tables {
            for (_, entry) in self.read_entries(&v1::TableEntry { table_id: *table, ..Default::default() }, now)? {
                if !entry.is_const {
                    self.keep(Type::Delete, Entity::TableEntry(entry), now)?;
                }
            }
        }
        Ok(())
    }

    fn take_over_default_counter(&self, old: &Self, id: u32) -> Result<()> {
        let table = self.table(id)?;
        let before = old.device().default_entry(old.table(id)?.handle).and_then(|entry| entry.counter);
        match before.filter(|_| table.direct_counter) {
            Some(counter) => Ok(self.device().set_default_counter(table.handle, counter)?),
            None => Ok(()),
        }
    }

    fn keep(&self, kind: Type, entity: Entity, now: u64) -> Result<()> {
        let update = update(kind, entity);
        self.apply(&update, &Scope::All, now).map_err(|error| {
            let what = match update.entity.and_then(|entity| entity.entity) {
                Some(Entity::ActionProfileMember(member)) => format!("member {}", member.member_id),
                Some(Entity::ActionProfileGroup(group)) => format!("group {}", group.group_id),
                Some(Entity::PacketReplicationEngineEntry(entry)) => match entry.r#type {
                    Some(Engine::CloneSessionEntry(session)) => format!("clone session {}", session.session_id),
                    _ => "a multicast group".to_owned(),
                },
                _ => "an entry".to_owned(),
            };
            let code = if error.code == Code::NotFound { Code::NotFound } else { Code::InvalidArgument };
            Status::new(code, format!("{what} can't be kept: {}", error.message))
        })
    }

    fn has_index(&self, counter: u32, index: Option<v1::Index>) -> bool {
        let size = self.schema.counters.get(&counter).map_or(0, |counter| counter.size);
        index.is_some_and(|index| u64::try_from(index.index).is_ok_and(|index| index < size))
    }
}

fn update(kind: Type, entity: Entity) -> v1::Update {
    v1::Update { r#type: kind as i32, entity: Some(v1::Entity { entity: Some(writable(entity)) }) }
}

fn named(table: &info::Table) -> (u32, &str) {
    table.preamble.as_ref().map_or((0, ""), |preamble| (preamble.id, &*preamble.name))
}

/// Why entries of the old table don't fit the new one.
fn difference(old: &[info::Table], new: &[info::Table], id: u32) -> Option<String> {
    let old = old.iter().find(|table| named(table).0 == id)?;
    let Some(new) = new.iter().find(|table| named(table) == named(old)) else {
        return Some("the new program does not have it".to_owned());
    };
    if new.match_fields.len() != old.match_fields.len() {
        return Some(format!("it has {} keys now and had {}", new.match_fields.len(), old.match_fields.len()));
    }
    for (old, new) in old.match_fields.iter().zip(&new.match_fields) {
        // A key of another name is another field of the packet, whatever its id: p4c counts ids by place.
        if old.name != new.name {
            return Some(format!("its key {} is {} now", old.name, new.name));
        }
        if (old.id, old.bitwidth, &old.r#match, &old.type_name) != (new.id, new.bitwidth, &new.r#match, &new.type_name)
        {
            return Some(format!("its key {} changed", old.name));
        }
    }
    (old.implementation_id != new.implementation_id).then(|| "its action profile changed".to_owned())
}

/// Why actions of the old table's entries don't fit the new program.
fn actions_difference(old: &info::P4Info, new: &info::P4Info, table: u32) -> Option<String> {
    let action = |info: &info::P4Info, id: u32| {
        let found =
            info.actions.iter().find(|action| action.preamble.as_ref().is_some_and(|preamble| preamble.id == id));
        found.map(|action| {
            let params = action
                .params
                .iter()
                .map(|param| (param.id, param.name.clone(), param.bitwidth, param.type_name.clone()));
            (
                action.preamble.as_ref().map_or(String::new(), |preamble| preamble.name.clone()),
                params.collect::<Vec<_>>(),
            )
        })
    };
    let table = old.tables.iter().find(|one| named(one).0 == table)?;
    table.action_refs.iter().find_map(|reference| {
        let before = action(old, reference.id)?;
        let after = action(new, reference.id);
        (after.as_ref() != Some(&before)).then(|| format!("its action {} changed", before.0))
    })
}
