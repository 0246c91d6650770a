//! A loaded program under the control plane's hands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use num_traits::ToPrimitive;
use proto::p4::config::v1::P4Info;
use proto::p4::v1;
use runtime::Device;

use crate::digest::Digests;
use crate::field::Texts;
use crate::references::References;
use crate::referring::Referring;
use crate::replication::Replication;
use crate::restrictions::Restrictions;
use crate::schema::Schema;
use crate::status::{Result, Status};

/// A loaded program as the control plane sees it.
pub trait Loaded: Send + Sync {
    fn device(&self) -> &Device;
    fn replication(&self) -> &dyn Replication;
    /// Whether the switch has a port of this number.
    fn has_port(&self, port: u32) -> bool;
    /// Does the work while no packet is on its way. False if packets did not come to rest; then nothing was done.
    fn between_packets(&self, work: &mut dyn FnMut()) -> bool;
    /// Brings what is counted somewhere else than in the device up to date.
    fn collect_counts(&self) {}
}

/// Speaks P4Runtime for one loaded program. Every method takes `&self`; a batch of writes is seen whole or not at all
/// by reads and by other batches.
pub struct Control {
    pub(crate) schema: Schema,
    pub(crate) texts: Texts,
    /// None, unless they are checked.
    pub(crate) restrictions: Restrictions,
    /// Unless they are not checked.
    pub(crate) references: Option<References>,
    /// Who needs what; nothing while they are not checked.
    pub(crate) referring: Mutex<Option<Referring>>,
    loaded: Arc<dyn Loaded>,
    p4info: P4Info,
    /// What the control plane wrote and the data plane need not know.
    notes: Mutex<Notes>,
    digests: Mutex<Digests>,
    /// Held to read while reading and to write while writing (spec "Parallelism of Read and Write Requests").
    pub(crate) order: RwLock<()>,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// `max_size` by profile and group.
    group_sizes: BTreeMap<(u32, u32), u32>,
    /// Of the default entries that the control plane wrote, by table.
    pub(crate) default_metadata: BTreeMap<u32, Vec<u8>>,
    pub(crate) multicast_groups: BTreeMap<u16, v1::MulticastGroupEntry>,
    pub(crate) clone_sessions: BTreeMap<u16, v1::CloneSessionEntry>,
}

impl Control {
    /// Fails if the P4Info does not describe the program.
    pub fn new(p4info: P4Info, loaded: Arc<dyn Loaded>) -> Result<Self> {
        let schema = Schema::new(&p4info, loaded.device().program())?;
        let texts = Texts::new(p4info.type_info.as_ref())?;
        schema.values().try_for_each(|field| texts.check_width(field))?;
        Ok(Self {
            schema,
            texts,
            restrictions: Restrictions::default(),
            references: None,
            referring: Mutex::default(),
            loaded,
            p4info,
            notes: Mutex::default(),
            digests: Mutex::default(),
            order: RwLock::new(()),
        })
    }

    pub fn p4info(&self) -> &P4Info {
        &self.p4info
    }

    pub fn device(&self) -> &Device {
        self.loaded.device()
    }

    pub(crate) fn replication(&self) -> &dyn Replication {
        self.loaded.replication()
    }

    /// The number of a port that P4Runtime itself names.
    pub(crate) fn port_to_data(&self, bytes: &[u8]) -> Result<u32> {
        let port = self.texts.to_data(&self.schema.port, bytes)?;
        Ok(port.to_u32().unwrap_or(u32::MAX))
    }

    pub(crate) fn port_to_control(&self, port: u32) -> Vec<u8> {
        self.texts.to_control(&self.schema.port, &port.into())
    }

    pub(crate) fn has_port(&self, port: u32) -> bool {
        self.loaded.has_port(port)
    }

    /// Before counts are read or set, and idle times asked for.
    pub(crate) fn collect_counts(&self) {
        self.loaded.collect_counts();
    }

    pub(crate) fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        self.loaded.between_packets(work)
    }

    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        // Whoever panicked with the lock held left whole values behind.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn digests(&self) -> MutexGuard<'_, Digests> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    pub(crate) fn group_size(&self, profile: u32, group: u32) -> Option<u32> {
        self.group_sizes.get(&(profile, group)).copied()
    }

    pub(crate) fn set_group_size(&mut self, profile: u32, group: u32, size: Option<u32>) {
        match size {
            Some(size) => self.group_sizes.insert((profile, group), size),
            None => self.group_sizes.remove(&(profile, group)),
        };
    }
}

/// An id that P4Info does not have.
pub(crate) fn unknown(kind: &str, id: u32) -> Status {
    match id {
        0 => Status::invalid(format!("the id of the {kind} is not set")),
        id => Status::invalid(format!("the program has no {kind} with id {id} ({id:#010x})")),
    }
}
