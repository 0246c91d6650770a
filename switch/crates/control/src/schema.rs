//! The objects of a program by their P4Info ids.

use std::collections::{BTreeMap, BTreeSet};

use ir::{ActionId, Handle, MatchKind, Program};
use proto::p4::config::v1 as info;
use proto::p4::config::v1::P4Info;
use proto::p4::config::v1::action_profile::SelectorSizeSemantics;

use crate::agreement;
use crate::data::Shape;
use crate::field::{Field, Form};
use crate::metered::unmetered;
use crate::packed;
use crate::status::{Result, Status};

/// What P4Info and the program together say. Everything is found by id; names only go into messages.
#[derive(Debug)]
pub struct Schema {
    pub tables: BTreeMap<u32, Table>,
    pub actions: BTreeMap<u32, Action>,
    pub profiles: BTreeMap<u32, Profile>,
    pub counters: BTreeMap<u32, Array<ir::CounterId>>,
    pub meters: BTreeMap<u32, Array<ir::MeterId>>,
    pub meter_kinds: BTreeMap<u32, info::meter_spec::Type>,
    pub registers: BTreeMap<u32, Register>,
    pub value_sets: BTreeMap<u32, ValueSet>,
    pub digests: BTreeMap<u32, Digest>,
    pub packet_in: Option<Vec<Field>>,
    pub packet_out: Option<Vec<Field>>,
    /// The form of ports that P4Runtime itself names: of copies, and those that members of groups watch.
    pub port: Field,
}

#[derive(Debug)]
pub struct Table {
    pub id: u32,
    pub name: String,
    pub handle: ir::TableId,
    pub keys: Vec<Key>,
    pub actions: Vec<ActionRef>,
    /// The action profile that holds its actions.
    pub profile: Option<u32>,
    pub is_const: bool,
    pub const_default: bool,
    pub idle_timeout: bool,
    pub direct_counter: bool,
    pub direct_meter: Option<info::meter_spec::Type>,
    /// Actions that do not read the direct meter, by id.
    pub unmetered: Vec<u32>,
}

impl Table {
    /// Entries have priorities (spec "TableEntry").
    pub fn has_priority(&self) -> bool {
        self.keys.iter().any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional))
    }
}

#[derive(Debug)]
pub struct Key {
    pub field: Field,
    /// As the control plane matches it.
    pub kind: MatchKind,
    /// As the table has it: BMv2 JSON calls optional keys ternary.
    pub stored: MatchKind,
}

/// An action that a table or profile may hold.
#[derive(Debug, Clone, Copy)]
pub struct ActionRef {
    pub id: u32,
    pub handle: ActionId,
    pub default_only: bool,
    pub table_only: bool,
}

#[derive(Debug)]
pub struct Action {
    pub name: String,
    pub params: Vec<Field>,
}

#[derive(Debug)]
pub struct Profile {
    pub id: u32,
    pub name: String,
    pub handle: ir::ProfileId,
    pub actions: Vec<ActionRef>,
    pub has_selector: bool,
    /// 0 is no bound.
    pub max_group_size: u32,
    /// Set when sizes count members; the most weight of one, 0 is no bound.
    pub sum_of_members: Option<u32>,
    pub weights_disallowed: bool,
}

/// Counters or meters.
#[derive(Debug)]
pub struct Array<H> {
    pub name: String,
    pub handle: H,
    pub size: u64,
}

#[derive(Debug)]
pub struct Register {
    pub name: String,
    pub handle: ir::RegisterId,
    pub size: u64,
    pub shape: Shape,
    /// Of the scalars in a cell.
    pub widths: Vec<u32>,
}

#[derive(Debug)]
pub struct ValueSet {
    pub name: String,
    pub handle: ir::ValueSetId,
    pub keys: Vec<Key>,
    pub size: usize,
}

#[derive(Debug)]
pub struct Digest {
    pub name: String,
    pub handle: ir::DigestId,
    pub shape: Shape,
}

impl Schema {
    /// Matches every object of the P4Info with the program's object of the same name.
    pub fn new(p4info: &P4Info, program: &Program) -> Result<Self> {
        agreement::unique_ids(p4info)?;
        let types = p4info.type_info.as_ref();
        // P4Info also has actions that only the program calls; nobody can write those.
        let listed: BTreeSet<u32> =
            p4info.tables.iter().flat_map(|table| &table.action_refs).map(|reference| reference.id).collect();
        let is_listed = |action: &&info::Action| {
            action.preamble.as_ref().is_none_or(|preamble| preamble.id == 0 || listed.contains(&preamble.id))
        };
        let actions = p4info.actions.iter().filter(is_listed);
        let mut schema = Self {
            tables: BTreeMap::new(),
            actions: actions.map(|action| named_action(action, types, program)).collect::<Result<_>>()?,
            profiles: BTreeMap::new(),
            counters: BTreeMap::new(),
            meters: BTreeMap::new(),
            meter_kinds: BTreeMap::new(),
            registers: BTreeMap::new(),
            value_sets: BTreeMap::new(),
            digests: BTreeMap::new(),
            packet_in: None,
            packet_out: None,
            port: Field { id: 0, name: "port".into(), width: 32, form: Form::Plain },
        };
        for counter in &p4info.counters {
            let (id, name) = preamble(&counter.preamble)?;
            let handle = find("counter", name, program.counters.iter().map(|(h, c)| (h, &*c.name)))?;
            let size = program.counters[handle].size;
            schema.counters.insert(id, Array { name: name.to_owned(), handle, size });
        }
        for meter in &p4info.meters {
            let (id, name) = preamble(&meter.preamble)?;
            let handle = find("meter", name, program.meters.iter().map(|(h, m)| (h, &*m.name)))?;
            schema.meter_kinds.insert(id, meter.spec.map(|spec| spec.r#type()).unwrap_or_default());
            schema.meters.insert(id, Array { name: name.to_owned(), handle, size: program.meters[handle].size });
        }
        for register in &p4info.registers {
            let (id, name) = preamble(&register.preamble)?;
            let handle = find("register", name, program.registers.iter().map(|(h, r)| (h, &*r.name)))?;
            let place = |error: Status| error.within(format_args!("register {name}"));
            let spec = register.type_spec.as_ref();
            let widths = packed::widths(spec, types, program.registers[handle].width).map_err(place)?;
            let shape = Shape::new(spec, types, &program.errors, &widths).map_err(place)?;
            let size = program.registers[handle].size;
            schema.registers.insert(id, Register { name: name.to_owned(), handle, size, shape, widths });
        }
        for set in &p4info.value_sets {
            let (id, name) = preamble(&set.preamble)?;
            let handle = find("value set", name, program.value_sets.iter().map(|(h, s)| (h, &*s.name)))?;
            let keys = keys("value set", name, &set.r#match, &program.value_sets[handle].keys, types)?;
            let size = usize::try_from(program.value_sets[handle].size).unwrap_or(usize::MAX);
            schema.value_sets.insert(id, ValueSet { name: name.to_owned(), handle, keys, size });
        }
        for digest in &p4info.digests {
            let (id, name) = preamble(&digest.preamble)?;
            let handle = find("digest", name, program.digests.iter().map(|(h, d)| (h, &*d.name)))?;
            let widths = &program.digests[handle].widths;
            let shape = Shape::new(digest.type_spec.as_ref(), types, &program.errors, widths)
                .map_err(|error| error.within(format_args!("digest {name}")))?;
            schema.digests.insert(id, Digest { name: name.to_owned(), handle, shape });
        }
        for table in &p4info.tables {
            let table = schema.table(table, p4info, program)?;
            schema.tables.insert(table.id, table);
        }
        for profile in &p4info.action_profiles {
            let profile = schema.profile(profile, program)?;
            schema.profiles.insert(profile.id, profile);
        }
        for header in &p4info.controller_packet_metadata {
            let fields = controller_header(header, types, program);
            match preamble(&header.preamble)?.1 {
                "packet_in" => schema.packet_in = Some(fields),
                "packet_out" => schema.packet_out = Some(fields),
                _ => {}
            }
        }
        schema.port = schema.text_of_packets().unwrap_or(schema.port);
        Ok(schema)
    }

    /// The metadata of packets that is a text, if all such are of one type: it names ports then, as in SAI P4. v1model has no
    /// type of ports that a program could translate (spec "Translation of Port Numbers" has PSA's).
    fn text_of_packets(&self) -> Option<Field> {
        let headers = [&self.packet_in, &self.packet_out].into_iter().flatten();
        let mut texts = headers.flatten().filter(|field| matches!(field.form, Form::SdnText(_)));
        let first = texts.next()?;
        texts.all(|other| other.form == first.form).then(|| first.clone())
    }

    /// Keys of tables and parameters of actions.
    pub fn values(&self) -> impl Iterator<Item = &Field> {
        let keys = self.tables.values().flat_map(|table| &table.keys).map(|key| &key.field);
        keys.chain(self.actions.values().flat_map(|action| &action.params))
    }

    fn table(&self, table: &info::Table, p4info: &P4Info, program: &Program) -> Result<Table> {
        let (id, name) = preamble(&table.preamble)?;
        let handle = find("table", name, program.tables.iter().map(|(h, t)| (h, &*t.name)))?;
        let object = &program.tables[handle];
        let mut actions = Vec::new();
        for reference in &table.action_refs {
            let action = self.actions.get(&reference.id).ok_or_else(|| {
                Status::invalid(format!("P4Info's table {name} refers to action {}, which is not there", reference.id))
            })?;
            let handle = find(
                "action",
                &action.name,
                object.actions.iter().map(|a| (a.action, &*program.actions[a.action].name)),
            )
            .map_err(|error| error.within(format_args!("table {name}")))?;
            let scope = reference.scope();
            actions.push(ActionRef {
                id: reference.id,
                handle,
                default_only: scope == info::action_ref::Scope::DefaultOnly,
                table_only: scope == info::action_ref::Scope::TableOnly,
            });
        }
        let unmetered = match object.direct_meter {
            Some(_) => unmetered(program, handle),
            None => BTreeSet::new(),
        };
        let unmetered = unmetered.into_iter().map(|index| object.actions[index].action);
        let unmetered = unmetered.filter_map(|handle| actions.iter().find(|action| action.handle == handle));
        let unmetered = unmetered.map(|action| action.id).collect();
        let meter = p4info.direct_meters.iter().find(|meter| meter.direct_table_id == id);
        Ok(Table {
            id,
            name: name.to_owned(),
            handle,
            keys: keys("table", name, &table.match_fields, &object.keys, p4info.type_info.as_ref())?,
            actions,
            profile: Some(table.implementation_id).filter(|id| *id != 0),
            is_const: table.is_const_table,
            const_default: table.const_default_action_id != 0,
            idle_timeout: object.idle_timeout,
            direct_counter: object.direct_counter.is_some(),
            direct_meter: object
                .direct_meter
                .as_ref()
                .map(|_| meter.and_then(|meter| meter.spec).map(|spec| spec.r#type()).unwrap_or_default()),
            unmetered,
        })
    }

    fn profile(&self, profile: &info::ActionProfile, program: &Program) -> Result<Profile> {
        let (id, name) = preamble(&profile.preamble)?;
        let handle = find("action profile", name, program.profiles.iter().map(|(h, p)| (h, &*p.name)))?;
        let table = self.tables.values().find(|table| table.profile == Some(id));
        Ok(Profile {
            id,
            name: name.to_owned(),
            handle,
            actions: table.map(|table| table.actions.clone()).unwrap_or_default(),
            has_selector: profile.with_selector,
            max_group_size: u32::try_from(profile.max_group_size).unwrap_or(0),
            sum_of_members: match &profile.selector_size_semantics {
                Some(SelectorSizeSemantics::SumOfMembers(sum)) => {
                    Some(u32::try_from(sum.max_member_weight).unwrap_or(0))
                }
                _ => None,
            },
            weights_disallowed: profile.weights_disallowed,
        })
    }
}

fn preamble(preamble: &Option<info::Preamble>) -> Result<(u32, &str)> {
    match preamble {
        Some(preamble) if preamble.id != 0 => Ok((preamble.id, &preamble.name)),
        Some(preamble) => Err(Status::invalid(format!("P4Info's {} has no id", preamble.name))),
        None => Err(Status::invalid("P4Info has an object without a preamble")),
    }
}

fn find<'a, H>(kind: &str, name: &str, mut objects: impl Iterator<Item = (H, &'a str)>) -> Result<H> {
    objects
        .find(|(_, object)| *object == name)
        .map(|(handle, _)| handle)
        .ok_or_else(|| Status::invalid(format!("P4Info has a {kind} {name} that the program does not have")))
}

fn keys(
    kind: &str,
    name: &str,
    fields: &[info::MatchField],
    keys: &[ir::Key],
    types: Option<&info::P4TypeInfo>,
) -> Result<Vec<Key>> {
    if fields.len() != keys.len() {
        return Err(Status::invalid(format!(
            "P4Info's {kind} {name} has {} match fields, the program's has {}",
            fields.len(),
            keys.len()
        )));
    }
    let key = |(field, key): (&info::MatchField, &ir::Key)| {
        let form = Form::of(field.type_name.as_ref(), types);
        let matched = agreement::key(field, key, &form);
        let matched = matched.map_err(|error| error.within(format_args!("P4Info's {kind} {name}")))?;
        let field = Field { id: field.id, name: field.name.clone(), width: key.width, form };
        Ok(Key { field, kind: matched, stored: key.kind })
    };
    fields.iter().zip(keys).map(key).collect()
}

/// The metadata of a controller header. P4Info gives translated ones in the width of the control plane; what they take
/// on the wire says the program's header with the same fields.
fn controller_header(
    header: &info::ControllerPacketMetadata,
    types: Option<&info::P4TypeInfo>,
    program: &Program,
) -> Vec<Field> {
    let on_wire = program.header_types.iter().map(|(_, header_type)| &header_type.fields).find(|fields| {
        fields.iter().map(|field| &field.name).eq(header.metadata.iter().map(|metadata| &metadata.name))
    });
    let field = |(at, metadata): (usize, &info::controller_packet_metadata::Metadata)| {
        let form = Form::of(metadata.type_name.as_ref(), types);
        let width = match on_wire {
            Some(fields) if form != Form::Plain => fields[at].width,
            _ => u32::try_from(metadata.bitwidth).unwrap_or(0),
        };
        Field { id: metadata.id, name: metadata.name.clone(), width, form }
    };
    header.metadata.iter().enumerate().map(field).collect()
}

fn named_action(action: &info::Action, types: Option<&info::P4TypeInfo>, program: &Program) -> Result<(u32, Action)> {
    let (id, name) = preamble(&action.preamble)?;
    let handle = find("action", name, program.actions.iter().map(|(handle, action)| (handle, &*action.name)))?;
    let object = &program.actions[handle];
    if object.params.len() != action.params.len() {
        return Err(Status::invalid(format!(
            "P4Info's action {name} has {} parameters, the program's has {}",
            action.params.len(),
            object.params.len()
        )));
    }
    let params = action.params.iter().zip(&object.params).map(|(param, object)| {
        let form = Form::of(param.type_name.as_ref(), types);
        agreement::width("parameter", &param.name, param.bitwidth, object.width, &form)
            .map_err(|error| error.within(format_args!("P4Info's action {name}")))?;
        Ok(Field { id: param.id, name: param.name.clone(), width: object.width, form })
    });
    Ok((id, Action { name: name.to_owned(), params: params.collect::<Result<_>>()? }))
}

/// The P4Info id of the object a handle stands for.
pub fn id_of<H: Handle, T>(objects: &BTreeMap<u32, T>, handle: H, of: impl Fn(&T) -> H) -> Option<u32> {
    objects.iter().find(|(_, object)| of(object).index() == handle.index()).map(|(id, _)| *id)
}
