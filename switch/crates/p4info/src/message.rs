//! The whole message: names are collected first, then every object is described.

use std::collections::{BTreeMap, BTreeSet};

use hir::architecture::{ObjectKind, TableProperty};
use hir::instances::{InstanceId, Instances};
use hir::{Annotation, AnnotationBody, AnnotationValue, Program, StructId, TypeId};
use num_traits::ToPrimitive;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::P4Info;
use syntax::diag::{Diagnostic, Diagnostics};
use syntax::source::Span;

use crate::annotation;
use crate::ids::{Collected, Kind, Symbols, check_field_ids, field_ids};
use crate::types::{control_plane_name, header_fields, new_type_name, spec, width};
use crate::visible::{Action, Visible, digest_names, visible};

pub struct Builder<'p> {
    pub program: &'p Program,
    pub instances: &'p Instances,
    pub symbols: Symbols,
    pub info: P4Info,
    /// The names of the tables that each action profile implements.
    pub implemented: BTreeMap<InstanceId, BTreeSet<String>>,
    visible: Visible<'p>,
    digests: Vec<(TypeId, String)>,
    diagnostics: Diagnostics,
    /// Where each name of a controller header is given.
    controller_headers: BTreeMap<String, Span>,
}

/// Names and ids of all visible objects.
pub fn collect(
    program: &Program,
    instances: &Instances,
    visible: &Visible,
    digests: &[(TypeId, String)],
    diagnostics: &mut Diagnostics,
) -> Symbols {
    let mut collected = Collected::default();
    let mut add = |kind: Kind, name: &str, given: Option<annotation::Id>| collected.add(kind, name, given, diagnostics);
    let in_blocks = visible.blocks.iter().flat_map(|block| &block.externs);
    for &id in visible.globals.iter().chain(in_blocks) {
        let instance = instances.get(id);
        if let Some(kind) = object_kind(program, instances, id) {
            add(kind, &instance.name, annotation::id(&instance.annotations));
        }
    }
    for block in &visible.blocks {
        for action in &block.actions {
            add(Kind::Action, &action.name, annotation::id(&program.actions[action.action].annotations));
        }
        for table in &block.tables {
            let decl = &program.tables[table.table.table];
            add(Kind::Table, &table.table.name, annotation::id(&decl.annotations));
            for (_, object) in &table.table.objects {
                let instance = instances.get(*object);
                if let (Some(kind), None) = (object_kind(program, instances, *object), instance.var) {
                    add(kind, &instance.name, None);
                }
            }
        }
        for (set, name) in &block.value_sets {
            add(Kind::ValueSet, name, annotation::id(&program.value_sets[*set].annotations));
        }
    }
    for (_, name) in digests {
        add(Kind::Digest, name, None);
    }
    for (_, header) in controller_headers(program) {
        let name = control_plane_name(&header.name, &header.annotations);
        add(Kind::ControllerHeader, &name, annotation::id(&header.annotations));
    }
    collected.finish()
}

/// The kind of an extern object; P4Info has no place for the others.
fn object_kind(program: &Program, instances: &Instances, id: InstanceId) -> Option<Kind> {
    Some(match instances.object_kind(program, id)? {
        ObjectKind::ActionProfile | ObjectKind::ActionSelector => Kind::ActionProfile,
        ObjectKind::Counter => Kind::Counter,
        ObjectKind::DirectCounter => Kind::DirectCounter,
        ObjectKind::Meter => Kind::Meter,
        ObjectKind::DirectMeter => Kind::DirectMeter,
        ObjectKind::Register => Kind::Register,
        ObjectKind::Digest => Kind::Digest,
        ObjectKind::PacketBuffer => Kind::PacketBuffer,
    })
}

fn controller_headers(program: &Program) -> impl Iterator<Item = (StructId, &hir::StructDecl)> {
    program.types.structs.iter().filter(|(_, decl)| annotation::has(&decl.annotations, "controller_header"))
}

impl<'p> Builder<'p> {
    pub fn new(program: &'p Program, instances: &'p Instances) -> Self {
        let visible = visible(program, instances);
        let digests = digest_names(program, &visible);
        let mut diagnostics = Diagnostics::new();
        let symbols = collect(program, instances, &visible, &digests, &mut diagnostics);
        Self {
            program,
            instances,
            symbols,
            info: P4Info::default(),
            implemented: BTreeMap::new(),
            visible,
            digests,
            diagnostics,
            controller_headers: BTreeMap::new(),
        }
    }

    /// The message, unless the program gives ids or names that it can't have.
    pub fn build(mut self) -> Result<P4Info, Diagnostics> {
        let visible = std::mem::take(&mut self.visible);
        let profiles = visible.blocks.iter().flat_map(|block| &block.tables);
        for table in profiles {
            if let Some(object) = self.property_object(table, TableProperty::Implementation) {
                self.implemented.entry(object).or_default().insert(table.table.name.clone());
            }
        }
        for &id in &visible.globals {
            self.object(id);
        }
        for block in &visible.blocks {
            for action in &block.actions {
                self.action(action);
            }
            for (set, name) in &block.value_sets {
                self.value_set(*set, name);
            }
            // p4c makes the type info as soon as it looks for digests.
            if block.calls_extern {
                self.types();
            }
        }
        for (data, name) in std::mem::take(&mut self.digests) {
            self.digest(data, &name);
        }
        for block in &visible.blocks {
            for &id in &block.externs {
                self.object(id);
            }
            for table in &block.tables {
                self.table(table);
            }
        }
        for (id, header) in controller_headers(self.program) {
            self.controller_header(id, header);
        }
        self.package();
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok(self.info) }
    }

    /// The ids of the fields of one object, in their order.
    pub fn field_ids<'a>(&mut self, fields: impl Iterator<Item = &'a [Annotation]>) -> Vec<u32> {
        let given: Vec<_> = fields.map(annotation::id).collect();
        check_field_ids(&given, &mut self.diagnostics);
        field_ids(&given)
    }

    /// The description of types, which is there once anything asked for it, even if it stays empty.
    pub fn types(&mut self) -> &mut info::P4TypeInfo {
        self.info.type_info.get_or_insert_default()
    }

    pub fn describe(&mut self, ty: TypeId) -> info::P4DataTypeSpec {
        let program = self.program;
        spec(program, self.types(), ty)
    }

    pub fn preamble(&self, kind: Kind, name: &str, annotations: &[Annotation], without: &[&str]) -> info::Preamble {
        info::Preamble {
            id: self.symbols.id(kind, name),
            name: name.to_owned(),
            alias: self.symbols.alias(name).to_owned(),
            annotations: annotation::texts(annotations, without),
            doc: annotation::documentation(annotations),
            structured_annotations: annotation::structured(annotations),
            ..Default::default()
        }
    }

    fn action(&mut self, action: &Action) {
        let decl = &self.program.actions[action.action];
        let known = self.symbols.id(Kind::Action, &action.name);
        let is_known = |action: &info::Action| action.preamble.as_ref().is_some_and(|preamble| preamble.id == known);
        if annotation::has(&decl.annotations, "hidden") || self.info.actions.iter().any(is_known) {
            return;
        }
        let preamble = Some(self.preamble(Kind::Action, &action.name, &decl.annotations, &[]));
        let params = decl.params.iter().map(|param| &self.program.vars[*param]);
        let params: Vec<_> = params.filter(|param| action.listed && param.kind == hir::VarKind::Param(None)).collect();
        let ids = self.field_ids(params.iter().map(|param| &*param.annotations));
        let param = |(param, id): (&&hir::Var, u32)| {
            self.describe(param.ty);
            info::action::Param {
                id,
                name: control_plane_name(&param.name, &param.annotations),
                annotations: annotation::texts(&param.annotations, &[]),
                bitwidth: width(self.program, param.ty) as i32,
                doc: annotation::documentation(&param.annotations),
                type_name: new_type_name(self.program, param.ty).or_else(|| self.enum_name(param.ty)),
                structured_annotations: annotation::structured(&param.annotations),
                ..Default::default()
            }
        };
        let params = params.iter().zip(ids).map(param).collect();
        self.info.actions.push(info::Action { preamble, params });
    }

    /// The name of an enum without underlying type.
    fn enum_name(&self, ty: TypeId) -> Option<info::P4NamedType> {
        let hir::Type::Enum(id) = self.program.types.get(ty) else { return None };
        let decl = &self.program.types.enums[*id];
        let name = control_plane_name(&decl.name, &decl.annotations);
        decl.underlying.is_none().then_some(info::P4NamedType { name })
    }

    fn digest(&mut self, data: TypeId, name: &str) {
        let id = self.symbols.id(Kind::Digest, name);
        let is_known = |digest: &info::Digest| digest.preamble.as_ref().is_some_and(|preamble| preamble.id == id);
        if self.info.digests.iter().any(is_known) {
            return;
        }
        let type_spec = Some(self.describe(data));
        let preamble = Some(self.preamble(Kind::Digest, name, &[], &[]));
        self.info.digests.push(info::Digest { preamble, type_spec });
    }

    fn controller_header(&mut self, id: StructId, header: &hir::StructDecl) {
        if annotation::has(&header.annotations, "hidden") {
            return;
        }
        let name = annotation::string(&header.annotations, "controller_header").unwrap_or_default();
        let span = annotation::find(&header.annotations, "controller_header").map_or(header.span, |found| found.span);
        if let Some(before) = self.controller_headers.insert(name.to_owned(), span) {
            let error = Diagnostic::error(span, format!("two headers are the controller header `{name}`"));
            let error = error.label(before, "the other one is declared here");
            self.diagnostics.push(error.help("give one of them another name"));
        }
        let symbol = control_plane_name(&header.name, &header.annotations);
        let mut preamble = self.preamble(Kind::ControllerHeader, &symbol, &header.annotations, &[]);
        preamble.name = name.to_owned();
        preamble.alias = name.to_owned();
        let fields = header_fields(self.program, id);
        let ids = self.field_ids(fields.iter().map(|field| &*field.annotations));
        let mut metadata = Vec::new();
        for (field, id) in fields.iter().zip(ids) {
            if annotation::has(&field.annotations, "hidden") {
                continue;
            }
            self.describe(field.ty);
            metadata.push(info::controller_packet_metadata::Metadata {
                id,
                name: field.name.clone(),
                annotations: annotation::texts(&field.annotations, &[]),
                bitwidth: width(self.program, field.ty) as i32,
                type_name: new_type_name(self.program, field.ty),
                structured_annotations: annotation::structured(&field.annotations),
                ..Default::default()
            });
        }
        let header = info::ControllerPacketMetadata { preamble: Some(preamble), metadata };
        self.info.controller_packet_metadata.push(header);
    }

    /// What stands on the package instance.
    fn package(&mut self) {
        let annotations = &self.program.main_annotations;
        let mut package = info::PkgInfo {
            arch: self.instances.architecture().name.to_owned(),
            doc: annotation::documentation(annotations),
            annotations: annotation::texts(annotations, &["pkginfo", "platform_property"]),
            structured_annotations: annotation::structured(annotations),
            ..Default::default()
        };
        for (key, value) in pairs(annotations, "pkginfo") {
            let AnnotationValue::Str(text) = value else { continue };
            let field = match key.as_str() {
                "name" => &mut package.name,
                "version" => &mut package.version,
                "organization" => &mut package.organization,
                "contact" => &mut package.contact,
                "url" => &mut package.url,
                "arch" => &mut package.arch,
                _ => continue,
            };
            field.clone_from(text);
        }
        if annotation::has(annotations, "platform_property") {
            let mut properties = info::PlatformProperties::default();
            for (key, value) in pairs(annotations, "platform_property") {
                let AnnotationValue::Int(number) = value else { continue };
                let field = match key.as_str() {
                    "multicast_group_table_size" => &mut properties.multicast_group_table_size,
                    "multicast_group_table_total_replicas" => &mut properties.multicast_group_table_total_replicas,
                    "multicast_group_table_max_replicas_per_entry" => {
                        &mut properties.multicast_group_table_max_replicas_per_entry
                    }
                    _ => continue,
                };
                *field = number.to_i32().unwrap_or_default();
            }
            package.platform_properties = Some(properties);
        }
        self.info.pkg_info = Some(package);
    }
}

fn pairs<'a>(annotations: &'a [Annotation], name: &str) -> &'a [(String, AnnotationValue)] {
    match annotation::find(annotations, name).map(|annotation| &annotation.body) {
        Some(AnnotationBody::KeyValues(pairs)) => pairs,
        _ => &[],
    }
}
