//! Statements.

use super::*;

fn assign(text: &str) -> String {
    match stmt(text) {
        StmtKind::Assign { target, op, value } => {
            format!("{} {}= {}", show(&target), op.map_or("", BinaryOp::symbol), show(&value))
        }
        other => panic!("not an assignment: {other:?}"),
    }
}

#[test]
fn assignments_with_every_operator() {
    assert_eq!(assign("a.x[3:0] = b + 1;"), "a.x[3:0] = (b + 1)");
    for op in ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "|+|", "|-|"] {
        assert_eq!(assign(&format!("a {op}= b;")), format!("a {op}= b"));
    }
}

#[test]
fn calls_and_empty_statements() {
    let StmtKind::Call(call) = stmt("x.apply<T>(1);") else { panic!("no call") };
    assert_eq!(show(&call), "x.apply<T>(1)");
    let StmtKind::Call(call) = stmt("C<T>(1).apply(a);") else { panic!("no call") };
    assert_eq!(show(&call), "C<T>(1).apply(a)");
    assert_eq!(stmt(";"), StmtKind::Empty);
    assert_eq!(stmt("exit;"), StmtKind::Exit);
    assert_eq!(stmt("return;"), StmtKind::Return(None));
    assert!(matches!(stmt("return a + 1;"), StmtKind::Return(Some(_))));
}

#[test]
fn declarations_are_told_from_statements() {
    let all = stmts("bit<8> x; T y = { 1 }; E<T>[2] z; const int c = 1; key = 3; C(1) i; list<T> l; T[4] s;");
    let kinds: Vec<&str> = all
        .iter()
        .map(|s| match &s.kind {
            StmtKind::Decl(Decl::Var(_)) => "var",
            StmtKind::Decl(Decl::Const(_)) => "const",
            StmtKind::Decl(Decl::Instance(_)) => "instance",
            StmtKind::Assign { .. } => "assign",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["var", "var", "var", "const", "assign", "instance", "var", "var"]);
}

#[test]
fn else_belongs_to_the_nearest_if() {
    let StmtKind::If { otherwise, then, .. } = stmt("if (a == 1) if (b == 2) exit; else return;") else {
        panic!("no if")
    };
    assert!(otherwise.is_none());
    assert!(matches!(then.kind, StmtKind::If { otherwise: Some(_), .. }));
}

#[test]
fn else_if_chain_nests_to_the_right() {
    let text = "if (a == 1) exit; else if (a == 2) return; else { }";
    let (program, _, map) = read(&format!("void f() {{ {text} }}"));
    let Decl::Function(function) = &program.decls[0] else { panic!("no function") };
    assert_eq!(map.snippet(function.body.stmts[0].span), text);
    let StmtKind::If { otherwise: Some(second), .. } = &function.body.stmts[0].kind else { panic!("no else") };
    assert_eq!(map.snippet(second.span), "if (a == 2) return; else { }");
    let StmtKind::If { otherwise: Some(last), .. } = &second.kind else { panic!("no second else") };
    assert!(matches!(last.kind, StmtKind::Block(_)));
}

#[test]
fn switch_on_actions_and_values() {
    let StmtKind::Switch { subject, cases } =
        stmt("switch (t.apply().action_run) { x: y: { exit; } 8w1: { } default: { } }")
    else {
        panic!("no switch")
    };
    assert_eq!(show(&subject), "t.apply().action_run");
    let labels: Vec<String> = cases
        .iter()
        .map(|c| match &c.label {
            SwitchLabel::Default(_) => "default".to_owned(),
            SwitchLabel::Expr(label) => show(label),
        })
        .collect();
    assert_eq!(labels, ["x", "y", "1", "default"]);
    assert_eq!(cases.iter().map(|c| c.body.is_some()).collect::<Vec<_>>(), [false, true, true, true]);
}

#[test]
fn loops_of_both_kinds() {
    let StmtKind::For { init, cond, update, .. } =
        stmt("for (bit<8> i = 0, a = 1; i < 4; i = i + 1, f(i)) { break; continue; }")
    else {
        panic!("no for")
    };
    assert!(matches!(init[0].kind, StmtKind::Decl(Decl::Var(_))));
    assert!(matches!(init[1].kind, StmtKind::Assign { .. }));
    assert_eq!((show(&cond).as_str(), update.len()), ("(i < 4)", 2));
    let StmtKind::For { init, update, .. } = stmt("for (; a < 4; ) exit;") else { panic!("no for") };
    assert!(init.is_empty() && update.is_empty());
    let StmtKind::ForIn { annotations, name, collection: ForCollection::Range(from, to), .. } =
        stmt("@unroll for (bit<8> i in 1 .. a + 1) exit;")
    else {
        panic!("no for over a range")
    };
    assert_eq!((annotations.len(), name.name.as_str()), (1, "i"));
    assert_eq!((show(&from).as_str(), show(&to).as_str()), ("1", "(a + 1)"));
    let StmtKind::ForIn { var_annotations, ty, collection: ForCollection::Expr(list), .. } =
        stmt("for (@x T i in h.stack) { }")
    else {
        panic!("no for over a list")
    };
    assert_eq!((var_annotations.len(), show_type(&ty).as_str(), show(&list).as_str()), (1, "T", "h.stack"));
}

#[test]
fn annotated_block() {
    let StmtKind::Block(block) = stmt("@atomic { exit; }") else { panic!("no block") };
    assert_eq!((block.annotations.len(), block.stmts.len()), (1, 1));
}
