//! What a switch may check of entries beyond what P4Runtime asks of it.

use std::sync::{MutexGuard, PoisonError};

use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::update::Type;

use crate::control::Control;
use crate::references::References;
use crate::referring::{Change, Referring};
use crate::restrictions::Restrictions;
use crate::status::{Result, Status};

/// The checks that are asked for; none unless said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// `@entry_restriction` and `@action_restriction` hold.
    pub restrictions: bool,
    /// What `@refers_to` and `@referenced_by` name is there.
    pub references: bool,
}

impl Control {
    /// Checks what is written from now on. Fails if an annotation of the program means nothing.
    pub fn with_checks(mut self, checks: Checks) -> Result<Self> {
        if checks.restrictions {
            self.restrictions = Restrictions::new(self.p4info())?;
        }
        if checks.references {
            self.references = Some(References::new(self.p4info())?);
            self.follow_references(0)?;
        }
        Ok(self)
    }

    /// Whether an update leaves every entry with those that it needs; what to note once it succeeds.
    pub(crate) fn check_references(&self, kind: Type, entity: &Entity) -> Result<Option<Change>> {
        match (&self.references, &*self.referring()) {
            (Some(references), Some(referring)) => referring.check(references, kind, entity),
            _ => Ok(None),
        }
    }

    pub(crate) fn note_references(&self, change: Option<Change>) {
        if let (Some(change), Some(referring)) = (change, &mut *self.referring()) {
            referring.note(change);
        }
    }

    /// Forgets who needs what, so that entries may come in any order until [`Self::resume_references`].
    pub(crate) fn suspend_references(&self) {
        *self.referring() = None;
    }

    /// Takes all that is there now as the state to keep. Fails if something lacks what it needs.
    pub(crate) fn resume_references(&self, now: u64) -> Result<()> {
        self.follow_references(now)?;
        let dangling = match (&self.references, &*self.referring()) {
            (Some(references), Some(referring)) => referring.dangling(references),
            _ => None,
        };
        dangling.map_or(Ok(()), |message| Err(Status::invalid(message)))
    }

    fn follow_references(&self, now: u64) -> Result<()> {
        let Some(references) = &self.references else { return Ok(()) };
        let group = Engine::MulticastGroupEntry(v1::MulticastGroupEntry::default());
        let groups = v1::PacketReplicationEngineEntry { r#type: Some(group) };
        let mut requests = vec![
            Entity::TableEntry(v1::TableEntry::default()),
            Entity::ActionProfileMember(v1::ActionProfileMember::default()),
            Entity::PacketReplicationEngineEntry(groups),
        ];
        // The defaults of the program itself may refer to entries that nobody has written yet.
        let defaults: Vec<u32> = self.notes().default_metadata.keys().copied().collect();
        requests.extend(defaults.into_iter().map(|table_id| {
            Entity::TableEntry(v1::TableEntry { table_id, is_default_action: true, ..Default::default() })
        }));
        let mut referring = Referring::default();
        for request in requests {
            for entity in self.select(&v1::Entity { entity: Some(request) }, now)? {
                referring.add(references, &entity);
            }
        }
        *self.referring() = Some(referring);
        Ok(())
    }

    fn referring(&self) -> MutexGuard<'_, Option<Referring>> {
        self.referring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
