//! The objects that the control plane sees: tables, actions, counters and so on, made from the instances.

use std::collections::HashMap;

use hir::architecture::{ObjectKind, TableProperty};
use hir::instances::{Instance, InstanceId, InstanceKind, Value as Constant, full_name, name_annotation};
use hir::{Annotation, Expr, Type};
use ir::{CounterUnit, HashAlgorithm, MatchKind, MeterUnit};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use syntax::diag::Diagnostic;
use syntax::source::Span;

use crate::context::{Lower, R, fail};
use crate::layout::LeafKind;

/// Which object of the flat form each instance became.
#[derive(Default)]
pub struct Objects {
    pub tables: HashMap<(InstanceId, hir::TableId), ir::TableId>,
    /// Actions by the control instance that declares them; `None` is the top level.
    pub actions: HashMap<(Option<InstanceId>, hir::ActionId), ir::ActionId>,
    pub counters: HashMap<InstanceId, ir::CounterId>,
    pub meters: HashMap<InstanceId, ir::MeterId>,
    pub registers: HashMap<InstanceId, ir::RegisterId>,
    pub buffers: HashMap<InstanceId, ir::BufferId>,
    pub profiles: HashMap<InstanceId, ir::ProfileId>,
    pub value_sets: HashMap<(InstanceId, hir::ValueSetId), ir::ValueSetId>,
    /// By the name of the data's type.
    pub digests: HashMap<String, ir::DigestId>,
    /// Of objects that are streams of digests.
    pub digest_streams: HashMap<InstanceId, ir::DigestId>,
    /// Where checksum objects keep their sums.
    pub checksums: HashMap<InstanceId, crate::psa::Checksum>,
    pub unnamed_digests: Vec<UnnamedDigest>,
    /// Which object has each name of the control plane, by kind, and where it is declared.
    pub names: HashMap<(&'static str, String), (usize, Span)>,
    /// The table of each direct meter.
    pub direct_meters: HashMap<InstanceId, ir::TableId>,
}

/// A digest of data whose type has no name: each call in the source has its own.
pub struct UnnamedDigest {
    pub id: ir::DigestId,
    pub call: Span,
    pub in_action: bool,
}

impl Lower<'_> {
    /// Makes all objects. Externs come first: tables name them.
    pub fn make_objects(&mut self) {
        let instances = self.instances;
        for (id, instance) in instances.iter() {
            if let InstanceKind::Extern(_) = instance.kind
                && let Err(error) = self.make_extern(id, instance)
            {
                self.diagnostics.push(*error);
            }
            for (set, name) in &instance.value_sets {
                if let Err(error) = self.make_value_set(id, *set, name) {
                    self.diagnostics.push(*error);
                }
            }
        }
        for (id, instance) in instances.iter() {
            self.instance = id;
            for (action, name) in &instance.actions {
                if let Err(error) = self.make_action(Some(id), *action, name.clone()) {
                    self.diagnostics.push(*error);
                }
            }
            for table in &instance.tables {
                if let Err(error) = self.make_table(id, table) {
                    self.diagnostics.push(*error);
                }
            }
        }
    }

    /// Notes that the program uses an object; another of its kind must not have the same name for the control plane.
    pub fn claim_name(&mut self, kind: &'static str, name: &str, object: usize, span: Span) {
        let (first, before) = *self.objects.names.entry((kind, name.to_string())).or_insert((object, span));
        if first != object {
            let error = Diagnostic::error(span, format!("two {kind}s have the name `{name}` for the control plane"))
                .label(before, "the other one is declared here")
                .help("give one of them another name with `@name(\"...\")`".to_string());
            self.diagnostics.push(error);
            self.objects.names.insert((kind, name.to_string()), (object, span));
        }
    }

    fn make_extern(&mut self, id: InstanceId, instance: &Instance) -> R<()> {
        let name = instance.name.clone();
        let Some(kind) = self.instances.object_kind(self.hir, id) else {
            return if self.instances.architecture().is_psa() { self.make_psa_extern(id, instance) } else { Ok(()) };
        };
        let word = match kind {
            ObjectKind::Counter => "counter",
            ObjectKind::Meter => "meter",
            ObjectKind::Register => "register",
            ObjectKind::PacketBuffer => "packet buffer",
            ObjectKind::ActionProfile | ObjectKind::ActionSelector => "action profile",
            ObjectKind::DirectCounter => "direct counter",
            ObjectKind::DirectMeter => "direct meter",
            ObjectKind::Digest => "digest",
        };
        self.claim_name(word, &name, id.0, instance.span);
        match kind {
            ObjectKind::Counter => {
                let size = number_arg(instance, 0, "the size of a counter")?;
                let unit = self.counter_unit(instance, 1)?;
                let counter = self.out.counters.push(ir::Counter { name, size, unit });
                self.objects.counters.insert(id, counter);
            }
            ObjectKind::Meter => {
                let size = number_arg(instance, 0, "the size of a meter")?;
                let unit = self.meter_unit(instance, 1)?;
                let meter = self.out.meters.push(ir::Meter { name, size, unit });
                self.objects.meters.insert(id, meter);
            }
            ObjectKind::Register => {
                let size = number_arg(instance, 0, "the size of a register")?;
                let Type::Extern(_, args) = self.hir.types.get(instance.ty) else { return Ok(()) };
                let Some(&element) = args.first() else {
                    return fail(instance.span, "a register needs the type of its elements");
                };
                let width = self.packed_width(element);
                if width == 0 {
                    return fail(instance.span, "a register cannot hold values of this type");
                }
                let initial = if self.instances.architecture().is_psa() {
                    self.initial_value(id, element)?
                } else {
                    BigUint::ZERO
                };
                let register = self.out.registers.push(ir::Register { name, size, width, initial });
                self.objects.registers.insert(id, register);
            }
            ObjectKind::PacketBuffer => {
                let queues = number_arg(instance, 0, "the number of queues of a packet buffer")?;
                let octets = number_arg(instance, 1, "the octets of a packet buffer")?;
                let octets_of_queue = number_arg(instance, 2, "the octets of a queue of a packet buffer")?;
                let buffer = self.out.buffers.push(ir::Buffer { name, queues, octets, octets_of_queue });
                self.objects.buffers.insert(id, buffer);
            }
            ObjectKind::ActionProfile => {
                let size = number_arg(instance, 0, "the size of an action profile")?;
                let profile = self.out.profiles.push(ir::Profile { name, size, selector: None });
                self.objects.profiles.insert(id, profile);
            }
            ObjectKind::ActionSelector => {
                let algorithm = match instance.args.first() {
                    Some(Some(Constant::EnumMember(ty, index))) => self.algorithm_of(*ty, *index, instance.span)?,
                    _ => return fail(instance.span, "an action selector needs a hash algorithm"),
                };
                let size = number_arg(instance, 1, "the size of an action selector")?;
                let output_width = number_arg(instance, 2, "the output width of an action selector")?;
                let Ok(output_width) = u32::try_from(output_width) else {
                    return fail(instance.span, "the output width of an action selector is too large");
                };
                let selector = Some(ir::Selector { algorithm, output_width });
                let profile = self.out.profiles.push(ir::Profile { name, size, selector });
                self.objects.profiles.insert(id, profile);
            }
            ObjectKind::Digest => {
                let Type::Extern(_, args) = self.hir.types.get(instance.ty) else { return Ok(()) };
                let Some(&data) = args.first() else {
                    return fail(instance.span, "a digest needs the type of its data");
                };
                let widths = self.data_leaves(data, "").iter().map(|leaf| leaf_width(leaf.kind)).collect();
                let digest = self.out.digests.push(ir::Digest { name, widths });
                self.objects.digest_streams.insert(id, digest);
            }
            ObjectKind::DirectCounter | ObjectKind::DirectMeter => {}
        }
        Ok(())
    }

    fn member_arg(&self, instance: &Instance, index: usize) -> Option<&str> {
        let Some(Some(Constant::EnumMember(ty, member))) = instance.args.get(index) else { return None };
        let Type::Enum(id) = self.hir.types.get(*ty) else { return None };
        self.hir.types.enums[*id].members.get(*member).map(|member| member.name.as_str())
    }

    pub fn counter_unit(&self, instance: &Instance, index: usize) -> R<CounterUnit> {
        match self.member_arg(instance, index) {
            Some("packets" | "PACKETS") => Ok(CounterUnit::Packets),
            Some("bytes" | "BYTES") => Ok(CounterUnit::Bytes),
            Some("packets_and_bytes" | "PACKETS_AND_BYTES") => Ok(CounterUnit::Both),
            _ => fail(instance.span, "a counter needs a type that is known when the program is compiled"),
        }
    }

    pub fn meter_unit(&self, instance: &Instance, index: usize) -> R<MeterUnit> {
        match self.member_arg(instance, index) {
            Some("packets" | "PACKETS") => Ok(MeterUnit::Packets),
            Some("bytes" | "BYTES") => Ok(MeterUnit::Bytes),
            _ => fail(instance.span, "a meter needs a type that is known when the program is compiled"),
        }
    }

    pub fn algorithm_of(&self, ty: hir::TypeId, index: usize, span: Span) -> R<HashAlgorithm> {
        let name = match self.hir.types.get(ty) {
            Type::Enum(id) => self.hir.types.enums[*id].members.get(index).map_or("", |member| &member.name),
            _ => "",
        };
        match algorithm(name) {
            Some(algorithm) => Ok(algorithm),
            None => fail(span, format!("`{name}` is not a hash algorithm of {}", self.instances.architecture().name)),
        }
    }

    fn make_value_set(&mut self, id: InstanceId, set: hir::ValueSetId, name: &str) -> R<()> {
        let decl = &self.hir.value_sets[set];
        let mut keys = Vec::new();
        // The control plane names the fields of a struct; what a field or a tuple holds is one key, packed.
        match self.hir.types.get(decl.ty) {
            Type::Struct(id) => {
                for field in &self.hir.types.structs[*id].fields {
                    let kind = match match_annotation(&field.annotations) {
                        Some(kind) => match_kind(&kind, decl.span)?,
                        None => MatchKind::Exact,
                    };
                    keys.push(ir::Key { name: field.name.clone(), width: self.packed_width(field.ty), kind });
                }
            }
            _ => {
                let width = self.packed_width(decl.ty);
                keys.push(ir::Key { name: String::new(), width, kind: MatchKind::Exact });
            }
        }
        if keys.is_empty() || keys.iter().any(|key| key.width == 0) {
            return fail(decl.span, "a value set cannot hold values of this type");
        }
        let set_id = self.out.value_sets.push(ir::ValueSet { name: name.to_string(), size: decl.size, keys });
        self.objects.value_sets.insert((id, set), set_id);
        Ok(())
    }

    /// The bits of all scalars of a type together.
    fn packed_width(&mut self, ty: hir::TypeId) -> u32 {
        self.data_leaves(ty, "").iter().map(|leaf| leaf_width(leaf.kind)).sum()
    }

    fn make_action(&mut self, owner: Option<InstanceId>, action: hir::ActionId, name: String) -> R<ir::ActionId> {
        let decl = &self.hir.actions[action];
        let mut params = Vec::new();
        for &param in &decl.params {
            if crate::call::direction(self.hir, param).is_none() {
                let var = &self.hir.vars[param];
                let leaves = self.data_leaves(var.ty, &var.name);
                params.extend(leaves.into_iter().map(|leaf| (leaf.name, leaf_width(leaf.kind))));
            }
        }
        let id = self.out.actions.push(ir::Action::new(name, params));
        self.objects.actions.insert((owner, action), id);
        Ok(id)
    }

    /// The action that a table of `instance` names: one of the control's own, or one of the top level.
    pub fn action_of(&mut self, instance: InstanceId, action: hir::ActionId) -> R<ir::ActionId> {
        let own = self.objects.actions.get(&(Some(instance), action));
        if let Some(id) = own.or_else(|| self.objects.actions.get(&(None, action))) {
            return Ok(*id);
        }
        let decl = &self.hir.actions[action];
        let name = full_name("", &decl.name, &decl.annotations);
        self.make_action(None, action, name)
    }

    fn make_table(&mut self, id: InstanceId, table: &hir::instances::TableInstance) -> R<()> {
        let decl = &self.hir.tables[table.table];
        let mut out = ir::Table {
            name: table.name.clone(),
            size: self.instances.table_size(self.hir, id, decl),
            ..ir::Table::default()
        };
        for key in &decl.keys {
            let width = self.width(key.expr.ty, key.expr.span)?.max(1);
            if key.match_kind == "selector" {
                out.selector_widths.push(width);
                continue;
            }
            let kind = match_kind(&key.match_kind, key.span)?;
            if kind == MatchKind::Lpm && out.keys.iter().any(|other: &ir::Key| other.kind == kind) {
                return fail(key.span, "a table can have one `lpm` key; a second prefix can be matched with `ternary`");
            }
            let name = name_annotation(&key.annotations).unwrap_or(&key.source).to_string();
            out.keys.push(ir::Key { name, width, kind });
        }
        for action in &decl.actions {
            let has = |name: &str| action.annotations.iter().any(|annotation| annotation.name == name);
            let (default_only, table_only) = (has("defaultonly"), has("tableonly"));
            let action = self.action_of(id, action.action)?;
            out.actions.push(ir::TableAction { action, default_only, table_only });
        }
        match &decl.default_action {
            Some(default) => {
                let Some(chosen) = out.actions.get(default.action) else {
                    return fail(decl.span, "the default action is not among the table's actions");
                };
                let args = self.action_args(chosen.action, &default.args, decl.span)?;
                out.default_action =
                    Some(ir::DefaultAction { action: default.action, args, is_const: default.is_const });
            }
            // A table without default action does nothing on a miss, and says so to the control plane.
            None => {
                let nothing = self.hir.actions.iter().find(|(_, action)| action.name == "NoAction");
                if let Some((nothing, _)) = nothing {
                    let action = self.action_of(id, nothing)?;
                    let known = out.actions.iter().position(|listed| listed.action == action);
                    let index = known.unwrap_or(out.actions.len());
                    if known.is_none() {
                        out.actions.push(ir::TableAction { action, default_only: true, table_only: false });
                    }
                    out.default_action = Some(ir::DefaultAction { action: index, args: Vec::new(), is_const: false });
                }
            }
        }
        let table_id = self.out.tables.push(ir::Table::default());
        self.table_properties(decl, table, table_id, &mut out)?;
        if self.instances.architecture().is_psa() && out.profile.is_some() {
            out.empty_group = self.empty_group(decl, &out)?;
        }
        if let Some(entries) = &decl.entries {
            out.const_entries = entries.is_const;
            out.entries = self.entries(decl, entries, &out)?;
        }
        self.out.tables[table_id] = out;
        self.objects.tables.insert((id, table.table), table_id);
        Ok(())
    }

    fn table_properties(
        &mut self,
        decl: &hir::Table,
        table: &hir::instances::TableInstance,
        id: ir::TableId,
        out: &mut ir::Table,
    ) -> R<()> {
        let instances = self.instances;
        for (index, property) in decl.properties.iter().enumerate() {
            let object = table.objects.iter().find(|(at, _)| *at == index).map(|(_, object)| *object);
            let kind = object.and_then(|object| instances.object_kind(self.hir, object));
            let Some(known) = instances.architecture().property(&property.name) else { continue };
            match (known, object) {
                (TableProperty::Implementation, Some(object)) => match self.objects.profiles.get(&object) {
                    Some(profile) => out.profile = Some(*profile),
                    None => {
                        let message = format!("`{}` takes an action profile or selector", property.name);
                        return fail(property.span, message);
                    }
                },
                (TableProperty::DirectCounter, Some(object)) if kind == Some(ObjectKind::DirectCounter) => {
                    let counter = instances.get(object);
                    let unit = self.counter_unit(counter, 0)?;
                    out.direct_counter = Some(ir::DirectCounter { name: counter.name.clone(), unit });
                }
                (TableProperty::DirectMeter, Some(object)) if kind == Some(ObjectKind::DirectMeter) => {
                    let meter = instances.get(object);
                    let unit = self.meter_unit(meter, 0)?;
                    out.direct_meter = Some(ir::DirectMeter { name: meter.name.clone(), unit });
                    if self.objects.direct_meters.insert(object, id).is_some() {
                        return fail(property.span, "a direct meter can belong to one table only");
                    }
                }
                (TableProperty::DirectCounter | TableProperty::DirectMeter, _) => {
                    let message = format!("`{}` takes a direct counter or meter", property.name);
                    return fail(property.span, message);
                }
                (TableProperty::IdleTimeout, _) => {
                    let value = self.constant(&property.value);
                    out.idle_timeout = value.is_some_and(|value| instances.wants_idle_timeout(self.hir, &value));
                }
                (TableProperty::Implementation, None) => {}
            }
        }
        Ok(())
    }

    /// Constant arguments for the parameters of an action that the control plane gives.
    pub fn action_args(&mut self, action: ir::ActionId, args: &[Expr], span: Span) -> R<Vec<BigUint>> {
        let widths: Vec<u32> = self.out.actions[action].params.iter().map(|param| param.width).collect();
        let mut out = Vec::new();
        for arg in args {
            self.constant_parts(arg, &widths, &mut out)?;
        }
        if out.len() != widths.len() {
            return fail(span, format!("the action takes {} arguments, {} are given", widths.len(), out.len()));
        }
        Ok(out)
    }

    pub fn constant_parts(&mut self, expr: &Expr, widths: &[u32], out: &mut Vec<BigUint>) -> R<()> {
        match self.constant(expr) {
            Some(Constant::Expr(list)) => match &list.kind {
                hir::ExprKind::Aggregate(items) => {
                    items.iter().try_for_each(|item| self.constant_parts(item, widths, out))
                }
                _ => fail(expr.span, "an argument here must be a constant"),
            },
            Some(value) => {
                let Some(width) = widths.get(out.len()) else {
                    return fail(expr.span, "there are more arguments than parameters");
                };
                match self.bits_of(&value, *width) {
                    Some(bits) => out.push(bits),
                    None => return fail(expr.span, "an argument here must be a constant number"),
                }
                Ok(())
            }
            None => fail(expr.span, "an argument here must be a constant"),
        }
    }

    pub fn bits_of(&self, value: &Constant, width: u32) -> Option<BigUint> {
        Some(match value {
            Constant::Int(value) => self.constant_bits(value, width),
            Constant::Bool(value) => BigUint::from(u8::from(*value)),
            Constant::EnumMember(_, index) => BigUint::from(*index),
            Constant::Error(index) => BigUint::from(self.error_code(*index)),
            _ => return None,
        })
    }
}

pub fn leaf_width(kind: LeafKind) -> u32 {
    match kind {
        LeafKind::Scalar(width, _) | LeafKind::Varbit(width) => width,
        LeafKind::Valid => 1,
        LeafKind::Next => 32,
    }
}

pub fn algorithm(name: &str) -> Option<HashAlgorithm> {
    Some(match name {
        "crc32" => HashAlgorithm::Crc32,
        "crc32_custom" => HashAlgorithm::Crc32Custom,
        "crc16" => HashAlgorithm::Crc16,
        "crc16_custom" => HashAlgorithm::Crc16Custom,
        "random" => HashAlgorithm::Random,
        "identity" => HashAlgorithm::Identity,
        "csum16" => HashAlgorithm::Csum16,
        "xor16" => HashAlgorithm::Xor16,
        // PSA's.
        "IDENTITY" => HashAlgorithm::Identity,
        "CRC32" => HashAlgorithm::Crc32,
        "CRC32_CUSTOM" => HashAlgorithm::Crc32Custom,
        "CRC16" | "TARGET_DEFAULT" => HashAlgorithm::Crc16,
        "CRC16_CUSTOM" => HashAlgorithm::Crc16Custom,
        "ONES_COMPLEMENT16" => HashAlgorithm::Csum16,
        _ => return None,
    })
}

fn number_arg(instance: &Instance, index: usize, what: &str) -> R<u64> {
    match instance.args.get(index) {
        Some(Some(Constant::Int(value))) if value.to_u64().is_some() => Ok(value.to_u64().unwrap_or_default()),
        _ => fail(instance.span, format!("{what} must be a number known when the program is compiled")),
    }
}

fn match_kind(name: &str, span: Span) -> R<MatchKind> {
    Ok(match name {
        "exact" => MatchKind::Exact,
        "lpm" => MatchKind::Lpm,
        "ternary" => MatchKind::Ternary,
        "range" => MatchKind::Range,
        "optional" => MatchKind::Optional,
        _ => return fail(span, format!("match kind `{name}` is not one that the switch has")),
    })
}

/// The match kind in `@match(kind)` on a field of a value set's type.
fn match_annotation(annotations: &[Annotation]) -> Option<String> {
    let annotation = annotations.iter().find(|annotation| annotation.name == "match")?;
    match &annotation.body {
        hir::AnnotationBody::Text(text) => Some(text.trim().to_string()),
        hir::AnnotationBody::Exprs(values) => match values.first()? {
            hir::AnnotationValue::Str(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}
