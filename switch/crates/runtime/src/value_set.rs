//! Value sets of parsers.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use ir::{Handle, Match, ValueSetId};
use tables::sync::Mutex;
use tables::{Epochs, Reader, Table, Writer};

use crate::device::Device;
use crate::error::WriteError;
use crate::matching::{keys_pattern, matches, schema};
use crate::writes::Object;

/// The members of one value set.
pub(crate) struct ValueSetState {
    members: Arc<Table>,
    writer: Mutex<Writer>,
}

impl ValueSetState {
    pub fn new(set: &ir::ValueSet, epochs: &Arc<Epochs>) -> Self {
        // While a set is replaced, the members before and after are both in it.
        let (members, writer) = tables::table(schema(&set.keys), set.size.saturating_mul(2), epochs);
        Self { members, writer: Mutex::new(writer) }
    }

    /// Whether a packed key is in the set.
    pub fn contains(&self, reader: &Reader, key: &[u8]) -> bool {
        self.members.lookup(reader, key).is_some()
    }
}

impl Device {
    /// Replaces all members of a value set. A packet meanwhile sees every member that is in the old and the new set.
    pub fn set_value_set(&self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), WriteError> {
        let info = &self.program().value_sets[set];
        let wanted: HashSet<_> =
            members.iter().map(|keys| keys_pattern(&info.name, &info.keys, keys)).collect::<Result<_, _>>()?;
        if wanted.len() as u64 > info.size {
            return Err(WriteError::Full { object: info.name.clone(), size: info.size });
        }
        let mut writer = self.value_sets[set.index()].writer.lock().unwrap_or_else(PoisonError::into_inner);
        let old: Vec<_> = writer.slots().collect();
        let _write = self.writes.begin(Object::ValueSet(set));
        for pattern in &wanted {
            // A member that stays is there already; room for the others was checked above.
            let _ = writer.insert(pattern, |slot| slot);
        }
        for slot in old {
            if !wanted.contains(&writer.pattern(slot)) {
                writer.remove(slot);
            }
        }
        Ok(())
    }

    /// The members of a value set.
    pub fn value_set(&self, set: ValueSetId) -> Vec<Vec<Match>> {
        let writer = self.value_sets[set.index()].writer.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = &self.program().value_sets[set].keys;
        writer.slots().map(|slot| matches(keys, &writer.pattern(slot))).collect()
    }
}
