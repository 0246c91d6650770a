//! What errors say.

use super::*;

#[test]
fn missing_semicolon_is_told_behind_the_statement() {
    assert_eq!(
        bad("void f() {\n    x = 1\n    y = 2;\n    foo(x)\n    y = 3\n}\n"),
        "main.p4:2:10: error: expected `;` after the assignment, found `y`
      x = 1
           ^
  help: add `;`
main.p4:4:11: error: expected `;` after the call, found `y`
      foo(x)
            ^
  help: add `;`
main.p4:5:10: error: expected `;` after the assignment, found `}`
      y = 3
           ^
  help: add `;`
"
    );
}

#[test]
fn assignment_in_a_condition() {
    assert_eq!(
        bad("void f() { if (a = 1) { } }"),
        "main.p4:1:18: error: expected `)`, found `=`
  void f() { if (a = 1) { } }
                   ^
  help: `==` compares; `=` only assigns
"
    );
    assert!(bad("void f() { a == 1; }").contains("help: to assign, write `=`"));
}

#[test]
fn keyword_as_a_name() {
    assert_eq!(
        bad("struct S { bit<8> table; bit<8> b; }"),
        "main.p4:1:19: error: `table` is a keyword and cannot be the name of a field
  struct S { bit<8> table; bit<8> b; }
                    ^^^^^
  help: choose another name, such as `table_`
"
    );
}

#[test]
fn missing_brace_has_a_label_at_the_opening_one() {
    assert_eq!(
        bad("control C() {\n  apply {\n    x = 1;\n}\n\nstruct S { bit<8> a; }\n"),
        "main.p4:6:1: error: expected `}` before `struct`
  struct S { bit<8> a; }
  ^^^^^^
main.p4:1:13:
  control C() {
              - this `{` is not closed
"
    );
    assert_eq!(
        bad("void f() {\n  if (a) {\n  }\n"),
        "main.p4:3:4: error: expected `}`, found the end of the program
    }
     ^
main.p4:1:10:
  void f() {
           - this `{` is not closed
"
    );
    assert!(bad("void f() { } }").contains("main.p4:1:14: error: this `}` closes nothing"));
}

#[test]
fn several_errors_come_out_of_one_run() {
    let errors = bad("struct S { bit<8> ; bit<8> b; }
header H { bit<8 x; }
control C() { action a( { } table t { key = { x exact; } } apply { y = ; z = 1; if x { } } }
const bit<8> = 3;
void f() { u = 1; ); w = (2; v = 3; }
enum E { A B }
");
    let first_lines: Vec<&str> = errors.lines().filter(|l| l.contains("error:")).collect();
    assert_eq!(
        first_lines,
        [
            "main.p4:1:19: error: expected the name of a field, found `;`",
            "main.p4:2:18: error: expected `>`, found `x`",
            "main.p4:3:25: error: expected a type, found `{`",
            "main.p4:3:49: error: expected `:`, found `exact`",
            "main.p4:3:72: error: expected an expression, found `;`",
            "main.p4:3:84: error: expected `(`, found `x`",
            "main.p4:4:14: error: expected the name of a constant, found `=`",
            "main.p4:5:19: error: expected a statement, found `)`",
            "main.p4:5:28: error: expected `)`, found `;`",
            "main.p4:6:12: error: expected `,` or `}`, found `B`",
        ]
    );
}

#[test]
fn errors_in_tables() {
    let table = |inner: &str| bad(&format!("control C() {{ table t {{ {inner} }} apply {{ }} }}"));
    assert!(table("key = { } key = { }").contains("the property `key` is there twice"));
    assert!(table("actions = { a, b }").contains("help: actions are each closed with `;`"));
    assert!(table("entries = { priority = x: 1: a; }").contains("help: put an expression into parentheses"));
    assert!(table("size 3;").contains("expected `=`, found `3`"));
}

#[test]
fn errors_in_controls_and_parsers() {
    assert_eq!(
        bad("control C() { }"),
        "main.p4:1:15: error: this control has no apply block
  control C() { }
                ^
  control C() { }
              - opened here
  help: add `apply { }` before the `}`
"
    );
    assert!(bad("control C() { apply { } action a() { } }").contains("must stand before `apply`"));
    assert!(bad("control C() { apply { } apply { } }").contains("a second apply block"));
    assert!(bad("parser P() { state s { transition accept; x = 1; } }").contains("behind the transition"));
    assert!(bad("parser P() { x = 1; }").contains("expected a state or a declaration of the parser"));
    assert!(bad("table t { }").contains("a table stands in a control"));
    assert!(bad("state s { }").contains("a state stands in a parser"));
    assert!(bad("void f() { table t { } }").contains("`table` cannot be declared among statements"));
}

#[test]
fn errors_in_other_declarations() {
    assert!(bad("bit<8> x;").contains("help: a constant can: `const type name = value;`"));
    assert!(bad("extern E { m(); }").contains("the return type of `m` is missing"));
    assert!(bad("foo;").contains("main.p4:1:4: error: expected the name of a function, found `;`"));
    assert!(bad("@ const int x = 1;").len() > 10);
    assert!(bad("control C() x").contains("expected `{` or `;`, found `x`"));
}

#[test]
fn errors_in_expressions() {
    let value = |text: &str| bad(&format!("const int x = {text};"));
    assert!(value("1 + _").contains("`_` cannot stand for a value here"));
    assert!(value("bit<8>(0)").contains("help: a cast has parentheses around the type: `(type) value`"));
    assert!(value("8w0xFG").contains("`G` in `8w0xFG` is not a hexadecimal digit"));
    assert!(value("0b12").contains("`2` in `0b12` is not a binary digit"));
    assert!(value("0x").contains("the digits of `0x` are missing"));
    assert!(value("99999999999w1").contains("the width `99999999999` is too large"));
    assert!(value(&"9".repeat(5000)).contains("more than 2048 digits"));
    assert!(value("\"abc").contains("error: this string is not closed"));
    assert!(value("1 $ 2").contains("the character `$` is not P4"));
    assert!(value("f(1, 2").contains("expected `,` or `)`, found `;`"));
    assert!(value("{1, a = 2}").contains("expected `,` or `}`, found `=`"));
}

#[test]
fn error_in_a_macro_points_to_the_use() {
    assert!(bad("#define M(x) x +\nconst int y = M(1);\n").starts_with("main.p4:2:19: error: expected an expression"));
}

#[test]
fn what_could_be_read_comes_back() {
    let (program, diagnostics, _) = read("struct A { bit<8> x; } const bit<8 y = 1; struct B { }");
    assert_eq!(diagnostics.error_count(), 1);
    let read: Vec<_> = program.decls.iter().filter_map(|d| d.name()).map(|n| n.name.as_str()).collect();
    assert_eq!(read, ["A", "B"]);
}
