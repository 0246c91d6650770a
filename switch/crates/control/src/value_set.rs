//! Parser value sets (spec "ValueSetEntry").

use std::collections::HashSet;

use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;

use crate::control::{Control, unknown};
use crate::matching;
use crate::status::{Result, Status};

impl Control {
    pub(crate) fn write_value_set(&self, kind: Type, given: &v1::ValueSetEntry) -> Result<()> {
        let id = given.value_set_id;
        let set = self.schema.value_sets.get(&id).ok_or_else(|| unknown("value set", id))?;
        if kind != Type::Modify {
            return Err(Status::invalid("is always there; it can only be modified").within(&set.name));
        }
        if given.members.len() > set.size {
            return Err(Status::exhausted(format!(
                "{}: {} members; it holds {}",
                set.name,
                given.members.len(),
                set.size
            )));
        }
        let mut members = Vec::with_capacity(given.members.len());
        let mut seen = HashSet::new();
        for (at, member) in given.members.iter().enumerate() {
            let place = |error: Status| error.within(format_args!("{}: member {at}", set.name));
            let keys = matching::decode(&set.keys, &member.r#match, &self.texts).map_err(place)?;
            if !seen.insert(keys.clone()) {
                return Err(place(Status::exists("is the same as one before it")));
            }
            members.push(keys);
        }
        Ok(self.device().set_value_set(set.handle, &members)?)
    }

    pub(crate) fn read_value_sets(&self, wanted: &v1::ValueSetEntry) -> Result<Vec<Entity>> {
        if wanted.value_set_id != 0 && !self.schema.value_sets.contains_key(&wanted.value_set_id) {
            return Err(unknown("value set", wanted.value_set_id));
        }
        let sets = self.schema.value_sets.iter().filter(|(id, _)| [0, **id].contains(&wanted.value_set_id));
        let read = sets.map(|(id, set)| {
            let members = self
                .device()
                .value_set(set.handle)
                .into_iter()
                .map(|keys| v1::ValueSetMember { r#match: matching::encode(&set.keys, &keys, &self.texts) });
            Entity::ValueSetEntry(v1::ValueSetEntry { value_set_id: *id, members: members.collect() })
        });
        Ok(read.collect())
    }
}
