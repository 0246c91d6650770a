//! The packet replication engine: multicast groups and clone sessions.

use std::collections::BTreeMap;

use arc_swap::ArcSwap;

/// One copy that a group or session makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Replica {
    pub port: u32,
    /// Told to egress as `egress_rid`.
    pub instance: u16,
}

/// Where clones of a session go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloneSession {
    pub replicas: Vec<Replica>,
    /// A multicast group that gets clones too (BMv2's `mirroring_add_mc`).
    pub group: Option<u16>,
    /// The priority of the queue.
    pub class_of_service: u8,
    /// Clones are cut to this many bytes before egress; 0 leaves them whole.
    pub truncate: u32,
}

/// Multicast groups by id (1..) and clone sessions by id. The control plane writes them by replacing the whole map,
/// so a packet that reads one never waits.
#[derive(Debug, Default)]
pub struct Replication {
    groups: ArcSwap<BTreeMap<u16, Vec<Replica>>>,
    sessions: ArcSwap<BTreeMap<u16, CloneSession>>,
}

impl Replication {
    pub fn group(&self, id: u16) -> Option<Vec<Replica>> {
        self.groups.load().get(&id).cloned()
    }

    /// Every group by ascending id.
    pub fn groups(&self) -> Vec<(u16, Vec<Replica>)> {
        self.groups.load().iter().map(|(id, replicas)| (*id, replicas.clone())).collect()
    }

    /// Makes or replaces a group.
    pub fn set_group(&self, id: u16, replicas: Vec<Replica>) {
        change(&self.groups, |groups| groups.insert(id, replicas.clone()));
    }

    /// Whether there was such a group.
    pub fn remove_group(&self, id: u16) -> bool {
        change(&self.groups, |groups| groups.remove(&id)).is_some()
    }

    pub fn session(&self, id: u16) -> Option<CloneSession> {
        self.sessions.load().get(&id).cloned()
    }

    /// Every session by ascending id.
    pub fn sessions(&self) -> Vec<(u16, CloneSession)> {
        self.sessions.load().iter().map(|(id, session)| (*id, session.clone())).collect()
    }

    /// Makes or replaces a session.
    pub fn set_session(&self, id: u16, session: CloneSession) {
        change(&self.sessions, |sessions| sessions.insert(id, session.clone()));
    }

    /// Whether there was such a session.
    pub fn remove_session(&self, id: u16) -> bool {
        change(&self.sessions, |sessions| sessions.remove(&id)).is_some()
    }
}

/// Replaces a map by a changed copy; returns what stood there before.
fn change<T: Clone>(
    map: &ArcSwap<BTreeMap<u16, T>>,
    edit: impl Fn(&mut BTreeMap<u16, T>) -> Option<T>,
) -> Option<T> {
    let mut previous = None;
    map.rcu(|old| {
        let mut new = BTreeMap::clone(old);
        previous = edit(&mut new);
        new
    });
    previous
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_replaced_and_removed() {
        let replication = Replication::default();
        let replica = Replica { port: 3, instance: 7 };
        replication.set_group(1, vec![replica, replica]);
        replication.set_group(1, vec![replica]);
        assert_eq!(replication.group(1), Some(vec![replica]));
        assert!(replication.remove_group(1));
        assert!(!replication.remove_group(1));
        assert_eq!(replication.groups(), vec![]);
    }

    #[test]
    fn a_session_keeps_its_truncation() {
        let replication = Replication::default();
        let session = CloneSession { truncate: 64, ..CloneSession::default() };
        replication.set_session(5, session.clone());
        assert_eq!(replication.sessions(), vec![(5, session)]);
        assert!(replication.remove_session(5));
        assert_eq!(replication.session(5), None);
    }
}
