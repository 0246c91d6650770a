//! Expressions, types, numbers and annotations.

use super::*;

#[test]
fn operators_bind_as_in_the_grammar() {
    for (text, expected) in [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("1 ++ 2 |+| 3 |-| 4", "(((1 ++ 2) |+| 3) |-| 4)"),
        ("1 | 2 ^ 3 & 4", "(1 | (2 ^ (3 & 4)))"),
        ("1 & 2 == 3", "((1 & 2) == 3)"),
        ("1 << 2 + 3 >> 4", "((1 << (2 + 3)) >> 4)"),
        ("a < 2 && a >= 3 || !true", "(((a < 2) && (a >= 3)) || (!true))"),
        ("-a * ~a", "((-a) * (~a))"),
        ("true ? 1 : false ? 2 : 3", "(true ? 1 : (false ? 2 : 3))"),
        ("7 / 2 % 3 != +1", "(((7 / 2) % 3) != (+1))"),
        ("(1 + 2) * 3", "((1 + 2) * 3)"),
        ("a > 1", "(a > 1)"),
    ] {
        assert_eq!(show(&expr(text)), expected, "{text}");
    }
}

#[test]
fn names_members_and_indices() {
    assert_eq!(show(&expr(".a.b[3].key[7:0]")), ".a.b[3].key[7:0]");
    assert_eq!(show(&expr("a[a + 1 +: 4]")), "a[(a + 1)+:4]");
    assert_eq!(show(&expr("this.x + error.NoError")), "(this.x + error.NoError)");
    assert_eq!(show(&expr("apply.type.list")), "apply.type.list");
}

#[test]
fn calls_and_their_type_arguments() {
    assert_eq!(show(&expr("f(1, x = 2, _, y = _)")), "f(1, x = 2, _, y = _)");
    assert_eq!(show(&expr("p.lookahead<bit<8>>()")), "p.lookahead<bit<8>>()");
    assert_eq!(show(&expr("f<T, tuple<bit<8>, T>>(a)")), "f<T, tuple<bit<8>, T>>(a)");
    assert_eq!(show(&expr("E<T>.m(1)")), "E<T>.m(1)");
    assert_eq!(show(&expr("E<bit<(1 > 0 ? 8 : 9)>>()")), "E<bit<((1 > 0) ? 8 : 9)>>()");
    // `a` is a value, so this compares.
    assert_eq!(show(&expr("g(a < a, a > (1))")), "g((a < a), (a > 1))");
}

#[test]
fn casts_are_told_from_parentheses() {
    assert_eq!(show(&expr("(bit<8>) 1 + 2")), "(((bit<8>) 1) + 2)");
    assert_eq!(show(&expr("(T) -1")), "((T) (-1))");
    assert_eq!(show(&expr("(a) -1")), "(a - 1)");
    assert_eq!(show(&expr("(Unknown) a")), "((Unknown) a)");
    assert_eq!(show(&expr("(T) {1, 2}")), "((T) {1, 2})");
    assert_eq!(show(&expr("(E<T>) (int) (bool) x")), "((E<T>) ((int) ((bool) x)))");
    assert_eq!(show(&expr("(error.NoError)")), "error.NoError");
}

#[test]
fn lists_and_structs() {
    assert_eq!(show(&expr("{1, {2, 3}, ...}")), "{1, {2, 3}, ...}");
    assert_eq!(show(&expr("{ }")), "{}");
    assert_eq!(show(&expr("{x = 1, y = {#},}")), "{x = 1, y = {#}}");
    assert_eq!(show(&expr("{x = 1, ...}")), "{x = 1, ...}");
}

#[test]
fn numbers_in_all_bases_and_widths() {
    for (text, value, width, base) in [
        ("10", 10, None, 10),
        ("0xFF_ff", 65535, None, 16),
        ("0b1010_1010", 170, None, 2),
        ("0o17", 15, None, 8),
        ("0d19", 19, None, 10),
        ("8w0x1F", 31, Some((8, false)), 16),
        ("4s7", 7, Some((4, true)), 10),
        ("32w4_000", 4000, Some((32, false)), 10),
        ("007", 7, None, 10),
    ] {
        let ExprKind::Int(number) = expr(text).kind else { panic!("{text} is no number") };
        let width = width.map(|(bits, signed)| IntWidth { bits, signed });
        assert_eq!(number, IntLit { value: value.into(), width, base }, "{text}");
    }
}

#[test]
fn strings_resolve_escapes() {
    assert_eq!(expr(r#""a \"b\" \\ \n""#).kind, ExprKind::Str(r#"a "b" \ \n"#.to_owned()));
    assert_eq!(expr("\"one\\\ntwo\nthree\"").kind, ExprKind::Str("onetwo\nthree".to_owned()));
}

#[test]
fn types_of_all_kinds() {
    for text in [
        "bool",
        "error",
        "string",
        "int",
        "bit",
        "bit<8>",
        "int<8>",
        "varbit<64>",
        "tuple<bit<1>, bool>",
        "tuple<>",
        "list<tuple<bit<8>, int>>",
        "T",
        "G<T, _>",
        "T[4]",
        "G<bit<8>>[2][3]",
        "bit<(8 + 1)>",
        "match_kind",
    ] {
        let Decl::Const(constant) = one(&format!("const {text} x = 1;")) else { panic!("no constant") };
        assert_eq!(show_type(&constant.ty).replace("(8 + 1)", "8 + 1"), text.replace("(8 + 1)", "8 + 1"));
    }
    let Decl::Const(constant) = one("const .T x[3] = 1;") else { panic!("no constant") };
    assert_eq!(show_type(&constant.ty), "T[3]");
}

#[test]
fn spans_cover_exactly_the_tokens() {
    let text = "const int x  =  ( a + b.c ) * f( 1 ) ;";
    let (program, _, map) = read(text);
    let Decl::Const(constant) = &program.decls[0] else { panic!("no constant") };
    assert_eq!(map.snippet(constant.span), text);
    assert_eq!(map.snippet(constant.value.span), "( a + b.c ) * f( 1 )");
    let ExprKind::Binary { left, right, .. } = &constant.value.kind else { panic!("no product") };
    assert_eq!(map.snippet(left.span), "( a + b.c )");
    assert_eq!(map.snippet(right.span), "f( 1 )");
    assert_eq!(map.snippet(constant.ty.span), "int");
}

fn annotations(text: &str) -> Vec<Annotation> {
    match one(&format!("{text} const int x = 1;")) {
        Decl::Const(constant) => constant.annotations,
        other => panic!("not a constant: {other:?}"),
    }
}

fn show_all(exprs: &[Expr]) -> Vec<String> {
    exprs.iter().map(show).collect()
}

#[test]
fn annotations_keep_text_and_values() {
    let list = annotations("@hidden @name(\"a.b\") @p4runtime_translation(\"\", bit<32>) @table(x ;{ y} , ,z)");
    assert_eq!(list[0].body, AnnotationBody::Empty);
    let AnnotationBody::Free { text, args: FreeArgs::Exprs(exprs) } = &list[1].body else { panic!("{list:?}") };
    assert_eq!((text.as_str(), show_all(exprs)), ("\"a.b\"", vec!["\"a.b\"".to_owned()]));
    let AnnotationBody::Free { args: FreeArgs::Exprs(exprs), .. } = &list[2].body else { panic!("{list:?}") };
    assert_eq!(show_all(exprs), ["\"\"", "bit<32>"]);
    let opaque = AnnotationBody::Free { text: "x ;{ y} , ,z".to_owned(), args: FreeArgs::Opaque };
    assert_eq!((list[3].name.name.as_str(), &list[3].body), ("table", &opaque));
}

#[test]
fn annotations_with_keys() {
    let list = annotations("@pkginfo(name = \"x\", n = 1) @s[1, \"two\"] @k[a = 1, b = 2,] @e[]");
    let AnnotationBody::Free { args: FreeArgs::KeyValues(pairs), .. } = &list[0].body else { panic!("{list:?}") };
    assert_eq!(pairs.iter().map(|p| p.key.name.as_str()).collect::<Vec<_>>(), ["name", "n"]);
    let AnnotationBody::Exprs(exprs) = &list[1].body else { panic!("{list:?}") };
    assert_eq!(show_all(exprs), ["1", "\"two\""]);
    let AnnotationBody::KeyValues(pairs) = &list[2].body else { panic!("{list:?}") };
    assert_eq!(pairs.len(), 2);
    assert_eq!(list[3].body, AnnotationBody::Exprs(Vec::new()));
}

#[test]
fn pragma_takes_the_rest_of_the_line() {
    let list = annotations("@pragma name \"x\" y\n@other\n");
    assert_eq!(list[0].name.name, "name");
    assert_eq!(list[0].body, AnnotationBody::Free { text: "\"x\" y".to_owned(), args: FreeArgs::Opaque });
    assert_eq!(list[1].name.name, "other");
}
