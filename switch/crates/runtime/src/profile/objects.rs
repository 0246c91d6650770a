//! Members and groups, as the control plane writes and reads them.

use std::sync::atomic::Ordering::Release;

use ir::*;

use super::{Book, GroupState, Member};
use crate::body::Head;
use crate::device::Device;
use crate::entry::{ActionCall, Group, GroupMember};
use crate::error::WriteError;
use crate::writes::Object;

impl Device {
    /// Adds a member to a profile.
    pub fn insert_member(&self, profile: ProfileId, id: u32, call: &ActionCall) -> Result<(), WriteError> {
        let state = &self.profiles[profile.index()];
        let data = state.encode(self.program(), call)?;
        let mut book = state.lock();
        if book.members.contains_key(&id) {
            return Err(state.exists("member", id));
        }
        state.no_one_shots(&book, "a member")?;
        state.check_room(&book, 1)?;
        let slot = state.put_member(&mut book, call.action, &data);
        book.members.insert(id, Member { slot, users: 0 });
        book.member_ids.insert(slot, id);
        Ok(())
    }

    /// Gives a member another action, in one step for all entries and groups it is in.
    pub fn modify_member(&self, profile: ProfileId, id: u32, call: &ActionCall) -> Result<(), WriteError> {
        let state = &self.profiles[profile.index()];
        let data = state.encode(self.program(), call)?;
        let mut book = state.lock();
        let slot = book.members.get(&id).ok_or_else(|| state.not_found("member", id))?.slot;
        let head = Head::Action { number: call.action.index() as u32, words: data.len() as u32 };
        let body = book.bodies.put(&state.bodies, head, &data);
        let _write = self.writes.begin(Object::Profile(profile));
        let old = state.members.record(slot)[0].swap(u64::from(body), Release) as u32;
        book.bodies.retire(old);
        Ok(())
    }

    /// Takes a member out that nothing uses.
    pub fn delete_member(&self, profile: ProfileId, id: u32) -> Result<(), WriteError> {
        let state = &self.profiles[profile.index()];
        let mut book = state.lock();
        let member = book.members.get(&id).ok_or_else(|| state.not_found("member", id))?;
        if member.users > 0 {
            return Err(state.in_use("member", id, member.users, "entries and groups"));
        }
        let slot = member.slot;
        book.members.remove(&id);
        book.member_ids.remove(&slot);
        state.remove_member(&mut book, slot);
        Ok(())
    }

    /// All members with an id, by ascending id.
    pub fn members(&self, profile: ProfileId) -> Vec<(u32, ActionCall)> {
        let state = &self.profiles[profile.index()];
        let book = state.lock();
        book.members.iter().map(|(&id, member)| (id, state.call(self.program(), member.slot))).collect()
    }

    /// What a member does.
    pub fn member(&self, profile: ProfileId, id: u32) -> Option<ActionCall> {
        let state = &self.profiles[profile.index()];
        let book = state.lock();
        book.members.get(&id).map(|member| state.call(self.program(), member.slot))
    }

    /// Adds a group to a selector.
    pub fn insert_group(&self, profile: ProfileId, id: u32, group: &Group) -> Result<(), WriteError> {
        let state = &self.profiles[profile.index()];
        state.needs_selector()?;
        let mut book = state.lock();
        if book.groups.contains_key(&id) {
            return Err(state.exists("group", id));
        }
        state.no_one_shots(&book, "a group")?;
        let choices = state.choices(&book, group)?;
        count_users(&mut book, &group.members, 1);
        let slot = state.put_group(&mut book, choices);
        book.groups.insert(id, GroupState { slot, group: group.clone(), users: 0 });
        book.group_ids.insert(slot, id);
        Ok(())
    }

    /// Gives a group other members, in one step for all entries that choose from it.
    pub fn modify_group(&self, profile: ProfileId, id: u32, group: &Group) -> Result<(), WriteError> {
        let state = &self.profiles[profile.index()];
        let mut book = state.lock();
        let slot = book.groups.get(&id).ok_or_else(|| state.not_found("group", id))?.slot;
        let choices = state.choices(&book, group)?;
        let write = self.writes.begin(Object::Profile(profile));
        state.publish(&mut book, slot, &choices);
        drop(write);
        book.choices.insert(slot, choices);
        count_users(&mut book, &group.members, 1);
        let old = std::mem::replace(&mut book.groups.get_mut(&id).expect("found above").group, group.clone());
        count_users(&mut book, &old.members, -1);
        Ok(())
    }

    /// Takes a group out that no entry uses.
    pub fn delete_group(&self, profile: ProfileId, id: u32) -> Result<(), WriteError> {
        let state = &self.profiles[profile.index()];
        let mut book = state.lock();
        let group = book.groups.get(&id).ok_or_else(|| state.not_found("group", id))?;
        if group.users > 0 {
            return Err(state.in_use("group", id, group.users, "entries"));
        }
        let group = book.groups.remove(&id).expect("found above");
        book.group_ids.remove(&group.slot);
        state.remove_group(&mut book, group.slot);
        count_users(&mut book, &group.group.members, -1);
        Ok(())
    }

    /// All groups with an id, by ascending id.
    pub fn groups(&self, profile: ProfileId) -> Vec<(u32, Group)> {
        let book = self.profiles[profile.index()].lock();
        book.groups.iter().map(|(&id, state)| (id, state.group.clone())).collect()
    }

    /// A group as it was written.
    pub fn group(&self, profile: ProfileId, id: u32) -> Option<Group> {
        self.profiles[profile.index()].lock().groups.get(&id).map(|state| state.group.clone())
    }

    /// Tells selectors that a port went up or down; all ports are up at first.
    pub fn set_port_up(&self, port: u32, up: bool) {
        for (id, profile) in self.program().profiles.keys().zip(&self.profiles) {
            profile.set_port_up(port, up, || self.writes.begin(Object::Profile(id)));
        }
    }
}

fn count_users(book: &mut Book, members: &[GroupMember], by: i32) {
    for member in members {
        let member = book.members.get_mut(&member.member).expect("a group's member");
        member.users = member.users.saturating_add_signed(by);
    }
}
