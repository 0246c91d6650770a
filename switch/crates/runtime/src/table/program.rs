//! Entries and default actions that the program itself has.

use std::sync::atomic::Ordering::Release;

use ir::*;
use num_bigint::BigUint;

use super::state::{Book, Extra};
use crate::action::encode;
use crate::body::Head;
use crate::device::Device;
use crate::error::{ProgramError, WriteError};
use crate::matching::pattern;

impl Device {
    /// Puts the program's own entries and default actions in place.
    pub(crate) fn load_program_entries(&self) -> Result<(), ProgramError> {
        let program = self.program();
        for (id, info) in program.tables.iter() {
            let wrong = |entry, error| ProgramError::Entry { table: info.name.clone(), entry, error: Box::new(error) };
            self.reset_default(id).map_err(|error| wrong(None, error))?;
            if let Some(call) = &info.empty_group {
                self.load_empty_group(id, call).map_err(|error| wrong(None, error))?;
            }
            for (number, entry) in info.entries.iter().enumerate() {
                self.load_program_entry(id, entry).map_err(|error| wrong(Some(number + 1), error))?;
            }
        }
        Ok(())
    }

    fn load_empty_group(&self, table: TableId, call: &ActionOfTable) -> Result<(), WriteError> {
        let (info, state) = self.table_parts(table);
        let (head, data) = self.program_body(info, call.action, &call.args)?;
        let body = state.lock().bodies.put(&state.bodies, head, &data);
        state.empty_group.store(body, Release);
        Ok(())
    }

    /// The head and data of a call of a table's action that the program itself makes.
    fn program_body(&self, table: &Table, number: usize, args: &[BigUint]) -> Result<(Head, Vec<u64>), WriteError> {
        let action = table.actions.get(number).ok_or_else(|| WriteError::Unsupported {
            object: table.name.clone(),
            feature: "the action that the program names",
        })?;
        let data = encode(&table.name, &self.program().actions[action.action], args)?;
        Ok((Head::Action { number: number as u32, words: data.len() as u32 }, data))
    }

    fn load_program_entry(&self, table: TableId, entry: &ConstEntry) -> Result<(), WriteError> {
        let (info, state) = self.table_parts(table);
        let pattern = pattern(info, &entry.keys, entry.priority)?;
        let (head, data) = self.program_body(info, entry.action, &entry.args)?;
        let book = &mut *state.lock();
        let Book { writer, bodies, .. } = &mut *book;
        let inserted = writer.insert(&pattern, |slot| {
            state.clear(slot, 0);
            bodies.put(&state.bodies, head, &data)
        });
        // An entry with the keys of one before it can never match.
        if let Ok(slot) = inserted {
            book.set_extra(slot, Extra { is_const: entry.is_const, ..Extra::default() });
            self.note_occupied(table, true);
        }
        Ok(())
    }
}
