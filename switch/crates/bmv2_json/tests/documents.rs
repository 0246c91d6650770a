//! Small documents, written by hand: what they compute, what tables find, and what is refused.

use std::sync::Arc;

use pipeline::{BackendKind, Loaded};
use serde_json::{Value, json};
use stf::script;

/// Two bytes and a signed one come in and go out; `act` runs on every packet.
fn document(primitives: Value) -> Value {
    json!({
        "__meta__": {"version": [2, 23]},
        "header_types": [
            {"name": "h_t", "id": 0, "fields": [["a", 8, false], ["b", 8, false], ["s", 8, true], ["w", 136, false]]},
            {"name": "opts_t", "id": 1, "fields": [["len", 8, false], ["data", "*"]], "max_length": 5},
            {"name": "std_t", "id": 2, "fields": [
                ["ingress_port", 9, false], ["egress_spec", 9, false], ["egress_port", 9, false],
                ["instance_type", 32, false], ["packet_length", 32, false], ["mcast_grp", 16, false],
                ["checksum_error", 1, false], ["parser_error", 32, false], ["_padding", 5, false]]},
            {"name": "meta_t", "id": 3, "fields": [["x", 8, false], ["big", 136, false], ["_padding", 8, false]]},
        ],
        "headers": [
            {"name": "h", "id": 0, "header_type": "h_t", "metadata": false},
            {"name": "opts", "id": 1, "header_type": "opts_t", "metadata": false},
            {"name": "s[0]", "id": 2, "header_type": "h_t", "metadata": false},
            {"name": "s[1]", "id": 3, "header_type": "h_t", "metadata": false},
            {"name": "standard_metadata", "id": 4, "header_type": "std_t", "metadata": true},
            {"name": "scalars", "id": 5, "header_type": "meta_t", "metadata": true},
        ],
        "header_stacks": [{"name": "s", "id": 0, "header_type": "h_t", "size": 2, "header_ids": [2, 3]}],
        "parsers": [{"name": "parser", "id": 0, "init_state": "start", "parse_states": [{
            "name": "start", "id": 0,
            "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "h"}]}],
            "transition_key": [],
            "transitions": [{"type": "default", "value": null, "mask": null, "next_state": null}],
        }]}],
        "deparsers": [{"name": "deparser", "id": 0, "order": ["h", "opts", "s[0]", "s[1]"]}],
        "actions": [{"name": "act", "id": 0, "runtime_data": [], "primitives": primitives}],
        "pipelines": [
            {"name": "ingress", "id": 0, "init_table": "tbl_act", "conditionals": [], "tables": [{
                "name": "tbl_act", "id": 0, "key": [], "match_type": "exact", "type": "simple", "max_size": 1024,
                "action_ids": [0], "actions": ["act"], "next_tables": {"act": null}, "base_default_next": null,
                "default_entry": {
                    "action_id": 0, "action_const": true, "action_data": [], "action_entry_const": true},
            }]},
            {"name": "egress", "id": 1, "init_table": null, "tables": [], "conditionals": []},
        ],
    })
}

/// The packet that leaves by port 0, from a packet of `a`, `b`, `s` and a wide number.
fn run(document: &Value, case: &str) {
    let program = bmv2_json::program(&document.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let program = Arc::new(program);
    for kind in [BackendKind::Interpreter, BackendKind::Jit, BackendKind::SpecialAtOnce] {
        let loaded = Loaded::new(program.clone(), kind).unwrap();
        let outcome = stf::run(&loaded, &script::parse(case).unwrap()).unwrap();
        assert!(outcome.failures.is_empty(), "{kind:?}: {}", outcome.failures[0]);
    }
}

fn refused(document: &Value) -> String {
    bmv2_json::program(&document.to_string()).expect_err("the document is wrong").to_string()
}

fn field(name: &str) -> Value {
    json!({"type": "field", "value": ["h", name]})
}

fn hex(digits: &str) -> Value {
    json!({"type": "hexstr", "value": digits})
}

fn op(name: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": name, "left": left, "right": right}})
}

fn assign(to: Value, value: Value) -> Value {
    // The compiler wraps what it computes twice.
    json!({"op": "assign", "parameters": [to, {"type": "expression", "value": value}]})
}

#[test]
fn numbers_have_no_bounds_until_they_are_assigned() {
    let (a, b, s) = (field("a"), field("b"), field("s"));
    // a = 0xf0, b = 0x20, s = -2
    let cases = [
        (op("&", op("+", a.clone(), b.clone()), hex("0xff")), "10"),
        (op(">>", op("+", a.clone(), b.clone()), hex("0x4")), "11"),
        (op(">>", op("&", op("+", a.clone(), b.clone()), hex("0xff")), hex("0x4")), "01"),
        (op("-", b.clone(), a.clone()), "30"),
        (op(">>", op("*", a.clone(), b.clone()), hex("0x8")), "1e"),
        (op("/", a.clone(), hex("0x7")), "22"),
        (op("%", a.clone(), hex("0x7")), "02"),
        (op("|", op("<<", b.clone(), hex("0x2")), hex("0x1")), "81"),
        (op("<<", hex("0x1"), op("&", s.clone(), hex("0x3"))), "04"),
        (op("^", a.clone(), hex("0xff")), "0f"),
        (op("~", Value::Null, a.clone()), "0f"),
        (op(">>", s.clone(), hex("0x1")), "ff"),
        (op("usat_cast", op("+", a.clone(), b.clone()), hex("0x8")), "ff"),
        (op("usat_cast", op("-", b.clone(), a.clone()), hex("0x8")), "00"),
        (op("sat_cast", op("-", s.clone(), hex("0x7f")), hex("0x8")), "80"),
        (op("two_comp_mod", op("+", a.clone(), hex("0x90")), hex("0x8")), "80"),
        (op("b2d", Value::Null, op("<", op("-", b.clone(), a.clone()), hex("0x0"))), "01"),
        (op("b2d", Value::Null, op("<", s.clone(), hex("0x1"))), "01"),
        (op("b2d", Value::Null, op("==", s, hex("-0x2"))), "01"),
        (op("b2d", Value::Null, op(">=", a.clone(), hex("0x100"))), "00"),
        (
            op(
                "b2d",
                Value::Null,
                op("and", op("d2b", Value::Null, a), op("not", Value::Null, op("==", b, hex("0x20")))),
            ),
            "00",
        ),
    ];
    let wide = "00".repeat(17);
    for (value, expected) in cases {
        let document = document(json!([assign(field("a"), value.clone())]));
        eprintln!("{value}");
        run(&document, &format!("packet 0 f020fe{wide}\nexpect 0 {expected}20fe{wide} $"));
    }
}

#[test]
fn numbers_of_more_than_128_bits_are_computed_too() {
    let sum = op("+", field("w"), hex("0x1"));
    let value = json!({"type": "expression", "value": {
        "op": "?", "left": sum, "right": hex("0x0"), "cond": op("!=", field("w"), hex("0x0"))}});
    let document = document(json!([assign(field("w"), value)]));
    let (ones, carried) = (format!("00{}", "ff".repeat(16)), format!("01{}", "00".repeat(16)));
    run(&document, &format!("packet 0 010203{ones}\nexpect 0 010203{carried} $"));
    run(&document, &format!("packet 0 010203{0}\nexpect 0 010203{0} $", "00".repeat(17)));
}

#[test]
fn actions_jump_and_leave() {
    let document = document(json!([
        {"op": "_jump_if_zero", "parameters": [op("==", field("a"), hex("0x1")), hex("0x3")]},
        assign(field("b"), hex("0x11")),
        {"op": "_jump", "parameters": [hex("0x4")]},
        assign(field("b"), hex("0x22")),
        {"op": "_jump_if_zero", "parameters": [op("==", field("s"), hex("0x7")), hex("0x6")]},
        {"op": "exit", "parameters": []},
        assign(field("s"), hex("0x33")),
    ]));
    let wide = "00".repeat(17);
    run(&document, &format!("packet 0 010000{wide}\nexpect 0 011133{wide} $"));
    run(&document, &format!("packet 0 020000{wide}\nexpect 0 022233{wide} $"));
    run(&document, &format!("packet 0 020007{wide}\nexpect 0 022207{wide} $"));
}

#[test]
fn headers_come_go_and_move() {
    let element = |index: &str| json!({"type": "header", "value": format!("s[{index}]")});
    let stack = json!({"type": "header_stack", "value": "s"});
    let at = json!({"type": "expression", "value": {
        "op": "access_field", "right": 0,
        "left": op("dereference_header_stack", stack.clone(), field("b"))}});
    let document = document(json!([
        {"op": "assign_header", "parameters": [element("0"), {"type": "header", "value": "h"}]},
        {"op": "push", "parameters": [stack, hex("0x1")]},
        assign(at, hex("0x77")),
        {"op": "remove_header", "parameters": [{"type": "header", "value": "h"}]},
    ]));
    let wide = "00".repeat(17);
    run(&document, &format!("packet 0 010105{wide}\nexpect 0 770105{wide} $"));
    // An index past the end writes nothing.
    run(&document, &format!("packet 0 010905{wide}\nexpect 0 010905{wide} $"));
}

#[test]
fn transitions_match_padded_keys_and_varbits_are_extracted() {
    let mut document = document(json!([]));
    document["parsers"][0]["parse_states"] = json!([
        {
            "name": "start", "id": 0,
            "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "h"}]}],
            "transition_key": [
                {"type": "field", "value": ["standard_metadata", "ingress_port"]}, {"type": "field", "value": ["h", "a"]}],
            "transitions": [
                {"type": "hexstr", "value": "0x010005", "mask": "0x0100ff", "next_state": null},
                {"type": "hexstr", "value": "0x000106", "mask": null, "next_state": "more"},
                {"type": "default", "value": null, "mask": null, "next_state": null}],
        },
        {
            "name": "more", "id": 1,
            "parser_ops": [
                {"op": "advance", "parameters": [hex("0x8")]},
                {"op": "set", "parameters": [field("b"), {"type": "lookahead", "value": [4, 4]}]},
                {"op": "extract_VL", "parameters": [
                    {"type": "regular", "value": "opts"}, {"type": "expression", "value": op("*", field("b"), hex("0x8"))}]}],
            "transition_key": [],
            "transitions": [{"type": "default", "value": null, "mask": null, "next_state": null}],
        },
    ]);
    let wide = "00".repeat(17);
    run(&document, &format!("packet 1 060000{wide} 99 02 aabb cc\nexpect 0 060200{wide} 02 aabb cc $"));
    run(&document, &format!("packet 1 070000{wide} 99 02 aabb\nexpect 0 070000{wide} 99 02 aabb $"));
    run(&document, &format!("packet 2 060000{wide} 99 02 aabb\nexpect 0 060000{wide} 99 02 aabb $"));
}

#[test]
fn tables_find_entries_and_lead_on() {
    let mut document = document(json!([]));
    document["actions"] = json!([
        {"name": "act", "id": 0, "runtime_data": [{"name": "value", "bitwidth": 8}], "primitives": [
            {"op": "assign", "parameters": [field("b"), {"type": "runtime_data", "value": 0}]}]},
        {"name": "mark", "id": 1, "runtime_data": [], "primitives": [assign(field("s"), hex("0x44"))]},
    ]);
    let entry = |key: &str, mask: &str, priority: u32, value: &str| {
        json!({
            "match_key": [{"match_type": "ternary", "key": key, "mask": mask}], "priority": priority,
            "action_entry": {"action_id": 0, "action_data": [value]}})
    };
    document["pipelines"][0] = json!({
        "name": "ingress", "id": 0, "init_table": "t",
        "conditionals": [{
            "name": "node", "id": 0, "expression": op("==", field("b"), hex("0x2")), "true_next": "tbl_mark", "false_next": null}],
        "tables": [
            {
                "name": "t", "id": 0, "match_type": "ternary", "type": "simple", "max_size": 16,
                "key": [{"match_type": "ternary", "name": "h.a", "target": ["h", "a"], "mask": null}],
                "action_ids": [0, 1], "actions": ["act", "mark"], "base_default_next": null,
                "next_tables": {"__HIT__": "node", "__MISS__": null},
                "default_entry": {
                    "action_id": 0, "action_const": false, "action_data": ["0xee"], "action_entry_const": false},
                "entries": [entry("0x10", "0xf0", 2, "0x1"), entry("0x11", "0xff", 1, "0x2")],
            },
            {
                "name": "tbl_mark", "id": 1, "match_type": "exact", "type": "simple", "key": [],
                "action_ids": [1], "actions": ["mark"], "next_tables": {"mark": null}, "base_default_next": null,
                "default_entry": {
                    "action_id": 1, "action_const": true, "action_data": [], "action_entry_const": true},
            },
        ],
    });
    let wide = "00".repeat(17);
    // The smaller number has priority.
    run(&document, &format!("packet 0 110000{wide}\nexpect 0 110244{wide} $"));
    run(&document, &format!("packet 0 120000{wide}\nexpect 0 120100{wide} $"));
    run(&document, &format!("packet 0 200000{wide}\nexpect 0 20ee00{wide} $"));
}

#[test]
fn documents_of_older_compilers_are_read() {
    let error = json!({"type": "field", "value": ["standard_metadata", "parser_error"]});
    let header = json!({"op": "add_header", "parameters": [{"type": "header", "value": "h"}]});
    let mut document = document(json!([header, assign(field("a"), error)]));
    let (whole, rest) = ("00".repeat(17), "00".repeat(19));
    for (first, no_error, too_short) in [(0, "00", "01"), (1, "01", "02")] {
        document["errors"] = json!([["NoError", first], ["PacketTooShort", first + 1]]);
        run(&document, &format!("packet 0 990000{whole}\nexpect 0 {no_error}0000{whole} $"));
        run(&document, &format!("packet 0 110000\nexpect 0 {too_short}{rest}110000 $"));
    }
    document["parsers"][0]["parse_states"][0]["transitions"] =
        json!([{"value": "default", "mask": null, "next_state": null}]);
    run(&document, &format!("packet 0 990000{whole}\nexpect 0 010000{whole} $"));
    document["errors"] = json!([["Mine", 0], ["NoError", 1]]);
    assert!(refused(&document).contains("the error with number 0 must be NoError"));
}

#[test]
fn what_is_not_supported_is_refused_by_its_name() {
    let primitive = document(json!([{"op": "recycle", "parameters": []}]));
    let error = "ingress: table tbl_act: action act: primitive 0 (`recycle`): primitive `recycle` with 0 such parameters \
                 is not supported";
    assert_eq!(refused(&primitive), error);
    let operation = document(json!([assign(field("a"), op("**", field("a"), field("b")))]));
    assert!(refused(&operation).contains("operation `**` is not supported"));
    let unknown = document(json!([assign(field("nothing"), hex("0x1"))]));
    assert!(refused(&unknown).contains("header type h_t has no field nothing"));
    let mut other = document(json!([]));
    other["extern_instances"] = json!([{"name": "e", "id": 0, "type": "InternetChecksum"}]);
    assert!(refused(&other).contains("extern e of type InternetChecksum is not supported"));
    let mut old = document(json!([]));
    old["__meta__"]["version"] = json!([1, 0]);
    assert!(refused(&old).contains("version 1"));
    let mut round = document(json!([]));
    round["pipelines"][0]["tables"][0]["next_tables"]["act"] = json!("tbl_act");
    assert!(refused(&round).contains("the pipeline comes back to tbl_act"));
}

#[test]
fn broken_documents_are_refused_with_their_place() {
    let error = bmv2_json::program("{\"headers\": [").unwrap_err().to_string();
    assert!(error.contains("line 1 column 13"), "{error}");
    let mut short = document(json!([]));
    short["header_types"][0]["fields"][0] = json!(["a"]);
    assert!(refused(&short).contains("a field is [name, width, signed], not [\"a\"]"));
    let deep = format!("{{\"headers\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(bmv2_json::program(&deep).unwrap_err().to_string().contains("brackets inside each other"));
}
