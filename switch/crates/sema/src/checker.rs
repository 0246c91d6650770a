//! The state of a check: the program so far, the scopes, and where in the program we are.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hir::{FunctionId, Handle, Local, StructId, Type, TypeId, VarId};
use syntax::ast;
use syntax::diag::Diagnostics;
use syntax::source::Span;

use crate::scope::Scopes;
use crate::signature::{ArchBlock, ExternInfo, Sig};

/// How deep expressions, types and statements may nest. Each level takes stack here and in every later stage.
pub const MAX_DEPTH: usize = 1000;

/// The types every program has.
#[derive(Debug, Clone, Copy)]
pub struct Basic {
    pub void: TypeId,
    pub bool: TypeId,
    pub int: TypeId,
    pub bit1: TypeId,
    pub bit32: TypeId,
    pub string: TypeId,
    pub error: TypeId,
    pub match_kind: TypeId,
    /// Takes any type. A wrong expression has it, so that one mistake is reported once.
    pub any: TypeId,
}

/// What the statements being checked belong to; it decides what they may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Top,
    Parser,
    Control,
    Action,
    Function,
}

/// A generic struct, header or header union, checked anew for each list of type arguments.
pub struct Generic<'a> {
    pub decl: &'a ast::StructDecl,
    pub instances: HashMap<Vec<TypeId>, TypeId>,
    /// Its fields are being resolved: naming it now would make it hold itself.
    pub in_progress: bool,
}

/// A function of the program.
pub struct UserFn<'a> {
    pub decl: &'a ast::Function,
    pub sig: Rc<Sig>,
    pub instances: HashMap<Vec<TypeId>, FunctionId>,
    /// Its body is being checked: a call of it now is recursion, which P4 has not.
    pub in_progress: bool,
}

/// The body being checked.
#[derive(Debug)]
pub struct Body {
    pub place: Place,
    /// What `return` takes.
    pub ret: TypeId,
    pub loops: usize,
    /// The locals of the parser or control so far. Instances of inner blocks and of `C.apply()` land here too.
    pub locals: Vec<Local>,
    /// The instances made for `C.apply()`, by the type of `C`.
    pub direct: HashMap<TypeId, VarId>,
}

impl Body {
    pub fn new(place: Place, ret: TypeId) -> Self {
        Self { place, ret, loops: 0, locals: Vec::new(), direct: HashMap::new() }
    }
}

pub struct Checker<'a> {
    pub diags: &'a mut Diagnostics,
    pub prog: hir::Program,
    pub scopes: Scopes,
    pub basic: Basic,
    pub body: Body,
    pub generics: Vec<Generic<'a>>,
    /// Which generic declaration and type arguments a struct came from.
    pub origins: HashMap<StructId, (usize, Vec<TypeId>)>,
    /// By `ExternId`.
    pub externs: Vec<ExternInfo>,
    /// By `ExternFnId`.
    pub extern_sigs: Vec<Rc<Sig>>,
    pub functions: Vec<UserFn<'a>>,
    /// How many simple values a value of a type holds, as far as it was asked.
    pub leaves: HashMap<TypeId, u64>,
    pub arch_blocks: Vec<ArchBlock>,
    /// The declaration and the type arguments behind each type `ArchBlock`.
    pub arch_types: HashMap<TypeId, (usize, Vec<TypeId>)>,
    /// By `PackageId`.
    pub package_sigs: Vec<Rc<Sig>>,
    /// By `ParserId` and `ControlId`: the parameters of `apply` and of the constructor.
    pub parser_sigs: Vec<(Rc<Sig>, Rc<Sig>)>,
    pub control_sigs: Vec<(Rc<Sig>, Rc<Sig>)>,
    /// By `ActionId`.
    pub action_sigs: Vec<Rc<Sig>>,
    /// Variables that stand for constants whose value only the instance knows.
    pub readonly: HashSet<VarId>,
    /// The extern that stands for `list<T>`.
    pub list_extern: Option<hir::ExternId>,
    /// The first expression that was given up. With no error to show for it, that is a mistake of the check itself.
    pub given_up: Cell<Option<Span>>,
    depth: usize,
    too_deep: bool,
}

impl<'a> Checker<'a> {
    pub fn new(diags: &'a mut Diagnostics) -> Self {
        let mut prog = hir::Program::default();
        let types = &mut prog.types;
        let basic = Basic {
            void: types.intern(Type::Void),
            bool: types.intern(Type::Bool),
            int: types.intern(Type::Int),
            bit1: types.intern(Type::Bit(1)),
            bit32: types.intern(Type::Bit(32)),
            string: types.intern(Type::String),
            error: types.intern(Type::Error),
            match_kind: types.intern(Type::MatchKind),
            any: types.intern(Type::Any),
        };
        Self {
            diags,
            prog,
            scopes: Scopes::default(),
            basic,
            body: Body::new(Place::Top, basic.void),
            generics: Vec::new(),
            origins: HashMap::new(),
            externs: Vec::new(),
            extern_sigs: Vec::new(),
            functions: Vec::new(),
            leaves: HashMap::new(),
            arch_blocks: Vec::new(),
            arch_types: HashMap::new(),
            package_sigs: Vec::new(),
            parser_sigs: Vec::new(),
            control_sigs: Vec::new(),
            action_sigs: Vec::new(),
            readonly: HashSet::new(),
            list_extern: None,
            given_up: Cell::new(None),
            depth: 0,
            too_deep: false,
        }
    }

    pub fn ty(&self, id: TypeId) -> &Type {
        self.prog.types.get(id)
    }

    pub fn intern(&mut self, ty: Type) -> TypeId {
        self.prog.types.intern(ty)
    }

    pub fn new_var(&mut self, var: hir::Var) -> VarId {
        self.prog.vars.push(var)
    }

    /// Runs `inner` one level deeper; too deep a nesting is reported once and yields `None`.
    pub fn deeper<T>(&mut self, span: Span, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                self.error_help(
                    span,
                    format!("this nests more than {MAX_DEPTH} levels deep"),
                    "split it with the help of variables or functions".into(),
                );
            }
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }

    /// Checks something in a new scope.
    pub fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push();
        let result = inner(self);
        self.scopes.pop();
        result
    }

    pub fn sig_of_action(&self, action: hir::ActionId) -> Rc<Sig> {
        self.action_sigs[action.index()].clone()
    }
}
