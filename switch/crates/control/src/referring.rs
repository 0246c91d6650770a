//! Entries that others need: what is missing is refused, and what is needed stays.

use std::collections::{BTreeSet, HashMap};

use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match::FieldMatchType;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::update::Type;

use crate::references::{Need, References, canonical};
use crate::status::{Code, Result, Status};

/// Key, value or low end, and mask, prefix length or high end.
type KeyMatch = (u32, Vec<u8>, Vec<u8>);

/// Whoever may need others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    /// Table, match and priority.
    Entry(u32, Vec<KeyMatch>, i32),
    Default(u32),
    /// Profile and member.
    Member(u32, u32),
    MulticastGroup(u32),
}

#[derive(Debug, Default, Clone)]
struct Held {
    needs: BTreeSet<Need>,
    provides: Vec<Need>,
}

/// Who needs what, as it stands on the switch.
#[derive(Debug, Default)]
pub struct Referring {
    held: HashMap<Holder, Held>,
    needed: HashMap<Need, usize>,
    provided: HashMap<Need, usize>,
}

/// What an update that succeeds leaves behind.
pub struct Change {
    holder: Holder,
    held: Option<Held>,
}

impl Referring {
    /// Whether an update leaves every entry with those that it needs.
    pub fn check(&self, references: &References, kind: Type, entity: &Entity) -> Result<Option<Change>> {
        let Some(holder) = holder(references, entity) else { return Ok(None) };
        if kind == Type::Delete {
            self.check_unneeded(references, &holder)?;
            return Ok(Some(Change { holder, held: None }));
        }
        if matches!(entity, Entity::TableEntry(entry) if entry.action.is_none() && !entry.is_default_action) {
            // Only counter or meter change.
            return Ok(None);
        }
        let held = Held { needs: references.needs(entity), provides: references.provides(entity) };
        if let Some(missing) = held.needs.iter().find(|need| !self.provided.contains_key(need)) {
            let message = format!("refers to {}, which is not there", references.describe(missing));
            return Err(Status::not_found(format!("{}: {message}", describe(references, &holder))));
        }
        Ok(Some(Change { holder, held: Some(held) }))
    }

    fn check_unneeded(&self, references: &References, holder: &Holder) -> Result<()> {
        let Some(held) = self.held.get(holder) else { return Ok(()) };
        let is_needed = |one: &&Need| {
            let by_itself = usize::from(held.needs.contains(one));
            self.provided.get(one).is_none_or(|count| *count < 2)
                && self.needed.get(one).is_some_and(|count| *count > by_itself)
        };
        let Some(needed) = held.provides.iter().find(is_needed) else { return Ok(()) };
        let by = self.held.iter().find(|(other, held)| *other != holder && held.needs.contains(needed));
        let by = by.map_or(String::new(), |(other, _)| format!(" by {}", describe(references, other)));
        let message = format!("{} is referred to{by}, and by nothing else in its place", references.describe(needed));
        Err(Status::new(Code::InvalidArgument, format!("{message}; delete what refers to it first")))
    }

    /// Remembers an update that succeeded.
    pub fn note(&mut self, change: Change) {
        let before = match change.held.clone() {
            Some(held) => self.held.insert(change.holder, held),
            None => self.held.remove(&change.holder),
        };
        let after = change.held.unwrap_or_default();
        let before = before.unwrap_or_default();
        after.needs.into_iter().for_each(|need| *self.needed.entry(need).or_default() += 1);
        after.provides.into_iter().for_each(|need| *self.provided.entry(need).or_default() += 1);
        before.needs.iter().for_each(|need| decrease(&mut self.needed, need));
        before.provides.iter().for_each(|need| decrease(&mut self.provided, need));
    }

    /// Remembers what is there already, whether or not it has what it needs.
    pub fn add(&mut self, references: &References, entity: &Entity) {
        if let Some(holder) = holder(references, entity) {
            let held = Held { needs: references.needs(entity), provides: references.provides(entity) };
            self.note(Change { holder, held: Some(held) });
        }
    }

    /// An entry without one that it needs.
    pub fn dangling(&self, references: &References) -> Option<String> {
        let missing = |(holder, held): (&Holder, &Held)| {
            let need = held.needs.iter().find(|need| !self.provided.contains_key(need))?;
            Some(format!(
                "{}: refers to {}, which is not there",
                describe(references, holder),
                references.describe(need)
            ))
        };
        self.held.iter().find_map(missing)
    }
}

fn decrease(counts: &mut HashMap<Need, usize>, need: &Need) {
    if let Some(count) = counts.get_mut(need) {
        *count -= 1;
        if *count == 0 {
            counts.remove(need);
        }
    }
}

fn holder(references: &References, entity: &Entity) -> Option<Holder> {
    match entity {
        Entity::TableEntry(entry) if entry.is_default_action => Some(Holder::Default(entry.table_id)),
        Entity::TableEntry(entry) => {
            let is_text = |key: u32| references.is_text(entry.table_id, key);
            let matches = entry.r#match.iter().map(|one| matched(one, is_text(one.field_id)));
            let mut matches: Vec<KeyMatch> = matches.collect();
            matches.sort();
            Some(Holder::Entry(entry.table_id, matches, entry.priority))
        }
        Entity::ActionProfileMember(member) => Some(Holder::Member(member.action_profile_id, member.member_id)),
        Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
            Some(Engine::MulticastGroupEntry(group)) => Some(Holder::MulticastGroup(group.multicast_group_id)),
            _ => None,
        },
        _ => None,
    }
}

fn matched(given: &v1::FieldMatch, is_text: bool) -> KeyMatch {
    let value = |bytes: &[u8]| canonical(bytes, is_text);
    let (value, rest) = match given.field_match_type.as_ref() {
        Some(FieldMatchType::Exact(exact)) => (value(&exact.value), Vec::new()),
        Some(FieldMatchType::Optional(optional)) => (value(&optional.value), Vec::new()),
        Some(FieldMatchType::Ternary(ternary)) => (value(&ternary.value), canonical(&ternary.mask, false)),
        Some(FieldMatchType::Lpm(lpm)) => (value(&lpm.value), lpm.prefix_len.to_be_bytes().to_vec()),
        Some(FieldMatchType::Range(range)) => (value(&range.low), value(&range.high)),
        Some(FieldMatchType::Other(_)) | None => (Vec::new(), Vec::new()),
    };
    (given.field_id, value, rest)
}

fn describe(references: &References, holder: &Holder) -> String {
    match holder {
        Holder::Entry(table, ..) => format!("an entry of {}", references.table_name(*table)),
        Holder::Default(table) => format!("the default entry of {}", references.table_name(*table)),
        Holder::Member(_, member) => format!("member {member}"),
        Holder::MulticastGroup(group) => format!("multicast group {group}"),
    }
}
