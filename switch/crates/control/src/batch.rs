//! Batches of writes and reads (spec "Write RPC" and "Read RPC").

use std::sync::PoisonError;

use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;
use proto::p4::v1::write_request::Atomicity;

use crate::control::{Control, unknown};
use crate::scope::Scope;
use crate::status::{Code, Result, Status};

/// What a batch of reads gave.
#[derive(Debug, Default)]
pub struct Reading {
    pub entities: Vec<v1::Entity>,
    /// One for each request, in their order.
    pub statuses: Vec<Status>,
}

impl Control {
    /// Applies updates and tells how each went, in their order. An error means that none was tried.
    pub fn write(&self, updates: &[v1::Update], atomicity: i32, scope: &Scope, now: u64) -> Result<Vec<Status>> {
        let atomicity = Atomicity::try_from(atomicity)
            .map_err(|_| Status::invalid(format!("there is no atomicity {atomicity}")))?;
        let _order = self.order.write().unwrap_or_else(PoisonError::into_inner);
        self.collect_counts();
        match atomicity {
            Atomicity::ContinueOnError => {
                let status = |update| self.apply(update, scope, now).err().unwrap_or_else(Status::ok);
                Ok(updates.iter().map(status).collect())
            }
            Atomicity::RollbackOnError => Ok(self.write_or_undo(updates, scope, now)),
            Atomicity::DataplaneAtomic => {
                let mut statuses = None;
                self.between_packets(&mut || statuses = Some(self.write_or_undo(updates, scope, now)));
                statuses.ok_or_else(|| {
                    let text =
                        "packets on their way did not come to rest, so nothing was written; send the batch again";
                    Status::new(Code::Unavailable, text)
                })
            }
        }
    }

    /// Reads what each request selects.
    pub fn read(&self, requests: &[v1::Entity], scope: &Scope, now: u64) -> Reading {
        let _order = self.order.read().unwrap_or_else(PoisonError::into_inner);
        self.collect_counts();
        let mut reading = Reading::default();
        for request in requests {
            let status = match self.select(request, now) {
                Ok(entities) => {
                    let seen = entities.into_iter().filter(|entity| scope.contains(entity));
                    reading.entities.extend(seen.map(|entity| v1::Entity { entity: Some(entity) }));
                    Status::ok()
                }
                Err(error) => error,
            };
            reading.statuses.push(status);
        }
        reading
    }

    fn write_or_undo(&self, updates: &[v1::Update], scope: &Scope, now: u64) -> Vec<Status> {
        let mut undo: Vec<v1::Update> = Vec::new();
        for (at, update) in updates.iter().enumerate() {
            let inverse = self.inverse(update, now);
            let Err(error) = self.apply(update, scope, now) else {
                undo.extend(inverse);
                continue;
            };
            for update in undo.iter().rev() {
                if let Err(error) = self.apply(update, &Scope::All, now) {
                    // Only a change of the data plane in between could get here; the rest is undone all the same.
                    let text = format!("update {at} failed, and undoing one before it failed too: {error:?}");
                    return vec![Status::new(Code::Internal, text); updates.len()];
                }
            }
            let mut statuses =
                vec![Status::new(Code::Aborted, format!("undone, because update {at} failed")); updates.len()];
            statuses[at] = error;
            return statuses;
        }
        vec![Status::ok(); updates.len()]
    }

    pub(crate) fn apply(&self, update: &v1::Update, scope: &Scope, now: u64) -> Result<()> {
        let kind = match Type::try_from(update.r#type) {
            Ok(kind) if kind != Type::Unspecified => kind,
            _ => return Err(Status::invalid("the update's type is not INSERT, MODIFY or DELETE")),
        };
        let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
        let entity = entity.ok_or_else(|| Status::invalid("the update has no entity"))?;
        if !scope.contains(entity) {
            return Err(Status::denied("the object does not belong to this role"));
        }
        let change = self.check_references(kind, entity)?;
        self.write_entity(kind, entity, now)?;
        self.note_references(change);
        Ok(())
    }

    fn write_entity(&self, kind: Type, entity: &Entity, now: u64) -> Result<()> {
        match entity {
            Entity::ExternEntry(entry) => Err(unknown("extern type", entry.extern_type_id)),
            Entity::TableEntry(entry) => self.write_entry(kind, entry, now),
            Entity::ActionProfileMember(member) => self.write_member(kind, member),
            Entity::ActionProfileGroup(group) => self.write_group(kind, group),
            Entity::MeterEntry(entry) => self.write_meter(kind, entry),
            Entity::DirectMeterEntry(entry) => self.write_direct_meter(kind, entry, now),
            Entity::CounterEntry(entry) => self.write_counter(kind, entry),
            Entity::DirectCounterEntry(entry) => self.write_direct_counter(kind, entry, now),
            Entity::PacketReplicationEngineEntry(entry) => self.write_replication(kind, entry),
            Entity::ValueSetEntry(entry) => self.write_value_set(kind, entry),
            Entity::RegisterEntry(entry) => self.write_register(kind, entry),
            Entity::DigestEntry(entry) => self.write_digest(kind, entry),
        }
    }

    pub(crate) fn select(&self, request: &v1::Entity, now: u64) -> Result<Vec<Entity>> {
        let Some(request) = &request.entity else {
            return Err(Status::invalid("the request has no entity; ask for each kind of entity"));
        };
        match request {
            Entity::ExternEntry(entry) if entry.extern_type_id == 0 => Ok(Vec::new()),
            Entity::ExternEntry(entry) => Err(unknown("extern type", entry.extern_type_id)),
            Entity::TableEntry(wanted) => {
                let entries = self.read_entries(wanted, now)?;
                Ok(entries.into_iter().map(|(_, entry)| Entity::TableEntry(entry)).collect())
            }
            Entity::ActionProfileMember(wanted) => self.read_members(wanted),
            Entity::ActionProfileGroup(wanted) => self.read_groups(wanted),
            Entity::MeterEntry(wanted) => self.read_meters(wanted),
            Entity::DirectMeterEntry(wanted) => self.read_direct_meters(wanted, now),
            Entity::CounterEntry(wanted) => self.read_counters(wanted),
            Entity::DirectCounterEntry(wanted) => self.read_direct_counters(wanted, now),
            Entity::PacketReplicationEngineEntry(wanted) => self.read_replication(wanted),
            Entity::ValueSetEntry(wanted) => self.read_value_sets(wanted),
            Entity::RegisterEntry(wanted) => self.read_registers(wanted),
            Entity::DigestEntry(wanted) => self.read_digests(wanted),
        }
    }

    /// The updates that take an update back, made before it is applied. Empty for one that can't succeed.
    fn inverse(&self, update: &v1::Update, now: u64) -> Vec<v1::Update> {
        let Some(entity) = &update.entity else { return Vec::new() };
        let undo = |kind: Type, entity| v1::Update { r#type: kind as i32, entity: Some(entity) };
        let before = |kind: Type| {
            let read = self.select(&exact_request(entity, kind), now).unwrap_or_default();
            let same = read.into_iter().filter(|read| is_same_entry(read, entity));
            same.map(|read| undo(kind, v1::Entity { entity: Some(writable(read)) })).collect()
        };
        match Type::try_from(update.r#type) {
            Ok(Type::Insert) => vec![undo(Type::Delete, entity.clone())],
            Ok(Type::Modify) => before(Type::Modify),
            Ok(Type::Delete) => before(Type::Insert),
            Ok(Type::Unspecified) | Err(_) => Vec::new(),
        }
    }
}

/// A request for what an update is about to change; entries come with their counter where it changes.
fn exact_request(entity: &v1::Entity, undo: Type) -> v1::Entity {
    let Some(Entity::TableEntry(entry)) = &entity.entity else { return entity.clone() };
    let counter_data = if undo == Type::Insert { Some(v1::CounterData::default()) } else { entry.counter_data };
    let wanted = v1::TableEntry {
        table_id: entry.table_id,
        r#match: entry.r#match.clone(),
        priority: entry.priority,
        is_default_action: entry.is_default_action,
        counter_data,
        meter_config: Some(v1::MeterConfig::default()),
        ..Default::default()
    };
    v1::Entity { entity: Some(Entity::TableEntry(wanted)) }
}

/// An entry that matches everything can only be read together with all others; this picks it out.
fn is_same_entry(read: &Entity, written: &v1::Entity) -> bool {
    let keys = |entry: &v1::TableEntry| (entry.r#match.is_empty(), entry.priority);
    match (read, &written.entity) {
        (Entity::TableEntry(read), Some(Entity::TableEntry(written))) => keys(read) == keys(written),
        (Entity::DirectCounterEntry(read), Some(Entity::DirectCounterEntry(written))) => {
            read.table_entry.as_ref().map(keys) == written.table_entry.as_ref().map(keys)
        }
        (Entity::DirectMeterEntry(read), Some(Entity::DirectMeterEntry(written))) => {
            read.table_entry.as_ref().map(keys) == written.table_entry.as_ref().map(keys)
        }
        _ => true,
    }
}

/// What was read, without what only reads have. A const entry keeps its action, so none is written.
pub(crate) fn writable(entity: Entity) -> Entity {
    match entity {
        Entity::TableEntry(mut entry) => {
            if std::mem::take(&mut entry.is_const) {
                entry.action = None;
            }
            entry.time_since_last_hit = None;
            entry.meter_counter_data = None;
            Entity::TableEntry(entry)
        }
        Entity::MeterEntry(entry) => Entity::MeterEntry(v1::MeterEntry { counter_data: None, ..entry }),
        Entity::DirectMeterEntry(entry) => {
            Entity::DirectMeterEntry(v1::DirectMeterEntry { counter_data: None, ..entry })
        }
        other => other,
    }
}
