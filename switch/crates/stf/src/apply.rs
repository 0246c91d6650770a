//! Control-plane commands of a case, put into a loaded program.

use std::collections::BTreeMap;

use ir::{Match, MatchKind, TableId};
use num_bigint::BigUint;
use num_traits::{Num, Zero};
use pipeline::{CloneSession, Loaded, Replica};
use runtime::{ActionCall, EntryAction, MeterConfig, NewEntry};

use crate::script::{self, Command, Rate};

/// Multicast as BMv2's command line builds it: nodes first, then which node is in which group.
#[derive(Default)]
pub struct Nodes {
    nodes: Vec<(u16, Vec<u32>)>,
    groups: BTreeMap<u16, Vec<usize>>,
}

/// Carries out a command that is not about packets.
pub fn apply(loaded: &Loaded, nodes: &mut Nodes, command: &Command) -> Result<(), String> {
    match command {
        Command::Add { table, priority, keys, action } => add(loaded, table, *priority, keys, action),
        Command::SetDefault { table, action } => {
            let table = find_table(loaded, table)?;
            let call = action_call(loaded, table, action)?;
            loaded.device.set_default(table, &call).map_err(|error| error.to_string())
        }
        Command::GroupCreate { group } => {
            nodes.groups.insert(*group, vec![]);
            loaded.replication.set_group(*group, vec![]);
            Ok(())
        }
        Command::NodeCreate { rid, ports } => {
            nodes.nodes.push((*rid, ports.clone()));
            Ok(())
        }
        Command::NodeAssociate { group, node } => {
            let members = nodes.groups.get_mut(group).ok_or_else(|| format!("there is no group {group}"))?;
            members.push(*node);
            let mut replicas = vec![];
            for member in members {
                let (rid, ports) = nodes.nodes.get(*member).ok_or_else(|| format!("there is no node {member}"))?;
                replicas.extend(ports.iter().map(|port| vec![Replica { port: *port, instance: *rid }]));
            }
            loaded.replication.set_group(*group, replicas);
            Ok(())
        }
        Command::MirrorAdd { session, port } => {
            let copies = vec![vec![Replica { port: *port, instance: 0 }]];
            loaded.replication.set_session(*session, CloneSession { copies, ..CloneSession::default() });
            Ok(())
        }
        Command::MirrorAddGroup { session, group } => {
            loaded.replication.set_session(*session, CloneSession { group: Some(*group), ..CloneSession::default() });
            Ok(())
        }
        Command::RegisterWrite { register, index, value } => {
            let registers = &loaded.program.registers;
            let id = find(registers.iter().map(|(id, register)| (id, register.name.as_str())), register)?;
            let value = BigUint::from(*value);
            loaded.device.set_register(id, *index, &value).map_err(|error| error.to_string())
        }
        Command::RegisterReset { register } => {
            let registers = &loaded.program.registers;
            let id = find(registers.iter().map(|(id, register)| (id, register.name.as_str())), register)?;
            (0..registers[id].size)
                .try_for_each(|index| loaded.device.set_register(id, index, &BigUint::zero()))
                .map_err(|error| error.to_string())
        }
        Command::MeterRates { meter, index, rates } => {
            let meters = &loaded.program.meters;
            let id = find(meters.iter().map(|(id, meter)| (id, meter.name.as_str())), meter)?;
            let config = meter_config(rates)?;
            let indices = index.map_or(0..meters[id].size, |index| index..index + 1);
            indices
                .into_iter()
                .try_for_each(|index| loaded.device.set_meter(id, index, Some(config)))
                .map_err(|error| error.to_string())
        }
        Command::Packet { .. } | Command::Expect { .. } | Command::CheckCounter { .. } | Command::Nothing => Ok(()),
    }
}

/// What a counter has counted: packets or bytes.
pub fn counted(loaded: &Loaded, counter: &str, index: u64, bytes: bool) -> Result<u64, String> {
    let counters = &loaded.program.counters;
    let id = find(counters.iter().map(|(id, counter)| (id, counter.name.as_str())), counter)?;
    let data = loaded.device.counter(id, index).map_err(|error| error.to_string())?;
    Ok(if bytes { data.bytes } else { data.packets })
}

fn meter_config(rates: &[Rate]) -> Result<MeterConfig, String> {
    let [committed, peak] = rates else { return Err("a meter has two rates".into()) };
    let per_second = |rate: &Rate| (rate.per_microsecond * 1e6).round() as u64;
    Ok(MeterConfig { cir: per_second(committed), cburst: committed.burst, pir: per_second(peak), pburst: peak.burst })
}

fn add(
    loaded: &Loaded,
    table: &str,
    priority: Option<i32>,
    keys: &[(String, String)],
    action: &script::ActionCall,
) -> Result<(), String> {
    let id = find_table(loaded, table)?;
    let table = &loaded.program.tables[id];
    let mut matches: Vec<Option<Match>> = vec![None; table.keys.len()];
    for (name, value) in keys {
        let at = find_key(table, name)?;
        matches[at] = Some(parse_match(&table.keys[at], value)?);
    }
    let matches = matches
        .into_iter()
        .zip(&table.keys)
        .map(|(given, key)| given.map_or_else(|| open_match(key), Ok))
        .collect::<Result<Vec<_>, String>>()?;
    let prioritised =
        table.keys.iter().any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
    let entry = NewEntry {
        keys: matches,
        priority: if prioritised { u32::try_from(priority.unwrap_or(0)).unwrap_or(0) + 1 } else { 0 },
        action: EntryAction::Action(action_call(loaded, id, action)?),
        idle_timeout: 0,
        metadata: vec![],
        counter: None,
        meter: None,
    };
    loaded.device.insert_entry(id, &entry, 0).map_err(|error| error.to_string())
}

fn action_call(loaded: &Loaded, table: TableId, call: &script::ActionCall) -> Result<ActionCall, String> {
    let program = &loaded.program;
    let actions = program.tables[table].actions.iter().map(|action| action.action);
    let action = find(actions.map(|id| (id, program.actions[id].name.as_str())), &call.name)?;
    let params = &program.actions[action].params;
    let args = params
        .iter()
        .map(|param| {
            let (_, value) = call
                .args
                .iter()
                .find(|(name, _)| *name == param.name)
                .ok_or_else(|| format!("action {} has no value for '{}'", call.name, param.name))?;
            number(value)
        })
        .collect::<Result<_, _>>()?;
    Ok(ActionCall { action, args })
}

fn find_table(loaded: &Loaded, name: &str) -> Result<TableId, String> {
    find(loaded.program.tables.iter().map(|(id, table)| (id, table.name.as_str())), name)
}

/// The object with this name, or the only one whose name ends with it and a dot before it.
fn find<'a, T>(objects: impl Iterator<Item = (T, &'a str)>, name: &str) -> Result<T, String> {
    let mut close = vec![];
    for (id, object) in objects {
        if object == name {
            return Ok(id);
        }
        if object.strip_suffix(name).is_some_and(|before| before.ends_with('.')) {
            close.push(id);
        }
    }
    match close.len() {
        1 => Ok(close.remove(0)),
        0 => Err(format!("there is no '{name}'")),
        _ => Err(format!("'{name}' may be several objects")),
    }
}

fn find_key(table: &ir::Table, name: &str) -> Result<usize, String> {
    let wanted = normal_key(name);
    let names: Vec<String> = table.keys.iter().map(|key| normal_key(&key.name)).collect();
    names
        .iter()
        .position(|key| *key == wanted)
        .or_else(|| names.iter().position(|key| key.ends_with(&format!(".{wanted}"))))
        .ok_or_else(|| format!("table {} has no key '{name}', but {}", table.name, names.join(", ")))
}

/// `stack$0.f` and `h.valid` as cases write them, `stack[0].f` and `h.isValid()` as programs do.
fn normal_key(name: &str) -> String {
    let mut normal = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('$') {
        let digits = after.chars().take_while(char::is_ascii_digit).count();
        normal.push_str(before);
        if digits > 0 {
            normal.push_str(&format!("[{}]", &after[..digits]));
        }
        rest = &after[digits..];
    }
    normal.push_str(rest);
    match normal.strip_suffix(".isValid()") {
        Some(header) => format!("{header}.valid"),
        None => normal,
    }
}

fn open_match(key: &ir::Key) -> Result<Match, String> {
    Ok(match key.kind {
        MatchKind::Exact => return Err(format!("key '{}' has no value", key.name)),
        MatchKind::Lpm => Match::Lpm { value: BigUint::zero(), prefix: 0 },
        MatchKind::Ternary => Match::Ternary { value: BigUint::zero(), mask: BigUint::zero() },
        MatchKind::Range => Match::Range { low: BigUint::zero(), high: all_ones(key.width) },
        MatchKind::Optional => Match::Optional(None),
    })
}

fn parse_match(key: &ir::Key, text: &str) -> Result<Match, String> {
    Ok(match key.kind {
        MatchKind::Exact => Match::Exact(number(text)?),
        MatchKind::Optional => Match::Optional(Some(number(text)?)),
        MatchKind::Range => {
            let (low, high) = text.split_once("..").or_else(|| text.split_once("->")).unwrap_or((text, text));
            Match::Range { low: number(low)?, high: number(high)? }
        }
        MatchKind::Lpm => match text.split_once('/') {
            Some((value, prefix)) => {
                let prefix = prefix.parse().map_err(|_| format!("'{text}' is not value/prefix"))?;
                Match::Lpm { value: number(value)?, prefix }
            }
            None => {
                let (value, mask) = starred(text)?;
                let prefix = if text.contains('*') { mask.count_ones() as u32 } else { key.width };
                Match::Lpm { value, prefix }
            }
        },
        MatchKind::Ternary => match text.split_once("&&&") {
            Some((value, mask)) => Match::Ternary { value: number(value)?, mask: number(mask)? },
            None => {
                let (value, mask) = starred(text)?;
                Match::Ternary { value, mask: mask & all_ones(key.width) }
            }
        },
    })
}

/// A number whose digits may be stars: its value, and ones where it has digits.
fn starred(text: &str) -> Result<(BigUint, BigUint), String> {
    let (radix, digits) = radix(text);
    let ones = char::from_digit(radix - 1, radix).unwrap_or('1');
    let value: String = digits.replace('*', "0");
    if radix == 10 {
        let value = parse(&value, 10, text)?;
        return Ok((value, all_ones(128)));
    }
    let mask: String = digits.chars().map(|digit| if digit == '*' { '0' } else { ones }).collect();
    Ok((parse(&value, radix, text)?, parse(&mask, radix, text)?))
}

fn number(text: &str) -> Result<BigUint, String> {
    let (radix, digits) = radix(text);
    parse(digits, radix, text)
}

fn radix(text: &str) -> (u32, &str) {
    for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return (radix, digits);
        }
    }
    (10, text)
}

fn parse(digits: &str, radix: u32, text: &str) -> Result<BigUint, String> {
    BigUint::from_str_radix(digits, radix).map_err(|_| format!("'{text}' is not a number"))
}

fn all_ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(width: u32, kind: MatchKind) -> ir::Key {
        ir::Key { name: "k".into(), width, kind }
    }

    #[test]
    fn stars_leave_digits_open() {
        let ternary = parse_match(&key(32, MatchKind::Ternary), "0x****0101").unwrap();
        assert_eq!(ternary, Match::Ternary { value: 0x0101u32.into(), mask: 0xffffu32.into() });
        let lpm = parse_match(&key(32, MatchKind::Lpm), "0x0a01****").unwrap();
        assert_eq!(lpm, Match::Lpm { value: 0x0a01_0000u32.into(), prefix: 16 });
        assert_eq!(
            parse_match(&key(32, MatchKind::Lpm), "0x0a010203").unwrap(),
            Match::Lpm { value: 0x0a01_0203u32.into(), prefix: 32 }
        );
    }

    #[test]
    fn keys_have_two_spellings() {
        assert_eq!(normal_key("extra$0.h"), "extra[0].h");
        assert_eq!(normal_key("hdr.ipv4.$valid$"), "hdr.ipv4.valid");
        assert_eq!(normal_key("hdr.ipv4.isValid()"), "hdr.ipv4.valid");
    }
}
