//! What right programs become.

use hir::{AnnotationBody, AnnotationValue, Callee, ExprKind, KeySet, Program, Stmt, StmtKind, Type};

fn right(text: &str) -> Program {
    let (program, map, diagnostics) = crate::common::check(text);
    program.unwrap_or_else(|| panic!("{}", diagnostics.render(&map, false)))
}

/// The body of the last control.
fn apply(program: &Program) -> &[Stmt] {
    &program.controls.iter().next_back().expect("a control").1.apply
}

fn callee(stmt: &Stmt) -> &Callee {
    match &stmt.kind {
        StmtKind::Call(call) => match &call.kind {
            ExprKind::Call(call) => &call.callee,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

const V1: &str = "
#include <v1model.p4>
header h_t { bit<8> f; }
struct headers_t { h_t h; h_t[2] s; }
struct meta_t { bit<8> m; bit<16> n; }
parser p(packet_in b, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { b.extract(h.h); transition accept; }
}
control v(inout headers_t h, inout meta_t m) { apply {} }
control i(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control e(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control u(inout headers_t h, inout meta_t m) { apply {} }
control d(packet_out b, in headers_t h) { apply { b.emit(h); } }
@pkginfo(name = \"x\", version = \"1\")
V1Switch(p(), v(), i(), e(), u(), d()) main;
";

#[test]
fn the_package_holds_its_blocks() {
    let program = right(V1);
    let main = &program.vars[program.main.expect("main")];
    let hir::VarKind::Instance(instance) = &main.kind else { panic!("{main:?}") };
    let blocks: Vec<bool> = instance
        .args
        .iter()
        .map(|arg| matches!(program.types.get(arg.as_ref().expect("a block").ty), Type::Parser(_) | Type::Control(_)))
        .collect();
    assert_eq!(blocks, [true; 6]);
    let text = |s: &str| AnnotationValue::Str(s.into());
    let pairs = vec![("name".to_owned(), text("x")), ("version".to_owned(), text("1"))];
    assert_eq!(program.main_annotations[0].body, AnnotationBody::KeyValues(pairs));
}

#[test]
fn type_arguments_are_found() {
    let program = right(&format!(
        "{V1}
        struct digest_t {{ bit<8> a; bit<16> b; }}
        control c(inout meta_t m) {{
            register<bit<16>>(4) r;
            apply {{
                r.read(m.n, 0);
                random(m.m, 0, 255);
                hash(m.n, HashAlgorithm.crc16, 16w0, {{ m.m, m.n }}, 32w7);
                digest<digest_t>(1, {{ m.m, m.n }});
                digest(1, m);
            }}
        }}"
    ));
    let stmts = apply(&program);
    let types = |stmt: &Stmt| match callee(stmt) {
        Callee::ExternFn { type_args, .. } | Callee::ExternMethod { type_args, .. } => {
            type_args.iter().map(|ty| program.types.get(*ty).clone()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(types(&stmts[0]), []);
    assert_eq!(types(&stmts[1]), [Type::Bit(8)]);
    let hash = types(&stmts[2]);
    assert_eq!((&hash[0], &hash[1], &hash[3]), (&Type::Bit(16), &Type::Bit(16), &Type::Bit(32)));
    assert!(matches!(&hash[2], Type::Tuple(items) if items.len() == 2));
    for stmt in &stmts[3..] {
        assert!(matches!(types(stmt)[0], Type::Struct(_)));
    }
    let Callee::ExternMethod { object, .. } = callee(&stmts[0]) else { panic!("{:?}", stmts[0]) };
    let Type::Extern(_, args) = program.types.get(object.ty) else { panic!("{object:?}") };
    assert_eq!(*program.types.get(args[0]), Type::Bit(16));
}

#[test]
fn overloads_go_by_the_number_of_arguments() {
    let program = right(&format!(
        "{V1}
        control c(inout meta_t m, inout standard_metadata_t s) {{
            apply {{ mark_to_drop(); mark_to_drop(s); log_msg(\"x\"); log_msg(\"{{}}\", {{ m.m }}); }}
        }}"
    ));
    let params: Vec<usize> = apply(&program)
        .iter()
        .map(|stmt| match callee(stmt) {
            Callee::ExternFn { function, .. } => program.extern_fns[*function].params.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(params, [0, 1, 1, 2]);
}

#[test]
fn a_generic_function_stands_once_for_each_list_of_types() {
    let program = right(
        "T id<T>(in T x) { return x; }
        control c(inout bit<8> x, inout bit<16> y) { apply { x = id(x); y = id(y); x = id(id(x)); } }",
    );
    assert_eq!(program.functions.len(), 2);
}

#[test]
fn arguments_stand_in_the_order_of_the_parameters() {
    let program = right(
        "extern void f(in bit<8> a, in bit<8> b = 3, @optional in bit<8> c);
        control k() { apply { f(b = 2, a = 1); f(9); } }",
    );
    let args = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Call(call) => match &call.kind {
            ExprKind::Call(call) => {
                call.args.iter().map(|arg| arg.as_ref().map(|e| e.kind.clone())).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let int = |n: u8| Some(ExprKind::Int(n.into()));
    let stmts = apply(&program);
    assert_eq!(args(&stmts[0]), [int(1), int(2), None]);
    assert_eq!(args(&stmts[1]), [int(9), int(3), None]);
}

#[test]
fn a_table_without_a_default_does_nothing_by_default() {
    let program = right(&format!(
        "{V1}
        control c(inout meta_t m) {{
            action a(in bit<8> x, bit<8> y) {{ m.m = x + y; }}
            table plain {{ key = {{ m.n : lpm; }} actions = {{ a(m.m); }} size = 1 << 4; }}
            table listed {{ actions = {{ NoAction; a(m.m); }} }}
            table own {{ actions = {{ a(m.m); }} const default_action = a(m.m, 7); }}
            apply {{ plain.apply(); listed.apply(); own.apply(); }}
        }}"
    ));
    let tables: Vec<_> = program.tables.iter().map(|(_, table)| table).collect();
    assert_eq!(tables[0].size, Some(16));
    assert_eq!(tables[0].keys[0].source, "m.n");
    assert_eq!(tables[0].actions.len(), 2);
    assert_eq!(tables[0].actions[1].annotations[0].name, "defaultonly");
    let default = |i: usize| tables[i].default_action.as_ref().expect("a default action");
    assert_eq!((default(0).action, default(0).is_const), (1, false));
    assert_eq!((default(1).action, tables[1].actions.len()), (0, 2));
    assert!(tables[1].actions[0].annotations.is_empty());
    assert_eq!((default(2).action, default(2).is_const), (0, true));
    assert_eq!(default(2).args[0].kind, ExprKind::Int(7.into()));
}

#[test]
fn entries_and_properties_are_resolved() {
    let program = right(&format!(
        "{V1}
        control c(inout meta_t m) {{
            direct_counter(CounterType.packets) hits;
            action a() {{}}
            action b(bit<8> v) {{ m.m = v; }}
            table t {{
                key = {{ m.m : ternary; m.n : range; }}
                actions = {{ a; b; }}
                implementation = action_profile(32);
                counters = hits;
                support_timeout = true;
                const entries = {{ (1, 2 .. 3) : b(4); (1 &&& 3, _) : a; _ : a(); }}
            }}
            apply {{ t.apply(); }}
        }}"
    ));
    let (_, table) = program.tables.iter().next().expect("the table");
    let names: Vec<&str> = table.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["implementation", "counters", "support_timeout"]);
    assert!(matches!(table.properties[0].value.kind, ExprKind::New(_)));
    assert!(matches!(table.properties[1].value.kind, ExprKind::Var(_)));
    let entries = table.entries.as_ref().expect("entries");
    assert!(entries.is_const && entries.list.iter().all(|entry| entry.is_const));
    let kinds: Vec<[bool; 3]> = entries
        .list
        .iter()
        .map(|entry| {
            [
                matches!(entry.keys[0], KeySet::Value(_)),
                matches!(entry.keys[0], KeySet::Mask(..)),
                matches!(entry.keys[1], KeySet::Any),
            ]
        })
        .collect();
    assert_eq!(kinds, [[true, false, false], [false, true, true], [false, false, true]]);
    assert_eq!(entries.list[0].args[0].kind, ExprKind::Int(4.into()));
}

#[test]
fn labels_of_a_switch_share_the_body_behind_them() {
    let program = right(&format!(
        "{V1}
        control c(inout meta_t m) {{
            action a() {{}}
            action b() {{}}
            table t {{ actions = {{ a; b; }} default_action = a(); }}
            apply {{
                switch (t.apply().action_run) {{ a: b: {{ m.m = 1; }} default: {{ m.m = 2; }} }}
                switch (m.m) {{ 1: 2: {{ m.m = 1; }} 3: {{}} default: {{}} }}
                if (t.apply().hit) {{ m.m = 3; }} else if (t.apply().miss) {{ m.m = 4; }}
            }}
        }}"
    ));
    let stmts = apply(&program);
    let StmtKind::SwitchAction { cases, .. } = &stmts[0].kind else { panic!("{:?}", stmts[0]) };
    assert_eq!(
        cases.iter().map(|case| (case.actions.clone(), case.default)).collect::<Vec<_>>(),
        [(vec![0, 1], false), (vec![], true)]
    );
    let StmtKind::SwitchValue { cases, .. } = &stmts[1].kind else { panic!("{:?}", stmts[1]) };
    assert_eq!(cases.iter().map(|case| case.values.len()).collect::<Vec<_>>(), [2, 1, 0]);
    let StmtKind::If { cond, .. } = &stmts[2].kind else { panic!("{:?}", stmts[2]) };
    assert!(matches!(cond.kind, ExprKind::TableHit(_)));
}

#[test]
fn a_type_applied_directly_gets_one_instance_of_its_name() {
    let program = right(
        "control sub(inout bit<8> x) { apply { x = x + 1; } }
        control c(inout bit<8> x) { apply { sub.apply(x); sub.apply(x); } }",
    );
    let (_, control) = program.controls.iter().next_back().expect("the control");
    let names: Vec<&str> = control.locals.iter().map(|local| program.vars[local.var].name.as_str()).collect();
    assert_eq!(names, ["sub"]);
    assert!(control.apply.iter().all(|stmt| matches!(callee(stmt), Callee::ControlApply(_))));
}

#[test]
fn a_control_takes_a_control() {
    let program = right(
        "control Inner<T>(inout T x);
        control plus(inout bit<8> x)(bit<8> n) { apply { x = x + n; } }
        control outer(inout bit<8> x)(Inner<bit<8>> first, bit<8> n) {
            plus(n) second;
            apply { first.apply(x); second.apply(x); }
        }
        control all(inout bit<8> x) { outer(plus(1), 2) o; apply { o.apply(x); } }",
    );
    let (_, outer) = program.controls.iter().nth(1).expect("outer");
    assert!(matches!(program.types.get(program.vars[outer.ctor_params[0]].ty), Type::ArchBlock(_)));
}

#[test]
fn selects_match_values_masks_and_sets() {
    let program = right(&format!(
        "{V1}
        parser q(packet_in b, out headers_t h) {{
            value_set<bit<8>>(4) known;
            value_set<tuple<bit<8>, bit<8>>>(4) pairs;
            state start {{
                b.extract(h.s.next);
                transition select(h.s.last.f, h.h.f) {{
                    (1, 2 &&& 3): start;
                    (known, 5 .. 6): more;
                    pairs: accept;
                    _: reject;
                }}
            }}
            state more {{}}
        }}"
    ));
    let (_, parser) = program.parsers.iter().next_back().expect("the parser");
    let hir::Transition::Select { exprs, cases } = &parser.states[0].transition else { panic!("no select") };
    assert_eq!(exprs.len(), 2);
    assert_eq!(cases.iter().map(|case| case.keys.len()).collect::<Vec<_>>(), [2, 2, 1, 1]);
    assert!(matches!(cases[1].keys[..], [KeySet::ValueSet(_), KeySet::Range(..)]));
    assert!(matches!(cases[2].keys[..], [KeySet::ValueSet(_)]));
    assert!(matches!(cases[3].keys[..], [KeySet::Any]));
    assert!(matches!(parser.states[1].transition, hir::Transition::Direct(hir::StateRef::Reject)));
}

#[test]
fn loops_have_their_kinds() {
    let program = right(
        "header h_t { bit<8> f; }
        control c(inout bit<8> x, inout h_t[3] s) {
            apply {
                for (bit<8> i = 0, bit<8> j = 1; i < 3; i = i + 1, j = j + 2) { if (i == j) { continue; } x += i; }
                for (bit<8> i in 1 .. x) { x = i; break; }
                for (h_t h in s) { x = h.f; }
                for (bit<8> i in (list<bit<8>>) { 1, x }) { x = i; }
            }
        }",
    );
    let stmts = apply(&program);
    assert!(matches!(&stmts[0].kind, StmtKind::For { init, update, .. } if init.len() == 2 && update.len() == 2));
    assert!(matches!(stmts[1].kind, StmtKind::ForRange { .. }));
    assert!(matches!(&stmts[2].kind, StmtKind::ForEach { items, .. } if matches!(items.kind, ExprKind::Var(_))));
    assert!(matches!(&stmts[3].kind, StmtKind::ForEach { items, .. } if matches!(items.kind, ExprKind::Aggregate(_))));
}

#[test]
fn annotations_keep_values_or_text() {
    let program = right(
        "const int N = 2;
        @one @two(\"a\" ++ \"b\", N + 1, true) @three[k = 1] @four(any thing { at all }) @five(unknown)
        struct s_t { @name(\"x\") bit<8> a; }",
    );
    let (_, decl) = program.types.structs.iter().next().expect("the struct");
    let bodies: Vec<&AnnotationBody> = decl.annotations.iter().map(|a| &a.body).collect();
    assert_eq!(*bodies[0], AnnotationBody::Empty);
    let values = vec![AnnotationValue::Str("ab".into()), AnnotationValue::Int(3.into()), AnnotationValue::Bool(true)];
    assert_eq!(*bodies[1], AnnotationBody::Exprs(values));
    assert_eq!(*bodies[2], AnnotationBody::KeyValues(vec![("k".into(), AnnotationValue::Int(1.into()))]));
    assert_eq!(*bodies[3], AnnotationBody::Text("any thing { at all }".into()));
    assert_eq!(*bodies[4], AnnotationBody::Text("unknown".into()));
    assert_eq!(decl.fields[0].annotations[0].name, "name");
}

#[test]
fn nesting_beyond_the_bound_is_an_error() {
    use syntax::ast;
    use syntax::diag::Diagnostics;
    let span = Default::default();
    let leaf = || ast::Expr { kind: ast::ExprKind::Bool(true), span };
    let mut value = leaf();
    for _ in 0..3000 {
        value = ast::Expr { kind: ast::ExprKind::Unary { op: ast::UnaryOp::Not, operand: Box::new(value) }, span };
    }
    let name = ast::Ident { name: "DEEP".into(), span };
    let ty = ast::Type { kind: ast::TypeKind::Bool, span };
    let decl = ast::ConstDecl { annotations: Vec::new(), ty, name, value, span };
    let program = ast::Program { decls: vec![ast::Decl::Const(decl)] };
    let mut diagnostics = Diagnostics::new();
    assert!(sema::check(&program, &mut diagnostics).is_none());
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["this nests more than 1000 levels deep"]);
}
