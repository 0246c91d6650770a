//! Declarations.

use super::{Annotation, Arg, Block, Expr, Ident, KeySet, Path, Stmt, Type};
use crate::source::Span;

/// A declaration. Where each may stand: the parser lets through only what the grammar allows there.
#[derive(Debug, Clone, PartialEq)]
pub enum Decl {
    Const(ConstDecl),
    Error(MemberList),
    MatchKind(MemberList),
    Typedef(TypedefDecl),
    Struct(StructDecl),
    Enum(EnumDecl),
    ExternObject(ExternObject),
    ExternFunction(Prototype),
    Parser(ParserDecl),
    Control(ControlDecl),
    Package(PackageDecl),
    Instance(Instance),
    Function(Function),
    Action(Action),
    /// A variable; not at the top level.
    Var(VarDecl),
    /// Only in a parser.
    ValueSet(ValueSetDecl),
    /// Only in a control.
    Table(Table),
}

/// `const ty name = value;`
#[derive(Debug, Clone, PartialEq)]
pub struct ConstDecl {
    pub annotations: Vec<Annotation>,
    pub ty: Type,
    pub name: Ident,
    pub value: Expr,
    pub span: Span,
}

/// `ty name = init;`
#[derive(Debug, Clone, PartialEq)]
pub struct VarDecl {
    pub annotations: Vec<Annotation>,
    pub ty: Type,
    pub name: Ident,
    pub init: Option<Expr>,
    pub span: Span,
}

/// `error { A, B }` or `match_kind { a, b }`; a program may have several of each.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberList {
    pub annotations: Vec<Annotation>,
    pub members: Vec<Ident>,
    pub span: Span,
}

/// `typedef ty name;` or `type ty name;`. A `typedef struct S { } T;` stands as two declarations, `S` first.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedefDecl {
    pub annotations: Vec<Annotation>,
    /// Written with `type`: a type of its own, not another name of an old one.
    pub is_new: bool,
    pub ty: Type,
    pub name: Ident,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StructKind {
    Struct,
    Header,
    HeaderUnion,
}

/// `struct`, `header` or `header_union`.
#[derive(Debug, Clone, PartialEq)]
pub struct StructDecl {
    pub annotations: Vec<Annotation>,
    pub kind: StructKind,
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub fields: Vec<Field>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub annotations: Vec<Annotation>,
    pub ty: Type,
    pub name: Ident,
    pub span: Span,
}

/// `enum name { A, B }`, or `enum bit<8> name { A = 1 }`, which has an underlying type.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumDecl {
    pub annotations: Vec<Annotation>,
    pub underlying: Option<Type>,
    pub name: Ident,
    pub members: Vec<EnumMember>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EnumMember {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub value: Option<Expr>,
    pub span: Span,
}

/// `extern name { ... }`, or `extern name;`, which only says that the type exists.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternObject {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub constructors: Vec<Constructor>,
    pub methods: Vec<Method>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Constructor {
    pub annotations: Vec<Annotation>,
    pub params: Vec<Param>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    pub is_abstract: bool,
    pub prototype: Prototype,
}

/// The head of a function or method; also a whole extern function.
#[derive(Debug, Clone, PartialEq)]
pub struct Prototype {
    pub annotations: Vec<Annotation>,
    pub ret: Type,
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<Param>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub annotations: Vec<Annotation>,
    /// `None`: directionless.
    pub direction: Option<Direction>,
    pub ty: Type,
    pub name: Ident,
    pub default: Option<Expr>,
    pub span: Span,
}

/// `parser P(...) { ... }`, or a parser type, which has no body.
#[derive(Debug, Clone, PartialEq)]
pub struct ParserDecl {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<Param>,
    pub ctor_params: Vec<Param>,
    pub body: Option<ParserBody>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ParserBody {
    /// Constants, variables, instances and value sets.
    pub locals: Vec<Decl>,
    pub states: Vec<State>,
}

/// `state name { ... }`.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub stmts: Vec<Stmt>,
    /// Without one the parser goes to `reject`.
    pub transition: Option<Transition>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Transition {
    /// `transition name;`
    Direct(Ident),
    Select(Select),
}

/// `transition select (exprs) { cases }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    pub exprs: Vec<Expr>,
    pub cases: Vec<SelectCase>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SelectCase {
    /// One per component of a tuple `(a, b)`, else a single one.
    pub keys: Vec<KeySet>,
    pub state: Ident,
    pub span: Span,
}

/// `control C(...) { ... }`, or a control type, which has no body.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlDecl {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<Param>,
    pub ctor_params: Vec<Param>,
    pub body: Option<ControlBody>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ControlBody {
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<Decl>,
    pub apply: Block,
}

/// `package P(...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct PackageDecl {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<Param>,
    pub span: Span,
}

/// `Type(args) name;` or `Type(args) name = { ... };`
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub annotations: Vec<Annotation>,
    pub ty: Type,
    pub args: Vec<Arg>,
    pub name: Ident,
    /// What implements the abstract methods: functions and instances.
    pub init: Option<Vec<Decl>>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub prototype: Prototype,
    pub body: Block,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub params: Vec<Param>,
    pub body: Block,
    pub span: Span,
}

/// `value_set<ty>(size) name;`
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSetDecl {
    pub annotations: Vec<Annotation>,
    pub ty: Type,
    pub size: Expr,
    pub name: Ident,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    /// In source order; the parser lets through a property twice, with an error.
    pub properties: Vec<TableProperty>,
    pub span: Span,
}

/// `key = {...}`, `actions = {...}`, `entries = {...}` or any other `name = expression;`, `const` or not.
#[derive(Debug, Clone, PartialEq)]
pub struct TableProperty {
    pub annotations: Vec<Annotation>,
    pub is_const: bool,
    pub name: Ident,
    pub value: PropertyValue,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PropertyValue {
    Key(Vec<KeyElement>),
    Actions(Vec<ActionRef>),
    Entries(Vec<Entry>),
    /// `default_action`, `size`, `implementation`, ...
    Expr(Expr),
}

/// `expr : match_kind;`
#[derive(Debug, Clone, PartialEq)]
pub struct KeyElement {
    pub expr: Expr,
    /// The expression's tokens after preprocessing, a blank only where two would grow together.
    pub source: String,
    pub match_kind: Ident,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An action in a table's list or an entry: `a`, `a(args)` or `.a(args)`.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRef {
    pub annotations: Vec<Annotation>,
    pub path: Path,
    /// `None` without parentheses.
    pub args: Option<Vec<Arg>>,
    pub span: Span,
}

/// `const priority = p : keys : action @annotations;`
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub is_const: bool,
    pub priority: Option<Expr>,
    /// One per component of a tuple `(a, b)`, else a single one.
    pub keys: Vec<KeySet>,
    pub action: ActionRef,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

impl Decl {
    /// The name that the declaration declares; `error` and `match_kind` have none.
    pub fn name(&self) -> Option<&Ident> {
        match self {
            Self::Const(d) => Some(&d.name),
            Self::Error(_) | Self::MatchKind(_) => None,
            Self::Typedef(d) => Some(&d.name),
            Self::Struct(d) => Some(&d.name),
            Self::Enum(d) => Some(&d.name),
            Self::ExternObject(d) => Some(&d.name),
            Self::ExternFunction(d) => Some(&d.name),
            Self::Parser(d) => Some(&d.name),
            Self::Control(d) => Some(&d.name),
            Self::Package(d) => Some(&d.name),
            Self::Instance(d) => Some(&d.name),
            Self::Function(d) => Some(&d.prototype.name),
            Self::Action(d) => Some(&d.name),
            Self::Var(d) => Some(&d.name),
            Self::ValueSet(d) => Some(&d.name),
            Self::Table(d) => Some(&d.name),
        }
    }

    pub fn span(&self) -> Span {
        match self {
            Self::Const(d) => d.span,
            Self::Error(d) | Self::MatchKind(d) => d.span,
            Self::Typedef(d) => d.span,
            Self::Struct(d) => d.span,
            Self::Enum(d) => d.span,
            Self::ExternObject(d) => d.span,
            Self::ExternFunction(d) => d.span,
            Self::Parser(d) => d.span,
            Self::Control(d) => d.span,
            Self::Package(d) => d.span,
            Self::Instance(d) => d.span,
            Self::Function(d) => d.span,
            Self::Action(d) => d.span,
            Self::Var(d) => d.span,
            Self::ValueSet(d) => d.span,
            Self::Table(d) => d.span,
        }
    }
}
