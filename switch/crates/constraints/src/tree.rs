//! Restrictions as they are written.

use num_bigint::BigInt;

use crate::place::Span;

#[derive(Debug)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Span,
    /// Levels of it, itself counted.
    pub depth: usize,
}

#[derive(Debug)]
pub enum NodeKind {
    Bool(bool),
    Int(BigInt),
    Text(String),
    /// A key or parameter.
    Name(String),
    /// What the entry has beside its keys, as in `::priority`.
    Attribute(String),
    /// What a key's match has, as in `key::mask`.
    Part(Box<Node>, String),
    Not(Box<Node>),
    Minus(Box<Node>),
    Logic(Logic, Box<[Node; 2]>),
    Compare(Comparison, Box<[Node; 2]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    And,
    Or,
    Implies,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}
