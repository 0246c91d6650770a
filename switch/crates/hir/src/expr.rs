//! Expressions. Every one carries its type; an implicit conversion of the source is an explicit `Cast` here.

use num_bigint::BigInt;
use syntax::source::Span;

use crate::handle::*;

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub ty: TypeId,
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Bool(bool),
    /// A number of type `bit`, `int<W>`, `int`, a serializable enum or a `type` over one of these.
    Int(BigInt),
    Str(String),
    /// An index into `Program::errors`.
    Error(usize),
    /// A member of an enum without underlying type, by index.
    EnumMember(usize),
    /// A variable, parameter, constructor parameter or instance.
    Var(VarId),
    /// A field of a struct, header or header union, by index.
    Field(Box<Expr>, usize),
    TupleField(Box<Expr>, usize),
    /// An element of a stack or array.
    Index(Box<Expr>, Box<Expr>),
    /// `s.next`, `s.last`, `s.lastIndex` of a stack (`s.size` is folded).
    StackNext(Box<Expr>),
    StackLast(Box<Expr>),
    StackLastIndex(Box<Expr>),
    /// `e[hi:lo]`.
    Slice {
        base: Box<Expr>,
        hi: u32,
        lo: u32,
    },
    /// `e[start +: width]`, the start known only at run time.
    SliceFrom {
        base: Box<Expr>,
        start: Box<Expr>,
        width: u32,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A conversion to this expression's type.
    Cast(Box<Expr>),
    /// All fields of a struct, header (which is then valid), tuple or array, in order.
    Aggregate(Vec<Expr>),
    /// `{#}` of a header, header union or stack.
    Invalid,
    /// `h.isValid()` of a header or header union.
    IsValid(Box<Expr>),
    /// `t.apply().hit` and `!...miss`; the table is applied where this stands.
    TableHit(TableId),
    TableMiss(TableId),
    Call(Box<Call>),
    /// `Type(args)`: a nameless instance, as an argument of a constructor or a table property.
    New(crate::InstanceDecl),
    /// A left-out argument of an `out` parameter (`_`).
    DontCare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`.
    Neg,
    /// `~`.
    Complement,
    /// `!`.
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    /// `|+|`, `|-|`.
    SatAdd,
    SatSub,
    /// The right operand's type may differ from the left's.
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    /// `++`.
    Concat,
    /// `==`, `!=` take any two operands of one type, headers and structs included.
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `&&`, `||`: the right operand is evaluated only if needed.
    And,
    Or,
}

/// A call. Arguments are in parameter order; a left-out optional one is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub callee: Callee,
    pub args: Vec<Option<Expr>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Callee {
    Function(FunctionId),
    Action(ActionId),
    /// `type_args` in the order of the declaration, inferred where not written.
    ExternFn {
        function: ExternFnId,
        type_args: Vec<TypeId>,
    },
    /// `object.method(...)`. The object is an `ExprKind::Var` of extern type.
    ExternMethod {
        object: Box<Expr>,
        method: usize,
        type_args: Vec<TypeId>,
    },
    /// `p.apply(...)`. The object is an `ExprKind::Var`: an instance or a constructor parameter.
    ParserApply(Box<Expr>),
    ControlApply(Box<Expr>),
    TableApply(TableId),
    /// `h.setValid()`, `h.setInvalid()`.
    SetValid(Box<Expr>),
    SetInvalid(Box<Expr>),
    /// `s.push_front(n)`, `s.pop_front(n)`.
    PushFront(Box<Expr>, u32),
    PopFront(Box<Expr>, u32),
}
