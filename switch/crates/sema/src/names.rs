//! Types as a message names them.

use hir::{Expr, ExprKind, Type, TypeId};

use crate::checker::Checker;

impl Checker<'_> {
    /// The type as the programmer would write it.
    pub fn name(&self, ty: TypeId) -> String {
        let types = &self.prog.types;
        match types.get(ty) {
            Type::Void => "void".into(),
            Type::Bool => "bool".into(),
            Type::Int => "int".into(),
            Type::Bit(w) => format!("bit<{w}>"),
            Type::Signed(w) => format!("int<{w}>"),
            Type::Varbit(w) => format!("varbit<{w}>"),
            Type::String => "string".into(),
            Type::Error => "error".into(),
            Type::MatchKind => "match_kind".into(),
            Type::Enum(id) => types.enums[*id].name.clone(),
            Type::Struct(id) | Type::Header(id) | Type::HeaderUnion(id) => types.structs[*id].name.clone(),
            Type::Stack(element, size) => format!("{}[{size}]", self.name(*element)),
            Type::Tuple(items) => format!("tuple<{}>", self.names(items)),
            Type::New(id) => types.new_types[*id].name.clone(),
            Type::Extern(id, args) if args.is_empty() => types.externs[*id].name.clone(),
            Type::Extern(id, args) => format!("{}<{}>", types.externs[*id].name, self.names(args)),
            Type::Parser(id) => format!("parser {}", self.prog.parsers[*id].name),
            Type::Control(id) => format!("control {}", self.prog.controls[*id].name),
            Type::Package(id) => format!("package {}", types.packages[*id].name),
            Type::ArchBlock(name) => name.clone(),
            Type::TableResult(_) => "the result of a table".into(),
            Type::Any => "_".into(),
        }
    }

    pub fn names(&self, types: &[TypeId]) -> String {
        types.iter().map(|ty| self.name(*ty)).collect::<Vec<_>>().join(", ")
    }

    /// "`bit<8>`", or for a literal what it is: "a list of type `tuple<int, int>`".
    pub fn describe(&self, e: &Expr) -> String {
        let name = self.name(e.ty);
        match (&e.kind, self.ty(e.ty)) {
            (ExprKind::Aggregate(_), Type::Tuple(_)) => format!("a list of type `{name}`"),
            (ExprKind::Int(n), Type::Int) => format!("the `int` {n}"),
            (ExprKind::Invalid, Type::Any) => "`{#}`".into(),
            (_, Type::TableResult(_)) => name,
            (_, Type::Parser(_) | Type::Control(_) | Type::Package(_)) => format!("`{name}`"),
            _ => format!("`{name}`"),
        }
    }
}
