//! Counters and meters that entries have of their own.

use ir::*;

use super::{DEFAULT, TableState};
use crate::cells::check_rates;
use crate::device::Device;
use crate::entry::*;
use crate::error::WriteError;
use crate::matching::pattern;

impl Device {
    fn with_entry<T>(
        &self,
        table: TableId,
        keys: &[Match],
        priority: u32,
        feature: Option<&'static str>,
        act: impl FnOnce(&TableState, u32) -> T,
    ) -> Result<T, WriteError> {
        let (info, state) = self.table_parts(table);
        if let Some(feature) = feature {
            return Err(WriteError::Unsupported { object: info.name.clone(), feature });
        }
        let pattern = pattern(info, keys, priority)?;
        let book = state.lock();
        let slot = book.writer.get(&pattern).ok_or_else(|| Self::not_found(info, keys, priority))?;
        Ok(act(state, slot))
    }

    /// Sets the direct counter of an entry.
    pub fn set_direct_counter(
        &self,
        table: TableId,
        keys: &[Match],
        priority: u32,
        data: CounterData,
    ) -> Result<(), WriteError> {
        let missing = self.table_parts(table).0.direct_counter.is_none().then_some("a direct counter");
        self.with_entry(table, keys, priority, missing, |state, slot| state.set_counter(slot, data))
    }

    /// Configures the direct meter of an entry; `None` makes it green for all.
    pub fn set_direct_meter(
        &self,
        table: TableId,
        keys: &[Match],
        priority: u32,
        config: Option<MeterConfig>,
    ) -> Result<(), WriteError> {
        let (info, _) = self.table_parts(table);
        check_rates(&info.name, config)?;
        let missing = info.direct_meter.is_none().then_some("a direct meter");
        self.with_entry(table, keys, priority, missing, |state, slot| {
            state.meter(slot).expect("the table has meters").configure(config);
        })
    }

    /// Forgets what the direct meter of an entry marked.
    pub fn clear_direct_meter_counts(&self, table: TableId, keys: &[Match], priority: u32) -> Result<(), WriteError> {
        let missing = self.table_parts(table).0.direct_meter.is_none().then_some("a direct meter");
        self.with_entry(table, keys, priority, missing, |state, slot| {
            state.meter(slot).expect("the table has meters").clear_counts();
        })
    }

    fn with_default<T>(
        &self,
        table: TableId,
        feature: Option<&'static str>,
        act: impl FnOnce(&TableState) -> T,
    ) -> Result<T, WriteError> {
        let (info, state) = self.table_parts(table);
        match feature {
            Some(feature) => Err(WriteError::Unsupported { object: info.name.clone(), feature }),
            None => Ok(act(state)),
        }
    }

    /// Sets the direct counter of the default entry.
    pub fn set_default_counter(&self, table: TableId, data: CounterData) -> Result<(), WriteError> {
        let missing = self.table_parts(table).0.direct_counter.is_none().then_some("a direct counter");
        self.with_default(table, missing, |state| state.set_counter(DEFAULT, data))
    }

    /// Configures the direct meter of the default entry; `None` makes it green for all.
    pub fn set_default_meter(&self, table: TableId, config: Option<MeterConfig>) -> Result<(), WriteError> {
        let (info, _) = self.table_parts(table);
        check_rates(&info.name, config)?;
        let missing = info.direct_meter.is_none().then_some("a direct meter");
        self.with_default(table, missing, |state| {
            state.meter(DEFAULT).expect("the table has meters").configure(config);
        })
    }

    /// Forgets what the direct meter of the default entry marked.
    pub fn clear_default_meter_counts(&self, table: TableId) -> Result<(), WriteError> {
        let missing = self.table_parts(table).0.direct_meter.is_none().then_some("a direct meter");
        self.with_default(table, missing, |state| {
            state.meter(DEFAULT).expect("the table has meters").clear_counts();
        })
    }
}
