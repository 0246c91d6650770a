//! Where two P4Info messages differ.

use std::collections::{BTreeMap, BTreeSet};

use prost_reflect::{DynamicMessage, ReflectMessage, Value};
use proto::p4::config::v1::P4Info;

use crate::text::dynamic_p4info;

/// The first difference, in words; nothing when both say the same. Objects, references to actions and ids may stand in
/// any order; match fields, parameters and members may not.
pub fn difference(given: &P4Info, expected: &P4Info) -> Option<String> {
    messages("", &dynamic_p4info(given), &dynamic_p4info(expected))
}

fn messages(path: &str, given: &DynamicMessage, expected: &DynamicMessage) -> Option<String> {
    given.descriptor().fields().find_map(|field| {
        let path = if path.is_empty() { field.name().to_owned() } else { format!("{path}.{}", field.name()) };
        if field.supports_presence() {
            match (given.has_field(&field), expected.has_field(&field)) {
                (true, false) => return Some(format!("{path} is set, it should not be")),
                (false, true) => return Some(format!("{path} is not set, it should be")),
                (false, false) => return None,
                (true, true) => {}
            }
        }
        match (&*given.get_field(&field), &*expected.get_field(&field)) {
            (Value::List(given), Value::List(expected)) => lists(&path, given, expected),
            (Value::Map(given), Value::Map(expected)) => {
                let keyed = |(key, value)| (key_text(&Value::from(Clone::clone(key))), value);
                sets(&path, &given.iter().map(keyed).collect(), &expected.iter().map(keyed).collect())
            }
            (given, expected) => values(&path, given, expected),
        }
    })
}

fn lists(path: &str, given: &[Value], expected: &[Value]) -> Option<String> {
    let unordered = |value: &Value| match value {
        Value::Message(message) => {
            let descriptor = message.descriptor();
            descriptor.get_field_by_name("preamble").is_some() || descriptor.name() == "ActionRef"
        }
        _ => path.ends_with("_ids"),
    };
    if given.iter().chain(expected).all(unordered) && distinct(given) && distinct(expected) {
        let keyed =
            |values| -> BTreeMap<String, _> { Iterator::map(values, |value| (key_text(value), value)).collect() };
        return sets(path, &keyed(given.iter()), &keyed(expected.iter()));
    }
    let pairs = given.iter().zip(expected).enumerate();
    let first = pairs.into_iter().find_map(|(index, (given, expected))| {
        let key = match expected {
            Value::Message(_) => key_text(expected),
            _ => index.to_string(),
        };
        values(&format!("{path}[{key}]"), given, expected)
    });
    let counts = || format!("{path} has {} elements, it should have {}", given.len(), expected.len());
    first.or_else(|| (given.len() != expected.len()).then(counts))
}

fn distinct(values: &[Value]) -> bool {
    values.iter().map(key_text).collect::<BTreeSet<_>>().len() == values.len()
}

fn sets(path: &str, given: &BTreeMap<String, &Value>, expected: &BTreeMap<String, &Value>) -> Option<String> {
    if let Some(key) = given.keys().find(|key| !expected.contains_key(*key)) {
        return Some(format!("{path} has {key}, which should not be there"));
    }
    expected.iter().find_map(|(key, expected)| match given.get(key) {
        Some(given) => values(&format!("{path}[{key}]"), given, expected),
        None => Some(format!("{path} lacks {key}")),
    })
}

fn values(path: &str, given: &Value, expected: &Value) -> Option<String> {
    match (given, expected) {
        (Value::Message(given), Value::Message(expected)) => messages(path, given, expected),
        _ => (given != expected).then(|| format!("{path} is {}, it should be {}", plain(given), plain(expected))),
    }
}

/// What an element is called: its name, else its id, else its content.
fn key_text(value: &Value) -> String {
    let Value::Message(message) = value else { return plain(value) };
    let named = |message: &DynamicMessage| {
        ["name", "id", "param_id"].into_iter().find_map(|name| {
            let field = message.descriptor().get_field_by_name(name)?;
            message.has_field(&field).then(|| plain(&message.get_field(&field)))
        })
    };
    match message.get_field_by_name("preamble").as_deref() {
        Some(Value::Message(preamble)) => named(preamble),
        _ => named(message),
    }
    .unwrap_or_else(|| message.to_string())
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proto::p4::config::v1::{ActionRef, MatchField, P4NewTypeSpec, P4TypeInfo, Preamble, Table};

    use super::*;

    fn table(id: u32, name: &str) -> Table {
        Table {
            preamble: Some(Preamble { id, name: name.into(), ..Default::default() }),
            match_fields: vec![
                MatchField { id: 1, name: "a".into(), bitwidth: 8, ..Default::default() },
                MatchField { id: 2, name: "b".into(), bitwidth: 8, ..Default::default() },
            ],
            action_refs: vec![
                ActionRef { id: 5, ..Default::default() },
                ActionRef { id: 6, annotations: vec!["@x".into()], ..Default::default() },
            ],
            direct_resource_ids: vec![8, 9],
            ..Default::default()
        }
    }

    fn info() -> P4Info {
        P4Info { tables: vec![table(1, "t"), table(2, "u")], ..Default::default() }
    }

    fn changed(change: impl FnOnce(&mut P4Info)) -> Option<String> {
        let mut given = info();
        change(&mut given);
        difference(&given, &info())
    }

    #[test]
    fn objects_references_and_ids_stand_in_any_order() {
        let reversed = |given: &mut P4Info| {
            given.tables.reverse();
            given.tables[0].action_refs.reverse();
            given.tables[0].direct_resource_ids.reverse();
        };
        assert_eq!(changed(reversed), None);
    }

    #[test]
    fn a_difference_names_its_place_and_both_sides() {
        let says = |change: fn(&mut P4Info), text: &str| assert_eq!(changed(change).as_deref(), Some(text));
        says(|given| given.tables[1].size = 3, "tables[u].size is 3, it should be 0");
        says(
            |given| given.tables[0].match_fields[1].bitwidth = 9,
            "tables[t].match_fields[b].bitwidth is 9, it should be 8",
        );
        says(|given| given.tables[0].match_fields.reverse(), "tables[t].match_fields[a].id is 2, it should be 1");
        says(
            |given| drop(given.tables[0].match_fields.pop()),
            "tables[t].match_fields has 1 elements, it should have 2",
        );
        says(|given| drop(given.tables.pop()), "tables lacks u");
        says(|given| given.tables.push(table(3, "v")), "tables has v, which should not be there");
        says(
            |given| given.tables[0].action_refs[1].annotations[0].push('y'),
            "tables[t].action_refs[6].annotations[0] is @xy, it should be @x",
        );
        says(|given| given.type_info = Some(P4TypeInfo::default()), "type_info is set, it should not be");
    }

    #[test]
    fn described_types_are_compared_by_name() {
        let types = |names: &[&str]| {
            let new_types = names.iter().map(|name| ((*name).to_owned(), P4NewTypeSpec::default())).collect();
            P4Info { type_info: Some(P4TypeInfo { new_types, ..Default::default() }), ..Default::default() }
        };
        let text = difference(&types(&["a_t", "b_t"]), &types(&["a_t", "c_t"]));
        assert_eq!(text.as_deref(), Some("type_info.new_types has b_t, which should not be there"));
    }
}
