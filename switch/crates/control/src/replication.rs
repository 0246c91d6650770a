//! The packet replication engine: multicast groups and clone sessions (spec "PacketReplicationEngineEntry").

use std::collections::{BTreeMap, HashSet};

use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::replica::PortKind;
use proto::p4::v1::update::Type;

use crate::control::Control;
use crate::status::{Result, Status};

/// Priorities of v1model's queues (`standard_metadata.priority` has 3 bits).
const CLASSES_OF_SERVICE: u32 = 8;

/// Where a copy goes, and the copies that stand in for it, best first, while its port is down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    pub port: u32,
    /// Told to egress as `egress_rid`.
    pub instance: u16,
    pub backups: Vec<Backup>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    pub port: u32,
    pub instance: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloneSession {
    pub replicas: Vec<Replica>,
    pub class_of_service: u8,
    /// Bytes that a clone is cut to; 0 leaves it whole.
    pub truncate: u32,
}

/// What makes the copies. It only takes what was checked; the control plane remembers what it wrote.
pub trait Replication: Send + Sync {
    /// Makes or replaces a group; an error text if it can't make such copies.
    fn set_group(&self, id: u16, replicas: &[Replica]) -> std::result::Result<(), String>;
    fn remove_group(&self, id: u16);
    /// Makes or replaces a session; an error text if it can't make such copies.
    fn set_session(&self, id: u16, session: &CloneSession) -> std::result::Result<(), String>;
    fn remove_session(&self, id: u16);
}

impl Control {
    pub(crate) fn write_replication(&self, kind: Type, given: &v1::PacketReplicationEngineEntry) -> Result<()> {
        match &given.r#type {
            Some(Engine::MulticastGroupEntry(group)) => self.write_multicast_group(kind, group),
            Some(Engine::CloneSessionEntry(session)) => self.write_clone_session(kind, session),
            None => Err(Status::invalid("packet_replication_engine_entry has neither group nor session")),
        }
    }

    fn write_multicast_group(&self, kind: Type, given: &v1::MulticastGroupEntry) -> Result<()> {
        let place = |error: Status| error.within(format_args!("multicast group {}", given.multicast_group_id));
        let id = id_of(given.multicast_group_id).map_err(place)?;
        let groups = &mut self.notes().multicast_groups;
        present(groups, id, kind).map_err(place)?;
        if kind == Type::Delete {
            self.replication().remove_group(id);
            groups.remove(&id);
            return Ok(());
        }
        let (replicas, read) = self.replicas(&given.replicas).map_err(place)?;
        self.replication().set_group(id, &replicas).map_err(|error| place(Status::unimplemented(error)))?;
        groups.insert(id, v1::MulticastGroupEntry { replicas: read, ..given.clone() });
        Ok(())
    }

    fn write_clone_session(&self, kind: Type, given: &v1::CloneSessionEntry) -> Result<()> {
        let place = |error: Status| error.within(format_args!("clone session {}", given.session_id));
        let id = id_of(given.session_id).map_err(place)?;
        let sessions = &mut self.notes().clone_sessions;
        present(sessions, id, kind).map_err(place)?;
        if kind == Type::Delete {
            self.replication().remove_session(id);
            sessions.remove(&id);
            return Ok(());
        }
        let (replicas, read) = self.replicas(&given.replicas).map_err(place)?;
        let class = given.class_of_service;
        if class >= CLASSES_OF_SERVICE {
            let most = CLASSES_OF_SERVICE - 1;
            return Err(place(Status::invalid(format!("has class_of_service {class}; the most is {most}"))));
        }
        let truncate = u32::try_from(given.packet_length_bytes).map_err(|_| {
            place(Status::invalid(format!("has packet_length_bytes {}, below 0", given.packet_length_bytes)))
        })?;
        let session = CloneSession { replicas, class_of_service: class as u8, truncate };
        self.replication().set_session(id, &session).map_err(|error| place(Status::unimplemented(error)))?;
        sessions.insert(id, v1::CloneSessionEntry { replicas: read, ..given.clone() });
        Ok(())
    }

    pub(crate) fn read_replication(&self, wanted: &v1::PacketReplicationEngineEntry) -> Result<Vec<Entity>> {
        let notes = self.notes();
        let groups = |id: u32| {
            let groups =
                notes.multicast_groups.values().filter(move |group| [0, group.multicast_group_id].contains(&id));
            groups.cloned().map(Engine::MulticastGroupEntry)
        };
        let sessions = |id: u32| {
            let sessions = notes.clone_sessions.values().filter(move |session| [0, session.session_id].contains(&id));
            sessions.cloned().map(Engine::CloneSessionEntry)
        };
        let read: Vec<Engine> = match &wanted.r#type {
            Some(Engine::MulticastGroupEntry(group)) => groups(group.multicast_group_id).collect(),
            Some(Engine::CloneSessionEntry(session)) => sessions(session.session_id).collect(),
            None => groups(0).chain(sessions(0)).collect(),
        };
        let entity =
            |engine| Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(engine) });
        Ok(read.into_iter().map(entity).collect())
    }

    /// The replicas, and the same as they are read back.
    fn replicas(&self, given: &[v1::Replica]) -> Result<(Vec<Replica>, Vec<v1::Replica>)> {
        let mut seen = HashSet::new();
        let mut replicas = Vec::with_capacity(given.len());
        let mut read = Vec::with_capacity(given.len());
        for one in given {
            let port = self.existing(self.port_of(one.port_kind.as_ref())?)?;
            let instance = unique(&mut seen, port, one.instance)?;
            let mut backups = Vec::with_capacity(one.backup_replicas.len());
            for backup in &one.backup_replicas {
                let backup_port = self.existing(self.replica_port(&backup.port)?)?;
                if backup_port == port {
                    return Err(Status::invalid(format!("port {port} can't be its own backup")));
                }
                backups.push(Backup { port: backup_port, instance: unique(&mut seen, backup_port, backup.instance)? });
            }
            read.push(self.canonical(one, port, &backups));
            replicas.push(Replica { port, instance, backups });
        }
        Ok((replicas, read))
    }

    /// A copy to a port that the switch does not have would be lost, and nobody would learn why.
    fn existing(&self, port: u32) -> Result<u32> {
        if self.has_port(port) {
            return Ok(port);
        }
        Err(Status::invalid(format!("sends a replica to port {port}, which the switch does not have")))
    }

    /// The replica as given, its ports in their shortest form.
    #[allow(deprecated)] // Old clients still send `egress_port`, and expect it back.
    fn canonical(&self, given: &v1::Replica, port: u32, backups: &[Backup]) -> v1::Replica {
        let port_kind = match &given.port_kind {
            Some(PortKind::Port(_)) => PortKind::Port(self.port_to_control(port)),
            _ => PortKind::EgressPort(port),
        };
        let backup_replicas = backups.iter().map(|backup| v1::BackupReplica {
            port: self.port_to_control(backup.port),
            instance: backup.instance.into(),
        });
        v1::Replica { instance: given.instance, backup_replicas: backup_replicas.collect(), port_kind: Some(port_kind) }
    }

    #[allow(deprecated)]
    fn port_of(&self, given: Option<&PortKind>) -> Result<u32> {
        match given {
            // Before version 1.4 the port was a plain number, and port 0 went unsent.
            None => Ok(0),
            Some(PortKind::EgressPort(port)) => Ok(*port),
            Some(PortKind::Port(bytes)) => self.replica_port(bytes),
        }
    }

    fn replica_port(&self, bytes: &[u8]) -> Result<u32> {
        self.port_to_data(bytes).map_err(|error| error.within("a replica's port"))
    }
}

fn id_of(given: u32) -> Result<u16> {
    match u16::try_from(given) {
        Ok(0) => Err(Status::invalid("an id must not be 0")),
        Ok(id) => Ok(id),
        Err(_) => Err(Status::invalid(format!("an id must be at most {}", u16::MAX))),
    }
}

fn present<T>(entries: &BTreeMap<u16, T>, id: u16, kind: Type) -> Result<()> {
    match (kind, entries.contains_key(&id)) {
        (Type::Insert, true) => Err(Status::exists("is there already")),
        (Type::Modify | Type::Delete, false) => Err(Status::not_found("is not there")),
        _ => Ok(()),
    }
}

/// Checks that no other copy has this port and instance, by which egress tells copies apart.
fn unique(seen: &mut HashSet<(u32, u16)>, port: u32, instance: u32) -> Result<u16> {
    let instance = u16::try_from(instance)
        .map_err(|_| Status::invalid(format!("instance {instance} of port {port} is above {}", u16::MAX)))?;
    if seen.insert((port, instance)) {
        return Ok(instance);
    }
    Err(Status::invalid(format!("port {port} with instance {instance} is given twice")))
}
