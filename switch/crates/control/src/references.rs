//! `@refers_to` and `@referenced_by`: which entries need which others, as PINS reads these annotations.
//!
//! An entry needs one other entry in each table that its keys and its action's parameters refer to. That one has all the
//! values at once: what refers to a neighbour by interface and address refers to one neighbour.

use std::collections::{BTreeMap, BTreeSet};

use proto::p4::config::v1 as info;
use proto::p4::config::v1::match_field::{Match, MatchType};
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match::FieldMatchType;
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::replica::PortKind;
use proto::p4::v1::table_action::Type as Action;

use crate::field::Form;
use crate::status::{Result, Status};

/// Keys of one table that refer and may be left out: each combination is looked for.
const MOST_OPTIONAL: usize = 8;

const MULTICAST_TABLE: &str = "builtin::multicast_group_table";
const MULTICAST_GROUP: u32 = 1;
const REPLICA_PORT: u32 = 1;
const REPLICA_INSTANCE: u32 = 2;

/// What entries stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    Table(u32),
    MulticastGroups,
}

/// An entry as others refer to it: the values of some of its keys, by their ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    pub place: Place,
    pub values: BTreeMap<u32, Vec<u8>>,
}

/// A key, parameter or part of a replica that refers to a key of another table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference {
    source: u32,
    optional: bool,
    to: Place,
    key: u32,
}

/// All references of a program.
#[derive(Debug, Default)]
pub struct References {
    of_keys: BTreeMap<u32, Vec<Reference>>,
    of_params: BTreeMap<u32, Vec<Reference>>,
    of_replicas: Vec<Reference>,
    /// The sets of keys by which entries are referred to.
    shapes: BTreeMap<Place, BTreeSet<Vec<u32>>>,
    tables: BTreeMap<u32, Table>,
}

#[derive(Debug)]
struct Table {
    name: String,
    alias: String,
    keys: BTreeMap<u32, Key>,
}

#[derive(Debug)]
struct Key {
    name: String,
    kind: MatchType,
    is_text: bool,
}

impl References {
    /// Fails with all references that lead nowhere.
    pub fn new(p4info: &info::P4Info) -> Result<Self> {
        let types = p4info.type_info.as_ref();
        let mut all =
            Self { tables: p4info.tables.iter().map(|table| named(table, types)).collect(), ..Self::default() };
        let mut wrong = Vec::new();
        for table in &p4info.tables {
            let (id, name) = table.preamble.as_ref().map_or((0, ""), |preamble| (preamble.id, &*preamble.name));
            for field in &table.match_fields {
                let place = |error: String| format!("table {name}: key {}: {error}", field.name);
                let kind = kind_of(field);
                let source = |optional| Reference { source: field.id, optional, to: Place::Table(id), key: field.id };
                let is_text = is_text(field.type_name.as_ref(), types);
                for annotation in &field.annotations {
                    match all.refers_to(annotation, is_text, source(kind == MatchType::Optional)) {
                        Some(Ok(_)) if !matches!(kind, MatchType::Exact | MatchType::Optional) => {
                            wrong.push(place("only exact and optional keys can refer".to_owned()));
                        }
                        Some(Ok(reference)) => all.of_keys.entry(id).or_default().push(reference),
                        Some(Err(error)) => wrong.push(place(error)),
                        None => {}
                    }
                    match referenced_by(annotation, source(false)) {
                        Some(Ok(_)) if kind != MatchType::Exact => {
                            wrong.push(place("only exact keys can be referred to".to_owned()));
                        }
                        Some(Ok(reference)) => all.of_replicas.push(reference),
                        Some(Err(error)) => wrong.push(place(error)),
                        None => {}
                    }
                }
            }
        }
        for action in &p4info.actions {
            let (id, name) = action.preamble.as_ref().map_or((0, ""), |preamble| (preamble.id, &*preamble.name));
            for param in &action.params {
                let is_text = is_text(param.type_name.as_ref(), types);
                for annotation in &param.annotations {
                    let source = Reference { source: param.id, optional: false, to: Place::MulticastGroups, key: 0 };
                    match all.refers_to(annotation, is_text, source) {
                        Some(Ok(reference)) => all.of_params.entry(id).or_default().push(reference),
                        Some(Err(error)) => wrong.push(format!("action {name}: parameter {}: {error}", param.name)),
                        None => {}
                    }
                }
            }
        }
        if !wrong.is_empty() {
            return Err(Status::invalid(wrong.join("\n")));
        }
        all.find_shapes(p4info)?;
        Ok(all)
    }

    /// The reference of a `@refers_to(table, key)`.
    fn refers_to(
        &self,
        annotation: &str,
        is_text: bool,
        source: Reference,
    ) -> Option<std::result::Result<Reference, String>> {
        let (table_name, key_name) = match arguments(annotation, "@refers_to")? {
            Ok(arguments) => arguments,
            Err(error) => return Some(Err(error)),
        };
        if table_name == MULTICAST_TABLE {
            return Some(match &*key_name {
                "multicast_group_id" if !is_text => {
                    Ok(Reference { to: Place::MulticastGroups, key: MULTICAST_GROUP, ..source })
                }
                _ => Err(format!("{MULTICAST_TABLE} is referred to by multicast_group_id, a number")),
            });
        }
        let table = self.tables.iter().find(|(_, table)| table.alias == table_name || table.name == table_name);
        let Some((id, table)) = table else {
            return Some(Err(format!("@refers_to names table {table_name}, which is not there")));
        };
        let Some((key_id, key)) = table.keys.iter().find(|(_, key)| key.name == key_name) else {
            return Some(Err(format!("@refers_to names key {key_name} of table {table_name}, which it does not have")));
        };
        if key.kind != MatchType::Exact {
            return Some(Err(format!("@refers_to names key {key_name} of table {table_name}, which is not exact")));
        }
        if key.is_text != is_text {
            return Some(Err(format!(
                "@refers_to names key {key_name} of table {table_name}; one is a text, one a number"
            )));
        }
        Some(Ok(Reference { to: Place::Table(*id), key: *key_id, ..source }))
    }

    fn find_shapes(&mut self, p4info: &info::P4Info) -> Result<()> {
        let mut shapes: BTreeMap<Place, BTreeSet<Vec<u32>>> = BTreeMap::new();
        let mut add = |place: Place, keys: Vec<&Reference>| {
            let keys: BTreeSet<u32> = keys.iter().filter(|one| one.to == place).map(|one| one.key).collect();
            if !keys.is_empty() {
                shapes.entry(place).or_default().insert(keys.into_iter().collect());
            }
        };
        let places: BTreeSet<Place> =
            self.tables.keys().map(|id| Place::Table(*id)).chain([Place::MulticastGroups]).collect();
        for table in &p4info.tables {
            let (id, name) = table.preamble.as_ref().map_or((0, ""), |preamble| (preamble.id, &*preamble.name));
            let keys = self.of_keys.get(&id).map_or(&[][..], Vec::as_slice);
            let (optional, always): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key.optional);
            if optional.len() > MOST_OPTIONAL {
                let message = format!("table {name}: more than {MOST_OPTIONAL} optional keys have @refers_to");
                return Err(Status::invalid(message));
            }
            let actions = table.action_refs.iter().map(|action| self.of_params.get(&action.id));
            let actions: Vec<&[Reference]> =
                actions.map(|params| params.map_or(&[][..], Vec::as_slice)).chain([&[][..]]).collect();
            for (chosen, action) in (0..1_u32 << optional.len()).flat_map(|c| actions.iter().map(move |a| (c, a))) {
                let some = optional.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0).map(|(_, one)| *one);
                let keys: Vec<&Reference> = always.iter().copied().chain(some).chain(action.iter()).collect();
                places.iter().for_each(|place| add(*place, keys.clone()));
            }
        }
        for place in places {
            self.of_params.values().for_each(|params| add(place, params.iter().collect()));
            add(place, self.of_replicas.iter().collect());
        }
        self.shapes = shapes;
        Ok(())
    }

    /// What an entity needs to be there.
    pub fn needs(&self, entity: &Entity) -> BTreeSet<Need> {
        let mut all = BTreeSet::new();
        match entity {
            Entity::TableEntry(entry) => {
                let of_keys = self.of_keys.get(&entry.table_id).map_or(&[][..], Vec::as_slice);
                let keys = of_keys.iter().filter_map(|key| {
                    Some((key, self.canonical(key, matched_value(entry.r#match.iter(), key.source)?)))
                });
                let keys: Vec<_> = keys.collect();
                let calls: Vec<&v1::Action> = match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
                    Some(Action::Action(call)) => vec![call],
                    Some(Action::ActionProfileActionSet(set)) => {
                        set.action_profile_actions.iter().filter_map(|one| one.action.as_ref()).collect()
                    }
                    _ => vec![],
                };
                if calls.is_empty() {
                    add_needs(&mut all, &keys);
                }
                for call in calls {
                    let together: Vec<_> = keys.iter().cloned().chain(self.of_call(call)).collect();
                    add_needs(&mut all, &together);
                }
            }
            Entity::ActionProfileMember(member) => {
                let values: Vec<_> = member.action.iter().flat_map(|call| self.of_call(call)).collect();
                add_needs(&mut all, &values);
            }
            Entity::PacketReplicationEngineEntry(entry) => {
                if let Some(Engine::MulticastGroupEntry(group)) = &entry.r#type {
                    for (port, instance) in group.replicas.iter().flat_map(copies) {
                        let value = |one: &Reference| if one.source == REPLICA_PORT { &port } else { &instance };
                        let values = self.of_replicas.iter().map(|one| (one, self.canonical(one, value(one))));
                        add_needs(&mut all, &values.collect::<Vec<_>>());
                    }
                }
            }
            _ => {}
        }
        all
    }

    fn of_call<'a>(&'a self, call: &'a v1::Action) -> impl Iterator<Item = (&'a Reference, Vec<u8>)> {
        let references = self.of_params.get(&call.action_id).map_or(&[][..], Vec::as_slice);
        references.iter().filter_map(|reference| {
            let param = call.params.iter().find(|param| param.param_id == reference.source)?;
            Some((reference, self.canonical(reference, &param.value)))
        })
    }

    /// What others may need of an entity.
    pub fn provides(&self, entity: &Entity) -> Vec<Need> {
        let place = match entity {
            Entity::TableEntry(entry) if !entry.is_default_action => Place::Table(entry.table_id),
            Entity::PacketReplicationEngineEntry(_) => Place::MulticastGroups,
            _ => return Vec::new(),
        };
        let value = |key: &u32| match entity {
            Entity::TableEntry(entry) => {
                let value = matched_value(entry.r#match.iter(), *key)?;
                Some((*key, canonical(value, self.is_text(entry.table_id, *key))))
            }
            Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
                Some(Engine::MulticastGroupEntry(group)) => {
                    Some((*key, canonical(&group.multicast_group_id.to_be_bytes(), false)))
                }
                _ => None,
            },
            _ => None,
        };
        let shapes = self.shapes.get(&place).into_iter().flatten();
        shapes.filter_map(|keys| Some(Need { place, values: keys.iter().map(value).collect::<Option<_>>()? })).collect()
    }

    /// The bytes by which the value is compared.
    fn canonical(&self, reference: &Reference, bytes: &[u8]) -> Vec<u8> {
        canonical(bytes, matches!(reference.to, Place::Table(id) if self.is_text(id, reference.key)))
    }

    /// Whether the control plane writes the key as a text.
    pub fn is_text(&self, table: u32, key: u32) -> bool {
        self.tables.get(&table).and_then(|table| table.keys.get(&key)).is_some_and(|key| key.is_text)
    }

    pub fn table_name(&self, id: u32) -> &str {
        self.tables.get(&id).map_or("", |table| &table.name)
    }

    /// The need in words, such as `an entry of nexthops with nexthop 0x5`.
    pub fn describe(&self, need: &Need) -> String {
        let Place::Table(id) = need.place else {
            let group = need.values.values().next().map_or(String::new(), |value| shown(value, false));
            return format!("multicast group {group}");
        };
        let Some(table) = self.tables.get(&id) else { return format!("an entry of table {id}") };
        let value = |(key, value): (&u32, &Vec<u8>)| {
            table.keys.get(key).map_or(String::new(), |key| format!("{} {}", key.name, shown(value, key.is_text)))
        };
        let values: Vec<String> = need.values.iter().map(value).collect();
        format!("an entry of {} with {}", table.name, values.join(" and "))
    }
}

/// One need for each table that is referred to. Where two values refer to one key, each is needed by itself.
fn add_needs(all: &mut BTreeSet<Need>, values: &[(&Reference, Vec<u8>)]) {
    let places: BTreeSet<Place> = values.iter().map(|(reference, _)| reference.to).collect();
    for place in places {
        let mut of_keys: BTreeMap<u32, Vec<&Vec<u8>>> = BTreeMap::new();
        for (reference, value) in values.iter().filter(|(reference, _)| reference.to == place) {
            of_keys.entry(reference.key).or_default().push(value);
        }
        for at in 0..of_keys.values().map(Vec::len).max().unwrap_or(0) {
            let values = of_keys.iter().map(|(key, values)| (*key, values[at.min(values.len() - 1)].clone()));
            all.insert(Need { place, values: values.collect() });
        }
    }
}

/// Port and instance of a replica and of those that stand in for it.
fn copies(replica: &v1::Replica) -> Vec<(Vec<u8>, Vec<u8>)> {
    #[allow(deprecated)] // Old clients still send `egress_port`.
    let port = match &replica.port_kind {
        Some(PortKind::Port(port)) => port.clone(),
        Some(PortKind::EgressPort(port)) => port.to_be_bytes().to_vec(),
        None => Vec::new(),
    };
    let backups = replica.backup_replicas.iter().map(|backup| (backup.port.clone(), backup.instance));
    let all = [(port, replica.instance)].into_iter().chain(backups);
    all.map(|(port, instance)| (port, instance.to_be_bytes().to_vec())).collect()
}

/// The reference of a replica to a key with `@referenced_by(builtin::multicast_group_table, replica.port)`.
fn referenced_by(annotation: &str, key: Reference) -> Option<std::result::Result<Reference, String>> {
    let (table, field) = match arguments(annotation, "@referenced_by")? {
        Ok(arguments) => arguments,
        Err(error) => return Some(Err(error)),
    };
    let source = match (&*table, &*field) {
        (MULTICAST_TABLE, "replica.port") => REPLICA_PORT,
        (MULTICAST_TABLE, "replica.instance") => REPLICA_INSTANCE,
        _ => {
            let known = format!("@referenced_by({MULTICAST_TABLE}, replica.port or replica.instance)");
            return Some(Err(format!("write {known}; entries of other tables say themselves to what they refer")));
        }
    };
    Some(Ok(Reference { source, ..key }))
}

/// Table and key in an annotation of this name.
fn arguments(annotation: &str, name: &str) -> Option<std::result::Result<(String, String), String>> {
    let body = annotation.strip_prefix(name)?.trim();
    let body = body.strip_prefix('(').and_then(|body| body.strip_suffix(')'));
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    Some(match body.and_then(|body| body.split_once(',')) {
        Some((table, key)) => Ok((plain(table), plain(key))),
        None => Err(format!("write {name}(table, key)")),
    })
}

/// The value of an exact or optional key that is not left out.
fn matched_value<'a>(mut matches: impl Iterator<Item = &'a v1::FieldMatch>, id: u32) -> Option<&'a [u8]> {
    match matches.find(|one| one.field_id == id)?.field_match_type.as_ref()? {
        FieldMatchType::Exact(exact) => Some(&exact.value),
        FieldMatchType::Optional(optional) => Some(&optional.value),
        _ => None,
    }
}

/// Numbers lose their leading zeros.
pub fn canonical(bytes: &[u8], is_text: bool) -> Vec<u8> {
    let zeros = if is_text { 0 } else { bytes.iter().take_while(|byte| **byte == 0).count() };
    bytes[zeros..].to_vec()
}

fn shown(value: &[u8], is_text: bool) -> String {
    if is_text {
        return format!("'{}'", String::from_utf8_lossy(value));
    }
    format!("{:#x}", num_bigint::BigUint::from_bytes_be(value))
}

fn named(table: &info::Table, types: Option<&info::P4TypeInfo>) -> (u32, Table) {
    let preamble = table.preamble.clone().unwrap_or_default();
    let keys = table.match_fields.iter().map(|key| {
        let is_text = is_text(key.type_name.as_ref(), types);
        (key.id, Key { name: key.name.clone(), kind: kind_of(key), is_text })
    });
    (preamble.id, Table { name: preamble.name, alias: preamble.alias, keys: keys.collect() })
}

fn kind_of(key: &info::MatchField) -> MatchType {
    match key.r#match {
        Some(Match::MatchType(kind)) => MatchType::try_from(kind).unwrap_or_default(),
        _ => MatchType::Unspecified,
    }
}

fn is_text(name: Option<&info::P4NamedType>, types: Option<&info::P4TypeInfo>) -> bool {
    matches!(Form::of(name, types), Form::SdnText(_))
}
