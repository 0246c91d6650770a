//! Expressions and sets of values.

use num_bigint::BigInt;

use super::{Ident, KeyValue, Path, Type};
use crate::source::Span;

/// An expression. Parentheses leave no node; the span of the inner expression takes them in.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Bool(bool),
    Int(IntLit),
    /// A string literal, its escapes resolved.
    Str(String),
    /// A name: variable, constant, type, action, ... Only lookup tells.
    Path(Path),
    /// A type in a place of an expression that no [`Path`] can say: `error` in `error.NoError`, `C<T>` in
    /// `C<T>.apply()`, `bit<32>` in an annotation.
    Type(Type),
    /// `this`.
    This,
    /// `_` as an argument of a call.
    DontCare,
    /// `...`: the rest by default; only at the end of a list.
    Dots,
    /// `{#}`: the invalid header or header union.
    Invalid,
    Member {
        base: Box<Expr>,
        member: Ident,
    },
    /// `base[index]`.
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `base[hi:lo]`.
    Slice {
        base: Box<Expr>,
        hi: Box<Expr>,
        lo: Box<Expr>,
    },
    /// `base[low+:width]`.
    PlusSlice {
        base: Box<Expr>,
        low: Box<Expr>,
        width: Box<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `cond ? then : otherwise`.
    Ternary {
        cond: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `(ty) operand`; a struct-valued `(T) { ... }` too.
    Cast {
        ty: Type,
        operand: Box<Expr>,
    },
    /// A call of a function, method, action or constructor. With `C<T>(...)` the arguments are in `type_args`.
    Call {
        callee: Box<Expr>,
        type_args: Vec<Type>,
        args: Vec<Arg>,
    },
    /// `{a, b}`; `...` may stand last.
    List(Vec<Expr>),
    /// `{k = v, ...}`.
    Struct {
        fields: Vec<KeyValue>,
        /// The place of a closing `...`.
        dots: Option<Span>,
    },
}

/// A number: its value and the type its prefix gives (`8w0xFF`, `4s7`; none is `int`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntLit {
    pub value: BigInt,
    pub width: Option<IntWidth>,
    /// 2, 8, 10 or 16, as written.
    pub base: u32,
}

/// The `8w` or `8s` before a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntWidth {
    pub bits: u32,
    pub signed: bool,
}

/// An argument: `e` or `name = e`; the expression is [`ExprKind::DontCare`] for `_`.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    pub name: Option<Ident>,
    pub value: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Neg,
    /// `+`
    Plus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    /// `|+|`
    AddSat,
    /// `|-|`
    SubSat,
    Shl,
    Shr,
    Le,
    Ge,
    Lt,
    Gt,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    /// `++`
    Concat,
    And,
    Or,
}

impl UnaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Not => "!",
            Self::Complement => "~",
            Self::Neg => "-",
            Self::Plus => "+",
        }
    }
}

impl BinaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Add => "+",
            Self::Sub => "-",
            Self::AddSat => "|+|",
            Self::SubSat => "|-|",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Le => "<=",
            Self::Ge => ">=",
            Self::Lt => "<",
            Self::Gt => ">",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
            Self::Concat => "++",
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

/// A set of values: a case of a `select` or a key of a table entry.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySet {
    pub kind: KeySetKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum KeySetKind {
    /// `default`.
    Default,
    /// `_`.
    Any,
    /// One value, or the name of a value set.
    Value(Expr),
    /// `value &&& mask`.
    Mask(Expr, Expr),
    /// `first .. last`, both included.
    Range(Expr, Expr),
}
