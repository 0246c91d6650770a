//! Action profiles and selectors.

mod objects;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, PoisonError};

use ir::*;
use tables::sync::{AtomicU64, Mutex, MutexGuard};
use tables::{Blocks, Epochs, Slots, Words};

use crate::action::{data_words, decode, encode};
use crate::body::{Bodies, BodyBook, Head};
use crate::entry::{ActionCall, Group, GroupMember, OneShot};
use crate::error::{Problem, What, WriteError};
use crate::writes::Write;

/// A profile as packets see it.
pub(crate) struct ProfileState {
    name: String,
    size: u64,
    /// The selector's hash, if it is one.
    pub algorithm: Option<HashAlgorithm>,
    /// Actions that a table with this profile has.
    actions: HashSet<ActionId>,
    bodies: Bodies,
    /// The body of each member slot.
    members: Words,
    /// The block of each group slot: number of choices, sum of weights, then `sum of weights so far << 32 | member slot`
    /// for each member whose port is up. Block 0 is the empty group.
    groups: Words,
    blocks: Words,
    book: Mutex<Book>,
}

struct Member {
    slot: u32,
    /// Entries and groups it is in.
    users: u32,
}

struct GroupState {
    slot: u32,
    group: Group,
    /// Entries that choose from it.
    users: u32,
}

/// A profile as the control plane keeps it.
pub(crate) struct Book {
    epochs: Arc<Epochs>,
    bodies: BodyBook,
    members: BTreeMap<u32, Member>,
    member_ids: HashMap<u32, u32>,
    groups: BTreeMap<u32, GroupState>,
    group_ids: HashMap<u32, u32>,
    /// Choices of each group slot, one-shot groups too: member slot, weight, watched port.
    choices: HashMap<u32, Vec<Choice>>,
    member_slots: Slots,
    group_slots: Slots,
    blocks: Blocks,
    down: HashSet<u32>,
    /// Members, those of one-shot groups too.
    len: u64,
}

#[derive(Clone, Copy)]
struct Choice {
    member: u32,
    weight: u32,
    watch_port: Option<u32>,
}

impl ProfileState {
    fn new(program: &Program, id: ProfileId, epochs: &Arc<Epochs>) -> Self {
        let profile = &program.profiles[id];
        let tables = program.tables.iter().filter(|(_, table)| table.profile == Some(id));
        let actions: HashSet<_> =
            tables.flat_map(|(_, table)| table.actions.iter()).map(|action| action.action).collect();
        let words = actions.iter().map(|&action| data_words(&program.actions[action])).max().unwrap_or(0);
        let (bodies, body_book) = Bodies::new(words, epochs);
        let book = Book {
            epochs: epochs.clone(),
            bodies: body_book,
            members: BTreeMap::new(),
            member_ids: HashMap::new(),
            groups: BTreeMap::new(),
            group_ids: HashMap::new(),
            choices: HashMap::new(),
            member_slots: Slots::default(),
            group_slots: Slots::default(),
            blocks: Blocks::default(),
            down: HashSet::new(),
            len: 0,
        };
        Self {
            name: profile.name.clone(),
            size: profile.size,
            algorithm: profile.selector.as_ref().map(|selector| selector.algorithm),
            actions,
            bodies,
            members: Words::new(4, 1),
            groups: Words::new(4, 1),
            blocks: Blocks::arena(),
            book: Mutex::new(book),
        }
    }

    pub fn all(program: &Program, epochs: &Arc<Epochs>) -> Vec<Self> {
        program.profiles.keys().map(|id| Self::new(program, id, epochs)).collect()
    }

    /// The body of a member.
    pub fn member(&self, slot: u32) -> &[AtomicU64] {
        self.bodies.record(self.members.record(slot)[0].load(Acquire) as u32)
    }

    /// The slot of the member that a hash chooses from a group; none of an empty group. Equal weights make it the
    /// member at place `hash mod members`, by ascending id, as in BMv2; so the hash is not cut to the selector's
    /// output width either.
    pub fn choose(&self, slot: u32, hash: u64) -> Option<u32> {
        let block = self.groups.record(slot)[0].load(Acquire) as u32;
        if block == 0 {
            return None;
        }
        let block = self.blocks.tail(block);
        let choices = &block[2..][..block[0].load(Relaxed) as usize];
        let wanted = hash % block[1].load(Relaxed);
        let chosen = choices.partition_point(|choice| choice.load(Relaxed) >> 32 <= wanted);
        Some(choices[chosen].load(Relaxed) as u32)
    }

    pub fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, what: &'static str, id: u32) -> (String, String) {
        (self.name.clone(), format!("{what} {id}"))
    }

    fn not_found(&self, what: &'static str, id: u32) -> WriteError {
        let (object, what) = self.object(what, id);
        WriteError::NotFound { object, what }
    }

    fn exists(&self, what: &'static str, id: u32) -> WriteError {
        let (object, what) = self.object(what, id);
        WriteError::AlreadyExists { object, what }
    }

    fn in_use(&self, what: &'static str, id: u32, users: u32, by: &str) -> WriteError {
        let (object, what) = self.object(what, id);
        WriteError::InUse { object, what, users: format!("{users} {by}") }
    }

    fn no_one_shots(&self, book: &Book, what: &'static str) -> Result<(), WriteError> {
        // Groups with an id have choices too.
        match book.choices.len() > book.group_ids.len() {
            true => Err(WriteError::Mixed { object: self.name.clone(), what, others: "one-shot action sets" }),
            false => Ok(()),
        }
    }

    fn needs_selector(&self) -> Result<(), WriteError> {
        match self.algorithm {
            Some(_) => Ok(()),
            None => Err(WriteError::Unsupported { object: self.name.clone(), feature: "groups: it is no selector" }),
        }
    }

    fn encode(&self, program: &Program, call: &ActionCall) -> Result<Vec<u64>, WriteError> {
        let action = &program.actions[call.action];
        if !self.actions.contains(&call.action) {
            let problem = "is not among the actions of its tables";
            return Err(WriteError::BadAction { table: self.name.clone(), action: action.name.clone(), problem });
        }
        encode(&self.name, action, &call.args)
    }

    fn check_room(&self, book: &Book, more: u64) -> Result<(), WriteError> {
        match book.len + more > self.size {
            true => Err(WriteError::Full { object: self.name.clone(), size: self.size }),
            false => Ok(()),
        }
    }

    fn put_member(&self, book: &mut Book, action: ActionId, data: &[u64]) -> u32 {
        let head = Head::Action { number: action.index() as u32, words: data.len() as u32 };
        let body = book.bodies.put(&self.bodies, head, data);
        let slot = book.member_slots.take(&book.epochs);
        self.members.ensure(slot);
        self.members.record(slot)[0].store(u64::from(body), Release);
        book.len += 1;
        slot
    }

    fn remove_member(&self, book: &mut Book, slot: u32) {
        let body = self.members.record(slot)[0].load(Acquire) as u32;
        book.bodies.retire(body);
        book.member_slots.retire(slot, &book.epochs);
        book.len -= 1;
    }

    /// What a member does.
    fn call(&self, program: &Program, slot: u32) -> ActionCall {
        let record = self.member(slot);
        let Head::Action { number, .. } = Head::of(record) else { unreachable!("a member's body is an action") };
        let action = ActionId::new(number as usize);
        ActionCall { action, args: decode(&program.actions[action], &record[1..]) }
    }

    /// Publishes the choices of a group whose ports are up.
    fn publish(&self, book: &mut Book, slot: u32, choices: &[Choice]) {
        let mut words = vec![0, 0];
        let mut sum = 0;
        for choice in choices {
            if choice.watch_port.is_none_or(|port| !book.down.contains(&port)) {
                sum += u64::from(choice.weight);
                words.push(sum << 32 | u64::from(choice.member));
            }
        }
        words[0] = words.len() as u64 - 2;
        words[1] = sum;
        let block = if sum == 0 { 0 } else { book.blocks.put(&self.blocks, &book.epochs, &words) };
        let old = self.groups.record(slot)[0].swap(u64::from(block), Release) as u32;
        self.retire_block(book, old);
    }

    fn retire_block(&self, book: &mut Book, block: u32) {
        if block != 0 {
            let len = self.blocks.tail(block)[0].load(Relaxed) as usize + 2;
            book.blocks.retire(&book.epochs, block, len);
        }
    }

    fn put_group(&self, book: &mut Book, choices: Vec<Choice>) -> u32 {
        let slot = book.group_slots.take(&book.epochs);
        self.groups.ensure(slot);
        self.groups.record(slot)[0].store(0, Relaxed);
        self.publish(book, slot, &choices);
        book.choices.insert(slot, choices);
        slot
    }

    fn remove_group(&self, book: &mut Book, slot: u32) -> Vec<Choice> {
        // The block stays in its place: a packet that found the entry just before it went still chooses from it.
        let block = self.groups.record(slot)[0].load(Acquire) as u32;
        self.retire_block(book, block);
        book.group_slots.retire(slot, &book.epochs);
        book.choices.remove(&slot).unwrap_or_default()
    }

    fn check_weights(&self, max_size: u32, weights: impl Iterator<Item = u32>) -> Result<(), WriteError> {
        let bad = |what, problem| Err(WriteError::BadValue { object: self.name.clone(), what, problem });
        let mut sum = 0u64;
        for weight in weights {
            if weight == 0 {
                return bad(What::Weight, Problem::Missing);
            }
            sum += u64::from(weight);
        }
        let limit = if max_size == 0 { u32::MAX } else { max_size };
        match sum > u64::from(limit) {
            true => bad(What::GroupSize, Problem::AboveLimit { value: sum, limit: limit.into() }),
            false => Ok(()),
        }
    }

    /// The choices of a group after checking it, by ascending member: equal groups choose alike, however written.
    fn choices(&self, book: &Book, group: &Group) -> Result<Vec<Choice>, WriteError> {
        self.check_weights(group.max_size, group.members.iter().map(|member| member.weight))?;
        let mut sorted: Vec<&GroupMember> = group.members.iter().collect();
        sorted.sort_by_key(|member| member.member);
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].member == pair[1].member) {
            return Err(self.exists("the group's member", pair[0].member));
        }
        let choice = |given: &&GroupMember| {
            let member = book.members.get(&given.member).ok_or_else(|| self.not_found("member", given.member))?;
            Ok(Choice { member: member.slot, weight: given.weight, watch_port: given.watch_port })
        };
        sorted.iter().map(choice).collect()
    }

    /// The slot of a member for an entry, which then uses it.
    pub fn take_member(&self, id: u32) -> Result<u32, WriteError> {
        let mut book = self.lock();
        let member = book.members.get_mut(&id).ok_or_else(|| self.not_found("member", id))?;
        member.users += 1;
        Ok(member.slot)
    }

    /// The slot of a group for an entry, which then uses it.
    pub fn take_group(&self, id: u32) -> Result<u32, WriteError> {
        self.needs_selector()?;
        let mut book = self.lock();
        let group = book.groups.get_mut(&id).ok_or_else(|| self.not_found("group", id))?;
        group.users += 1;
        Ok(group.slot)
    }

    /// The slot of a group made for one entry.
    pub fn take_one_shot(&self, program: &Program, shots: &[OneShot]) -> Result<u32, WriteError> {
        self.needs_selector()?;
        let data: Vec<_> = shots.iter().map(|shot| self.encode(program, &shot.call)).collect::<Result<_, _>>()?;
        self.check_weights(0, shots.iter().map(|shot| shot.weight))?;
        let mut book = self.lock();
        if !book.members.is_empty() || !book.groups.is_empty() {
            let (object, what) = (self.name.clone(), "a one-shot action set");
            return Err(WriteError::Mixed { object, what, others: "members and groups" });
        }
        self.check_room(&book, shots.len() as u64)?;
        let choice = |(shot, data): (&OneShot, Vec<u64>)| Choice {
            member: self.put_member(&mut book, shot.call.action, &data),
            weight: shot.weight,
            watch_port: shot.watch_port,
        };
        let choices = shots.iter().zip(data).map(choice).collect();
        Ok(self.put_group(&mut book, choices))
    }

    /// An entry no longer uses what it had.
    pub fn release(&self, head: Head) {
        let mut book = self.lock();
        match head {
            Head::Action { .. } => {}
            Head::Member(slot) => {
                let member = book.member_ids.get(&slot).copied().and_then(|id| book.members.get_mut(&id));
                member.expect("an entry's member").users -= 1;
            }
            Head::Group(slot) => match book.group_ids.get(&slot).copied() {
                Some(id) => book.groups.get_mut(&id).expect("a group with an id").users -= 1,
                None => {
                    for choice in self.remove_group(&mut book, slot) {
                        self.remove_member(&mut book, choice.member);
                    }
                }
            },
        }
    }

    /// The id of the member in a slot.
    pub fn member_id(&self, slot: u32) -> u32 {
        self.lock().member_ids[&slot]
    }

    /// The same of one that may be gone by now, or that a one-shot group has for itself.
    pub fn member_id_if_named(&self, slot: u32) -> Option<u32> {
        self.lock().member_ids.get(&slot).copied()
    }

    /// The id of the group in a slot; none of a one-shot group.
    pub fn group_id(&self, slot: u32) -> Option<u32> {
        self.lock().group_ids.get(&slot).copied()
    }

    /// The actions of a one-shot group.
    pub fn one_shot(&self, program: &Program, slot: u32) -> Vec<OneShot> {
        let shot = |choice: &Choice| OneShot {
            call: self.call(program, choice.member),
            weight: choice.weight,
            watch_port: choice.watch_port,
        };
        self.lock().choices[&slot].iter().map(shot).collect()
    }

    /// `begin_write` is called where packets will find other choices.
    fn set_port_up<'w>(&self, port: u32, up: bool, begin_write: impl FnOnce() -> Write<'w>) {
        let mut book = self.lock();
        let changed = if up { book.down.remove(&port) } else { book.down.insert(port) };
        if !changed {
            return;
        }
        let watching = |choices: &Vec<Choice>| choices.iter().any(|choice| choice.watch_port == Some(port));
        let slots: Vec<_> =
            book.choices.iter().filter(|(_, choices)| watching(choices)).map(|(&slot, _)| slot).collect();
        let _write = (!slots.is_empty()).then(begin_write);
        for slot in slots {
            let choices = book.choices[&slot].clone();
            self.publish(&mut book, slot, &choices);
        }
    }
}
