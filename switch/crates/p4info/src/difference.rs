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
        let keyed = |values| -> BTreeMap<String, _> { Iterator::map(values, |value| (key_text(value), value)).collect() };
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
    let field = |message: &DynamicMessage, name: &str| {
        let value = message.get_field_by_name(name)?;
        (!value.is_default_for_missing()).then(|| plain(&value))
    };
    let named = |message: &DynamicMessage| {
        ["name", "id", "param_id"].into_iter().find_map(|name| field(message, name))
    };
    match message.get_field_by_name("preamble").as_deref() {
        Some(Value::Message(preamble)) => named(preamble),
        _ => named(message),
    }
    .unwrap_or_else(|| message.to_string())
}

trait Missing {
    fn is_default_for_missing(&self) -> bool;
}

impl Missing for Value {
    fn is_default_for_missing(&self) -> bool {
        match self {
            Value::String(text) => text.is_empty(),
            Value::U32(number) => *number == 0,
            _ => true,
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
