//! Constants and their types: what an expression is folded to.

use hir::{ExprKind, Program, Type, VarKind};
use num_bigint::BigInt;

const HEAD: &str = "
#include <core.p4>
enum Color { Red, Green }
enum bit<8> Proto { Tcp = 6, Udp = 17, Both = Tcp + Udp }
type bit<9> port_t;
header h_t { bit<8> a; bit<16> b; varbit<32> c; }
struct pair_t { bit<8> x; bool y; }
header_union u_t { h_t h; }
const bit<8> EIGHT = 8;
const int MANY = 1 << 40;
const pair_t PAIR = { 5, true };
const tuple<bit<8>, pair_t> NESTED = { 1, { y = false, x = 2 } };
const bit<4>[3] ARRAY = { 1, 2, 3 };
const string NAME = \"a\" ++ \"b\";
";

/// The initialiser of `ty x = e`, which must fold.
fn folded(ty: &str, e: &str) -> (Program, ExprKind) {
    let text = format!("{HEAD}\ncontrol c(inout h_t[4] s) {{ {ty} x = {e}; apply {{}} }}");
    let (program, map, diagnostics) = crate::common::check(&text);
    let program = program.unwrap_or_else(|| panic!("{ty} x = {e}:\n{}", diagnostics.render(&map, false)));
    let (_, control) = program.controls.iter().next().expect("the control");
    let init = control.locals[0].init.clone().expect("an initialiser");
    (program, init.kind)
}

fn number(ty: &str, e: &str) -> BigInt {
    match folded(ty, e).1 {
        ExprKind::Int(n) => n,
        other => panic!("{e} is {other:?}"),
    }
}

#[test]
fn numbers_fold_in_their_type() {
    for (ty, e, value) in [
        ("bit<8>", "255 + 1", 0),
        ("bit<8>", "8w255 + 1", 0),
        ("bit<8>", "8w1 - 2", 255),
        ("int<8>", "8s127 + 1", -128),
        ("bit<8>", "-1", 255),
        ("bit<8>", "EIGHT * 3", 24),
        ("bit<32>", "MANY >> 35", 32),
        ("bit<8>", "(5 - 3) * 4 / 3 % 4", 2),
        ("bit<8>", "8w250 |+| 10", 255),
        ("bit<8>", "8w3 |-| 10", 0),
        ("bit<8>", "~8w0xf", 0xf0),
        ("bit<8>", "8w0xf0 & 0x3c | 1 ^ 2", 0x33),
        ("bit<12>", "4w0xa ++ 8w0xbc", 0xabc),
        ("bit<4>", "8w0xab[7:4]", 0xa),
        ("bit<4>", "8w0xab[4+:4]", 0xa),
        ("bit<4>", "16s0x7abc[11:8]", 0xa),
        ("bit<8>", "true ? 8w1 : 2", 1),
        ("bit<8>", "(bit<8>) 300", 44),
        ("bit<1>", "(bit<1>) true", 1),
        ("int<8>", "(int<8>) 8w255", -1),
        ("bit<16>", "(bit<16>) (int<16>) (int<8>) 8w255", 65535),
        ("bit<8>", "Proto.Both", 23),
        ("Proto", "(Proto) 8w6", 6),
        ("bit<16>", "(bit<16>) Proto.Udp", 17),
        ("port_t", "(port_t) 511", 511),
        ("bit<9>", "(bit<9>) (port_t) 511", 511),
        ("bit<8>", "PAIR.x", 5),
        ("bit<8>", "NESTED[1].x", 2),
        ("bit<4>", "ARRAY[2]", 3),
        ("bit<32>", "s.size", 4),
        ("bit<32>", "s.maxSizeInBytes()", 28),
        ("bit<32>", "s[0].minSizeInBits()", 24),
        ("bit<32>", "h_t.maxSizeInBits()", 56),
        ("bit<8>", "8w1 << 9", 0),
        ("int<8>", "-8s4 >> 1", -2),
    ] {
        assert_eq!(number(ty, e), BigInt::from(value), "{e}");
    }
}

#[test]
fn truths_fold() {
    for (e, value) in [
        ("Color.Red == Color.Red", true),
        ("Color.Red != Color.Red", false),
        ("Proto.Tcp == 6", true),
        ("error.NoError == error.NoMatch", false),
        ("NAME == \"ab\"", true),
        ("PAIR == { 5, true }", true),
        ("{ x = 5, y = true } == PAIR", true),
        ("{ 1, 8w2 } == { 8w1, 2 }", true),
        ("MANY == 1 << 40", true),
        ("!(1 < 2) || EIGHT >= 8", true),
        ("(bool) 1w1 && PAIR.y", true),
        ("-8s1 < 8s1", true),
        ("8w255 < 8w1", false),
    ] {
        assert_eq!(folded("bool", e).1, ExprKind::Bool(value), "{e}");
    }
}

#[test]
fn literals_take_the_type_asked_for() {
    let items = |(_, kind): (Program, ExprKind)| match kind {
        ExprKind::Aggregate(items) => items.into_iter().map(|item| item.kind).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let pair = vec![ExprKind::Int(7.into()), ExprKind::Bool(false)];
    assert_eq!(items(folded("pair_t", "{ 7, false }")), pair);
    assert_eq!(items(folded("pair_t", "{ y = false, x = 7 }")), pair);
    assert_eq!(items(folded("pair_t", "{ x = 7, ... }")), pair);
    assert_eq!(items(folded("pair_t", "(pair_t) { 7, ... }")), pair);
    assert_eq!(items(folded("tuple<bit<8>, bool>", "{ 7, false }")), pair);
    assert_eq!(folded("port_t", "7").1, ExprKind::Int(7.into()));
    assert_eq!(folded("h_t", "{#}").1, ExprKind::Invalid);
    assert_eq!(folded("u_t", "{#}").1, ExprKind::Invalid);
    assert_eq!(folded("error", "...").1, ExprKind::Error(0));
    assert_eq!(folded("h_t", "...").1, ExprKind::Invalid);
}

#[test]
fn what_only_the_instance_knows_stays_symbolic() {
    let text = "control c(inout bit<8> x)(bit<8> n) { const bit<8> twice = n + n; apply { x = twice; } }";
    let (program, _, _) = crate::common::check(text);
    let program = program.expect("a right program");
    let (_, control) = program.controls.iter().next().expect("the control");
    let [local] = control.locals.as_slice() else { panic!("{:?}", control.locals) };
    assert!(matches!(local.init.as_ref().map(|init| &init.kind), Some(ExprKind::Binary(..))));
    assert_eq!(program.vars[control.ctor_params[0]].kind, VarKind::CtorParam);
}

#[test]
fn implicit_conversions_become_casts() {
    let text = format!("{HEAD}\ncontrol c(inout Proto p) {{ bit<8> x = p; bit<16> y = (bit<16>) x; apply {{}} }}");
    let (program, _, _) = crate::common::check(&text);
    let program = program.expect("a right program");
    let (_, control) = program.controls.iter().next().expect("the control");
    for (local, width) in control.locals.iter().zip([8, 16]) {
        let init = local.init.as_ref().expect("an initialiser");
        assert!(matches!(init.kind, ExprKind::Cast(_)), "{init:?}");
        assert_eq!(*program.types.get(init.ty), Type::Bit(width));
    }
}

#[test]
fn numbers_that_do_not_fit_are_cut_with_a_warning() {
    let (program, _, diagnostics) =
        crate::common::check("const bit<4> A = 17; const bit<4> B = 4w18; const bit<4> C = (bit<4>) 19;");
    assert!(program.is_some());
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        ["17 does not fit in `bit<4>`; its low bits give 1", "18 does not fit in 4 bits; its low bits give 2"]
    );
}
