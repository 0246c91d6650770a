//! What a program makes for the control plane and for traces.

use compiler::{Compiled, Options, compile_text};
use ir::NoteKind;

fn compile(declarations: &str, parser: &str, locals: &str, apply: &str) -> Compiled {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header pair_t {{ bit<8> a; bit<8> b; }}
struct headers_t {{ pair_t pair; }}
struct meta_t {{ bit<8> x; }}
{declarations}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    {parser}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    {locals}
    apply {{ {apply} }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    apply {{ digest(1, {{ hdr.pair.b, hdr.pair.a, hdr.pair.a }}); }}
}}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    );
    let compiled = compile_text("test.p4", &text, &Options::default()).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(ir::verify(&compiled.program), []);
    compiled
}

const EXTRACT: &str = "state start { packet.extract(hdr.pair); transition accept; }";

#[test]
fn lists_have_numbered_digests_with_those_of_actions_first() {
    let locals = "action tell() { digest(1, { hdr.pair.a }); }
    table t { key = { hdr.pair.a : exact; } actions = { tell; } }
    table u { key = { hdr.pair.b : exact; } actions = { tell; } }";
    let apply = "digest(1, { hdr.pair.a, hdr.pair.b }); t.apply(); u.apply(); digest(1, meta);";
    let compiled = compile("", EXTRACT, locals, apply);
    let mut digests: Vec<(&str, &[u32])> =
        compiled.program.digests.iter().map(|(_, digest)| (&*digest.name, &*digest.widths)).collect();
    digests.sort();
    let expected: [(&str, &[u32]); 4] =
        [("digest_0", &[8]), ("digest_1", &[8, 8]), ("digest_2", &[8, 8, 8]), ("meta_t", &[8])];
    assert_eq!(digests, expected);
}

#[test]
fn each_field_of_a_value_set_is_one_key() {
    let declarations = "struct inner_t { bit<8> a; bit<4> b; }
struct outer_t { @match(ternary) bit<8> first; inner_t rest; }";
    let parser = "value_set<outer_t>(4) nested;
    value_set<tuple<bit<8>, bit<8>>>(4) both;
    state start {
        packet.extract(hdr.pair);
        transition select(hdr.pair.a, hdr.pair.b, hdr.pair.a[3:0]) { nested: more; default: more; }
    }
    state more { transition select(hdr.pair.a, hdr.pair.b) { both: accept; default: accept; } }";
    let compiled = compile(declarations, parser, "", "");
    let sets: Vec<Vec<(&str, u32, ir::MatchKind)>> = compiled
        .program
        .value_sets
        .iter()
        .map(|(_, set)| set.keys.iter().map(|key| (&*key.name, key.width, key.kind)).collect())
        .collect();
    let expected = [
        vec![("first", 8, ir::MatchKind::Ternary), ("rest", 12, ir::MatchKind::Exact)],
        vec![("", 16, ir::MatchKind::Exact)],
    ];
    assert_eq!(sets, expected);
}

#[test]
fn each_arm_of_an_if_says_what_held() {
    let compiled = compile("", EXTRACT, "", "if (hdr.pair.a == 1) { meta.x = 1; } else { meta.x = 2; }");
    let notes: Vec<(NoteKind, &str)> = compiled
        .program
        .notes
        .iter()
        .map(|(_, note)| (note.kind, &*note.text))
        .filter(|(_, text)| text.contains("hdr.pair.a == 1"))
        .collect();
    assert_eq!(notes, [(NoteKind::Holds, "hdr.pair.a == 1"), (NoteKind::Fails, "hdr.pair.a == 1")]);
}
