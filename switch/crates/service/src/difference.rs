//! The first difference between two P4Info messages, in what both sides must agree on.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage, MapKey, ReflectMessage, Value};
use proto::p4::config::v1::P4Info;

/// Fields for people and for tools of the controller alone.
const IGNORED: [&str; 7] =
    ["pkg_info", "alias", "doc", "annotations", "annotation_locations", "structured_annotations", "source_location"];

/// Fields that compilers did not write before P4Runtime 1.4.
const YOUNG: [&str; 2] = ["initial_default_action", "has_initial_entries"];

static DESCRIPTORS: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(proto::FILE_DESCRIPTOR_SET).expect("the descriptors that were compiled with the messages")
});

/// Says where `given` first differs from what the program's text gives.
pub fn first(given: &P4Info, program: &P4Info) -> Option<String> {
    compare("", &dynamic(given), &dynamic(program))
}

fn dynamic(p4info: &P4Info) -> DynamicMessage {
    let descriptor = DESCRIPTORS.get_message_by_name("p4.config.v1.P4Info").expect("a message of the descriptors");
    let mut message = DynamicMessage::new(descriptor);
    message.transcode_from(p4info).expect("the same message in another form");
    message
}

fn compare(path: &str, given: &DynamicMessage, program: &DynamicMessage) -> Option<String> {
    for field in given.descriptor().fields() {
        let name = field.name();
        if IGNORED.contains(&name) || (YOUNG.contains(&name) && !given.has_field(&field)) {
            continue;
        }
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if field.supports_presence() && given.has_field(&field) != program.has_field(&field) {
            let (there, missing) =
                if given.has_field(&field) { ("the P4Info", "the program") } else { ("the program", "the P4Info") };
            return Some(format!("{path} is set in {there} but not in {missing}"));
        }
        let difference = match (&*given.get_field(&field), &*program.get_field(&field)) {
            (Value::Message(given), Value::Message(program)) => compare(&path, given, program),
            (Value::List(given), Value::List(program)) => compare_lists(&path, given, program),
            (Value::Map(given), Value::Map(program)) => {
                let by_name = |map: &HashMap<MapKey, Value>| -> BTreeMap<String, Value> {
                    map.iter()
                        .map(|(name, value)| (name.as_str().unwrap_or_default().to_owned(), value.clone()))
                        .collect()
                };
                let (given, program) = (by_name(given), by_name(program));
                compare_sets(&path, &borrowed(&given), &borrowed(&program))
            }
            (given, program) => compare_values(&path, given, program),
        };
        if difference.is_some() {
            return difference;
        }
    }
    None
}

fn compare_lists(path: &str, given: &[Value], program: &[Value]) -> Option<String> {
    if given.iter().chain(program).any(|value| !is_object(value)) && !path.ends_with("_ids") {
        return compare_in_order(path, given, program);
    }
    compare_sets(path, &by_key(given), &by_key(program))
}

/// Objects stand in any order; match fields, parameters and members of types don't.
fn is_object(value: &Value) -> bool {
    let Value::Message(message) = value else { return false };
    let descriptor = message.descriptor();
    descriptor.get_field_by_name("preamble").is_some() || descriptor.name() == "ActionRef"
}

fn compare_in_order(path: &str, given: &[Value], program: &[Value]) -> Option<String> {
    if given.len() != program.len() {
        return Some(format!("{path} has {} elements, in the program it has {}", given.len(), program.len()));
    }
    let mut pairs = given.iter().zip(program);
    pairs.find_map(|(given, program)| compare_elements(&format!("{path}[{}]", key(program)), given, program))
}

fn compare_sets(path: &str, given: &BTreeMap<String, &Value>, program: &BTreeMap<String, &Value>) -> Option<String> {
    for (key, value) in given {
        let Some(other) = program.get(key) else {
            return Some(format!("{path} has {key}, which the program does not have"));
        };
        let difference = compare_elements(&format!("{path}[{key}]"), value, other);
        if difference.is_some() {
            return difference;
        }
    }
    let missing = program.keys().find(|key| !given.contains_key(*key))?;
    Some(format!("{path} lacks {missing}, which the program has"))
}

fn compare_elements(path: &str, given: &Value, program: &Value) -> Option<String> {
    match (given, program) {
        (Value::Message(given), Value::Message(program)) => compare(path, given, program),
        (given, program) => compare_values(path, given, program),
    }
}

fn compare_values(path: &str, given: &Value, program: &Value) -> Option<String> {
    (given != program).then(|| format!("{path} is {}, in the program it is {}", text(given), text(program)))
}

fn borrowed(map: &BTreeMap<String, Value>) -> BTreeMap<String, &Value> {
    map.iter().map(|(name, value)| (name.clone(), value)).collect()
}

fn by_key(values: &[Value]) -> BTreeMap<String, &Value> {
    values.iter().map(|value| (key(value), value)).collect()
}

/// What an element is called: its name, or its id, or the value itself.
fn key(value: &Value) -> String {
    let Value::Message(message) = value else { return text(value) };
    let named = |message: &DynamicMessage| {
        let field = |name: &str| message.get_field_by_name(name).map(|value| text(&value));
        field("name").filter(|name| !name.is_empty()).or_else(|| field("id")).or_else(|| field("param_id"))
    };
    match message.get_field_by_name("preamble").as_deref() {
        Some(Value::Message(preamble)) => named(preamble),
        _ => named(message),
    }
    .unwrap_or_else(|| message.to_string())
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Message(message) => message.to_string(),
        Value::EnumNumber(number) => number.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proto::p4::config::v1::{Documentation, MatchField, Preamble, Table, match_field};

    use super::*;

    fn table(id: u32, name: &str) -> Table {
        let key = MatchField {
            id: 1,
            name: "hdr.dst".into(),
            bitwidth: 32,
            r#match: Some(match_field::Match::MatchType(match_field::MatchType::Exact as i32)),
            ..Default::default()
        };
        Table {
            preamble: Some(Preamble { id, name: name.into(), ..Default::default() }),
            match_fields: vec![key],
            size: 1024,
            has_initial_entries: true,
            ..Default::default()
        }
    }

    fn info(tables: Vec<Table>) -> P4Info {
        P4Info { tables, ..Default::default() }
    }

    #[test]
    fn order_words_for_people_and_young_fields_do_not_matter() {
        let program = info(vec![table(1, "a"), table(2, "b")]);
        let mut given = info(vec![table(2, "b"), table(1, "a")]);
        let preamble = given.tables[0].preamble.as_mut().unwrap();
        preamble.doc = Some(Documentation { brief: "a table".into(), ..Default::default() });
        preamble.alias = "short".into();
        given.tables[1].has_initial_entries = false;
        assert_eq!(first(&given, &program), None);
    }

    #[test]
    fn the_first_difference_has_its_place() {
        let program = info(vec![table(1, "a")]);
        let mut given = program.clone();
        given.tables[0].match_fields[0].bitwidth = 128;
        let text = "tables[a].match_fields[hdr.dst].bitwidth is 128, in the program it is 32";
        assert_eq!(first(&given, &program).as_deref(), Some(text));
        let mut given = program.clone();
        given.tables[0].preamble.as_mut().unwrap().id = 9;
        assert_eq!(first(&given, &program).as_deref(), Some("tables[a].preamble.id is 9, in the program it is 1"));
        let more = info(vec![table(1, "a"), table(2, "b")]);
        assert_eq!(first(&more, &program).as_deref(), Some("tables has b, which the program does not have"));
        assert_eq!(first(&program, &more).as_deref(), Some("tables lacks b, which the program has"));
    }

    #[test]
    fn an_object_without_preamble_does_not_pass() {
        let program = info(vec![table(1, "a")]);
        let mut given = program.clone();
        given.tables[0].preamble = None;
        assert!(first(&given, &program).is_some());
    }
}
