//! Taking over what was written to the program that ran before (`RECONCILE_AND_COMMIT`).

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
        let all = |entity| old.select(&v1::Entity { entity: Some(entity) }, now);

        for entity in all(Entity::ActionProfileMember(Default::default()))? {
            self.keep(Type::Insert, entity, now)?;
        }
        for entity in all(Entity::ActionProfileGroup(Default::default()))? {
            self.keep(Type::Insert, entity, now)?;
        }
        for table in old.schema.tables.values() {
            self.take_over_table(old, table.id, now)?;
        }
        for entity in all(Entity::ValueSetEntry(Default::default()))? {
            if !matches!(&entity, Entity::ValueSetEntry(set) if set.members.is_empty()) {
                self.keep(Type::Modify, entity, now)?;
            }
        }
        for entity in all(Entity::PacketReplicationEngineEntry(Default::default()))? {
            self.keep(Type::Insert, entity, now)?;
        }
        for entity in all(Entity::DigestEntry(Default::default()))? {
            self.keep(Type::Insert, entity, now)?;
        }
        for entity in all(Entity::MeterEntry(Default::default()))? {
            if matches!(&entity, Entity::MeterEntry(meter) if meter.config.is_some()) {
                self.keep(Type::Modify, entity, now)?;
            }
        }
        for entity in all(Entity::CounterEntry(Default::default()))? {
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

    fn take_over_table(&self, old: &Self, id: u32, now: u64) -> Result<()> {
        let wanted = v1::TableEntry {
            table_id: id,
            counter_data: Some(v1::CounterData::default()),
            meter_config: Some(v1::MeterConfig::default()),
            ..Default::default()
        };
        let entries = old.read_entries(&wanted, now)?;
        let default_written = old.notes().default_metadata.contains_key(&id);
        let written = default_written || entries.iter().any(|(_, entry)| !entry.is_const);
        if let Some(difference) = difference(&old.p4info().tables, &self.p4info().tables, id)
            .or_else(|| actions_difference(old.p4info(), self.p4info(), id))
        {
            let name = &old.table(id)?.name;
            // Entries that no one wrote go with the program that brought them.
            return if written {
                Err(Status::invalid(format!("{name}: {difference}, so its entries can't be kept")))
            } else {
                Ok(())
            };
        }
        if default_written {
            let wanted = v1::TableEntry {
                table_id: id,
                is_default_action: true,
                meter_config: Some(v1::MeterConfig::default()),
                ..Default::default()
            };
            for (_, entry) in old.read_entries(&wanted, now)? {
                self.keep(Type::Modify, Entity::TableEntry(entry), now)?;
            }
        }
        self.take_over_default_counter(old, id)?;
        // The old table may have lost or changed what its program put in.
        for (_, entry) in self.read_entries(&v1::TableEntry { table_id: id, ..Default::default() }, now)? {
            if !entry.is_const {
                self.keep(Type::Delete, Entity::TableEntry(entry), now)?;
            }
        }
        for (_, entry) in entries {
            let kind = if entry.is_const { Type::Modify } else { Type::Insert };
            match self.keep(kind, Entity::TableEntry(entry), now) {
                // The new program has other const entries, and they are the ones that count.
                Err(error) if kind == Type::Modify && error.code == Code::NotFound => {}
                other => other?,
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
        let entity = Some(v1::Entity { entity: Some(writable(entity)) });
        self.apply(&v1::Update { r#type: kind as i32, entity: entity.clone() }, &Scope::All, now).map_err(|error| {
            let what = match entity.and_then(|entity| entity.entity) {
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
