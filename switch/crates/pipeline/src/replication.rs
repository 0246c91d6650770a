//! The packet replication engine: multicast groups and clone sessions.

use std::collections::{BTreeMap, BTreeSet};

use arc_swap::ArcSwap;

/// Where one copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replica {
    pub port: u32,
    /// Told to egress as `egress_rid`.
    pub instance: u16,
}

/// A copy that a group or session makes: the first of these whose port is up.
pub type Choices = Vec<Replica>;

/// Where clones of a session go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloneSession {
    pub copies: Vec<Choices>,
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
    groups: ArcSwap<BTreeMap<u16, Vec<Choices>>>,
    sessions: ArcSwap<BTreeMap<u16, CloneSession>>,
    down: ArcSwap<BTreeSet<u32>>,
}

impl Replication {
    /// The copies that the group makes now; none if there is no such group.
    pub fn group(&self, id: u16) -> Vec<Replica> {
        self.groups.load().get(&id).map(|copies| self.choose(copies)).unwrap_or_default()
    }

    /// Makes or replaces a group.
    pub fn set_group(&self, id: u16, copies: Vec<Choices>) {
        change(&self.groups, |groups| groups.insert(id, copies.clone()));
    }

    /// Whether there was such a group.
    pub fn remove_group(&self, id: u16) -> bool {
        change(&self.groups, |groups| groups.remove(&id)).is_some()
    }

    pub fn session(&self, id: u16) -> Option<CloneSession> {
        self.sessions.load().get(&id).cloned()
    }

    /// The copies that the session makes now, those of its multicast group included.
    pub fn session_copies(&self, session: &CloneSession) -> Vec<Replica> {
        let mut copies = self.choose(&session.copies);
        if let Some(group) = session.group {
            copies.extend(self.group(group));
        }
        copies
    }

    /// Makes or replaces a session.
    pub fn set_session(&self, id: u16, session: CloneSession) {
        change(&self.sessions, |sessions| sessions.insert(id, session.clone()));
    }

    /// Whether there was such a session.
    pub fn remove_session(&self, id: u16) -> bool {
        change(&self.sessions, |sessions| sessions.remove(&id)).is_some()
    }

    /// Says whether a port is up; all are at first.
    pub fn set_port_up(&self, port: u32, up: bool) {
        self.down.rcu(|down| {
            let mut down = BTreeSet::clone(down);
            if up {
                down.remove(&port)
            } else {
                down.insert(port)
            };
            down
        });
    }

    fn choose(&self, copies: &[Choices]) -> Vec<Replica> {
        let down = self.down.load();
        copies
            .iter()
            .filter_map(|choices| choices.iter().find(|choice| !down.contains(&choice.port)))
            .copied()
            .collect()
    }
}

/// Replaces a map by a changed copy; returns what stood there before.
fn change<T: Clone>(map: &ArcSwap<BTreeMap<u16, T>>, edit: impl Fn(&mut BTreeMap<u16, T>) -> Option<T>) -> Option<T> {
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

    const A: Replica = Replica { port: 3, instance: 7 };
    const B: Replica = Replica { port: 4, instance: 8 };

    #[test]
    fn a_group_is_replaced_and_removed() {
        let replication = Replication::default();
        replication.set_group(1, vec![vec![A], vec![B]]);
        replication.set_group(1, vec![vec![A]]);
        assert_eq!(replication.group(1), [A]);
        assert!(replication.remove_group(1));
        assert!(!replication.remove_group(1));
        assert_eq!(replication.group(1), []);
    }

    #[test]
    fn a_backup_stands_in_while_its_port_is_down() {
        let replication = Replication::default();
        replication.set_group(1, vec![vec![A, B], vec![A]]);
        replication.set_port_up(A.port, false);
        assert_eq!(replication.group(1), [B]);
        replication.set_port_up(A.port, true);
        assert_eq!(replication.group(1), [A, A]);
    }

    #[test]
    fn a_session_may_go_to_a_group_too() {
        let replication = Replication::default();
        replication.set_group(9, vec![vec![B]]);
        let session = CloneSession { copies: vec![vec![A]], group: Some(9), truncate: 64, ..CloneSession::default() };
        replication.set_session(5, session.clone());
        assert_eq!(replication.session(5), Some(session.clone()));
        assert_eq!(replication.session_copies(&session), [A, B]);
        assert!(replication.remove_session(5));
        assert_eq!(replication.session(5), None);
    }
}
