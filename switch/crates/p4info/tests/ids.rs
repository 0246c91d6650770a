//! Ids and names that a program can't give, as p4c 1.2.5.16 refuses them.

use compiler::{Options, compile_text};

/// A program with these annotations of two tables, of two keys, of two parameters, and these declarations.
#[derive(Default)]
struct Given<'a> {
    tables: [&'a str; 2],
    keys: [&'a str; 2],
    params: [&'a str; 2],
    declarations: &'a str,
}

impl Given<'_> {
    /// What is said about the program; empty if nothing is wrong.
    fn said(&self) -> String {
        let Self { tables: [first, second], keys: [a, b], params: [x, y], declarations } = self;
        let text = format!(
            "#include <core.p4>
#include <v1model.p4>
{declarations}
struct headers_t {{ }}
struct meta_t {{ bit<8> a; bit<8> b; }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    state start {{ transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    action act({x} bit<8> x, {y} bit<8> y) {{ meta.a = x + y; }}
    {first} table t {{ key = {{ meta.a : exact {a}; meta.b : exact {b}; }} actions = {{ act; }} }}
    {second} table u {{ key = {{ meta.a : exact; }} actions = {{ act; }} }}
    apply {{ t.apply(); u.apply(); }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
        );
        match compile_text("test.p4", &text, &Options::default()) {
            Err(failure) => failure.to_string(),
            Ok(compiled) => p4info::p4info(&compiled).err().map(|failure| failure.to_string()).unwrap_or_default(),
        }
    }
}

fn assert_said(given: Given, parts: &[&str]) {
    let said = given.said();
    for part in parts {
        assert!(said.contains(part), "expected `{part}` in:\n{said}");
    }
}

#[test]
fn ids_that_p4c_takes_are_taken() {
    for table in ["@id(0)", "@id(0x02000000)", "@id(0x02000007)", "@id[5]", "@id(5) @id(6)", ""] {
        let said = Given { tables: [table, ""], ..Default::default() }.said();
        assert_eq!(said, "", "{table}");
    }
    let said = Given { keys: ["@id(4294967295)", ""], params: ["@id(2)", "@id(1)"], ..Default::default() }.said();
    assert_eq!(said, "");
}

#[test]
fn an_id_is_one_number_of_32_bits() {
    let unfit = ["@id(\"x\")", "@id()", "@id", "@id(1, 2)", "@id(-1)", "@id(true)", "@id(NUMBER)", "@id(n = 1)"];
    for id in unfit {
        let declarations = "const bit<32> NUMBER = 5;";
        for given in [
            Given { tables: [id, ""], declarations, ..Default::default() },
            Given { keys: ["", id], declarations, ..Default::default() },
            Given { params: [id, ""], declarations, ..Default::default() },
        ] {
            assert_said(given, &["`@id` takes one number", "help: write the number itself, as in `@id(5)`"]);
        }
    }
    let said = ["`@id` is above 4294967295", "0x100000000"];
    assert_said(Given { tables: ["@id(0x100000000)", ""], ..Default::default() }, &said);
}

#[test]
fn the_prefix_of_an_id_is_that_of_its_kind() {
    let said = [
        "test.p4:12:5: error: the id 0x01000005 of the table `I.t` has the prefix of another kind",
        "help: give the number below 2^24 alone; ids of this kind begin with 0x02",
    ];
    assert_said(Given { tables: ["@id(0x01000005)", ""], ..Default::default() }, &said);
}

#[test]
fn an_id_belongs_to_one_object() {
    let said = [
        "the id 33554437 (0x02000005) of the table `I.u` is given twice",
        "first given here",
        "help: give one of them another number",
    ];
    assert_said(Given { tables: ["@id(5)", "@id(0x02000005)"], ..Default::default() }, &said);
}

#[test]
fn fields_have_ids_of_their_own_above_0() {
    let header =
        |id: &str| format!("@controller_header(\"packet_in\") header h_t {{ {id} bit<8> a; @id(2) bit<8> b; }}");
    for (id, said) in [("@id(0)", "0 is no id of a field"), ("@id(2)", "two fields have the id 2")] {
        let declarations = &header(id);
        assert_said(Given { keys: [id, "@id(2)"], ..Default::default() }, &[said]);
        assert_said(Given { params: [id, "@id(2)"], ..Default::default() }, &[said]);
        assert_said(Given { declarations, ..Default::default() }, &[said]);
    }
}

#[test]
fn two_headers_are_not_the_same_controller_header() {
    let declarations = "@controller_header(\"packet_in\") header a_t { bit<8> a; }
@controller_header(\"packet_in\") header b_t { bit<8> a; }";
    let said = ["two headers are the controller header `packet_in`", "the other one is declared here"];
    assert_said(Given { declarations, ..Default::default() }, &said);
}
