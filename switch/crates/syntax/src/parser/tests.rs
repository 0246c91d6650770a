mod decls;
mod errors;
mod exprs;
mod hostile;
mod stmts;

use crate::ast::*;
use crate::diag::Diagnostics;
use crate::preprocess::Options;
use crate::source::SourceMap;

/// Parses a text; the map to look up spans in.
fn read(text: &str) -> (Program, Diagnostics, SourceMap) {
    let mut map = SourceMap::new();
    let main = map.add("main.p4", text);
    let (program, diagnostics) = crate::parse(&mut map, main, &Options::default());
    (program, diagnostics, map)
}

/// Parses a text that has no errors.
fn good(text: &str) -> Vec<Decl> {
    let (program, diagnostics, map) = read(text);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(&map, false));
    program.decls
}

/// The single declaration of a text.
fn one(text: &str) -> Decl {
    let mut decls = good(text);
    assert_eq!(decls.len(), 1, "{decls:?}");
    decls.remove(0)
}

/// The errors of a text as they are shown.
fn bad(text: &str) -> String {
    let (_, diagnostics, map) = read(text);
    assert!(diagnostics.has_errors(), "no error in {text}");
    diagnostics.render(&map, false)
}

/// The statements of a text that stands in a function; `T` is a type, `a` and `b` are values.
fn stmts(text: &str) -> Vec<Stmt> {
    let decls = good(&format!("struct T {{ }} void f(in bit<8> a, in bit<8> b) {{ {text} }}"));
    match decls.into_iter().nth(1) {
        Some(Decl::Function(function)) => function.body.stmts,
        other => panic!("not a function: {other:?}"),
    }
}

fn stmt(text: &str) -> StmtKind {
    let mut all = stmts(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).kind
}

/// The value in `const int x = value;`, after a struct `T`, a value `a` and a generic extern `E`.
fn expr(text: &str) -> Expr {
    let before = "struct T { } const int a = 1; extern E<X> { E(); void m(); }";
    match good(&format!("{before} const int x = {text};")).pop() {
        Some(Decl::Const(c)) => c.value,
        other => panic!("not a constant: {other:?}"),
    }
}

fn names(list: &[Ident]) -> Vec<&str> {
    list.iter().map(|i| i.name.as_str()).collect()
}

/// An expression with all parentheses.
fn show(expr: &Expr) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match &expr.kind {
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(number) => number.value.to_string(),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Path(path) => format!("{}{}", if path.global { "." } else { "" }, path.name.name),
        ExprKind::Type(ty) => show_type(ty),
        ExprKind::This => "this".to_owned(),
        ExprKind::DontCare => "_".to_owned(),
        ExprKind::Dots => "...".to_owned(),
        ExprKind::Invalid => "{#}".to_owned(),
        ExprKind::Member { base, member } => format!("{}.{}", show(base), member.name),
        ExprKind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        ExprKind::Slice { base, hi, lo } => format!("{}[{}:{}]", show(base), show(hi), show(lo)),
        ExprKind::PlusSlice { base, low, width } => format!("{}[{}+:{}]", show(base), show(low), show(width)),
        ExprKind::Unary { op, operand } => format!("({}{})", op.symbol(), show(operand)),
        ExprKind::Binary { op, left, right } => format!("({} {} {})", show(left), op.symbol(), show(right)),
        ExprKind::Ternary { cond, then, otherwise } => {
            format!("({} ? {} : {})", show(cond), show(then), show(otherwise))
        }
        ExprKind::Cast { ty, operand } => format!("(({}) {})", show_type(ty), show(operand)),
        ExprKind::Call { callee, type_args, args } => {
            let types = list(type_args.iter().map(show_type).collect());
            let types = if type_args.is_empty() { types } else { format!("<{types}>") };
            format!("{}{types}({})", show(callee), list(args.iter().map(show_arg).collect()))
        }
        ExprKind::List(items) => format!("{{{}}}", list(items.iter().map(show).collect())),
        ExprKind::Struct { fields, dots } => {
            let mut items: Vec<_> = fields.iter().map(|f| format!("{} = {}", f.key.name, show(&f.value))).collect();
            items.extend(dots.map(|_| "...".to_owned()));
            format!("{{{}}}", list(items))
        }
    }
}

fn show_arg(arg: &Arg) -> String {
    match &arg.name {
        Some(name) => format!("{} = {}", name.name, show(&arg.value)),
        None => show(&arg.value),
    }
}

fn show_type(ty: &Type) -> String {
    let list = |types: &[Type]| types.iter().map(show_type).collect::<Vec<_>>().join(", ");
    match &ty.kind {
        TypeKind::Bool => "bool".to_owned(),
        TypeKind::Error => "error".to_owned(),
        TypeKind::String => "string".to_owned(),
        TypeKind::Void => "void".to_owned(),
        TypeKind::MatchKind => "match_kind".to_owned(),
        TypeKind::DontCare => "_".to_owned(),
        TypeKind::InfInt => "int".to_owned(),
        TypeKind::Bit(None) => "bit".to_owned(),
        TypeKind::Bit(Some(width)) => format!("bit<{}>", show(width)),
        TypeKind::Int(width) => format!("int<{}>", show(width)),
        TypeKind::Varbit(width) => format!("varbit<{}>", show(width)),
        TypeKind::Tuple(types) => format!("tuple<{}>", list(types)),
        TypeKind::List(element) => format!("list<{}>", show_type(element)),
        TypeKind::Named { path, args } if args.is_empty() => path.name.name.clone(),
        TypeKind::Named { path, args } => format!("{}<{}>", path.name.name, list(args)),
        TypeKind::Stack { element, size } => format!("{}[{}]", show_type(element), show(size)),
    }
}
