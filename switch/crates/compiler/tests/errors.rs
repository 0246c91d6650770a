//! What is wrong with a program is said with its place; nothing panics.

use compiler::{Options, compile_text};

/// A v1model program with these declarations and this body of the ingress control.
fn program(declarations: &str, locals: &str, apply: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header byte_t {{ bit<8> value; }}
struct headers_t {{ byte_t first; byte_t[4] stack; }}
struct meta_t {{ bit<32> a; bit<32> b; }}
{declarations}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    state start {{ packet.extract(hdr.first); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    {locals}
    apply {{ {apply} }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

fn error_of(text: &str) -> String {
    match compile_text("test.p4", text, &Options::default()) {
        Ok(_) => panic!("the program compiled:\n{text}"),
        Err(failure) => failure.to_string(),
    }
}

fn assert_error(text: &str, place: &str, message: &str) {
    let shown = error_of(text);
    assert!(shown.contains(message), "expected `{message}` in:\n{shown}");
    assert!(shown.contains(place), "expected the excerpt `{place}` in:\n{shown}");
}

#[test]
fn the_frame_of_the_tests_compiles() {
    let text = program("", "", "meta.a = meta.b;");
    let compiled = compile_text("test.p4", &text, &Options::default()).map_err(|failure| failure.to_string());
    let compiled = compiled.unwrap();
    assert_eq!(ir::verify(&compiled.program), []);
    // Five headers of one byte.
    assert_eq!(compiled.program.max_growth, 5);
}

#[test]
fn another_architecture_is_named() {
    let text = "#include <core.p4>
control C();
package Other(C c);
control A() { apply { } }
Other(A()) main;
";
    assert_error(
        text,
        "Other(A()) main;",
        "`main` is a `Other`; only v1model's `V1Switch` and PSA's `PSA_Switch` can be loaded",
    );
}

#[test]
fn two_prefixes_in_a_table_are_one_too_many() {
    let table = "action none() { }
    table t { key = { meta.a : lpm; meta.b : lpm; } actions = { none; } default_action = none(); }";
    assert_error(&program("", table, "t.apply();"), "meta.b : lpm", "one `lpm` key");
}

#[test]
fn a_table_that_failed_is_reported_once() {
    let table = "table t { key = { meta.a : lpm; meta.b : lpm; } actions = { NoAction; } }";
    let shown = error_of(&program("", table, "t.apply();"));
    assert_eq!(shown.matches("error: ").count(), 1, "{shown}");
}

#[test]
fn names_for_the_control_plane_are_unique() {
    let two = |kind: &str| {
        let text = match kind {
            "action" => {
                "@name(\"x\") action a() { } @name(\"x\") action b() { }
    table t { actions = { a; b; } }"
            }
            _ => "@name(\"x\") table t { actions = { } } @name(\"x\") table u { actions = { } }",
        };
        error_of(&program("", text, if kind == "action" { "t.apply();" } else { "t.apply(); u.apply();" }))
    };
    for kind in ["action", "table"] {
        let shown = two(kind);
        assert!(shown.contains(&format!("two {kind}s have the name `I.x`")), "{shown}");
        assert!(shown.contains("the other one is declared here"), "{shown}");
    }
    let registers = "@name(\"x\") register<bit<8>>(1) r; @name(\"x\") register<bit<8>>(1) s;";
    assert_error(
        &program("", registers, ""),
        "@name(\"x\") register<bit<8>>(1) s",
        "two registers have the name `I.x`",
    );
    // Things of different kinds may share one.
    let text = program("", "@name(\"x\") register<bit<8>>(1) r; @name(\"x\") table t { actions = { } }", "t.apply();");
    assert!(compile_text("test.p4", &text, &Options::default()).is_ok());
}

#[test]
fn a_name_of_the_architecture_is_taken() {
    let text = program("", "", "").replace("control I(", "control Ingress(").replace("I()", "Ingress()");
    let shown = error_of(&text);
    assert!(shown.contains("`Ingress` is declared twice"), "{shown}");
    assert!(shown.contains("v1model.p4:"), "{shown}");
}

#[test]
fn a_prefix_entry_needs_a_prefix() {
    let table = "action none() { }
    table t { key = { meta.a : lpm; } actions = { none; } default_action = none();
        const entries = { 0x0a000000 &&& 0xff00ff00 : none(); } }";
    assert_error(&program("", table, "t.apply();"), "0xff00ff00", "the mask of an `lpm` key");
}

#[test]
fn a_header_of_odd_bits_cannot_be_extracted() {
    let declarations = "header odd_t { bit<3> value; }
parser Q(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    odd_t odd;
    state start { packet.extract(odd); transition accept; }
}";
    let text = program(declarations, "", "").replace("V1Switch(P()", "V1Switch(Q()");
    assert_error(&text, "packet.extract(odd)", "header `odd_t` has 3 bits");
}

#[test]
fn one_variable_cannot_take_all_memory() {
    let text = program("struct big_t { bit<2048>[60000] all; }", "big_t big;", "meta.a = 1;");
    assert_error(&text, "big", "more memory than a variable may");
}

#[test]
fn doubling_on_every_level_is_stopped() {
    let mut controls = "control C0(inout bit<32> x) { apply { x = x + 1; x = x * 3; } }\n".to_string();
    for level in 1..40 {
        let below = level - 1;
        controls.push_str(&format!(
            "control C{level}(inout bit<32> x) {{ C{below}() c; apply {{ c.apply(x); c.apply(x); }} }}\n"
        ));
    }
    let text = program(&controls, "C39() c;", "c.apply(meta.a);");
    assert!(error_of(&text).contains("too large once its controls"), "{}", error_of(&text));
}

#[test]
fn instances_that_double_on_every_level_are_stopped() {
    let mut controls = "control C0(inout bit<32> x) { apply { x = x + 1; } }\n".to_string();
    for level in 1..40 {
        let below = level - 1;
        controls.push_str(&format!(
            "control C{level}(inout bit<32> x) {{ C{below}() a; C{below}() b; apply {{ a.apply(x); b.apply(x); }} }}\n"
        ));
    }
    let text = program(&controls, "C39() c;", "c.apply(meta.a);");
    assert!(error_of(&text).contains("more than 16384 instances"), "{}", error_of(&text));
}

/// What a PSA program asks for and the switch has not.
#[test]
fn psa_programs_are_refused_with_what_is_missing() {
    let text = include_str!("cases/psa_externs.p4");
    let refused = |what: &str, instead: &str, message: &str| {
        assert!(text.contains(what));
        let changed = text.replacen(what, instead, 1);
        let failure = compiler::compile_text("psa.p4", &changed, &compiler::Options::default()).unwrap_err();
        assert!(failure.to_string().contains(message), "{failure}");
    };
    refused("psa_empty_group_action = put(0xe0e0)", "psa_empty_group_action = answer(1)", "not among the actions");
    refused("psa_empty_group_action = put(0xe0e0)", "psa_empty_group_action = 7", "must be an action");
    refused("psa_direct_meter = entry_rate;", "", "no table has this direct meter");
    refused("EgressPipeline(EP(), E(), ED())", "EgressPipeline(EP(), E(), ED2())", "ED2");
    refused("digits32.update(8w0x34)", "digits32.update(4w4)", "a multiple of 8 bits, not 4");
    refused("sum.add({ hdr.d.a, hdr.d.b });", "sum.add(hdr.d.what);", "a multiple of 16 bits, not 8");
}

/// p4c refuses the same calls.
#[test]
fn copies_are_made_in_the_block_that_they_belong_to() {
    let calls = [
        ("clone(CloneType.I2E, 5);", false, "`clone(CloneType.I2E, ...)` can only be called in ingress"),
        ("clone(CloneType.E2E, 5);", true, "`clone(CloneType.E2E, ...)` can only be called in egress"),
        (
            "clone_preserving_field_list(CloneType.E2E, 5, 1);",
            true,
            "`clone(CloneType.E2E, ...)` can only be called in egress",
        ),
        ("resubmit_preserving_field_list(1);", false, "`resubmit_preserving_field_list` can only be called in ingress"),
        (
            "recirculate_preserving_field_list(1);",
            true,
            "`recirculate_preserving_field_list` can only be called in egress",
        ),
    ];
    let params = "inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard";
    for (call, wrong_in_ingress, message) in calls {
        let inner = format!(
            "control Inner({params}) {{
    action copy() {{ {call} }}
    table t {{ actions = {{ copy; }} default_action = copy(); }}
    apply {{ t.apply(); }}
}}"
        );
        let frame = program(&inner, "", "").replace("bit<32> a;", "@field_list(1) bit<32> a;");
        // Called directly, and by an action of a control that the block calls.
        for (locals, body) in [("", call), ("Inner() inner;", "inner.apply(hdr, meta, standard);")] {
            let head = |name: &str| format!("control {name}({params}) {{");
            let of = |name: &str| {
                frame.replace(&head(name), &format!("{} {locals} apply {{ {body} }} }}\n{}", head(name), head("Old")))
            };
            let (wrong, right) = if wrong_in_ingress { ("I", "E") } else { ("E", "I") };
            assert_error(&of(wrong), call, message);
            let compiled = compile_text("test.p4", &of(right), &Options::default());
            assert!(compiled.is_ok(), "{call} in {right}");
        }
    }
    assert_error(
        &program("", "", "").replace("transition accept;", "clone(CloneType.I2E, 5); transition accept;"),
        "clone(CloneType.I2E, 5)",
        "can only be called in ingress",
    );
}
