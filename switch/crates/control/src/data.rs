//! `P4Data`: values of any type, in registers and digests (spec "Representation of Arbitrary P4 Types").

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use proto::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bitstring;
use proto::p4::config::v1::p4_data_type_spec::TypeSpec;
use proto::p4::config::v1::p4_new_type_spec::Representation;
use proto::p4::config::v1::{P4BitstringLikeTypeSpec, P4DataTypeSpec, P4NamedType, P4TypeInfo};
use proto::p4::v1::p4_data::Data;
use proto::p4::v1::{P4Data, P4Header, P4StructLike};

use crate::field::{Field, Form, Texts};
use crate::number;
use crate::status::{Result, Status};

/// The form of a value, down to the scalars that the data plane knows one after another.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Bits(Field),
    Signed(u32),
    Bool,
    Struct(Vec<Shape>),
    Tuple(Vec<Shape>),
    Header(Vec<Shape>),
    /// Names by value, of an `enum` without values of its own.
    Enum(Vec<String>),
    /// Names by value.
    Error(Vec<String>),
    /// An `enum` with values.
    EnumValue(u32),
}

impl Shape {
    /// The shape of a type of P4Info; `widths` are those of the data plane's scalars.
    pub fn new(
        spec: Option<&P4DataTypeSpec>,
        types: Option<&P4TypeInfo>,
        errors: &[String],
        widths: &[u32],
    ) -> Result<Self> {
        let empty = P4TypeInfo::default();
        let mut builder = Builder { types: types.unwrap_or(&empty), errors, widths: widths.iter() };
        let shape = builder.shape(spec)?;
        match builder.widths.next() {
            None => Ok(shape),
            Some(_) => Err(Status::invalid("P4Info's type has fewer members than the program's")),
        }
    }

    /// The scalars of a value as the control plane wrote it.
    pub fn decode(&self, data: &P4Data, texts: &Texts) -> Result<Vec<BigUint>> {
        let mut values = Vec::new();
        self.read(data, texts, &mut values)?;
        Ok(values)
    }

    fn read(&self, data: &P4Data, texts: &Texts, values: &mut Vec<BigUint>) -> Result<()> {
        let data = data.data.as_ref().ok_or_else(|| Status::invalid("has no value"))?;
        match (self, data) {
            (Self::Bits(field), Data::Bitstring(bytes)) => values.push(texts.to_data(field, bytes)?),
            (Self::Signed(width), Data::Bitstring(bytes)) => values.push(number::decode_signed(bytes, *width)?),
            (Self::EnumValue(width), Data::EnumValue(bytes)) => values.push(number::decode(bytes, *width)?),
            (Self::Bool, Data::Bool(value)) => values.push(u8::from(*value).into()),
            (Self::Struct(members), Data::Struct(given)) | (Self::Tuple(members), Data::Tuple(given)) => {
                same_count(given.members.len(), members.len())?;
                for (member, data) in members.iter().zip(&given.members) {
                    member.read(data, texts, values)?;
                }
            }
            (Self::Header(members), Data::Header(given)) => {
                same_count(given.bitstrings.len(), members.len())?;
                for (member, bytes) in members.iter().zip(&given.bitstrings) {
                    member.read(&P4Data { data: Some(Data::Bitstring(bytes.clone())) }, texts, values)?;
                }
            }
            (Self::Enum(names), Data::Enum(name)) | (Self::Error(names), Data::Error(name)) => {
                let value = names.iter().position(|known| known == name);
                let value =
                    value.ok_or_else(|| Status::invalid(format!("is {name:?}, which is no member of its type")))?;
                values.push(value.into());
            }
            _ => return Err(Status::invalid(format!("must be given as {}", self.kind()))),
        }
        Ok(())
    }

    /// A value as the control plane reads it; missing scalars are zero.
    pub fn encode(&self, values: &[BigUint], texts: &Texts) -> P4Data {
        self.write(&mut values.iter(), texts)
    }

    fn write(&self, values: &mut std::slice::Iter<'_, BigUint>, texts: &Texts) -> P4Data {
        let mut scalar = || values.next().cloned().unwrap_or_default();
        let name = |names: &[String], value: BigUint| {
            value.to_usize().and_then(|value| names.get(value)).cloned().unwrap_or_default()
        };
        let data = match self {
            Self::Bits(field) => Data::Bitstring(texts.to_control(field, &scalar())),
            Self::Signed(width) => Data::Bitstring(number::encode_signed(&scalar(), *width)),
            Self::EnumValue(_) => Data::EnumValue(number::encode(&scalar())),
            Self::Bool => Data::Bool(!number::is_zero(&scalar())),
            Self::Enum(names) => Data::Enum(name(names, scalar())),
            Self::Error(names) => Data::Error(name(names, scalar())),
            Self::Struct(members) => Data::Struct(write_all(members, values, texts)),
            Self::Tuple(members) => Data::Tuple(write_all(members, values, texts)),
            Self::Header(members) => {
                let bitstrings = members.iter().filter_map(|member| match member.write(values, texts).data {
                    Some(Data::Bitstring(bytes)) => Some(bytes),
                    _ => None,
                });
                Data::Header(P4Header { is_valid: true, bitstrings: bitstrings.collect() })
            }
        };
        P4Data { data: Some(data) }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Bits(_) | Self::Signed(_) => "a bitstring",
            Self::Bool => "a bool",
            Self::Struct(_) => "a struct",
            Self::Tuple(_) => "a tuple",
            Self::Header(_) => "a header",
            Self::Enum(_) => "an enum",
            Self::Error(_) => "an error",
            Self::EnumValue(_) => "an enum_value",
        }
    }
}

fn write_all(members: &[Shape], values: &mut std::slice::Iter<'_, BigUint>, texts: &Texts) -> P4StructLike {
    P4StructLike { members: members.iter().map(|member| member.write(values, texts)).collect() }
}

fn same_count(given: usize, expected: usize) -> Result<()> {
    if given == expected {
        return Ok(());
    }
    Err(Status::invalid(format!("has {given} members, its type has {expected}")))
}

/// Types are named, so a type that holds itself would never end; P4 has none, but P4Info comes from outside.
const DEEPEST: usize = 64;

struct Builder<'a> {
    types: &'a P4TypeInfo,
    errors: &'a [String],
    widths: std::slice::Iter<'a, u32>,
}

impl Builder<'_> {
    fn shape(&mut self, spec: Option<&P4DataTypeSpec>) -> Result<Shape> {
        self.nested(spec, 0)
    }

    fn nested(&mut self, spec: Option<&P4DataTypeSpec>, depth: usize) -> Result<Shape> {
        if depth > DEEPEST {
            return Err(Status::invalid(format!("P4Info's type is nested more than {DEEPEST} times")));
        }
        let types = self.types;
        let spec = spec.and_then(|spec| spec.type_spec.as_ref());
        match spec.ok_or_else(|| Status::invalid("P4Info gives no type"))? {
            TypeSpec::Bitstring(bits) => self.bits(bits, Form::Plain),
            TypeSpec::Bool(_) => self.width().map(|_| Shape::Bool),
            TypeSpec::Tuple(tuple) => {
                let members = tuple.members.iter().map(|member| self.nested(Some(member), depth + 1));
                Ok(Shape::Tuple(members.collect::<Result<_>>()?))
            }
            TypeSpec::Struct(name) => {
                let spec = types.structs.get(&name.name).ok_or_else(|| unknown("struct", name))?;
                let members = spec.members.iter().map(|member| self.nested(member.type_spec.as_ref(), depth + 1));
                Ok(Shape::Struct(members.collect::<Result<_>>()?))
            }
            TypeSpec::Header(name) => {
                let spec = types.headers.get(&name.name).ok_or_else(|| unknown("header", name))?;
                let members = spec.members.iter().map(|member| {
                    self.bits(member.type_spec.as_ref().unwrap_or(&P4BitstringLikeTypeSpec::default()), Form::Plain)
                });
                Ok(Shape::Header(members.collect::<Result<_>>()?))
            }
            TypeSpec::Enum(name) => {
                let spec = types.enums.get(&name.name).ok_or_else(|| unknown("enum", name))?;
                self.width()?;
                Ok(Shape::Enum(spec.members.iter().map(|member| member.name.clone()).collect()))
            }
            TypeSpec::Error(_) => self.width().map(|_| Shape::Error(self.errors.to_vec())),
            TypeSpec::SerializableEnum(_) => Ok(Shape::EnumValue(self.width()?)),
            TypeSpec::NewType(name) => {
                let spec = types.new_types.get(&name.name).ok_or_else(|| unknown("type", name))?;
                match &spec.representation {
                    Some(Representation::OriginalType(original)) => self.nested(Some(original), depth + 1),
                    _ => {
                        let form = Form::of(Some(name), Some(types));
                        Ok(Shape::Bits(Field { id: 0, name: name.name.clone(), width: self.width()?, form }))
                    }
                }
            }
            TypeSpec::HeaderUnion(name) => Err(unsupported("header union", &name.name)),
            TypeSpec::HeaderStack(_) => Err(unsupported("header stack", "")),
            TypeSpec::HeaderUnionStack(_) => Err(unsupported("header union stack", "")),
        }
    }

    fn bits(&mut self, spec: &P4BitstringLikeTypeSpec, form: Form) -> Result<Shape> {
        let width = self.width()?;
        match &spec.type_spec {
            Some(Bitstring::Int(_)) => Ok(Shape::Signed(width)),
            Some(Bitstring::Varbit(_)) => Err(unsupported("varbit", "")),
            _ => Ok(Shape::Bits(Field { id: 0, name: String::new(), width, form })),
        }
    }

    fn width(&mut self) -> Result<u32> {
        self.widths.next().copied().ok_or_else(|| Status::invalid("P4Info's type has more members than the program's"))
    }
}

fn unknown(kind: &str, name: &P4NamedType) -> Status {
    Status::invalid(format!("P4Info's type_info has no {kind} {}", name.name))
}

fn unsupported(kind: &str, name: &str) -> Status {
    Status::unimplemented(format!("{kind} {name} in a register or digest"))
}

#[cfg(test)]
mod tests {
    use proto::google::rpc::Code;
    use proto::p4::config::v1::{P4BitTypeSpec, P4BoolType, P4IntTypeSpec, P4StructTypeSpec, p4_struct_type_spec};

    use super::*;

    fn bit(width: i32) -> P4DataTypeSpec {
        let bits = Bitstring::Bit(P4BitTypeSpec { bitwidth: width });
        P4DataTypeSpec {
            type_spec: Some(TypeSpec::Bitstring(P4BitstringLikeTypeSpec {
                type_spec: Some(bits),
                ..Default::default()
            })),
        }
    }

    fn types() -> P4TypeInfo {
        let int = Bitstring::Int(P4IntTypeSpec { bitwidth: 8 });
        let int = TypeSpec::Bitstring(P4BitstringLikeTypeSpec { type_spec: Some(int), ..Default::default() });
        let member = |type_spec| p4_struct_type_spec::Member { name: "m".into(), type_spec: Some(type_spec) };
        let inner = P4StructTypeSpec {
            members: vec![
                member(P4DataTypeSpec { type_spec: Some(int) }),
                member(P4DataTypeSpec { type_spec: Some(TypeSpec::Bool(P4BoolType {})) }),
            ],
            ..Default::default()
        };
        let outer = P4StructTypeSpec {
            members: vec![
                member(bit(48)),
                member(P4DataTypeSpec { type_spec: Some(TypeSpec::Struct(P4NamedType { name: "inner".into() })) }),
            ],
            ..Default::default()
        };
        let itself = P4DataTypeSpec { type_spec: Some(TypeSpec::Struct(P4NamedType { name: "itself".into() })) };
        let itself = P4StructTypeSpec { members: vec![member(itself)], ..Default::default() };
        let structs = [("inner", inner), ("outer", outer), ("itself", itself)];
        P4TypeInfo {
            structs: structs.into_iter().map(|(name, spec)| (name.to_owned(), spec)).collect(),
            ..Default::default()
        }
    }

    fn named(name: &str) -> P4DataTypeSpec {
        P4DataTypeSpec { type_spec: Some(TypeSpec::Struct(P4NamedType { name: name.into() })) }
    }

    #[test]
    fn a_nested_struct_goes_to_scalars_and_back() {
        let shape = Shape::new(Some(&named("outer")), Some(&types()), &[], &[48, 8, 1]).unwrap();
        let values = [BigUint::from(0xa_bcdeu32), BigUint::from(0xfdu8), BigUint::from(1u8)];
        let texts = Texts::default();
        let data = shape.encode(&values, &texts);
        let Some(Data::Struct(outer)) = &data.data else { panic!("{data:?}") };
        assert_eq!(outer.members[0].data, Some(Data::Bitstring(vec![0xa, 0xbc, 0xde])));
        let Some(Data::Struct(inner)) = &outer.members[1].data else { panic!("{data:?}") };
        assert_eq!(inner.members[0].data, Some(Data::Bitstring(vec![0xfd])), "-3 in one byte");
        assert_eq!(shape.decode(&data, &texts).unwrap(), values);
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let shape = Shape::new(Some(&bit(8)), None, &[], &[8]).unwrap();
        let wrong = shape.decode(&P4Data { data: Some(Data::Bool(true)) }, &Texts::default()).unwrap_err();
        assert_eq!(wrong, Status::invalid("must be given as a bitstring"));
        let wide = P4Data { data: Some(Data::Bitstring(vec![1, 0])) };
        assert_eq!(shape.decode(&wide, &Texts::default()).unwrap_err().code, Code::OutOfRange);
    }

    #[test]
    fn types_that_do_not_fit_the_program_are_refused() {
        let shape = |name: &str, widths: &[u32]| Shape::new(Some(&named(name)), Some(&types()), &[], widths);
        assert!(shape("outer", &[48]).unwrap_err().message.contains("more members"));
        assert!(shape("outer", &[48, 8, 1, 9]).unwrap_err().message.contains("fewer members"));
        assert!(shape("itself", &[1]).unwrap_err().message.contains("nested"));
        assert!(shape("nothing", &[1]).unwrap_err().message.contains("no struct nothing"));
    }
}
