//! The state of one loaded program.

use std::sync::Arc;

use ir::*;
use num_bigint::BigUint;

use crate::entry::*;
use crate::error::WriteError;

/// All state of one loaded program. Every method takes `&self`: packets and the control plane share it.
pub struct Device {
    program: Arc<Program>,
}

impl Device {
    /// The state of a program just loaded: const and initial entries in place, everything else empty or zero.
    pub fn new(program: Arc<Program>) -> Self {
        Self { program }
    }
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    // Tables.
    pub fn insert_entry(&self, _table: TableId, _entry: &NewEntry, _now: u64) -> Result<(), WriteError> {
        todo!()
    }
    /// Changes action, timeout, metadata; counter and meter where given. Counts stay otherwise.
    pub fn modify_entry(&self, _table: TableId, _entry: &NewEntry, _now: u64) -> Result<(), WriteError> {
        todo!()
    }
    pub fn delete_entry(&self, _table: TableId, _keys: &[Match], _priority: u32) -> Result<(), WriteError> {
        todo!()
    }
    pub fn entry(&self, _table: TableId, _keys: &[Match], _priority: u32, _now: u64) -> Result<TableEntry, WriteError> {
        todo!()
    }
    /// All entries; their order does not change while the table doesn't.
    pub fn entries(&self, _table: TableId, _now: u64) -> Vec<TableEntry> {
        todo!()
    }
    pub fn entry_count(&self, _table: TableId) -> u64 {
        todo!()
    }
    pub fn default_entry(&self, _table: TableId) -> Option<TableEntry> {
        todo!()
    }
    pub fn set_default(&self, _table: TableId, _action: &ActionCall) -> Result<(), WriteError> {
        todo!()
    }
    /// Back to the program's default action.
    pub fn reset_default(&self, _table: TableId) -> Result<(), WriteError> {
        todo!()
    }
    pub fn set_direct_counter(
        &self,
        _table: TableId,
        _keys: &[Match],
        _priority: u32,
        _data: CounterData,
    ) -> Result<(), WriteError> {
        todo!()
    }
    pub fn set_direct_meter(
        &self,
        _table: TableId,
        _keys: &[Match],
        _priority: u32,
        _config: Option<MeterConfig>,
    ) -> Result<(), WriteError> {
        todo!()
    }
    /// At most `max` entries that went without a hit for their idle timeout; each is reported once per idle period.
    pub fn expired(&self, _now: u64, _max: usize) -> Vec<Expired> {
        todo!()
    }

    // Action profiles.
    pub fn insert_member(&self, _profile: ProfileId, _id: u32, _call: &ActionCall) -> Result<(), WriteError> {
        todo!()
    }
    pub fn modify_member(&self, _profile: ProfileId, _id: u32, _call: &ActionCall) -> Result<(), WriteError> {
        todo!()
    }
    pub fn delete_member(&self, _profile: ProfileId, _id: u32) -> Result<(), WriteError> {
        todo!()
    }
    /// By ascending id.
    pub fn members(&self, _profile: ProfileId) -> Vec<(u32, ActionCall)> {
        todo!()
    }
    pub fn member(&self, _profile: ProfileId, _id: u32) -> Option<ActionCall> {
        todo!()
    }
    pub fn insert_group(&self, _profile: ProfileId, _id: u32, _group: &Group) -> Result<(), WriteError> {
        todo!()
    }
    pub fn modify_group(&self, _profile: ProfileId, _id: u32, _group: &Group) -> Result<(), WriteError> {
        todo!()
    }
    pub fn delete_group(&self, _profile: ProfileId, _id: u32) -> Result<(), WriteError> {
        todo!()
    }
    /// By ascending id.
    pub fn groups(&self, _profile: ProfileId) -> Vec<(u32, Group)> {
        todo!()
    }
    pub fn group(&self, _profile: ProfileId, _id: u32) -> Option<Group> {
        todo!()
    }
    /// Tells selectors that a port went up or down; all ports are up at first.
    pub fn set_port_up(&self, _port: u32, _up: bool) {
        todo!()
    }

    // Counters, meters, registers, value sets.
    pub fn counter(&self, _counter: CounterId, _index: u64) -> Result<CounterData, WriteError> {
        todo!()
    }
    pub fn set_counter(&self, _counter: CounterId, _index: u64, _data: CounterData) -> Result<(), WriteError> {
        todo!()
    }
    pub fn meter(&self, _meter: MeterId, _index: u64) -> Result<Option<MeterConfig>, WriteError> {
        todo!()
    }
    /// `None` makes the cell green for all.
    pub fn set_meter(&self, _meter: MeterId, _index: u64, _config: Option<MeterConfig>) -> Result<(), WriteError> {
        todo!()
    }
    pub fn register(&self, _register: RegisterId, _index: u64) -> Result<BigUint, WriteError> {
        todo!()
    }
    pub fn set_register(&self, _register: RegisterId, _index: u64, _value: &BigUint) -> Result<(), WriteError> {
        todo!()
    }
    /// Replaces all members of a value set.
    pub fn set_value_set(&self, _set: ValueSetId, _members: &[Vec<Match>]) -> Result<(), WriteError> {
        todo!()
    }
    pub fn value_set(&self, _set: ValueSetId) -> Vec<Vec<Match>> {
        todo!()
    }
}
