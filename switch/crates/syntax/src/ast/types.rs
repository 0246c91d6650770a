//! Types as they are written.

use super::{Expr, Path};
use crate::source::Span;

#[derive(Debug, Clone, PartialEq)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    Bool,
    /// `error`.
    Error,
    /// `string`.
    String,
    Void,
    /// `match_kind`; only core.p4-like files name it.
    MatchKind,
    /// `_` as a type argument: the compiler finds it.
    DontCare,
    /// `int`: an integer without bounds.
    InfInt,
    /// `bit<w>`; plain `bit` is `None` and means one bit.
    Bit(Option<Box<Expr>>),
    /// `int<w>`.
    Int(Box<Expr>),
    /// `varbit<max>`.
    Varbit(Box<Expr>),
    /// `tuple<A, B>`.
    Tuple(Vec<Type>),
    /// `list<T>`.
    List(Box<Type>),
    /// A declared type, with the arguments of a generic one. `T` has no arguments, `T<>` is not P4.
    Named {
        path: Path,
        args: Vec<Type>,
    },
    /// `T[size]`; `T name[size]` in a declaration is the same.
    Stack {
        element: Box<Type>,
        size: Box<Expr>,
    },
}
