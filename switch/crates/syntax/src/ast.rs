//! The syntax tree of P4_16: what the text says, before any name is looked up.
//!
//! Every node has a [`Span`] that covers exactly its tokens. Names are not resolved: a call `f(x)`, a constructor call
//! `C(x)` and a method call all stand as [`ExprKind::Call`], and `E.m` is a [`ExprKind::Member`] of a path whether `E`
//! is a type or a value.

mod decl;
mod expr;
mod stmt;
mod types;

pub use decl::*;
pub use expr::*;
pub use stmt::*;
pub use types::*;

use crate::source::Span;

/// A whole program, includes and all, in source order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    pub decls: Vec<Decl>,
}

/// A name where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

/// `name`, or `.name`, which is looked up from the top level only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    pub global: bool,
    pub name: Ident,
    pub span: Span,
}

/// `@name`, `@name(...)` or `@name[...]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    pub name: Ident,
    pub body: AnnotationBody,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnnotationBody {
    Empty,
    /// `@name(...)`: any tokens, and what they are when they can be read as expressions.
    Free {
        /// The tokens between the parentheses, one blank between two that have white space between them in the source.
        text: String,
        args: FreeArgs,
    },
    /// `@name[e, ...]`.
    Exprs(Vec<Expr>),
    /// `@name[k = e, ...]`.
    KeyValues(Vec<KeyValue>),
}

/// The tokens of an unstructured annotation, read as a list where they can be.
#[derive(Debug, Clone, PartialEq)]
pub enum FreeArgs {
    /// A list of expressions; a type (`bit<32>`, `string`) stands as [`ExprKind::Type`].
    Exprs(Vec<Expr>),
    /// `k = e, ...`.
    KeyValues(Vec<KeyValue>),
    /// Neither: only the text says what it is.
    Opaque,
}

/// `key = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    pub key: Ident,
    pub value: Expr,
    pub span: Span,
}
