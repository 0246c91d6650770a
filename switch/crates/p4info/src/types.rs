//! Types as P4Info describes them.

use hir::instances::name_annotation;
use hir::{Annotation, Program, StructId, Type, TypeId};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bitstring;
use proto::p4::config::v1::p4_data_type_spec::TypeSpec;
use syntax::token::TokenKind;

use crate::annotation;
use crate::bytes::padded;

/// What `@p4runtime_translation` says the control plane sees in a type's place.
struct Translation {
    uri: String,
    /// `None` is a string.
    width: Option<u32>,
}

/// A name as the control plane has it. The type arguments of a generic structure become a part of its name, as p4c has
/// it: `pair<bit<8>>` is `pair_bit8`.
pub fn control_plane_name(name: &str, annotations: &[Annotation]) -> String {
    match name_annotation(annotations) {
        Some(name) => name.strip_prefix('.').unwrap_or(name).to_owned(),
        None => name.replacen('<', "_", 1).replace(", ", "_").replace(['<', '>'], ""),
    }
}

fn translation(annotations: &[Annotation]) -> Option<Translation> {
    let tokens = annotation::tokens(annotation::find(annotations, "p4runtime_translation")?);
    let uri = tokens.first().filter(|token| token.kind == TokenKind::Str)?.text.trim_matches('"').to_owned();
    let number = tokens[1..].iter().find(|token| token.kind == TokenKind::Number);
    Some(Translation { uri, width: number.and_then(|number| number.text.parse().ok()) })
}

/// The width of a value of this type on P4Runtime's side; 0 for one that is no string of bits there.
pub fn width(program: &Program, ty: TypeId) -> u32 {
    match program.types.get(ty) {
        Type::Bool => 1,
        Type::Bit(width) | Type::Signed(width) => *width,
        Type::New(id) => {
            let new = &program.types.new_types[*id];
            match translation(&new.annotations) {
                Some(translation) => translation.width.unwrap_or(0),
                // A translation of the type below does not count.
                None => width(program, program.types.stored(new.underlying)),
            }
        }
        Type::Enum(id) => program.types.enums[*id].underlying.map_or(0, |underlying| width(program, underlying)),
        _ => 0,
    }
}

/// The name of a type made with `type`.
pub fn new_type_name(program: &Program, ty: TypeId) -> Option<info::P4NamedType> {
    match program.types.get(ty) {
        Type::New(id) => Some(named(program.types.new_types[*id].name.clone())),
        _ => None,
    }
}

fn named(name: String) -> info::P4NamedType {
    info::P4NamedType { name }
}

/// The spec of a type. Types with names are described in `types`.
pub fn spec(program: &Program, types: &mut info::P4TypeInfo, ty: TypeId) -> info::P4DataTypeSpec {
    let spec = match program.types.get(ty) {
        Type::Bool => Some(TypeSpec::Bool(info::P4BoolType {})),
        Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) => Some(TypeSpec::Bitstring(bitstring(program, ty))),
        Type::Error => {
            types.error.get_or_insert_with(|| info::P4ErrorTypeSpec { members: program.errors.clone() });
            Some(TypeSpec::Error(info::P4ErrorType {}))
        }
        Type::Struct(id) => Some(TypeSpec::Struct(named(structure(program, types, *id)))),
        Type::Header(id) => Some(TypeSpec::Header(named(header(program, types, *id)))),
        Type::HeaderUnion(id) => Some(TypeSpec::HeaderUnion(named(union(program, types, *id)))),
        Type::Stack(element, size) => stack(program, types, *element, *size),
        Type::Tuple(members) => {
            let members = members.clone().into_iter().map(|member| spec(program, types, member)).collect();
            Some(TypeSpec::Tuple(info::P4TupleTypeSpec { members }))
        }
        Type::Enum(id) => {
            let serializable = program.types.enums[*id].underlying.is_some();
            let name = named(enumeration(program, types, *id));
            Some(if serializable { TypeSpec::SerializableEnum(name) } else { TypeSpec::Enum(name) })
        }
        Type::New(id) => Some(TypeSpec::NewType(named(new_type(program, types, *id)))),
        _ => None,
    };
    info::P4DataTypeSpec { type_spec: spec }
}

fn bitstring(program: &Program, ty: TypeId) -> info::P4BitstringLikeTypeSpec {
    let spec = match program.types.get(ty) {
        Type::Bit(width) => Some(Bitstring::Bit(info::P4BitTypeSpec { bitwidth: *width as i32 })),
        Type::Signed(width) => Some(Bitstring::Int(info::P4IntTypeSpec { bitwidth: *width as i32 })),
        Type::Varbit(width) => Some(Bitstring::Varbit(info::P4VarbitTypeSpec { max_bitwidth: *width as i32 })),
        _ => None,
    };
    info::P4BitstringLikeTypeSpec { type_spec: spec, ..Default::default() }
}

fn structure(program: &Program, types: &mut info::P4TypeInfo, id: StructId) -> String {
    let decl = &program.types.structs[id];
    let name = control_plane_name(&decl.name, &decl.annotations);
    if !types.structs.contains_key(&name) {
        let member = |field: &hir::Field| info::p4_struct_type_spec::Member {
            name: control_plane_name(&field.name, &field.annotations),
            type_spec: Some(spec(program, types, field.ty)),
        };
        let members = decl.fields.iter().map(member).collect();
        types.structs.insert(name.clone(), info::P4StructTypeSpec { members, ..Default::default() });
    }
    name
}

fn header(program: &Program, types: &mut info::P4TypeInfo, id: StructId) -> String {
    let decl = &program.types.structs[id];
    let name = control_plane_name(&decl.name, &decl.annotations);
    types.headers.entry(name.clone()).or_insert_with(|| {
        let member = |leaf: Leaf| info::p4_header_type_spec::Member {
            name: leaf.name,
            type_spec: Some(bitstring(program, leaf.ty)),
        };
        let members = header_fields(program, id).into_iter().map(member).collect();
        info::P4HeaderTypeSpec { members, ..Default::default() }
    });
    name
}

fn union(program: &Program, types: &mut info::P4TypeInfo, id: StructId) -> String {
    let decl = &program.types.structs[id];
    let name = control_plane_name(&decl.name, &decl.annotations);
    if !types.header_unions.contains_key(&name) {
        let member = |field: &hir::Field| {
            let header = match spec(program, types, field.ty).type_spec {
                Some(TypeSpec::Header(header)) => Some(header),
                _ => None,
            };
            let name = control_plane_name(&field.name, &field.annotations);
            info::p4_header_union_type_spec::Member { name, header }
        };
        let members = decl.fields.iter().map(member).collect();
        types.header_unions.insert(name.clone(), info::P4HeaderUnionTypeSpec { members, ..Default::default() });
    }
    name
}

fn stack(program: &Program, types: &mut info::P4TypeInfo, element: TypeId, size: u32) -> Option<TypeSpec> {
    let size = size as i32;
    match spec(program, types, element).type_spec? {
        TypeSpec::Header(header) => {
            Some(TypeSpec::HeaderStack(info::P4HeaderStackTypeSpec { header: Some(header), size }))
        }
        TypeSpec::HeaderUnion(union) => {
            Some(TypeSpec::HeaderUnionStack(info::P4HeaderUnionStackTypeSpec { header_union: Some(union), size }))
        }
        _ => None,
    }
}

fn enumeration(program: &Program, types: &mut info::P4TypeInfo, id: hir::EnumId) -> String {
    let decl = &program.types.enums[id];
    let name = control_plane_name(&decl.name, &decl.annotations);
    match decl.underlying {
        None => {
            types.enums.entry(name.clone()).or_insert_with(|| {
                let member = |member: &hir::EnumMember| info::p4_enum_type_spec::Member {
                    name: control_plane_name(&member.name, &member.annotations),
                    ..Default::default()
                };
                info::P4EnumTypeSpec { members: decl.members.iter().map(member).collect(), ..Default::default() }
            });
        }
        Some(underlying) => {
            types.serializable_enums.entry(name.clone()).or_insert_with(|| {
                let width = width(program, underlying);
                let member = |member: &hir::EnumMember| info::p4_serializable_enum_type_spec::Member {
                    name: control_plane_name(&member.name, &member.annotations),
                    value: padded(member.value.as_ref().unwrap_or(&BigInt::default()), width),
                    ..Default::default()
                };
                info::P4SerializableEnumTypeSpec {
                    underlying_type: Some(info::P4BitTypeSpec { bitwidth: width.to_i32().unwrap_or_default() }),
                    members: decl.members.iter().map(member).collect(),
                    ..Default::default()
                }
            });
        }
    }
    name
}

fn new_type(program: &Program, types: &mut info::P4TypeInfo, id: hir::NewTypeId) -> String {
    use info::p4_new_type_spec::Representation;
    use info::p4_new_type_translation::{SdnString, SdnType};
    let decl = &program.types.new_types[id];
    let name = control_plane_name(&decl.name, &decl.annotations);
    if !types.new_types.contains_key(&name) {
        let mut original = decl.underlying;
        while let Type::New(inner) = program.types.get(original) {
            original = program.types.new_types[*inner].underlying;
        }
        let original = spec(program, types, original);
        let representation = match translation(&decl.annotations) {
            None => Representation::OriginalType(original),
            Some(Translation { uri, width }) => {
                let sdn_type = Some(match width {
                    Some(width) => SdnType::SdnBitwidth(width as i32),
                    None => SdnType::SdnString(SdnString {}),
                });
                Representation::TranslatedType(info::P4NewTypeTranslation { uri, sdn_type })
            }
        };
        let spec = info::P4NewTypeSpec {
            annotations: annotation::texts(&decl.annotations, &["p4runtime_translation"]),
            structured_annotations: annotation::structured(&decl.annotations),
            representation: Some(representation),
            ..Default::default()
        };
        types.new_types.insert(name.clone(), spec);
    }
    name
}

/// A field of a header, or of a structure in it.
pub struct Leaf {
    pub name: String,
    pub ty: TypeId,
    /// Its annotations and those of the structures around it, the inner ones where names are the same.
    pub annotations: Vec<Annotation>,
}

/// The fields of a header. If it holds structures, all names are paths.
pub fn header_fields(program: &Program, id: StructId) -> Vec<Leaf> {
    let fields = &program.types.structs[id].fields;
    if fields.iter().any(|field| matches!(program.types.get(field.ty), Type::Struct(_))) {
        let mut leaves = Vec::new();
        flatten(program, fields, "", &[], &mut leaves);
        return leaves;
    }
    let leaf = |field: &hir::Field| Leaf {
        name: control_plane_name(&field.name, &field.annotations),
        ty: field.ty,
        annotations: field.annotations.clone(),
    };
    fields.iter().map(leaf).collect()
}

fn flatten(program: &Program, fields: &[hir::Field], path: &str, outer: &[Annotation], leaves: &mut Vec<Leaf>) {
    for field in fields {
        let path = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        let mut annotations = field.annotations.clone();
        annotations.extend(outer.iter().filter(|a| !annotation::has(&field.annotations, &a.name)).cloned());
        match program.types.get(field.ty) {
            Type::Struct(id) => {
                flatten(program, &program.types.structs[*id].fields, &path, &annotations, leaves);
            }
            _ => leaves.push(Leaf { name: path, ty: field.ty, annotations }),
        }
    }
}
