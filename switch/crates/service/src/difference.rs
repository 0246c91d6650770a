//! The first difference between two P4Info messages, in what both sides must agree on.
//!
//! Ids are the given P4Info's own: compilers number objects differently, so objects are found by name, and a reference is
//! the name of what it refers to. A P4Info may leave objects out, as one for a role does.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage, MapKey, ReflectMessage, Value};
use proto::p4::config::v1::P4Info;

/// Fields for people and for tools of the controller alone, and numbers that each P4Info gives itself.
const IGNORED: [&str; 9] = [
    "pkg_info",
    "alias",
    "doc",
    "annotations",
    "annotation_locations",
    "structured_annotations",
    "source_location",
    "id",
    "param_id",
];

/// Ids of other objects.
const REFERENCES: [&str; 6] = [
    "implementation_id",
    "const_default_action_id",
    "action_id",
    "direct_table_id",
    "direct_resource_ids",
    "table_ids",
];

/// Fields that compilers did not write before P4Runtime 1.4.
const YOUNG: [&str; 2] = ["initial_default_action", "has_initial_entries"];

static DESCRIPTORS: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(proto::FILE_DESCRIPTOR_SET).expect("the descriptors that were compiled with the messages")
});

/// Says where `given` first differs from what the program's text gives.
pub fn first(given: &P4Info, program: &P4Info) -> Option<String> {
    let (given, program) = (dynamic(given), dynamic(program));
    let names = Names { given: names(&given), program: names(&program) };
    names.compare("", &given, &program)
}

/// What the ids of both sides stand for.
struct Names {
    given: HashMap<u32, String>,
    program: HashMap<u32, String>,
}

fn names(p4info: &DynamicMessage) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    for field in p4info.descriptor().fields() {
        let value = p4info.get_field(&field);
        for object in value.as_list().unwrap_or_default().iter().filter_map(Value::as_message) {
            let Some(preamble) = object.get_field_by_name("preamble") else { continue };
            let Some(id) = preamble.as_message().and_then(|preamble| number(preamble, "id")) else { continue };
            names.insert(id, key(&Value::Message(object.clone())));
        }
    }
    names
}

fn number(message: &DynamicMessage, field: &str) -> Option<u32> {
    message.get_field_by_name(field).and_then(|value| value.as_u32())
}

/// The object that an id stands for.
fn referred(names: &HashMap<u32, String>, id: &Value) -> Value {
    let id = id.as_u32().unwrap_or(0);
    let name = if id == 0 { "nothing".to_owned() } else { format!("an unknown object {id}") };
    Value::String(names.get(&id).cloned().unwrap_or(name))
}

fn dynamic(p4info: &P4Info) -> DynamicMessage {
    let descriptor = DESCRIPTORS.get_message_by_name("p4.config.v1.P4Info").expect("a message of the descriptors");
    let mut message = DynamicMessage::new(descriptor);
    message.transcode_from(p4info).expect("the same message in another form");
    message
}

impl Names {
    fn compare(&self, path: &str, given: &DynamicMessage, program: &DynamicMessage) -> Option<String> {
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
                (Value::List(given), Value::List(program)) if REFERENCES.contains(&name) => {
                    let given: Vec<Value> = given.iter().map(|id| referred(&self.given, id)).collect();
                    let program: Vec<Value> = program.iter().map(|id| referred(&self.program, id)).collect();
                    self.compare_sets(&path, &by_key(&given), &by_key(&program))
                }
                (given, program) if REFERENCES.contains(&name) => {
                    compare_values(&path, &referred(&self.given, given), &referred(&self.program, program))
                }
                (Value::Message(given), Value::Message(program)) => self.compare(&path, given, program),
                (Value::List(given), Value::List(program)) => self.compare_lists(&path, given, program),
                (Value::Map(given), Value::Map(program)) => {
                    let by_name = |map: &HashMap<MapKey, Value>| -> BTreeMap<String, Value> {
                        map.iter()
                            .map(|(name, value)| (name.as_str().unwrap_or_default().to_owned(), value.clone()))
                            .collect()
                    };
                    let (given, program) = (by_name(given), by_name(program));
                    self.compare_sets(&path, &borrowed(&given), &borrowed(&program))
                }
                (given, program) => compare_values(&path, given, program),
            };
            if difference.is_some() {
                return difference;
            }
        }
        None
    }

    fn compare_lists(&self, path: &str, given: &[Value], program: &[Value]) -> Option<String> {
        if given.iter().chain(program).all(is_action_ref) {
            let (given, program) = (self.actions(&self.given, given), self.actions(&self.program, program));
            return self.compare_sets(path, &given, &program);
        }
        if given.iter().chain(program).any(|value| !is_object(value)) {
            return self.compare_in_order(path, given, program);
        }
        self.compare_sets(path, &by_key(given), &by_key(program))
    }

    /// A table's actions by name.
    fn actions<'v>(&self, names: &HashMap<u32, String>, actions: &'v [Value]) -> BTreeMap<String, &'v Value> {
        let name = |action: &Value| {
            let id = action.as_message().and_then(|action| number(action, "id")).unwrap_or(0);
            text(&referred(names, &Value::U32(id)))
        };
        actions.iter().map(|action| (name(action), action)).collect()
    }

    fn compare_in_order(&self, path: &str, given: &[Value], program: &[Value]) -> Option<String> {
        if given.len() != program.len() {
            return Some(format!("{path} has {} elements, in the program it has {}", given.len(), program.len()));
        }
        let mut pairs = given.iter().zip(program);
        pairs.find_map(|(given, program)| self.compare_elements(&format!("{path}[{}]", key(program)), given, program))
    }

    /// What is given must be in the program.
    fn compare_sets(
        &self,
        path: &str,
        given: &BTreeMap<String, &Value>,
        program: &BTreeMap<String, &Value>,
    ) -> Option<String> {
        given.iter().find_map(|(key, value)| match program.get(key) {
            Some(other) => self.compare_elements(&format!("{path}[{key}]"), value, other),
            None => Some(format!("{path} has {key}, which the program does not have")),
        })
    }

    fn compare_elements(&self, path: &str, given: &Value, program: &Value) -> Option<String> {
        match (given, program) {
            (Value::Message(given), Value::Message(program)) => self.compare(path, given, program),
            (given, program) => compare_values(path, given, program),
        }
    }
}

/// Objects stand in any order; match fields, parameters and members of types don't.
fn is_object(value: &Value) -> bool {
    value.as_message().is_some_and(|message| message.descriptor().get_field_by_name("preamble").is_some())
}

fn is_action_ref(value: &Value) -> bool {
    value.as_message().is_some_and(|message| message.descriptor().name() == "ActionRef")
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
    use proto::p4::config::v1::{Action, ActionRef, Documentation, MatchField, Preamble, Table, match_field};

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
        let more = info(vec![table(1, "a"), table(2, "b")]);
        assert_eq!(first(&more, &program).as_deref(), Some("tables has b, which the program does not have"));
    }

    #[test]
    fn objects_are_found_by_name_and_may_be_left_out() {
        let action = |id, name: &str| Action {
            preamble: Some(Preamble { id, name: name.into(), ..Default::default() }),
            ..Default::default()
        };
        let with = |tables: Vec<Table>, actions: Vec<Action>| P4Info { actions, ..info(tables) };
        let acting = |id, name: &str, action: u32| Table {
            action_refs: vec![ActionRef { id: action, ..Default::default() }],
            const_default_action_id: action,
            ..table(id, name)
        };
        let program = with(vec![acting(1, "a", 7), acting(2, "b", 8)], vec![action(7, "x"), action(8, "y")]);
        let renumbered = with(vec![acting(33, "b", 40)], vec![action(40, "y"), action(41, "x")]);
        assert_eq!(first(&renumbered, &program), None);
        let other = with(vec![acting(33, "b", 41)], vec![action(40, "y"), action(41, "x")]);
        let text = "tables[b].action_refs has x, which the program does not have";
        assert_eq!(first(&other, &program).as_deref(), Some(text));
    }

    #[test]
    fn an_object_without_preamble_does_not_pass() {
        let program = info(vec![table(1, "a")]);
        let mut given = program.clone();
        given.tables[0].preamble = None;
        assert!(first(&given, &program).is_some());
    }
}
