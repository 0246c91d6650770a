//! Declarations.

use super::*;

#[test]
fn typedefs_and_new_types() {
    let Decl::Typedef(alias) = one("typedef bit<9> P;") else { panic!("no typedef") };
    assert!(!alias.is_new);
    let Decl::Typedef(new) = one("@id(1) type bit<9> P;") else { panic!("no type") };
    assert_eq!((new.is_new, new.annotations.len(), show_type(&new.ty).as_str()), (true, 1, "bit<9>"));
    let both = good("typedef struct S { bit<8> a; } T;");
    assert!(matches!((&both[0], &both[1]), (Decl::Struct(_), Decl::Typedef(_))));
}

#[test]
fn structs_headers_and_unions() {
    let Decl::Struct(header) = one("header H<A> { @x bit<8> a; A b[2]; varbit<8> state; }") else {
        panic!("no header")
    };
    assert_eq!((header.kind, names(&header.type_params)), (StructKind::Header, vec!["A"]));
    let fields: Vec<String> = header.fields.iter().map(|f| format!("{} {}", show_type(&f.ty), f.name.name)).collect();
    assert_eq!(fields, ["bit<8> a", "A[2] b", "varbit<8> state"]);
    let Decl::Struct(union) = one("header_union U { A a; B b; }") else { panic!("no union") };
    assert_eq!(union.kind, StructKind::HeaderUnion);
}

#[test]
fn enums_errors_and_match_kinds() {
    let Decl::Enum(plain) = one("enum E { A, B, }") else { panic!("no enum") };
    assert!(plain.underlying.is_none() && plain.members.len() == 2);
    let Decl::Enum(valued) = one("enum bit<8> E { A = 1, @x B = 0x2 }") else { panic!("no enum") };
    assert_eq!(show_type(valued.underlying.as_ref().expect("a type")), "bit<8>");
    assert_eq!(show(valued.members[1].value.as_ref().expect("a value")), "2");
    assert!(matches!(one("enum T E { A = 1 }"), Decl::Enum(e) if e.underlying.is_some()));
    let Decl::Error(errors) = one("error { A, B }") else { panic!("no errors") };
    assert_eq!(names(&errors.members), ["A", "B"]);
    let Decl::MatchKind(kinds) = one("match_kind { a, b, }") else { panic!("no match kinds") };
    assert_eq!(names(&kinds.members), ["a", "b"]);
}

#[test]
fn extern_objects_and_functions() {
    let text = "extern E<T> { E(bit<8> n); @x E(); T get<U>(in U u, @optional out T t, bit<8> d = 3); \
                abstract void run(inout T t); }";
    let Decl::ExternObject(object) = one(text) else { panic!("no extern") };
    assert_eq!((object.constructors.len(), object.methods.len()), (2, 2));
    assert_eq!(object.constructors[1].annotations.len(), 1);
    let get = &object.methods[0].prototype;
    assert_eq!((get.name.name.as_str(), names(&get.type_params)), ("get", vec!["U"]));
    let directions: Vec<_> = get.params.iter().map(|p| p.direction).collect();
    assert_eq!(directions, [Some(Direction::In), Some(Direction::Out), None]);
    assert!(get.params[2].default.is_some() && get.params[1].annotations.len() == 1);
    assert!(object.methods[1].is_abstract);
    assert!(matches!(one("extern E;"), Decl::ExternObject(_)));
    let Decl::ExternFunction(function) = one("extern T pick<T>(in T a);") else { panic!("no function") };
    assert_eq!((show_type(&function.ret).as_str(), names(&function.type_params)), ("T", vec!["T"]));
    assert!(matches!(one("extern bool check(bool b);"), Decl::ExternFunction(_)));
}

#[test]
fn types_of_parsers_controls_and_packages() {
    let all = good("parser P<H>(packet_in b, out H h); control C(inout bit<8> x); package S<H>(P<H> p, C c = C());");
    let Decl::Parser(parser) = &all[0] else { panic!("no parser") };
    assert!(parser.body.is_none() && parser.params.len() == 2);
    assert!(matches!(&all[1], Decl::Control(c) if c.body.is_none()));
    assert!(matches!(&all[2], Decl::Package(p) if p.params[1].default.is_some()));
}

#[test]
fn instances_with_and_without_initializer() {
    let Decl::Instance(main) = one("@pkginfo(x = 1) S<T, _>(P(), C(1)) main;") else { panic!("no instance") };
    assert_eq!((main.name.name.as_str(), main.args.len(), main.annotations.len()), ("main", 2, 1));
    assert_eq!(show_type(&main.ty), "S<T, _>");
    let Decl::Instance(filled) = one("E() e = { bit<8> f(in bit<8> x) { return x; } C() c; };") else {
        panic!("no instance")
    };
    let init = filled.init.expect("an initializer");
    assert!(matches!(init.as_slice(), [Decl::Function(_), Decl::Instance(_)]));
}

#[test]
fn functions_and_actions() {
    let Decl::Function(function) = one("T max<T>(in T a, in T b) { return a > b ? a : b; }") else {
        panic!("no function")
    };
    assert_eq!((names(&function.prototype.type_params), function.body.stmts.len()), (vec!["T"], 1));
    let Decl::Action(action) = one("@id(7) action set(inout bit<8> x, bit<8> y) { x = y; }") else {
        panic!("no action")
    };
    assert_eq!((action.params.len(), action.body.stmts.len(), action.annotations.len()), (2, 1, 1));
}

#[test]
fn parser_with_all_it_can_hold() {
    let text = "parser P(packet_in b)(bit<8> n) {
        value_set<bit<8>>(4) vs; bit<8> x = 1; C() c; const int k = 2;
        @name(\"s\") state start { b.extract(x); { x = 2; } if (x == 1) { x = 3; } transition select(x, y) {
            (1, 2): a; (1 &&& 3, 2 .. 5): accept; (_, default): a; default: reject; } }
        state a { transition select(x) { vs: accept; 8w1: a; (2): a; (1 + 2) &&& 3: a; _: reject; } }
        state b { transition accept; }
        state c { } }";
    let Decl::Parser(parser) = one(text) else { panic!("no parser") };
    assert_eq!(parser.ctor_params.len(), 1);
    let body = parser.body.expect("a body");
    assert!(matches!(body.locals.as_slice(), [Decl::ValueSet(_), Decl::Var(_), Decl::Instance(_), Decl::Const(_)]));
    let Some(Transition::Select(select)) = &body.states[0].transition else { panic!("no select") };
    assert_eq!((select.exprs.len(), select.cases.len(), body.states[0].stmts.len()), (2, 4, 3));
    assert!(matches!(&select.cases[1].keys[0].kind, KeySetKind::Mask(..)));
    assert!(matches!(&select.cases[1].keys[1].kind, KeySetKind::Range(..)));
    assert!(matches!(&select.cases[2].keys[0].kind, KeySetKind::Any));
    assert!(matches!(&select.cases[2].keys[1].kind, KeySetKind::Default));
    let Some(Transition::Select(select)) = &body.states[1].transition else { panic!("no select") };
    assert!(select.cases.iter().all(|c| c.keys.len() == 1));
    assert!(matches!(&select.cases[3].keys[0].kind, KeySetKind::Mask(..)));
    assert!(matches!(&body.states[2].transition, Some(Transition::Direct(name)) if name.name == "accept"));
    assert!(body.states[3].transition.is_none());
}

const CONTROL: &str = "control C(inout H h)(bit<8> n) {
    counter(8, CounterType.bytes) cnt; bit<8> x; action a() { } action b(bit<8> v, bit<8> w) { }
    @id(5) table t {
        key = { h.x.y : exact @name(\"k\"); h . z [ 3 : 0 ] : lpm; - - x + (bit<8>) n:ternary; h.isValid() : exact; }
        actions = { a; @defaultonly b(x, _); .NoAction; }
        const default_action = b(x, 3);
        const entries = { const priority = 10: (1, 2 &&& 3): a() @x; priority = (1 + 1): _: b(1); 5: a; }
        size = 1024; @x implementation = action_profile(32); largest_priority_wins = false;
    }
    apply { t.apply(); } }";

fn table() -> Table {
    let Decl::Control(control) = one(CONTROL) else { panic!("no control") };
    let body = control.body.expect("a body");
    assert_eq!((control.ctor_params.len(), body.locals.len(), body.apply.stmts.len()), (1, 5, 1));
    match body.locals.into_iter().last() {
        Some(Decl::Table(table)) => table,
        other => panic!("not a table: {other:?}"),
    }
}

#[test]
fn table_keys_keep_their_source() {
    let table = table();
    let PropertyValue::Key(keys) = &table.properties[0].value else { panic!("no key") };
    let sources: Vec<&str> = keys.iter().map(|k| k.source.as_str()).collect();
    assert_eq!(sources, ["h.x.y", "h.z[3:0]", "- -x+(bit<8>)n", "h.isValid()"]);
    assert_eq!((keys[0].match_kind.name.as_str(), keys[0].annotations.len()), ("exact", 1));
}

#[test]
fn table_key_from_a_macro_is_expanded() {
    let Decl::Control(control) = one("#define K(f) h.f\ncontrol C() { table t { key = { K(x): exact; } } apply { } }")
    else {
        panic!("no control")
    };
    let body = control.body.expect("a body");
    let Decl::Table(table) = &body.locals[0] else { panic!("no table") };
    let PropertyValue::Key(keys) = &table.properties[0].value else { panic!("no key") };
    assert_eq!(keys[0].source, "h.x");
}

#[test]
fn table_actions_entries_and_properties() {
    let table = table();
    let PropertyValue::Actions(actions) = &table.properties[1].value else { panic!("no actions") };
    assert!(actions[0].args.is_none() && actions[2].path.global);
    assert_eq!((actions[1].annotations.len(), actions[1].args.as_ref().map(Vec::len)), (1, Some(2)));
    let PropertyValue::Entries(entries) = &table.properties[3].value else { panic!("no entries") };
    assert_eq!(entries.iter().map(|e| e.is_const).collect::<Vec<_>>(), [true, false, false]);
    let priorities: Vec<_> = entries.iter().map(|e| e.priority.as_ref().map(show)).collect();
    assert_eq!(priorities, [Some("10".to_owned()), Some("(1 + 1)".to_owned()), None]);
    assert_eq!(entries.iter().map(|e| e.keys.len()).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(entries[0].annotations.len(), 1);
    let rest: Vec<_> = table.properties.iter().map(|p| (p.name.name.as_str(), p.is_const)).collect();
    assert_eq!(
        rest,
        [
            ("key", false),
            ("actions", false),
            ("default_action", true),
            ("entries", true),
            ("size", false),
            ("implementation", false),
            ("largest_priority_wins", false),
        ]
    );
}

#[test]
fn built_in_architecture_parses_in_both_versions() {
    for define in ["", "#define V1MODEL_VERSION 20200408\n"] {
        let decls = good(&format!("{define}#include <v1model.p4>\n"));
        assert!(decls.iter().any(|d| d.name().is_some_and(|n| n.name == "V1Switch")));
        let port = decls.iter().any(|d| d.name().is_some_and(|n| n.name == "PortId_t"));
        assert_eq!(port, !define.is_empty());
    }
}

#[test]
fn contextual_keywords_are_names_elsewhere() {
    good(
        "struct T { bit<8> key; bit<8> type; bit<8> list; bit<8> priority; } \
         control apply(inout T state) { action entries() { } apply { state.key = state.type; } } \
         void f(in bit<8> actions) { bit<8> key = actions; key = key + 1; }",
    );
}
