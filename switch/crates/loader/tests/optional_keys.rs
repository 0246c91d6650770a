//! p4c writes optional keys as ternary ones into BMv2 JSON; P4Info alone says that they are optional.

use std::sync::Arc;

use control::{Code, Control, Scope};
use pipeline::{BackendKind, Engine, Message, Sink, Traffic};
use proto::p4::v1::{self, entity::Entity, field_match, table_action, update};

const SOURCE: &str = "
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; }
struct metadata {}
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.h); transition accept; }
}
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action f(bit<9> port) { s.egress_spec = port; }
    table t {
        key = { h.h.a: optional; h.h.b: ternary; }
        actions = { f; NoAction; }
        default_action = NoAction();
    }
    apply { t.apply(); }
}
control D(packet_out p, in headers h) { apply { p.emit(h.h); } }
control C(inout headers h, inout metadata m) { apply {} }
control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply {} }
V1Switch(P(), C(), I(), E(), C(), D()) main;
";

/// What p4c makes of the same program, shortened.
const JSON: &str = r#"{
    "__meta__": {"version": [2, 23], "compiler": "https://github.com/p4lang/p4c"},
    "header_types": [
        {"name": "h_t", "id": 0, "fields": [["a", 8, false], ["b", 8, false]]},
        {"name": "standard_metadata", "id": 1, "fields": [
            ["ingress_port", 9, false], ["egress_spec", 9, false], ["egress_port", 9, false],
            ["instance_type", 32, false], ["packet_length", 32, false], ["mcast_grp", 16, false],
            ["checksum_error", 1, false], ["parser_error", 32, false], ["_padding", 5, false]]}],
    "headers": [
        {"name": "standard_metadata", "id": 0, "header_type": "standard_metadata", "metadata": true},
        {"name": "h", "id": 1, "header_type": "h_t", "metadata": false}],
    "parsers": [{"name": "parser", "id": 0, "init_state": "start", "parse_states": [{
        "name": "start", "id": 0, "transition_key": [],
        "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "h"}]}],
        "transitions": [{"type": "default", "value": null, "mask": null, "next_state": null}]}]}],
    "deparsers": [{"name": "deparser", "id": 0, "order": ["h"]}],
    "actions": [
        {"name": "NoAction", "id": 0, "runtime_data": [], "primitives": []},
        {"name": "I.f", "id": 1, "runtime_data": [{"name": "port", "bitwidth": 9}], "primitives": [
            {"op": "assign", "parameters": [
                {"type": "field", "value": ["standard_metadata", "egress_spec"]},
                {"type": "runtime_data", "value": 0}]}]}],
    "pipelines": [
        {"name": "ingress", "id": 0, "init_table": "I.t", "conditionals": [], "tables": [{
            "name": "I.t", "id": 0, "match_type": "ternary", "type": "simple", "max_size": 1024,
            "key": [
                {"match_type": "ternary", "name": "h.h.a", "target": ["h", "a"], "mask": null},
                {"match_type": "ternary", "name": "h.h.b", "target": ["h", "b"], "mask": null}],
            "action_ids": [1, 0], "actions": ["I.f", "NoAction"],
            "next_tables": {"I.f": null, "NoAction": null}, "base_default_next": null,
            "default_entry": {
                "action_id": 0, "action_const": false, "action_data": [], "action_entry_const": false}}]},
        {"name": "egress", "id": 1, "init_table": null, "tables": [], "conditionals": []}]
}"#;

#[derive(Default)]
struct Sent(Vec<u32>);

impl Sink for Sent {
    fn transmit(&mut self, port: u32, _packet: &[u8], _at: u64) {
        self.0.push(port);
    }
    fn message(&mut self, _digest_or_log: Message) {}
}

#[test]
fn p4info_says_which_ternary_keys_of_json_are_optional() {
    let p4info = loader::load(SOURCE, BackendKind::Interpreter).unwrap().p4info.unwrap();
    let program = Arc::new(loader::load(JSON, BackendKind::Jit).unwrap());
    let control = Control::new(p4info.clone(), program.clone()).unwrap_or_else(|status| panic!("{}", status.message));
    let action = p4info.actions.iter().find(|action| !action.params.is_empty()).unwrap();
    let table_id = p4info.tables[0].preamble.as_ref().unwrap().id;
    let entry = |field_match_type, port: u8| {
        let action = v1::Action {
            action_id: action.preamble.as_ref().unwrap().id,
            params: vec![v1::action::Param { param_id: 1, value: vec![port] }],
        };
        v1::TableEntry {
            table_id,
            r#match: vec![v1::FieldMatch { field_id: 1, field_match_type: Some(field_match_type) }],
            priority: 10,
            action: Some(v1::TableAction { r#type: Some(table_action::Type::Action(action)) }),
            ..Default::default()
        }
    };
    let write = |entry: &v1::TableEntry| {
        let entity = Some(v1::Entity { entity: Some(Entity::TableEntry(entry.clone())) });
        let insert = v1::Update { r#type: update::Type::Insert as i32, entity };
        control.write(&[insert], 0, &Scope::All, 0).unwrap().remove(0)
    };
    let optional = |value| field_match::FieldMatchType::Optional(field_match::Optional { value: vec![value] });
    let written = entry(optional(5), 2);
    let status = write(&written);
    assert!(status.is_ok(), "{}", status.message);
    let masked = field_match::Ternary { value: vec![1], mask: vec![1] };
    let status = write(&entry(field_match::FieldMatchType::Ternary(masked), 2));
    assert_eq!(status.code, Code::InvalidArgument);
    assert!(status.message.contains("key h.h.a must be matched as optional"), "{}", status.message);

    let wanted = Entity::TableEntry(v1::TableEntry { table_id, ..Default::default() });
    let reading = control.read(&[v1::Entity { entity: Some(wanted) }], &Scope::All, 0);
    let read: Vec<_> = reading.entities.iter().filter_map(|entity| entity.entity.clone()).collect();
    assert_eq!(read, [Entity::TableEntry(written)]);

    for (first, port) in [(5, 2), (6, 0)] {
        let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
        let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
        engine.receive(1, &[first, 9], 0, &mut sent);
        engine.flush(&mut sent);
        assert_eq!(sent.0, [port], "of a packet that begins with {first}");
    }
}
