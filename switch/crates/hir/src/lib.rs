//! The checked program: a typed tree with every name resolved.
//!
//! `sema` makes it from the syntax tree; `lower` and `p4info` read it. Types are monomorphic and interned, constants
//! are folded, implicit casts are explicit, generic arguments are inferred. What is still symbolic are constructor
//! parameters: a control or parser body stands here once, however often the program instantiates it.
//!
//! Everything is in arenas of [`Program`] and is named by a handle (`TypeId`, `VarId`, `TableId`, ...).

pub mod architecture;
pub mod expr;
pub mod handle;
pub mod instances;
pub mod stmt;
pub mod types;

pub use expr::*;
pub use handle::*;
pub use stmt::*;
pub use types::*;

use syntax::source::Span;

/// A whole checked program.
#[derive(Debug, Default)]
pub struct Program {
    pub types: Types,
    /// Members of `error`, in declaration order (core.p4's first, so `NoError` is 0).
    pub errors: Vec<String>,
    pub match_kinds: Vec<String>,
    pub vars: Arena<VarId, Var>,
    pub extern_fns: Arena<ExternFnId, ExternFn>,
    pub functions: Arena<FunctionId, Function>,
    pub actions: Arena<ActionId, Action>,
    pub tables: Arena<TableId, Table>,
    pub value_sets: Arena<ValueSetId, ValueSet>,
    pub parsers: Arena<ParserId, Parser>,
    pub controls: Arena<ControlId, Control>,
    /// Instances declared outside any parser or control, `main` included.
    pub instances: Vec<VarId>,
    /// The variable of the package instance named `main`, if the program has one.
    pub main: Option<VarId>,
    /// `@pkginfo(...)`, `@p4runtime_...` and other annotations standing on the package instance `main`.
    pub main_annotations: Vec<Annotation>,
}

/// `@name(...)`, `@name[...]` or plain `@name`.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    pub name: String,
    pub body: AnnotationBody,
    /// What stands between the parentheses, after preprocessing; `None` where there are none, or brackets.
    pub text: Option<String>,
    pub span: Span,
}

impl Annotation {
    /// Whether it has brackets: `@name[...]`.
    pub fn is_structured(&self) -> bool {
        self.text.is_none() && self.body != AnnotationBody::Empty
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnnotationBody {
    Empty,
    /// `@a(expr, ...)` where every piece evaluated to a constant.
    Exprs(Vec<AnnotationValue>),
    /// `@a[k = v, ...]` (a structured list of key-value pairs).
    KeyValues(Vec<(String, AnnotationValue)>),
    /// Anything else: the text between the parentheses, its tokens joined as they stand in the source.
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnnotationValue {
    Str(String),
    Int(num_bigint::BigInt),
    Bool(bool),
}

/// What a variable is.
#[derive(Debug, Clone, PartialEq)]
pub enum VarKind {
    /// A parameter of a parser, control, action, function; `None` is a directionless one.
    Param(Option<Direction>),
    /// A constructor parameter of a parser or control.
    CtorParam,
    /// A local variable of a parser, control, action, function or block.
    Local,
    /// `Type(args) name;`: an extern object, parser, control or package.
    Instance(InstanceDecl),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// A variable, parameter or instance.
#[derive(Debug, Clone)]
pub struct Var {
    pub name: String,
    pub ty: TypeId,
    pub kind: VarKind,
    /// The default of an optional parameter; `None` on an `@optional` one without.
    pub default: Option<Expr>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// `Type(args) name = { ... };`
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceDecl {
    /// Constructor arguments in the order of the constructor's parameters; `None` where an optional one is left out.
    pub args: Vec<Option<Expr>>,
}

/// An extern function, such as `hash` or `verify`.
#[derive(Debug, Clone)]
pub struct ExternFn {
    pub name: String,
    pub params: Vec<ExternParam>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A parameter of an extern function or method. Its type may name type parameters, so only calls know the types.
#[derive(Debug, Clone)]
pub struct ExternParam {
    pub name: String,
    pub direction: Option<Direction>,
}

/// A P4 function; a generic one stands here once for each list of type arguments it is called with.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    pub params: Vec<VarId>,
    pub ret: TypeId,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Action {
    pub name: String,
    /// All parameters; the directionless ones come last and are the control plane's.
    pub params: Vec<VarId>,
    pub body: Vec<Stmt>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    pub keys: Vec<TableKey>,
    pub actions: Vec<ActionRef>,
    /// The default action, its call's control-plane arguments (constants) and whether it is `const`.
    pub default_action: Option<DefaultAction>,
    /// What PSA's tables do with an empty group: property `psa_empty_group_action`.
    pub empty_group_action: Option<DefaultAction>,
    pub entries: Option<Entries>,
    pub size: Option<u64>,
    /// Properties beside keys, actions, default_action, entries and size: `implementation`, `counters`, `meters`,
    /// `support_timeout`, `largest_priority_wins`, `priority_delta`, ...
    pub properties: Vec<Property>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct TableKey {
    pub expr: Expr,
    pub match_kind: String,
    /// The key as it stands in the source, one blank between tokens that need it (`hdr.ipv4.dst`).
    pub source: String,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct ActionRef {
    pub action: ActionId,
    /// Arguments bound in the table, for the parameters with a direction, in order.
    pub args: Vec<Expr>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct DefaultAction {
    /// Index into [`Table::actions`].
    pub action: usize,
    /// Constants for the action's directionless parameters.
    pub args: Vec<Expr>,
    pub is_const: bool,
}

#[derive(Debug, Clone)]
pub struct Entries {
    pub is_const: bool,
    pub list: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub is_const: bool,
    pub priority: Option<Expr>,
    pub keys: Vec<KeySet>,
    /// Index into [`Table::actions`].
    pub action: usize,
    pub args: Vec<Expr>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Property {
    pub name: String,
    pub value: Expr,
    pub is_const: bool,
    /// `@name` names an object that is made in the property.
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct ValueSet {
    pub name: String,
    /// The element type: `bit<W>`, or a struct or tuple of the members.
    pub ty: TypeId,
    pub size: u64,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Parser {
    pub name: String,
    pub params: Vec<VarId>,
    pub ctor_params: Vec<VarId>,
    /// Variables with their initialisers and instances, in source order.
    pub locals: Vec<Local>,
    pub value_sets: Vec<ValueSetId>,
    /// `accept` and `reject` are not listed.
    pub states: Vec<State>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Control {
    pub name: String,
    pub params: Vec<VarId>,
    pub ctor_params: Vec<VarId>,
    /// Variables with their initialisers and instances, in source order.
    pub locals: Vec<Local>,
    pub actions: Vec<ActionId>,
    pub tables: Vec<TableId>,
    pub apply: Vec<Stmt>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A declaration among a parser's or control's locals.
#[derive(Debug, Clone)]
pub struct Local {
    pub var: VarId,
    pub init: Option<Expr>,
}

#[derive(Debug, Clone)]
pub struct State {
    pub name: String,
    pub body: Vec<Stmt>,
    pub transition: Transition,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum Transition {
    Direct(StateRef),
    Select { exprs: Vec<Expr>, cases: Vec<SelectCase> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateRef {
    Accept,
    Reject,
    /// Index into [`Parser::states`].
    State(usize),
}

#[derive(Debug, Clone)]
pub struct SelectCase {
    /// One per selected expression, or a single [`KeySet::Any`] for all of them.
    pub keys: Vec<KeySet>,
    pub target: StateRef,
    pub span: Span,
}

/// A set of values in a `select` case or a table entry.
#[derive(Debug, Clone)]
pub enum KeySet {
    /// `_` or `default`.
    Any,
    Value(Expr),
    /// `value &&& mask`.
    Mask(Expr, Expr),
    /// `first .. last`, both included.
    Range(Expr, Expr),
    ValueSet(ValueSetId),
}
