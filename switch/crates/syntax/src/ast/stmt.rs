//! Statements.

use super::{Annotation, BinaryOp, Decl, Expr, Ident, Type};
use crate::source::Span;

#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// `{ ... }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub annotations: Vec<Annotation>,
    pub stmts: Vec<Stmt>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// A variable, constant or instance: [`Decl::Var`], [`Decl::Const`] or [`Decl::Instance`].
    Decl(Decl),
    /// `target = value`, or `target op= value` with an operator.
    Assign {
        target: Expr,
        op: Option<BinaryOp>,
        value: Expr,
    },
    /// A call for its effect; the expression is always an [`ExprKind::Call`](super::ExprKind::Call).
    Call(Expr),
    If {
        cond: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    Block(Block),
    Switch {
        subject: Expr,
        cases: Vec<SwitchCase>,
    },
    /// `for (init; cond; update) body`.
    For {
        annotations: Vec<Annotation>,
        init: Vec<Stmt>,
        cond: Expr,
        update: Vec<Stmt>,
        body: Box<Stmt>,
    },
    /// `for (ty name in collection) body`.
    ForIn {
        annotations: Vec<Annotation>,
        /// Annotations of the loop variable.
        var_annotations: Vec<Annotation>,
        ty: Type,
        name: Ident,
        collection: ForCollection,
        body: Box<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Exit,
}

/// What a `for ... in` goes through.
#[derive(Debug, Clone, PartialEq)]
pub enum ForCollection {
    /// A list or a header stack.
    Expr(Expr),
    /// `first .. last`, both included.
    Range(Expr, Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct SwitchCase {
    pub label: SwitchLabel,
    /// `None` falls through to the next case.
    pub body: Option<Block>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SwitchLabel {
    Default(Span),
    /// An action's name or a constant.
    Expr(Expr),
}
