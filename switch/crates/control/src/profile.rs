//! Members and groups of action profiles and selectors (spec "ActionProfileMember & ActionProfileGroup").

use std::collections::HashSet;

use num_traits::ToPrimitive;
use proto::p4::v1;
use proto::p4::v1::update::Type;
use runtime::{ActionCall, Group, GroupMember, OneShot};

use crate::action::{self, Use};
use crate::control::{Control, unknown};
use crate::schema::{Profile, Table};
use crate::status::{Result, Status};

impl Control {
    pub(crate) fn write_member(&self, kind: Type, given: &v1::ActionProfileMember) -> Result<()> {
        let profile = self.profile(given.action_profile_id)?;
        let id = given.member_id;
        let place = |error: Status| error.within(format_args!("{}: member {id}", profile.name));
        if id == 0 {
            return Err(place(Status::invalid("a member's id must not be 0")));
        }
        if kind == Type::Delete {
            return self.device().delete_member(profile.handle, id).map_err(|error| place(error.into()));
        }
        let action = given.action.as_ref().ok_or_else(|| place(Status::invalid("comes without an action")))?;
        let call = action::decode(&self.schema, &profile.actions, action, Use::Entry, &self.texts).map_err(place)?;
        self.restrictions.check_action(action).map_err(place)?;
        match kind {
            Type::Insert => self.device().insert_member(profile.handle, id, &call),
            _ => self.device().modify_member(profile.handle, id, &call),
        }
        .map_err(|error| place(error.into()))
    }

    pub(crate) fn read_members(&self, wanted: &v1::ActionProfileMember) -> Result<Vec<v1::entity::Entity>> {
        let mut read = Vec::new();
        for profile in self.profiles(wanted.action_profile_id)? {
            let mut found = |id: u32, call: &ActionCall| {
                read.push(v1::entity::Entity::ActionProfileMember(v1::ActionProfileMember {
                    action_profile_id: profile.id,
                    member_id: id,
                    action: Some(action::encode(&self.schema, &profile.actions, call, &self.texts)),
                }));
            };
            match wanted.member_id {
                0 => self.device().members(profile.handle).iter().for_each(|(id, call)| found(*id, call)),
                id => self.device().member(profile.handle, id).iter().for_each(|call| found(id, call)),
            }
        }
        Ok(read)
    }

    pub(crate) fn write_group(&self, kind: Type, given: &v1::ActionProfileGroup) -> Result<()> {
        let profile = self.profile(given.action_profile_id)?;
        let id = given.group_id;
        let place = |error: Status| error.within(format_args!("{}: group {id}", profile.name));
        if !profile.has_selector {
            return Err(place(Status::invalid("an action profile without selector has no groups")));
        }
        if id == 0 {
            return Err(place(Status::invalid("a group's id must not be 0")));
        }
        if kind == Type::Delete {
            self.device().delete_group(profile.handle, id).map_err(|error| place(error.into()))?;
            self.notes().set_group_size(profile.id, id, None);
            return Ok(());
        }
        let mut members = Vec::with_capacity(given.members.len());
        let mut seen = HashSet::new();
        for member in &given.members {
            let place = |error: Status| place(error.within(format_args!("member {}", member.member_id)));
            if !seen.insert(member.member_id) {
                return Err(place(Status::invalid("is given twice; give it a larger weight instead")));
            }
            if self.device().member(profile.handle, member.member_id).is_none() {
                return Err(place(Status::not_found("there is no such member")));
            }
            members.push(GroupMember {
                member: member.member_id,
                weight: weight(profile, member.weight).map_err(place)?,
                watch_port: self
                    .group_watch(member.watch_kind.as_ref())
                    .and_then(|port| self.watched(port))
                    .map_err(place)?,
            });
        }
        let max_size = u32::try_from(given.max_size)
            .map_err(|_| place(Status::invalid(format!("has max_size {}, below 0", given.max_size))))?;
        if profile.max_group_size != 0 && max_size > profile.max_group_size {
            let limit = profile.max_group_size;
            return Err(place(Status::invalid(format!("has max_size {max_size}; the profile allows {limit}"))));
        }
        let before = self.notes().group_size(profile.id, id);
        if let Some(before) = before.filter(|before| kind == Type::Modify && *before != max_size) {
            return Err(place(Status::invalid(format!("has max_size {max_size}; it was made with {before}"))));
        }
        let bound = if max_size == 0 { profile.max_group_size } else { max_size };
        let size = size(profile, members.iter().map(|member| member.weight));
        if bound != 0 && size > u64::from(bound) {
            return Err(place(Status::exhausted(format!("has size {size}; the most is {bound}"))));
        }
        // Sizes may count members or weights, so they are checked here and not by the device.
        let group = Group { max_size: 0, members };
        match kind {
            Type::Insert => self.device().insert_group(profile.handle, id, &group),
            _ => self.device().modify_group(profile.handle, id, &group),
        }
        .map_err(|error| place(error.into()))?;
        self.notes().set_group_size(profile.id, id, Some(max_size));
        Ok(())
    }

    pub(crate) fn read_groups(&self, wanted: &v1::ActionProfileGroup) -> Result<Vec<v1::entity::Entity>> {
        let notes = self.notes();
        let mut read = Vec::new();
        for profile in self.profiles(wanted.action_profile_id)? {
            let groups = match wanted.group_id {
                0 => self.device().groups(profile.handle),
                id => self.device().group(profile.handle, id).map(|group| (id, group)).into_iter().collect(),
            };
            read.extend(groups.into_iter().map(|(id, group)| {
                let members = group.members.iter().map(|member| v1::action_profile_group::Member {
                    member_id: member.member,
                    weight: given_weight(profile, member.weight),
                    watch_kind: member
                        .watch_port
                        .map(|port| v1::action_profile_group::member::WatchKind::WatchPort(self.port_to_control(port))),
                });
                v1::entity::Entity::ActionProfileGroup(v1::ActionProfileGroup {
                    action_profile_id: profile.id,
                    group_id: id,
                    members: members.collect(),
                    max_size: notes.group_size(profile.id, id).and_then(|size| size.to_i32()).unwrap_or(0),
                })
            }));
        }
        Ok(read)
    }

    /// A group that stands in one entry alone (spec "One Shot Action Selector Programming").
    pub(crate) fn one_shots(&self, table: &Table, given: &v1::ActionProfileActionSet) -> Result<Vec<OneShot>> {
        let profile = table.profile.and_then(|id| self.schema.profiles.get(&id)).filter(|profile| profile.has_selector);
        let profile = profile.ok_or_else(|| Status::invalid("an action set needs a table with an action selector"))?;
        if given.action_selection_mode != 0 || given.size_semantics != 0 {
            return Err(Status::unimplemented(
                "selection mode and size semantics of one action set; leave both at their defaults",
            ));
        }
        let mut shots = Vec::with_capacity(given.action_profile_actions.len());
        for (at, one) in given.action_profile_actions.iter().enumerate() {
            let place = |error: Status| error.within(format_args!("action {at} of its set"));
            let call = one.action.as_ref().ok_or_else(|| place(Status::invalid("is missing")))?;
            shots.push(OneShot {
                call: action::decode(&self.schema, &table.actions, call, Use::Entry, &self.texts).map_err(place)?,
                weight: weight(profile, one.weight).map_err(place)?,
                watch_port: self
                    .shot_watch(one.watch_kind.as_ref())
                    .and_then(|port| self.watched(port))
                    .map_err(place)?,
            });
        }
        let size = size(profile, shots.iter().map(|shot| shot.weight));
        if profile.max_group_size != 0 && size > u64::from(profile.max_group_size) {
            let limit = profile.max_group_size;
            return Err(Status::invalid(format!("its action set has size {size}; {} allows {limit}", profile.name)));
        }
        Ok(shots)
    }

    pub(crate) fn action_set(&self, table: &Table, shots: &[OneShot]) -> v1::ActionProfileActionSet {
        let profile = table.profile.and_then(|id| self.schema.profiles.get(&id));
        let actions = shots.iter().map(|shot| v1::ActionProfileAction {
            action: Some(action::encode(&self.schema, &table.actions, &shot.call, &self.texts)),
            weight: profile.map_or(0, |profile| given_weight(profile, shot.weight)),
            watch_kind: shot
                .watch_port
                .map(|port| v1::action_profile_action::WatchKind::WatchPort(self.port_to_control(port))),
        });
        v1::ActionProfileActionSet { action_profile_actions: actions.collect(), ..Default::default() }
    }

    #[allow(deprecated)] // Old clients still send `watch`.
    fn group_watch(&self, given: Option<&v1::action_profile_group::member::WatchKind>) -> Result<Option<u32>> {
        use v1::action_profile_group::member::WatchKind;
        match given {
            None => Ok(None),
            Some(WatchKind::Watch(port)) => old_port(*port),
            Some(WatchKind::WatchPort(port)) => self.watch_port(port),
        }
    }

    #[allow(deprecated)]
    fn shot_watch(&self, given: Option<&v1::action_profile_action::WatchKind>) -> Result<Option<u32>> {
        use v1::action_profile_action::WatchKind;
        match given {
            None => Ok(None),
            Some(WatchKind::Watch(port)) => old_port(*port),
            Some(WatchKind::WatchPort(port)) => self.watch_port(port),
        }
    }

    fn watch_port(&self, bytes: &[u8]) -> Result<Option<u32>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        self.port_to_data(bytes).map(Some).map_err(|error| error.within("the port it watches"))
    }

    /// A watched port must be one of the switch's.
    fn watched(&self, port: Option<u32>) -> Result<Option<u32>> {
        match port {
            Some(port) if !self.has_port(port) => {
                Err(Status::invalid(format!("watches port {port}, which the switch does not have")))
            }
            port => Ok(port),
        }
    }

    fn profile(&self, id: u32) -> Result<&Profile> {
        let profile = self.schema.profiles.get(&id);
        profile.ok_or_else(|| unknown("action profile", id))
    }

    fn profiles(&self, id: u32) -> Result<Vec<&Profile>> {
        if id == 0 { Ok(self.schema.profiles.values().collect()) } else { Ok(vec![self.profile(id)?]) }
    }
}

/// What a group counts against its bound.
fn size(profile: &Profile, weights: impl Iterator<Item = u32>) -> u64 {
    match profile.sum_of_members {
        Some(_) => weights.count() as u64,
        None => weights.map(u64::from).sum(),
    }
}

fn weight(profile: &Profile, given: i32) -> Result<u32> {
    if profile.weights_disallowed {
        return if given == 0 {
            Ok(1)
        } else {
            Err(Status::invalid("has a weight, which this profile does not allow"))
        };
    }
    let weight = u32::try_from(given).ok().filter(|weight| *weight > 0);
    let weight = weight.ok_or_else(|| Status::invalid(format!("has weight {given}; it must be at least 1")))?;
    match profile.sum_of_members {
        Some(most) if most != 0 && weight > most => {
            Err(Status::invalid(format!("has weight {weight}; the most is {most}")))
        }
        _ => Ok(weight),
    }
}

fn given_weight(profile: &Profile, weight: u32) -> i32 {
    if profile.weights_disallowed { 0 } else { i32::try_from(weight).unwrap_or(i32::MAX) }
}

fn old_port(port: i32) -> Result<Option<u32>> {
    u32::try_from(port).map(Some).map_err(|_| Status::invalid(format!("watches port {port}; ports are not negative")))
}
