//! Registers of structs: a cell holds the scalars one after another, the first in its highest bits.

use num_bigint::BigUint;
use proto::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bitstring;
use proto::p4::config::v1::p4_data_type_spec::TypeSpec;
use proto::p4::config::v1::p4_new_type_spec::Representation;
use proto::p4::config::v1::{P4BitstringLikeTypeSpec, P4DataTypeSpec, P4TypeInfo};

use crate::status::{Result, Status};

/// Members of enums and errors have so many bits.
const INDEX: u32 = 32;
/// As for [`crate::data::Shape`]: P4Info comes from outside.
const DEEPEST: usize = 64;

/// The widths of the scalars in a cell of `total` bits.
pub fn widths(spec: Option<&P4DataTypeSpec>, types: Option<&P4TypeInfo>, total: u32) -> Result<Vec<u32>> {
    let empty = P4TypeInfo::default();
    let mut known = Vec::new();
    gather(spec, types.unwrap_or(&empty), 0, &mut known);
    let sum: u64 = known.iter().flatten().map(|width| u64::from(*width)).sum();
    let left = u64::from(total).checked_sub(sum).and_then(|left| u32::try_from(left).ok());
    // A translated type has no width in P4Info: it is what the others leave.
    match (known.iter().filter(|width| width.is_none()).count(), left) {
        (0, Some(0)) | (1, Some(1..)) => Ok(known.into_iter().map(|width| width.or(left).unwrap_or(0)).collect()),
        (2.., Some(_)) => Err(Status::unimplemented("several translated types in one register")),
        _ => Err(Status::invalid(format!("P4Info's type has {sum} bits, the program's {total}"))),
    }
}

fn gather(spec: Option<&P4DataTypeSpec>, types: &P4TypeInfo, depth: usize, widths: &mut Vec<Option<u32>>) {
    let Some(spec) = spec.and_then(|spec| spec.type_spec.as_ref()).filter(|_| depth <= DEEPEST) else { return };
    match spec {
        TypeSpec::Bitstring(bits) => widths.push(Some(bitwidth(bits))),
        TypeSpec::Bool(_) => widths.push(Some(1)),
        TypeSpec::Enum(_) | TypeSpec::Error(_) => widths.push(Some(INDEX)),
        TypeSpec::SerializableEnum(name) => {
            let underlying = types.serializable_enums.get(&name.name).and_then(|spec| spec.underlying_type.as_ref());
            widths.push(Some(underlying.map_or(0, |bits| bits.bitwidth.unsigned_abs())));
        }
        TypeSpec::Tuple(tuple) => {
            tuple.members.iter().for_each(|member| gather(Some(member), types, depth + 1, widths));
        }
        TypeSpec::Struct(name) => {
            let members = types.structs.get(&name.name).map_or(&[][..], |spec| &spec.members);
            members.iter().for_each(|member| gather(member.type_spec.as_ref(), types, depth + 1, widths));
        }
        TypeSpec::Header(name) => {
            let members = types.headers.get(&name.name).map_or(&[][..], |spec| &spec.members);
            widths.extend(members.iter().map(|member| member.type_spec.as_ref().map(bitwidth)));
        }
        TypeSpec::NewType(name) => {
            match types.new_types.get(&name.name).and_then(|spec| spec.representation.as_ref()) {
                Some(Representation::OriginalType(original)) => gather(Some(original), types, depth + 1, widths),
                _ => widths.push(None),
            }
        }
        // Refused with a word of their own.
        TypeSpec::HeaderUnion(_) | TypeSpec::HeaderStack(_) | TypeSpec::HeaderUnionStack(_) => {}
    }
}

fn bitwidth(bits: &P4BitstringLikeTypeSpec) -> u32 {
    let width = match &bits.type_spec {
        Some(Bitstring::Bit(bit)) => bit.bitwidth,
        Some(Bitstring::Int(int)) => int.bitwidth,
        Some(Bitstring::Varbit(varbit)) => varbit.max_bitwidth,
        None => 0,
    };
    width.unsigned_abs()
}

/// The scalars of a cell.
pub fn unpack(cell: &BigUint, widths: &[u32]) -> Vec<BigUint> {
    let mut below: u32 = widths.iter().sum();
    let scalar = |width: &u32| {
        below -= width;
        (cell >> below) & ((BigUint::from(1u8) << *width) - 1u8)
    };
    widths.iter().map(scalar).collect()
}

/// A cell of scalars that fit their widths.
pub fn pack(scalars: &[BigUint], widths: &[u32]) -> BigUint {
    scalars.iter().zip(widths).fold(BigUint::ZERO, |cell, (scalar, width)| (cell << *width) + scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_packed_the_first_highest() {
        let scalars = [5u32, 0, 0x1ff].map(BigUint::from);
        let cell = pack(&scalars, &[3, 1, 9]);
        assert_eq!(cell, BigUint::from(0x15ffu32));
        assert_eq!(unpack(&cell, &[3, 1, 9]), scalars);
    }
}
