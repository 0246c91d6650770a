//! Counters, meters, registers, action profiles and value sets.

use hir::architecture::ObjectKind;
use hir::instances::{Instance, InstanceId, Value};
use hir::{Type, ValueSetId};
use num_traits::ToPrimitive;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::action_profile::{SelectorSizeSemantics, SumOfMembers, SumOfWeights};
use proto::p4::config::v1::match_field::{Match, MatchType};
use proto::p4::config::v1::{counter_spec, meter_spec};

use crate::annotation;
use crate::ids::Kind;
use crate::message::Builder;
use crate::types::{control_plane_name, new_type_name, width};

/// What an action profile says in fields of its own.
const PROFILE_FIELDS: [&str; 3] = ["max_group_size", "selector_size_semantics", "max_member_weight"];

impl Builder<'_> {
    /// An extern object that is declared. Direct ones come with their tables.
    pub fn object(&mut self, id: InstanceId) {
        let instance = self.instances.get(id);
        self.types();
        match self.instances.object_kind(self.program, id) {
            Some(ObjectKind::Counter) => {
                let preamble = Some(self.preamble(Kind::Counter, &instance.name, &instance.annotations, &[]));
                let (spec, size) = (Some(self.counter_spec(instance, 1)), size(instance, 0));
                let index_type_name = self.index_type(instance, 1);
                self.info.counters.push(info::Counter { preamble, spec, size, index_type_name });
            }
            Some(ObjectKind::Meter) => {
                let preamble = Some(self.preamble(Kind::Meter, &instance.name, &instance.annotations, &[]));
                let (spec, size) = (Some(self.meter_spec(instance, 1)), size(instance, 0));
                let index_type_name = self.index_type(instance, 0);
                self.info.meters.push(info::Meter { preamble, spec, size, index_type_name });
            }
            Some(ObjectKind::Register) => {
                let element = match self.program.types.get(instance.ty) {
                    Type::Extern(_, args) => args.first().copied(),
                    _ => None,
                };
                let type_spec = element.map(|element| self.describe(element));
                let preamble = Some(self.preamble(Kind::Register, &instance.name, &instance.annotations, &[]));
                let size = size(instance, 0).to_i32().unwrap_or(i32::MAX);
                let index_type_name = self.index_type(instance, 1);
                self.info.registers.push(info::Register { preamble, type_spec, size, index_type_name });
            }
            Some(ObjectKind::ActionProfile | ObjectKind::ActionSelector) => self.profile(id),
            Some(ObjectKind::Digest) => {
                let data = match self.program.types.get(instance.ty) {
                    Type::Extern(_, args) => args.first().copied(),
                    _ => None,
                };
                let type_spec = data.map(|data| self.describe(data));
                let preamble = Some(self.preamble(Kind::Digest, &instance.name, &instance.annotations, &[]));
                self.info.digests.push(info::Digest { preamble, type_spec });
            }
            Some(ObjectKind::PacketBuffer) => self.packet_buffer(instance),
            Some(ObjectKind::DirectCounter | ObjectKind::DirectMeter) | None => {}
        }
    }

    /// The name of the type of an array's indices, PSA's type argument of that number, if it is a type of its own.
    fn index_type(&mut self, instance: &Instance, argument: usize) -> Option<info::P4NamedType> {
        let Type::Extern(_, args) = self.program.types.get(instance.ty) else { return None };
        let ty = *args.get(argument).filter(|_| self.instances.architecture().is_psa())?;
        self.describe(ty);
        new_type_name(self.program, ty)
    }

    /// An extern that P4Runtime has no message for: its type's id is of those that are for vendors.
    fn packet_buffer(&mut self, instance: &Instance) {
        let kind = Kind::PacketBuffer;
        let preamble = Some(self.preamble(kind, &instance.name, &instance.annotations, &[]));
        let instance = info::ExternInstance { preamble, info: None };
        let known = self.info.externs.iter_mut().find(|known| known.extern_type_id == u32::from(kind as u8));
        match known {
            Some(known) => known.instances.push(instance),
            None => self.info.externs.push(info::Extern {
                extern_type_id: u32::from(kind as u8),
                extern_type_name: "packet_buffer".to_owned(),
                instances: vec![instance],
            }),
        }
    }

    pub fn profile(&mut self, id: InstanceId) {
        let instance = self.instances.get(id);
        let with_selector = self.instances.object_kind(self.program, id) == Some(ObjectKind::ActionSelector);
        let preamble = Some(self.preamble(Kind::ActionProfile, &instance.name, &instance.annotations, &PROFILE_FIELDS));
        let number = |name: &str| {
            let number = annotation::number(&instance.annotations, name).filter(|_| with_selector);
            number.and_then(ToPrimitive::to_i32).unwrap_or_default()
        };
        let semantics = annotation::string(&instance.annotations, "selector_size_semantics").filter(|_| with_selector);
        let selector_size_semantics = match semantics.map(str::to_lowercase).as_deref() {
            Some("sum_of_weights") => Some(SelectorSizeSemantics::SumOfWeights(SumOfWeights {})),
            Some("sum_of_members") => {
                let max_member_weight = number("max_member_weight");
                Some(SelectorSizeSemantics::SumOfMembers(SumOfMembers { max_member_weight }))
            }
            _ => None,
        };
        let tables = self.implemented.get(&id).into_iter().flatten();
        let profile = info::ActionProfile {
            preamble,
            table_ids: tables.map(|table| self.symbols.id(Kind::Table, table)).collect(),
            with_selector,
            size: size(instance, usize::from(with_selector)),
            max_group_size: number("max_group_size"),
            selector_size_semantics,
            ..Default::default()
        };
        self.info.action_profiles.push(profile);
    }

    pub fn direct_counter(&mut self, id: InstanceId, direct_table_id: u32) {
        let instance = self.instances.get(id);
        let preamble = Some(self.preamble(Kind::DirectCounter, &instance.name, &instance.annotations, &[]));
        let spec = Some(self.counter_spec(instance, 0));
        self.info.direct_counters.push(info::DirectCounter { preamble, spec, direct_table_id });
    }

    pub fn direct_meter(&mut self, id: InstanceId, direct_table_id: u32) {
        let instance = self.instances.get(id);
        let preamble = Some(self.preamble(Kind::DirectMeter, &instance.name, &instance.annotations, &[]));
        let spec = Some(self.meter_spec(instance, 0));
        self.info.direct_meters.push(info::DirectMeter { preamble, spec, direct_table_id });
    }

    fn counter_spec(&self, instance: &Instance, argument: usize) -> info::CounterSpec {
        let unit = match self.member(instance, argument) {
            "packets" | "PACKETS" => counter_spec::Unit::Packets,
            "bytes" | "BYTES" => counter_spec::Unit::Bytes,
            "packets_and_bytes" | "PACKETS_AND_BYTES" => counter_spec::Unit::Both,
            _ => counter_spec::Unit::Unspecified,
        };
        info::CounterSpec { unit: unit.into() }
    }

    fn meter_spec(&self, instance: &Instance, argument: usize) -> info::MeterSpec {
        let unit = match self.member(instance, argument) {
            "packets" | "PACKETS" => meter_spec::Unit::Packets,
            "bytes" | "BYTES" => meter_spec::Unit::Bytes,
            _ => meter_spec::Unit::Unspecified,
        };
        info::MeterSpec { unit: unit.into(), ..Default::default() }
    }

    /// The member of an enum that a constructor is given.
    fn member(&self, instance: &Instance, argument: usize) -> &str {
        match instance.args.get(argument) {
            Some(Some(Value::EnumMember(ty, index))) => match self.program.types.get(*ty) {
                Type::Enum(id) => &self.program.types.enums[*id].members[*index].name,
                _ => "",
            },
            _ => "",
        }
    }

    pub fn value_set(&mut self, id: ValueSetId, name: &str) {
        let decl = &self.program.value_sets[id];
        let preamble = Some(self.preamble(Kind::ValueSet, name, &decl.annotations, &[]));
        let exact = Some(Match::MatchType(MatchType::Exact.into()));
        let types = &self.program.types;
        let fields = match types.get(decl.ty) {
            Type::Struct(structure) => {
                let fields = &types.structs[*structure].fields;
                let ids = self.field_ids(fields.iter().map(|field| &*field.annotations));
                let field = |(field, id): (&hir::Field, u32)| info::MatchField {
                    id,
                    name: control_plane_name(&field.name, &field.annotations),
                    bitwidth: width(self.program, field.ty) as i32,
                    r#match: match annotation::find(&field.annotations, "match") {
                        Some(kind) => match_kind(kind.text.as_deref().unwrap_or_default().trim()),
                        None => exact.clone(),
                    },
                    annotations: annotation::texts(&field.annotations, &["match"]),
                    structured_annotations: annotation::structured(&field.annotations),
                    doc: annotation::documentation(&field.annotations),
                    ..Default::default()
                };
                fields.iter().zip(ids).map(field).collect()
            }
            Type::Enum(id) => {
                let bitwidth = width(self.program, decl.ty) as i32;
                let member = |(member, id): (&hir::EnumMember, u32)| info::MatchField {
                    id,
                    name: control_plane_name(&member.name, &member.annotations),
                    bitwidth,
                    r#match: exact.clone(),
                    ..Default::default()
                };
                types.enums[*id].members.iter().zip(1..).map(member).collect()
            }
            _ => {
                let bitwidth = width(self.program, decl.ty) as i32;
                vec![info::MatchField { id: 1, bitwidth, r#match: exact, ..Default::default() }]
            }
        };
        let size = decl.size.to_i32().unwrap_or(i32::MAX);
        self.info.value_sets.push(info::ValueSet { preamble, r#match: fields, size });
    }
}

/// A match kind as P4Info has it; one of the program's own is given by its name.
pub fn match_kind(name: &str) -> Option<Match> {
    let kind = match name {
        "exact" => MatchType::Exact,
        "lpm" => MatchType::Lpm,
        "ternary" => MatchType::Ternary,
        "range" => MatchType::Range,
        "optional" => MatchType::Optional,
        other => return Some(Match::OtherMatchType(other.to_owned())),
    };
    Some(Match::MatchType(kind.into()))
}

fn size(instance: &Instance, argument: usize) -> i64 {
    match instance.args.get(argument) {
        Some(Some(Value::Int(size))) => size.to_i64().unwrap_or(i64::MAX),
        _ => 0,
    }
}
