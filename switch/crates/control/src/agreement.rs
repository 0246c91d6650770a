//! Whether a P4Info and a program speak of the same things: ids that differ, widths and match kinds that are alike.

use std::collections::BTreeMap;

use ir::MatchKind;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::P4Info;
use proto::p4::config::v1::match_field::{Match, MatchType};

use crate::field::Form;
use crate::status::{Result, Status};

/// No two objects of a P4Info may have one id.
pub fn unique_ids(p4info: &P4Info) -> Result<()> {
    let tables = p4info.tables.iter().map(|object| &object.preamble);
    let actions = p4info.actions.iter().map(|object| &object.preamble);
    let profiles = p4info.action_profiles.iter().map(|object| &object.preamble);
    let counters = p4info.counters.iter().map(|object| &object.preamble);
    let direct_counters = p4info.direct_counters.iter().map(|object| &object.preamble);
    let meters = p4info.meters.iter().map(|object| &object.preamble);
    let direct_meters = p4info.direct_meters.iter().map(|object| &object.preamble);
    let registers = p4info.registers.iter().map(|object| &object.preamble);
    let value_sets = p4info.value_sets.iter().map(|object| &object.preamble);
    let digests = p4info.digests.iter().map(|object| &object.preamble);
    let all = tables
        .chain(actions)
        .chain(profiles)
        .chain(counters)
        .chain(direct_counters)
        .chain(meters)
        .chain(direct_meters)
        .chain(registers)
        .chain(value_sets)
        .chain(digests);
    let mut names: BTreeMap<u32, &str> = BTreeMap::new();
    for preamble in all.flatten().filter(|preamble| preamble.id != 0) {
        if let Some(other) = names.insert(preamble.id, &preamble.name) {
            let (id, name) = (preamble.id, &preamble.name);
            return Err(Status::invalid(format!("P4Info gives id {id} to two objects: {other} and {name}")));
        }
    }
    Ok(())
}

/// A key of P4Info as the program has it; answers how the control plane matches it. BMv2 JSON has no optional keys: p4c
/// writes ternary ones there, and P4Info alone says that their masks are all or nothing.
pub fn key(field: &info::MatchField, key: &ir::Key, form: &Form) -> Result<MatchKind> {
    width("key", &field.name, field.bitwidth, key.width, form)?;
    let kind = match key.kind {
        MatchKind::Exact => MatchType::Exact,
        MatchKind::Lpm => MatchType::Lpm,
        MatchKind::Ternary => MatchType::Ternary,
        MatchKind::Range => MatchType::Range,
        MatchKind::Optional => MatchType::Optional,
    };
    match field.r#match {
        Some(Match::MatchType(given)) if kind == MatchType::Ternary && given == MatchType::Optional as i32 => {
            Ok(MatchKind::Optional)
        }
        Some(Match::MatchType(given)) if given != kind as i32 => {
            let given = MatchType::try_from(given).unwrap_or_default();
            let (given, kind) = (given.as_str_name(), kind.as_str_name());
            Err(Status::invalid(format!("key {} is {given}, in the program it is {kind}", field.name)))
        }
        _ => Ok(key.kind),
    }
}

/// Bits of a value; P4Info says none of a type that it translates, or those of the control plane.
pub fn width(what: &str, name: &str, given: i32, own: u32, form: &Form) -> Result<()> {
    let given = u32::try_from(given).unwrap_or(0);
    if given == 0 || given == own || *form != Form::Plain {
        return Ok(());
    }
    Err(Status::invalid(format!("{what} {name} has {given} bits, in the program it has {own}")))
}
