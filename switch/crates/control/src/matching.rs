//! Match keys (spec "Match Format").

use ir::{Match, MatchKind};
use num_bigint::BigUint;
use proto::p4::v1::FieldMatch;
use proto::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};

use crate::field::{Form, Texts};
use crate::number;
use crate::schema::Key;
use crate::status::{Result, Status};

/// One match per key, in the order of the keys; keys left out take every value.
pub fn decode(keys: &[Key], given: &[FieldMatch], texts: &Texts) -> Result<Vec<Match>> {
    let mut matches: Vec<Option<Match>> = vec![None; keys.len()];
    for field in given {
        let Some(at) = keys.iter().position(|key| key.field.id == field.field_id) else {
            return Err(Status::invalid(format!("there is no key with id {}; {}", field.field_id, known(keys))));
        };
        let key = &keys[at];
        if matches[at].is_some() {
            return Err(Status::invalid(format!("key {} is given twice", key.field.name)));
        }
        let decoded = decode_one(key, field.field_match_type.as_ref(), texts);
        matches[at] = Some(decoded.map_err(|error| in_key(key, error))?);
    }
    let with_rest = keys.iter().zip(matches).map(|(key, given)| match (given, key.kind) {
        (Some(given), _) => Ok(given),
        (None, MatchKind::Exact) => Err(in_key(key, Status::invalid("is missing; an exact key can't be left out"))),
        (None, _) => Ok(any(key)),
    });
    with_rest.collect()
}

/// The keys that are not left open.
pub fn encode(keys: &[Key], matches: &[Match], texts: &Texts) -> Vec<FieldMatch> {
    let encoded = keys.iter().zip(matches).filter(|(key, one)| **one != any(key)).filter_map(|(key, one)| {
        let bytes = |value: &BigUint| texts.to_control(&key.field, value);
        let control_width = control_width(key);
        let full = number::ones(key.field.width);
        let match_type = match one {
            Match::Exact(value) => FieldMatchType::Exact(Exact { value: bytes(value) }),
            Match::Lpm { value, prefix } => {
                let prefix = if *prefix == key.field.width { control_width } else { *prefix };
                FieldMatchType::Lpm(Lpm { value: bytes(value), prefix_len: i32::try_from(prefix).unwrap_or(i32::MAX) })
            }
            Match::Ternary { value, mask } if key.kind == MatchKind::Optional && *mask == full => {
                FieldMatchType::Optional(Optional { value: bytes(value) })
            }
            Match::Ternary { value, mask } => {
                let mask = if *mask == full { number::ones(control_width) } else { mask.clone() };
                FieldMatchType::Ternary(Ternary { value: bytes(value), mask: number::encode(&mask) })
            }
            Match::Range { low, high } => FieldMatchType::Range(Range { low: bytes(low), high: bytes(high) }),
            Match::Optional(Some(value)) => FieldMatchType::Optional(Optional { value: bytes(value) }),
            Match::Optional(None) => return None,
        };
        Some(FieldMatch { field_id: key.field.id, field_match_type: Some(match_type) })
    });
    encoded.collect()
}

fn decode_one(key: &Key, given: Option<&FieldMatchType>, texts: &Texts) -> Result<Match> {
    let width = key.field.width;
    let control_width = control_width(key);
    let value = |bytes: &[u8]| texts.to_data(&key.field, bytes);
    match (key.kind, given) {
        (MatchKind::Exact, Some(FieldMatchType::Exact(exact))) => Ok(Match::Exact(value(&exact.value)?)),
        (MatchKind::Optional, Some(FieldMatchType::Optional(optional))) => {
            let value = value(&optional.value)?;
            Ok(match key.stored {
                MatchKind::Ternary => Match::Ternary { value, mask: number::ones(width) },
                _ => Match::Optional(Some(value)),
            })
        }
        (MatchKind::Lpm, Some(FieldMatchType::Lpm(lpm))) => {
            let prefix = u32::try_from(lpm.prefix_len).ok().filter(|prefix| *prefix <= control_width);
            let prefix = prefix.ok_or_else(|| {
                Status::invalid(format!("has prefix length {}, but is {control_width} bits wide", lpm.prefix_len))
            })?;
            if prefix == 0 {
                return Err(Status::invalid("has prefix length 0; leave the key out to match every value"));
            }
            only_whole(key, prefix == control_width)?;
            let prefix = if key.field.form == Form::Plain { prefix } else { width };
            let value = value(&lpm.value)?;
            outside_mask(&value, &number::prefix_mask(prefix, width))?;
            Ok(Match::Lpm { value, prefix })
        }
        (MatchKind::Ternary, Some(FieldMatchType::Ternary(ternary))) => {
            let mask = number::decode(&ternary.mask, control_width)
                .map_err(|error| Status { message: format!("has a mask that {}", error.message), ..error })?;
            if number::is_zero(&mask) {
                return Err(Status::invalid("has mask 0; leave the key out to match every value"));
            }
            let whole = mask == number::ones(control_width);
            only_whole(key, whole)?;
            let mask = if key.field.form == Form::Plain { mask } else { number::ones(width) };
            let value = value(&ternary.value)?;
            outside_mask(&value, &mask)?;
            Ok(Match::Ternary { value, mask })
        }
        (MatchKind::Range, Some(FieldMatchType::Range(range))) => {
            let (low, high) = (value(&range.low)?, value(&range.high)?);
            only_whole(key, low == high)?;
            if low > high {
                return Err(Status::invalid(format!("has a range from {low:#x} down to {high:#x}; swap them")));
            }
            if number::is_zero(&low) && high == number::ones(width) {
                return Err(Status::invalid("has a range of all values; leave the key out"));
            }
            Ok(Match::Range { low, high })
        }
        (_, None) => Err(Status::invalid("comes without a match")),
        (kind, Some(_)) => Err(Status::invalid(format!("must be matched as {}", kind_name(kind)))),
    }
}

/// Bits of a value as the control plane writes it.
fn control_width(key: &Key) -> u32 {
    match key.field.form {
        Form::SdnBits(width) => width,
        _ => key.field.width,
    }
}

/// Translated values have no order and no bits to mask in the data plane, so they match as a whole.
fn only_whole(key: &Key, whole: bool) -> Result<()> {
    if whole || key.field.form == Form::Plain {
        return Ok(());
    }
    Err(Status::unimplemented("is of a translated type and can only be matched as a whole"))
}

fn outside_mask(value: &BigUint, mask: &BigUint) -> Result<()> {
    if number::within_mask(value, mask) {
        return Ok(());
    }
    Err(Status::invalid(format!("is {value:#x} with bits outside its mask {mask:#x}; clear them")))
}

fn any(key: &Key) -> Match {
    match key.stored {
        // An exact key has no match that takes every value; this one is never equal to a written entry's.
        MatchKind::Exact | MatchKind::Optional => Match::Optional(None),
        MatchKind::Lpm => Match::Lpm { value: BigUint::default(), prefix: 0 },
        MatchKind::Ternary => Match::Ternary { value: BigUint::default(), mask: BigUint::default() },
        MatchKind::Range => Match::Range { low: BigUint::default(), high: number::ones(key.field.width) },
    }
}

fn in_key(key: &Key, error: Status) -> Status {
    Status { message: format!("key {} {}", key.field.name, error.message), ..error }
}

fn known(keys: &[Key]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{} ({})", key.field.id, key.field.name)).collect();
    if keys.is_empty() { "it has no keys".to_owned() } else { format!("it has {}", keys.join(", ")) }
}

fn kind_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}

#[cfg(test)]
mod tests {
    use proto::google::rpc::Code;

    use super::*;
    use crate::field::Field;

    fn key(id: u32, width: u32, kind: MatchKind, form: Form) -> Key {
        Key { field: Field { id, name: format!("k{id}"), width, form }, kind, stored: kind }
    }

    fn keys() -> Vec<Key> {
        vec![
            key(1, 8, MatchKind::Exact, Form::Plain),
            key(2, 32, MatchKind::Lpm, Form::Plain),
            key(3, 16, MatchKind::Ternary, Form::Plain),
            key(4, 16, MatchKind::Range, Form::Plain),
            key(5, 9, MatchKind::Optional, Form::Plain),
        ]
    }

    fn field(field_id: u32, match_type: FieldMatchType) -> FieldMatch {
        FieldMatch { field_id, field_match_type: Some(match_type) }
    }

    fn exact(value: &[u8]) -> FieldMatchType {
        FieldMatchType::Exact(Exact { value: value.to_vec() })
    }

    fn lpm(value: &[u8], prefix_len: i32) -> FieldMatchType {
        FieldMatchType::Lpm(Lpm { value: value.to_vec(), prefix_len })
    }

    fn ternary(value: &[u8], mask: &[u8]) -> FieldMatchType {
        FieldMatchType::Ternary(Ternary { value: value.to_vec(), mask: mask.to_vec() })
    }

    fn range(low: &[u8], high: &[u8]) -> FieldMatchType {
        FieldMatchType::Range(Range { low: low.to_vec(), high: high.to_vec() })
    }

    fn optional(value: &[u8]) -> FieldMatchType {
        FieldMatchType::Optional(Optional { value: value.to_vec() })
    }

    #[test]
    fn every_kind_reads_back_in_its_shortest_form() {
        let given = [
            field(5, optional(&[0, 3])),
            field(1, exact(&[0, 0, 7])),
            field(2, lpm(&[10, 0, 0, 0], 8)),
            field(3, ternary(&[0, 0x10], &[0xff, 0xf0])),
            field(4, range(&[1], &[1, 0])),
        ];
        let texts = Texts::default();
        let matches = decode(&keys(), &given, &texts).unwrap();
        let expected = [
            field(1, exact(&[7])),
            field(2, lpm(&[10, 0, 0, 0], 8)),
            field(3, ternary(&[0x10], &[0xff, 0xf0])),
            field(4, range(&[1], &[1, 0])),
            field(5, optional(&[3])),
        ];
        assert_eq!(encode(&keys(), &matches, &texts), expected);
    }

    #[test]
    fn an_optional_key_that_the_table_calls_ternary_is_matched_as_a_whole_or_not_at_all() {
        let keys = [Key { stored: MatchKind::Ternary, ..key(1, 9, MatchKind::Optional, Form::Plain) }];
        let texts = Texts::default();
        let given = [field(1, optional(&[5]))];
        let matches = decode(&keys, &given, &texts).unwrap();
        assert_eq!(matches, [Match::Ternary { value: BigUint::from(5u8), mask: BigUint::from(0x1ffu32) }]);
        assert_eq!(encode(&keys, &matches, &texts), given);
        let left_out = decode(&keys, &[], &texts).unwrap();
        assert_eq!(left_out, [Match::Ternary { value: BigUint::default(), mask: BigUint::default() }]);
        assert_eq!(encode(&keys, &left_out, &texts), []);
        let masked = decode(&keys, &[field(1, ternary(&[1], &[1]))], &texts).unwrap_err();
        assert_eq!(masked.message, "key k1 must be matched as optional");
    }

    #[test]
    fn keys_left_out_match_every_value_and_are_left_out_again() {
        let texts = Texts::default();
        let matches = decode(&keys(), &[field(1, exact(&[0]))], &texts).unwrap();
        assert_eq!(matches[1], Match::Lpm { value: BigUint::default(), prefix: 0 });
        assert_eq!(matches[3], Match::Range { low: BigUint::default(), high: BigUint::from(0xffffu32) });
        assert_eq!(encode(&keys(), &matches, &texts), [field(1, exact(&[0]))]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let bad = [
            (field(1, exact(&[1, 0])), Code::OutOfRange, "key k1 is 0x100, which does not fit 8 bits"),
            (field(1, optional(&[1])), Code::InvalidArgument, "key k1 must be matched as exact"),
            (
                field(2, lpm(&[10, 0, 0, 1], 8)),
                Code::InvalidArgument,
                "key k2 is 0xa000001 with bits outside its mask 0xff000000; clear them",
            ),
            (
                field(2, lpm(&[0], 0)),
                Code::InvalidArgument,
                "key k2 has prefix length 0; leave the key out to match every value",
            ),
            (field(2, lpm(&[0], 33)), Code::InvalidArgument, "key k2 has prefix length 33, but is 32 bits wide"),
            (
                field(3, ternary(&[0], &[0])),
                Code::InvalidArgument,
                "key k3 has mask 0; leave the key out to match every value",
            ),
            (
                field(3, ternary(&[3], &[1])),
                Code::InvalidArgument,
                "key k3 is 0x3 with bits outside its mask 0x1; clear them",
            ),
            (
                field(3, ternary(&[3], &[])),
                Code::OutOfRange,
                "key k3 has a mask that has an empty value; zero is one zero byte",
            ),
            (field(4, range(&[2], &[1])), Code::InvalidArgument, "key k4 has a range from 0x2 down to 0x1; swap them"),
            (
                field(4, range(&[0], &[0xff, 0xff])),
                Code::InvalidArgument,
                "key k4 has a range of all values; leave the key out",
            ),
            (
                field(9, exact(&[1])),
                Code::InvalidArgument,
                "there is no key with id 9; it has 1 (k1), 2 (k2), 3 (k3), 4 (k4), 5 (k5)",
            ),
            (FieldMatch { field_id: 5, field_match_type: None }, Code::InvalidArgument, "key k5 comes without a match"),
        ];
        for (given, code, message) in bad {
            assert_eq!(decode(&keys(), &[given], &Texts::default()), Err(Status::new(code, message)));
        }
        let missing = decode(&keys(), &[], &Texts::default()).unwrap_err();
        assert_eq!(missing.message, "key k1 is missing; an exact key can't be left out");
        let twice = [field(1, exact(&[1])), field(1, exact(&[1]))];
        assert_eq!(decode(&keys(), &twice, &Texts::default()).unwrap_err().message, "key k1 is given twice");
    }

    #[test]
    fn translated_values_match_as_a_whole() {
        let keys = [key(1, 9, MatchKind::Ternary, Form::SdnBits(32)), key(2, 9, MatchKind::Lpm, Form::SdnBits(32))];
        let texts = Texts::default();
        let given = [field(1, ternary(&[5], &[0xff; 4])), field(2, lpm(&[6], 32))];
        let matches = decode(&keys, &given, &texts).unwrap();
        assert_eq!(matches[0], Match::Ternary { value: BigUint::from(5u8), mask: BigUint::from(0x1ffu32) });
        assert_eq!(matches[1], Match::Lpm { value: BigUint::from(6u8), prefix: 9 });
        assert_eq!(encode(&keys, &matches, &texts), given);
        let part = decode(&keys, &[field(1, ternary(&[5], &[5]))], &texts).unwrap_err();
        assert_eq!(part.code, Code::Unimplemented);
    }
}
