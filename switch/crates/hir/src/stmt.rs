//! Statements.

use syntax::source::Span;

use crate::expr::Expr;
use crate::handle::*;

#[derive(Debug, Clone)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum StmtKind {
    /// `left = right`; `left op= right` is written out by `sema`.
    Assign(Expr, Expr),
    /// A local variable or constant comes to life here.
    Declare(VarId, Option<Expr>),
    /// A call whose value, if any, is not used.
    Call(Expr),
    If {
        cond: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Block(Vec<Stmt>),
    /// `switch (t.apply().action_run)`.
    SwitchAction {
        table: TableId,
        cases: Vec<ActionCase>,
    },
    /// `switch (expr)`.
    SwitchValue {
        value: Expr,
        cases: Vec<ValueCase>,
    },
    For {
        init: Vec<Stmt>,
        cond: Expr,
        update: Vec<Stmt>,
        body: Vec<Stmt>,
    },
    /// `for (var in first .. last)`.
    ForRange {
        var: VarId,
        first: Expr,
        last: Expr,
        body: Vec<Stmt>,
    },
    /// `for (var in stack_or_list)`.
    ForEach {
        var: VarId,
        items: Expr,
        body: Vec<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Exit,
}

/// Labels that share a body; a source label without a block falls through to the next one's.
#[derive(Debug, Clone)]
pub struct ActionCase {
    /// Indices into the table's actions.
    pub actions: Vec<usize>,
    pub default: bool,
    pub body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub struct ValueCase {
    pub values: Vec<Expr>,
    pub default: bool,
    pub body: Vec<Stmt>,
}
