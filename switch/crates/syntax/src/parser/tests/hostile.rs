//! Input that wants to break the parser: deep, long, cut off or random.

use proptest::prelude::*;

use super::*;

/// Parses with no more stack than a thread has by default, and says how many errors there were.
fn errors_of(text: String) -> usize {
    let (program, diagnostics, map) = read(&text);
    drop(program);
    // Rendering must be safe as well.
    assert_eq!(diagnostics.render(&map, false).is_empty(), diagnostics.is_empty());
    diagnostics.error_count()
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("-", ""),
        ("!", ""),
        ("(bit<8>) ", ""),
        ("f(", ")"),
        ("x[", "]"),
        ("1 ? ", " : 2"),
        ("1 ? 2 : ", ""),
        ("f<T>(", ")"),
        ("(bit<(", ")>) 1"),
        ("{a = ", "}"),
    ] {
        let value = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
        assert!(errors_of(format!("const int x = {value};")) > 0, "{open}");
        assert!(errors_of(format!("const int x = {};", open.repeat(20_000))) > 0, "{open}");
    }
    for open in ["{", "if (a) ", "if (a) {", "for (;a;) ", "@x {", "switch (a) { b: { "] {
        assert!(errors_of(format!("void f() {{ {}", open.repeat(20_000))) > 0, "{open}");
    }
    for open in ["tuple<", "list<", "G<", "bit<(", "T[("] {
        assert!(errors_of(format!("const {} x = 1;", open.repeat(20_000))) > 0, "{open}");
    }
}

#[test]
fn deepest_tree_that_is_allowed_can_be_read() {
    let nested = |n: usize| format!("const int x = {}1{};", "(".repeat(n), ")".repeat(n));
    assert_eq!(errors_of(nested(150)), 0);
    let chain = |n: usize| format!("const int x = 1{};", " + 1".repeat(n));
    assert_eq!(errors_of(chain(500)), 0);
    assert_eq!(errors_of(chain(600)), 1);
    assert_eq!(errors_of(format!("const int x = a{};", ".b".repeat(600))), 1);
    let else_ifs = |n: usize| format!("void f() {{ if (a) {{ }} {} }}", "else if (a) { }".repeat(n));
    assert_eq!(errors_of(else_ifs(500)), 0);
    assert!(errors_of(else_ifs(600)) > 0);
}

/// Each of these would take minutes if some step went over the rest of the text again and again.
#[test]
fn long_input_takes_linear_time() {
    for piece in [
        "a < ",
        "a < b, ",
        "f(a < b > ",
        "(a) ",
        "{ } ",
        "} ",
        ") ",
        "@x ",
        "@x( ",
        "\"\n",
        "\" ",
        "/ ",
        "# ",
        "x ; ",
        "T<a, ",
        "struct { ",
        "[ ",
        "( { ",
        "{ ) ",
        "bit < ",
        "(bit<",
        "if ( ",
        "control C() { apply { ",
        "\\\n",
        "table t { key = { ",
        "else ",
        "$",
        "0x",
        "/*",
    ] {
        let many = piece.repeat(5_000);
        errors_of(many.clone());
        errors_of(format!("void f() {{ {many} }}"));
        errors_of(format!("control C() {{ apply {{ {many} }} }}"));
    }
}

#[test]
fn literals_and_names_may_be_long() {
    assert_eq!(errors_of(format!("const int {} = 0x{};", "n".repeat(100_000), "F".repeat(2000))), 0);
    assert_eq!(errors_of(format!("const int x = {};", "9".repeat(1_000_000))), 1);
}

/// A program with a bit of everything, to cut and to mix.
const PROGRAM: &str = r#"
#include <core.p4>
#define W 8
typedef bit<W> B; struct S<T> { T a; B[4] b; } enum bit<8> E { A = 1, B = 2 } error { X }
extern R<T> { R(bit<32> n); void read<U>(out T v, in U i = 3); }
parser P(packet_in p, out S<B> s) { value_set<B>(4) v; state start { transition select(s.a, 8w1) {
  (1 &&& 2, 3 .. 4): start; (_, default): accept; v: reject; } } }
@name("c") control C(inout S<B> s)(B n) { R<B>(16) r; action a(B x) { s.a = (B) x |+| -n; }
  table t { key = { s.a : exact @x; s.b[0][3:0] : lpm; } actions = { a; NoAction; }
    const entries = { priority = 1: (1, 2): a(3); } default_action = a(4); size = 16; }
  apply { if (t.apply().hit) { r.read<B>(s.a, 0); } else if (n > 1) exit; else { return; }
    switch (t.apply().action_run) { a: NoAction: { } default: { } }
    for (B i in 1 .. 3) { s.a >>= i; break; } for (B i = 0; i < 3; i += 1) { continue; } s = { a = 1, ... }; } }
"#;

#[test]
fn program_cut_anywhere_is_no_panic() {
    assert_eq!(errors_of(PROGRAM.to_owned()), 0);
    for end in 0..PROGRAM.len() {
        errors_of(PROGRAM[..end].to_owned());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        errors_of(String::from_utf8_lossy(&bytes).into_owned());
    }

    #[test]
    fn mixed_words_are_no_panic(picks in proptest::collection::vec((0..400_usize, any::<bool>()), 0..200)) {
        let words: Vec<&str> = PROGRAM.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        let mut text = String::new();
        for (pick, line) in picks {
            text.push_str(words[pick % words.len()]);
            text.push_str(if line { "\n" } else { "" });
        }
        errors_of(text);
    }

    #[test]
    fn lost_and_doubled_pieces_are_no_panic(at in 0..PROGRAM.len(), length in 0..60_usize, again in any::<bool>()) {
        let end = (at + length).min(PROGRAM.len());
        let middle = if again { PROGRAM[at..end].repeat(2) } else { String::new() };
        errors_of(format!("{}{middle}{}", &PROGRAM[..at], &PROGRAM[end..]));
    }
}
