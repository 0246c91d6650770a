//! From the control plane's matches to the patterns of the match stores, and back.

use ir::{Key, Match, MatchKind};
use num_bigint::BigUint;
use tables::{FieldKind, FieldSpec, Pattern, Schema};

use crate::error::{Problem, What, WriteError};

/// The schema of a table's keys.
pub(crate) fn schema(keys: &[Key]) -> Schema {
    let field = |key: &Key| {
        let kind = match key.kind {
            MatchKind::Exact => FieldKind::Exact,
            MatchKind::Lpm => FieldKind::Lpm,
            MatchKind::Ternary => FieldKind::Ternary,
            MatchKind::Range => FieldKind::Range,
            MatchKind::Optional => FieldKind::Optional,
        };
        FieldSpec { kind, width: key.width }
    };
    Schema { fields: keys.iter().map(field).collect() }
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

fn prefix_mask(width: u32, prefix: u32) -> BigUint {
    ones(prefix) << (width - prefix)
}

fn push(bytes: &mut Vec<u8>, value: &BigUint, width: u32) {
    let digits = value.to_bytes_be();
    let digits = if value == &BigUint::ZERO { &[][..] } else { &digits };
    let size = width.div_ceil(8) as usize;
    bytes.resize(bytes.len() + size - digits.len(), 0);
    bytes.extend_from_slice(digits);
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

/// The two values of a pattern for one key.
fn ends(key: &Key, given: &Match) -> Result<(BigUint, BigUint), Problem> {
    let width = key.width;
    let fits = |value: &BigUint| match value.bits() > u64::from(width) {
        true => Err(Problem::TooWide { value: value.clone(), width }),
        false => Ok(()),
    };
    let masked = |value: &BigUint, mask: BigUint| {
        fits(value)?;
        fits(&mask)?;
        match value & &mask == *value {
            true => Ok((value.clone(), mask)),
            false => Err(Problem::BitsOutsideMask { value: value.clone(), mask }),
        }
    };
    match (key.kind, given) {
        (MatchKind::Exact, Match::Exact(value)) => {
            fits(value)?;
            Ok((value.clone(), value.clone()))
        }
        (MatchKind::Lpm, Match::Lpm { value, prefix }) if *prefix <= width => {
            masked(value, prefix_mask(width, *prefix))
        }
        (MatchKind::Lpm, Match::Lpm { prefix, .. }) => Err(Problem::PrefixTooLong { prefix: *prefix, width }),
        (MatchKind::Ternary, Match::Ternary { value, mask }) => masked(value, mask.clone()),
        (MatchKind::Range, Match::Range { low, high }) => {
            fits(low)?;
            fits(high)?;
            match low > high {
                true => Err(Problem::LowAboveHigh { low: low.clone(), high: high.clone() }),
                false => Ok((low.clone(), high.clone())),
            }
        }
        (MatchKind::Optional, Match::Optional(Some(value))) => masked(value, ones(width)),
        (MatchKind::Optional, Match::Optional(None)) => Ok((BigUint::ZERO, BigUint::ZERO)),
        (kind, _) => Err(Problem::WrongMatchKind { expected: kind_name(kind) }),
    }
}

/// The pattern of an entry, without priority. `object` is whose keys they are, for the error.
pub(crate) fn keys_pattern(object: &str, keys: &[Key], matches: &[Match]) -> Result<Pattern, WriteError> {
    let bad = |what, problem| WriteError::BadValue { object: object.to_owned(), what, problem };
    if matches.len() != keys.len() {
        let problem = Problem::WrongCount { given: matches.len(), expected: keys.len() };
        return Err(bad(What::Key("fields".to_owned()), problem));
    }
    let mut pattern = Pattern::default();
    for (key, given) in keys.iter().zip(matches) {
        let (first, second) = ends(key, given).map_err(|problem| bad(What::Key(key.name.clone()), problem))?;
        push(&mut pattern.first, &first, key.width);
        push(&mut pattern.second, &second, key.width);
    }
    Ok(pattern)
}

/// The pattern of a table's entry.
pub(crate) fn pattern(table: &ir::Table, matches: &[Match], priority: u32) -> Result<Pattern, WriteError> {
    let bad = |problem| WriteError::BadValue { object: table.name.clone(), what: What::Priority, problem };
    let mut pattern = keys_pattern(&table.name, &table.keys, matches)?;
    let wanted =
        table.keys.iter().any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
    match (wanted, priority) {
        (true, 0) => Err(bad(Problem::Missing)),
        (false, 1..) => Err(bad(Problem::NotAllowed)),
        _ => {
            pattern.priority = priority;
            Ok(pattern)
        }
    }
}

/// The matches of a pattern.
pub(crate) fn matches(keys: &[Key], pattern: &Pattern) -> Vec<Match> {
    let mut at = 0;
    let one = |key: &Key| {
        let span = at..at + key.width.div_ceil(8) as usize;
        at = span.end;
        let first = BigUint::from_bytes_be(&pattern.first[span.clone()]);
        let second = BigUint::from_bytes_be(&pattern.second[span]);
        match key.kind {
            MatchKind::Exact => Match::Exact(first),
            MatchKind::Lpm => Match::Lpm { value: first, prefix: second.count_ones() as u32 },
            MatchKind::Ternary => Match::Ternary { value: first, mask: second },
            MatchKind::Range => Match::Range { low: first, high: second },
            MatchKind::Optional => Match::Optional((second != BigUint::ZERO).then_some(first)),
        }
    };
    keys.iter().map(one).collect()
}

/// An entry as an error names it.
pub(crate) fn describe(keys: &[Key], matches: &[Match], priority: u32) -> String {
    let one = |(key, given): (&Key, &Match)| match given {
        Match::Exact(value) => format!("{} {value:#x}", key.name),
        Match::Lpm { value, prefix } => format!("{} {value:#x}/{prefix}", key.name),
        Match::Ternary { value, mask } => format!("{} {value:#x}&&&{mask:#x}", key.name),
        Match::Range { low, high } => format!("{} {low:#x}..{high:#x}", key.name),
        Match::Optional(Some(value)) => format!("{} {value:#x}", key.name),
        Match::Optional(None) => format!("{} any", key.name),
    };
    let keys: Vec<_> = keys.iter().zip(matches).map(one).collect();
    match priority {
        0 => format!("the entry with {}", keys.join(", ")),
        _ => format!("the entry with {}, priority {priority}", keys.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, width: u32, kind: MatchKind) -> Key {
        Key { name: name.into(), width, kind }
    }

    fn big(value: u64) -> BigUint {
        BigUint::from(value)
    }

    fn table() -> ir::Table {
        let keys = vec![
            key("e", 9, MatchKind::Exact),
            key("l", 32, MatchKind::Lpm),
            key("t", 12, MatchKind::Ternary),
            key("r", 16, MatchKind::Range),
            key("o", 1, MatchKind::Optional),
        ];
        ir::Table { name: "t".into(), keys, ..Default::default() }
    }

    fn given() -> Vec<Match> {
        vec![
            Match::Exact(big(0x1ff)),
            Match::Lpm { value: big(0x0a00_0000), prefix: 8 },
            Match::Ternary { value: big(0x100), mask: big(0xf00) },
            Match::Range { low: big(5), high: big(700) },
            Match::Optional(None),
        ]
    }

    #[test]
    fn matches_become_patterns_and_matches_again() {
        let table = table();
        let pattern = pattern(&table, &given(), 3).unwrap();
        assert_eq!(pattern.first, [1, 0xff, 10, 0, 0, 0, 1, 0, 0, 5, 0]);
        assert_eq!(pattern.second, [1, 0xff, 0xff, 0, 0, 0, 0xf, 0, 2, 0xbc, 0]);
        assert_eq!(matches(&table.keys, &pattern), given());
    }

    #[test]
    fn what_is_not_canonical_is_refused_by_name() {
        let table = table();
        let broken = [
            (0, Match::Exact(big(0x200)), "key e is 0x200, which does not fit 9 bits"),
            (0, Match::Optional(None), "key e must be matched as exact"),
            (1, Match::Lpm { value: big(0x0a00_0001), prefix: 8 }, "key l is 0xa000001 with bits outside its mask"),
            (1, Match::Lpm { value: big(0), prefix: 33 }, "key l has a prefix of 33 bits but is 32 wide"),
            (2, Match::Ternary { value: big(1), mask: big(2) }, "key t is 0x1 with bits outside its mask 0x2"),
            (2, Match::Ternary { value: big(0), mask: big(0x1000) }, "key t is 0x1000, which does not fit 12 bits"),
            (3, Match::Range { low: big(2), high: big(1) }, "key r has a range from 0x2 down to 0x1"),
            (4, Match::Optional(Some(big(2))), "key o is 0x2, which does not fit 1 bits"),
        ];
        for (i, one, text) in broken {
            let mut all = given();
            all[i] = one;
            let error = pattern(&table, &all, 1).unwrap_err().to_string();
            assert!(error.starts_with(&format!("t: {text}")), "{error}");
        }
        assert!(pattern(&table, &given()[1..], 1).is_err());
    }

    #[test]
    fn priorities_are_for_tables_that_need_them() {
        assert_eq!(pattern(&table(), &given(), 0).unwrap_err().to_string(), "t: the priority is missing");
        let exact = ir::Table { name: "x".into(), keys: vec![key("e", 9, MatchKind::Exact)], ..Default::default() };
        let error = pattern(&exact, &given()[..1], 1).unwrap_err();
        assert_eq!(error.to_string(), "x: the priority is not allowed here");
    }
}
