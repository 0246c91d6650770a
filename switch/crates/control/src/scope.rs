//! What a role may see and change (spec "Role Config").

use std::collections::BTreeSet;

use proto::p4::v1;
use proto::p4::v1::entity::Entity;

/// The objects of a role by P4Info id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    Only(BTreeSet<u32>),
}

impl Scope {
    /// Whether the entity belongs to the role. Those without an id, groups and sessions of the replication engine,
    /// belong to roles with full access.
    pub fn contains(&self, entity: &Entity) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => object_of(entity).is_some_and(|id| ids.contains(&id)),
        }
    }
}

/// The P4Info id of the object that an entity belongs to.
fn object_of(entity: &Entity) -> Option<u32> {
    let table = |entry: &Option<v1::TableEntry>| entry.as_ref().map(|entry| entry.table_id);
    match entity {
        Entity::ExternEntry(entry) => Some(entry.extern_id),
        Entity::TableEntry(entry) => Some(entry.table_id),
        Entity::ActionProfileMember(member) => Some(member.action_profile_id),
        Entity::ActionProfileGroup(group) => Some(group.action_profile_id),
        Entity::MeterEntry(entry) => Some(entry.meter_id),
        Entity::DirectMeterEntry(entry) => table(&entry.table_entry),
        Entity::CounterEntry(entry) => Some(entry.counter_id),
        Entity::DirectCounterEntry(entry) => table(&entry.table_entry),
        Entity::PacketReplicationEngineEntry(_) => None,
        Entity::ValueSetEntry(entry) => Some(entry.value_set_id),
        Entity::RegisterEntry(entry) => Some(entry.register_id),
        Entity::DigestEntry(entry) => Some(entry.digest_id),
    }
}
