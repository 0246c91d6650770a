//! Who is primary (spec "Client Arbitration and Controller Replication"). It knows nothing of streams: each call says
//! which messages are to be sent to whom.

use std::collections::{BTreeMap, BTreeSet};

use control::{Code, Status};
use prost_types::Any;
use proto::p4::v1::{MasterArbitrationUpdate, Role, Uint128};

use crate::clients::Rights;
use crate::role::Access;

/// The most controllers of one role at a time, and the most roles. A role is remembered with its highest election id
/// when its controllers are gone, until the place is wanted.
const MOST_CLIENTS: usize = 64;
const MOST_ROLES: usize = 256;

/// One stream of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// A message for a controller.
#[derive(Debug, PartialEq)]
pub struct Notice {
    pub client: ClientId,
    pub update: MasterArbitrationUpdate,
}

#[derive(Debug)]
pub struct Arbiter {
    device_id: u64,
    roles: BTreeMap<String, RoleState>,
    clients: BTreeMap<ClientId, Client>,
    /// How often a role lost its last controller.
    emptied: u64,
}

#[derive(Debug, Default)]
struct RoleState {
    /// Which of all losses of a last controller was this role's latest.
    emptied: u64,
    /// The highest election id that ever was a primary's.
    highest: Option<u128>,
    primary: Option<ClientId>,
    config: Option<Any>,
    access: Access,
}

#[derive(Debug)]
struct Client {
    role: String,
    /// Without one it never becomes primary.
    election: Option<u128>,
}

impl Arbiter {
    /// The default role is always there.
    pub fn new(device_id: u64) -> Self {
        let roles = BTreeMap::from([(String::new(), RoleState::default())]);
        Self { device_id, roles, clients: BTreeMap::new(), emptied: 0 }
    }

    pub fn device_id(&self) -> u64 {
        self.device_id
    }

    /// The highest election id of each role that had one.
    pub fn elections(&self) -> impl Iterator<Item = (&str, u128)> {
        self.roles.iter().filter_map(|(name, state)| Some((&**name, state.highest?)))
    }

    /// Remembers the highest election ids of before a restart.
    pub fn restore(&mut self, elections: Vec<(String, u128)>) {
        for (role, highest) in elections {
            self.roles.entry(role).or_default().highest = Some(highest);
        }
    }

    /// Whether the role that the bid is for is there already.
    pub fn knows(&self, update: &MasterArbitrationUpdate) -> bool {
        self.roles.contains_key(&update.role.as_ref().map_or(String::new(), role_of))
    }

    /// Handles a controller's bid. An error ends its stream.
    pub fn bid(
        &mut self,
        id: ClientId,
        rights: Rights,
        update: &MasterArbitrationUpdate,
    ) -> Result<Vec<Notice>, Status> {
        let role = update.role.as_ref();
        let name = role.map_or(String::new(), role_of);
        let election = update.election_id.map(number);
        match self.clients.get(&id) {
            Some(_) if update.device_id != self.device_id => {
                return Err(Status::new(
                    Code::FailedPrecondition,
                    format!("this stream is for device {}, not {}", self.device_id, update.device_id),
                ));
            }
            Some(client) if client.role != name => {
                return Err(Status::new(
                    Code::FailedPrecondition,
                    format!("this stream is for role {:?}, not {name:?}; open another one", client.role),
                ));
            }
            None if update.device_id != self.device_id => {
                return Err(Status::not_found(format!(
                    "there is no device {}; this is device {}",
                    update.device_id, self.device_id
                )));
            }
            _ => {}
        }
        let access = Access::new(role.and_then(|role| role.config.as_ref()))?.within(rights);
        let same_role = |client: &&Client| client.role == name;
        if let Some(election) = election
            && self
                .clients
                .iter()
                .any(|(other, client)| *other != id && same_role(&client) && client.election == Some(election))
        {
            return Err(Status::invalid(format!(
                "election id {election} is already used by another controller of this role"
            )));
        }
        let live = |state: &RoleState| state.primary.is_some();
        for (other, state) in self.roles.iter().filter(|(other, state)| **other != name && live(state)) {
            if let Some(object) = access.conflict(&state.access) {
                return Err(Status::invalid(format!(
                    "role.config has object {object:#010x}, which role {other:?} has too, and one has it exclusively"
                )));
            }
        }
        if !self.clients.contains_key(&id) && self.clients.values().filter(same_role).count() >= MOST_CLIENTS {
            return Err(Status::exhausted(format!("role {name:?} has {MOST_CLIENTS} controllers already")));
        }
        if !self.roles.contains_key(&name) && self.roles.len() >= MOST_ROLES {
            let empty = self.longest_empty().ok_or_else(|| {
                Status::exhausted(format!("{MOST_ROLES} roles have controllers already; close the streams of one"))
            })?;
            self.roles.remove(&empty);
        }

        self.clients.insert(id, Client { role: name.clone(), election });
        let state = self.roles.entry(name.clone()).or_default();
        let was_primary = state.primary == Some(id);
        if let Some(election) = election.filter(|election| state.highest.is_none_or(|highest| *election >= highest)) {
            state.highest = Some(election);
            state.primary = Some(id);
            state.config = role.and_then(|role| role.config.clone());
            state.access = access;
            return Ok(self.notices(&name));
        }
        if was_primary {
            state.primary = None;
            return Ok(self.notices(&name));
        }
        Ok(self.notices(&name).into_iter().filter(|notice| notice.client == id).collect())
    }

    /// Forgets a controller whose stream ended.
    pub fn leave(&mut self, id: ClientId) -> Vec<Notice> {
        let Some(client) = self.clients.remove(&id) else { return Vec::new() };
        let Some(state) = self.roles.get_mut(&client.role) else { return Vec::new() };
        if !self.clients.values().any(|other| other.role == client.role) {
            self.emptied += 1;
            state.emptied = self.emptied;
        }
        if state.primary != Some(id) {
            return Vec::new();
        }
        state.primary = None;
        self.notices(&client.role)
    }

    /// The role, not the default one, that has been without a controller for longest.
    fn longest_empty(&self) -> Option<String> {
        let used: BTreeSet<&str> = self.clients.values().map(|client| &*client.role).collect();
        let empty = self.roles.iter().filter(|(name, _)| !name.is_empty() && !used.contains(&***name));
        empty.min_by_key(|(_, state)| state.emptied).map(|(name, _)| name.clone())
    }

    /// What a role may do, if this election id is its primary's (spec "Write RPC").
    pub fn authorize(&self, device_id: u64, role: &str, election_id: Option<Uint128>) -> Result<&Access, Status> {
        let state = self.role(device_id, role)?;
        let election = election_id.map(number);
        match (state.primary, state.highest) {
            (Some(_), Some(highest)) if election == Some(highest) => Ok(&state.access),
            (Some(_), Some(highest)) => {
                let given = election.map_or("none".to_owned(), |election| election.to_string());
                Err(Status::denied(format!(
                    "not primary: the primary's election id is {highest}, the request has {given}"
                )))
            }
            _ => Err(Status::denied("not primary: there is no primary; send a MasterArbitrationUpdate first")),
        }
    }

    /// What a role may see.
    pub fn access(&self, device_id: u64, role: &str) -> Result<&Access, Status> {
        self.role(device_id, role).map(|state| &state.access)
    }

    /// What the controller may do, if it is the primary of its role.
    pub fn access_of(&self, id: ClientId) -> Option<&Access> {
        let state = self.roles.get(&self.clients.get(&id)?.role)?;
        (state.primary == Some(id)).then_some(&state.access)
    }

    /// The primaries of all roles.
    pub fn primaries(&self) -> impl Iterator<Item = (ClientId, &Access)> {
        self.roles.values().filter_map(|state| Some((state.primary?, &state.access)))
    }

    pub fn is_device(&self, device_id: u64) -> Result<(), Status> {
        if device_id == self.device_id {
            return Ok(());
        }
        Err(Status::not_found(format!("there is no device {device_id}; this is device {}", self.device_id)))
    }

    fn role(&self, device_id: u64, role: &str) -> Result<&RoleState, Status> {
        self.is_device(device_id)?;
        self.roles.get(role).ok_or_else(|| Status::not_found(format!("there is no role {role:?} on this device")))
    }

    /// What all controllers of a role are told (spec "Client Arbitration Notifications").
    fn notices(&self, name: &str) -> Vec<Notice> {
        let Some(state) = self.roles.get(name) else { return Vec::new() };
        let clients = self.clients.iter().filter(|(_, client)| client.role == name);
        let notice = |(id, _): (&ClientId, &Client)| {
            let (code, message) = match state.primary {
                Some(primary) if primary == *id && state.access.withheld => {
                    (Code::Ok, "you are primary; packets are not sent to you: that needs the right capture")
                }
                Some(primary) if primary == *id => (Code::Ok, "you are primary"),
                Some(_) => (Code::AlreadyExists, "another controller is primary"),
                None => (Code::NotFound, "there is no primary"),
            };
            let named = !name.is_empty() || state.config.is_some();
            Notice {
                client: *id,
                update: MasterArbitrationUpdate {
                    device_id: self.device_id,
                    role: named.then(|| Role {
                        name: name.to_owned(),
                        config: state.config.clone(),
                        ..Default::default()
                    }),
                    election_id: state
                        .highest
                        .map(|highest| Uint128 { high: (highest >> 64) as u64, low: highest as u64 }),
                    status: Some(proto::google::rpc::Status {
                        code: code as i32,
                        message: message.to_owned(),
                        details: Vec::new(),
                    }),
                },
            }
        };
        clients.map(notice).collect()
    }
}

/// The name of a role; before version 1.4 it was a number.
#[allow(deprecated)]
pub fn role_of(role: &Role) -> String {
    role_name(&role.name, role.id)
}

/// The name of a role in a request that may still give the number of versions before 1.4.
pub fn role_name(name: &str, id: u64) -> String {
    if name.is_empty() && id != 0 { id.to_string() } else { name.to_owned() }
}

/// An election id as one number.
pub fn number(id: Uint128) -> u128 {
    u128::from(id.high) << 64 | u128::from(id.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ClientId = ClientId(1);
    const B: ClientId = ClientId(2);
    const C: ClientId = ClientId(3);

    fn id(low: u64) -> Option<Uint128> {
        Some(Uint128 { high: 0, low })
    }

    fn bid(arbiter: &mut Arbiter, client: ClientId, election_id: Option<Uint128>) -> Vec<(ClientId, i32, Option<u64>)> {
        let update = MasterArbitrationUpdate { device_id: 5, election_id, ..Default::default() };
        told(arbiter.bid(client, Rights::ALL, &update).unwrap())
    }

    fn told(notices: Vec<Notice>) -> Vec<(ClientId, i32, Option<u64>)> {
        let told = |notice: Notice| {
            (notice.client, notice.update.status.unwrap().code, notice.update.election_id.map(|id| id.low))
        };
        notices.into_iter().map(told).collect()
    }

    const OK: i32 = Code::Ok as i32;
    const BACKUP: i32 = Code::AlreadyExists as i32;
    const NO_PRIMARY: i32 = Code::NotFound as i32;

    #[test]
    fn the_highest_election_id_is_primary_and_everyone_is_told() {
        let mut arbiter = Arbiter::new(5);
        assert_eq!(bid(&mut arbiter, A, id(10)), [(A, OK, Some(10))]);
        assert_eq!(bid(&mut arbiter, B, id(9)), [(B, BACKUP, Some(10))]);
        assert_eq!(bid(&mut arbiter, C, id(11)), [(A, BACKUP, Some(11)), (B, BACKUP, Some(11)), (C, OK, Some(11))]);
    }

    #[test]
    fn when_the_primary_leaves_none_follows_until_one_bids_high_enough() {
        let mut arbiter = Arbiter::new(5);
        bid(&mut arbiter, A, id(10));
        bid(&mut arbiter, B, id(9));
        assert_eq!(told(arbiter.leave(A)), [(B, NO_PRIMARY, Some(10))]);
        assert!(arbiter.authorize(5, "", id(10)).is_err());
        assert_eq!(bid(&mut arbiter, C, id(9 - 1)), [(C, NO_PRIMARY, Some(10))]);
        assert_eq!(bid(&mut arbiter, B, id(10)), [(B, OK, Some(10)), (C, BACKUP, Some(10))]);
        assert_eq!(told(arbiter.leave(C)), []);
    }

    #[test]
    fn a_primary_can_step_down() {
        let mut arbiter = Arbiter::new(5);
        bid(&mut arbiter, A, id(10));
        bid(&mut arbiter, B, id(9));
        assert_eq!(bid(&mut arbiter, A, id(3)), [(A, NO_PRIMARY, Some(10)), (B, NO_PRIMARY, Some(10))]);
    }

    #[test]
    fn without_election_id_a_controller_is_never_primary_but_zero_is_an_id() {
        let mut arbiter = Arbiter::new(5);
        assert_eq!(bid(&mut arbiter, A, None), [(A, NO_PRIMARY, None)]);
        assert_eq!(bid(&mut arbiter, B, None), [(B, NO_PRIMARY, None)], "unset ids may repeat");
        assert_eq!(bid(&mut arbiter, C, id(0)).len(), 3);
        assert!(arbiter.authorize(5, "", id(0)).is_ok());
        assert_eq!(arbiter.authorize(5, "", None).unwrap_err().code, Code::PermissionDenied);
    }

    #[test]
    fn bad_bids_end_the_stream_with_the_code_of_the_spec() {
        let mut arbiter = Arbiter::new(5);
        bid(&mut arbiter, A, id(10));
        let mut code = |client, update: &MasterArbitrationUpdate| arbiter.bid(client, Rights::ALL, update).unwrap_err();
        let update = |device_id, name: &str, low| MasterArbitrationUpdate {
            device_id,
            role: Some(Role { name: name.into(), ..Default::default() }),
            election_id: id(low),
            ..Default::default()
        };
        assert_eq!(code(B, &update(6, "", 1)).code, Code::NotFound);
        assert_eq!(code(A, &update(6, "", 1)).code, Code::FailedPrecondition);
        assert_eq!(code(A, &update(5, "other", 1)).code, Code::FailedPrecondition);
        let used = code(B, &update(5, "", 10));
        assert_eq!(
            (used.code, &*used.message),
            (Code::InvalidArgument, "election id 10 is already used by another controller of this role")
        );
        let config = Any { type_url: "x".into(), value: vec![] };
        let mut with_config = update(5, "r", 1);
        with_config.role.as_mut().unwrap().config = Some(config);
        assert_eq!(code(B, &with_config).code, Code::InvalidArgument);
    }

    #[test]
    fn roles_are_arbitrated_apart() {
        let mut arbiter = Arbiter::new(5);
        bid(&mut arbiter, A, id(10));
        let role = Some(Role { name: "acl".into(), ..Default::default() });
        let update = MasterArbitrationUpdate { device_id: 5, role, election_id: id(10), ..Default::default() };
        let notices = arbiter.bid(B, Rights::ALL, &update).unwrap();
        assert_eq!(notices[0].update.role.as_ref().unwrap().name, "acl");
        assert_eq!(told(notices), [(B, OK, Some(10))]);
        assert!(arbiter.authorize(5, "acl", id(10)).is_ok());
        assert_eq!(arbiter.authorize(5, "none", id(10)).unwrap_err().code, Code::NotFound);
        assert_eq!(arbiter.authorize(6, "", id(10)).unwrap_err().code, Code::NotFound);
        assert_eq!(arbiter.primaries().map(|(client, _)| client).collect::<Vec<_>>(), [A, B]);
    }

    #[test]
    fn there_is_a_bound_on_controllers_and_roles() {
        let mut arbiter = Arbiter::new(5);
        let update = MasterArbitrationUpdate { device_id: 5, ..Default::default() };
        for client in 0..MOST_CLIENTS as u64 {
            arbiter.bid(ClientId(client), Rights::ALL, &update).unwrap();
        }
        assert_eq!(arbiter.bid(ClientId(1000), Rights::ALL, &update).unwrap_err().code, Code::ResourceExhausted);
        let mut arbiter = Arbiter::new(5);
        let named = |name: String| MasterArbitrationUpdate {
            role: Some(Role { name, ..Default::default() }),
            ..update.clone()
        };
        for role in 1..MOST_ROLES as u64 {
            arbiter.bid(ClientId(role), Rights::ALL, &named(role.to_string())).unwrap();
        }
        let error = arbiter.bid(ClientId(1000), Rights::ALL, &named("one more".into())).unwrap_err();
        assert_eq!(error.code, Code::ResourceExhausted);
    }

    #[test]
    fn the_role_without_controllers_for_longest_makes_room_for_another() {
        let mut arbiter = Arbiter::new(5);
        let named = |name: String| MasterArbitrationUpdate {
            device_id: 5,
            role: Some(Role { name, ..Default::default() }),
            election_id: id(10),
            ..Default::default()
        };
        bid(&mut arbiter, A, id(20));
        arbiter.leave(A);
        // Twice as many as are remembered at a time, in an order that is not that of their names.
        for role in (0..2 * MOST_ROLES as u64).rev() {
            arbiter.bid(A, Rights::ALL, &named(role.to_string())).unwrap();
            arbiter.leave(A);
        }
        assert_eq!(bid(&mut arbiter, B, id(1)), [(B, NO_PRIMARY, Some(20))], "the default role is never forgotten");
        assert!(arbiter.access(5, "0").is_ok(), "the latest is remembered");
        assert_eq!(arbiter.access(5, "511").unwrap_err().code, Code::NotFound, "the first made room");
        let lower = MasterArbitrationUpdate { election_id: id(9), ..named("0".into()) };
        assert_eq!(
            told(arbiter.bid(C, Rights::ALL, &lower).unwrap()),
            [(C, NO_PRIMARY, Some(10))],
            "with its election id"
        );
    }
}
