//! Names and what they stand for.

use std::collections::HashMap;
use std::rc::Rc;

use hir::{
    ActionId, ControlId, Expr, ExternFnId, ExternId, PackageId, ParserId, TableId, TypeId, ValueSetId, VarId, VarKind,
};
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::suggest::nearest;

/// After so many errors no near name is looked for: all names in sight are compared each time.
const MAX_SUGGESTIONS: usize = 100;

/// A function that a call can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FnRef {
    Extern(ExternFnId),
    /// Index into `Checker::functions`.
    User(usize),
}

#[derive(Debug, Clone)]
pub enum Symbol {
    Type(TypeId),
    /// A type parameter of the signature being resolved, by its place.
    TypeParam(usize),
    /// A generic struct, header or header union: index into `Checker::generics`.
    Generic(usize),
    Extern(ExternId),
    /// A parser or control type without a body: index into `Checker::arch_blocks`.
    Arch(usize),
    Package(PackageId),
    Parser(ParserId),
    Control(ControlId),
    Var(VarId),
    Const(Rc<Expr>),
    Functions(Vec<FnRef>),
    Action(ActionId),
    Table(TableId),
    ValueSet(ValueSetId),
    /// A declaration that failed: its uses are not reported again.
    Poison,
}

impl Symbol {
    /// For "`x` is a table, not a type".
    pub fn what(&self) -> &'static str {
        match self {
            Self::Type(_) | Self::TypeParam(_) | Self::Generic(_) => "a type",
            Self::Extern(_) => "an extern type",
            Self::Arch(_) => "a parser or control type",
            Self::Package(_) => "a package type",
            Self::Parser(_) => "a parser",
            Self::Control(_) => "a control",
            Self::Var(_) => "a variable",
            Self::Const(_) => "a constant",
            Self::Functions(_) => "a function",
            Self::Action(_) => "an action",
            Self::Table(_) => "a table",
            Self::ValueSet(_) => "a value set",
            Self::Poison => "unknown",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Declared {
    pub symbol: Symbol,
    pub span: Span,
}

/// The scopes open at a place, the global one first.
#[derive(Debug)]
pub struct Scopes {
    stack: Vec<HashMap<String, Declared>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { stack: vec![HashMap::new()] }
    }
}

impl Scopes {
    pub fn push(&mut self) {
        self.stack.push(HashMap::new());
    }

    pub fn pop(&mut self) {
        self.stack.pop();
        debug_assert!(!self.stack.is_empty(), "the global scope stays");
    }

    /// Leaves only the global scope open, as for the body of a generic declaration; [`Scopes::restore`] undoes it.
    pub fn enter_global(&mut self) -> SavedScopes {
        SavedScopes(self.stack.split_off(1))
    }

    pub fn restore(&mut self, saved: SavedScopes) {
        self.stack.truncate(1);
        self.stack.extend(saved.0);
    }

    pub fn local(&self, name: &str) -> Option<&Declared> {
        self.stack.last().and_then(|scope| scope.get(name))
    }

    pub fn get(&self, name: &str) -> Option<&Declared> {
        self.stack.iter().rev().find_map(|scope| scope.get(name))
    }

    pub fn global(&self, name: &str) -> Option<&Declared> {
        self.stack[0].get(name)
    }

    fn insert(&mut self, name: String, declared: Declared) {
        if let Some(scope) = self.stack.last_mut() {
            scope.insert(name, declared);
        }
    }

    fn visible(&self) -> impl Iterator<Item = (&str, &Declared)> {
        self.stack.iter().flatten().map(|(name, declared)| (name.as_str(), declared))
    }
}

pub struct SavedScopes(Vec<HashMap<String, Declared>>);

impl Checker<'_> {
    /// Declares a name in the innermost scope; a name declared there before is an error, unless both are functions,
    /// which overload each other.
    pub fn declare(&mut self, name: &ast::Ident, symbol: Symbol) {
        if let Some(old) = self.scopes.local(&name.name) {
            if let (Symbol::Functions(old_fns), Symbol::Functions(new_fns)) = (&old.symbol, &symbol) {
                let all = old_fns.iter().chain(new_fns).copied().collect();
                let declared = Declared { symbol: Symbol::Functions(all), span: old.span };
                self.scopes.insert(name.name.clone(), declared);
                return;
            }
            let before = old.span;
            self.error_at(
                name.span,
                format!("`{}` is declared twice in one scope", name.name),
                &[(before, "first declared here".into())],
            );
            return;
        }
        self.scopes.insert(name.name.clone(), Declared { symbol, span: name.span });
    }

    /// Reports a local of a block with the name of a parameter; other names may be hidden.
    pub fn check_hides_no_parameter(&mut self, name: &ast::Ident) {
        if self.scopes.local(&name.name).is_some() {
            return;
        }
        let Some(Declared { symbol: Symbol::Var(var), span }) = self.scopes.get(&name.name).cloned() else { return };
        if matches!(self.prog.vars[var].kind, VarKind::Param(_) | VarKind::CtorParam) {
            let message = format!("`{}` hides the parameter of the same name", name.name);
            self.error_at(name.span, message, &[(span, "the parameter is declared here".into())]);
        }
    }

    /// Replaces what a name of the innermost scope stands for.
    pub fn redeclare(&mut self, name: &ast::Ident, symbol: Symbol) {
        self.scopes.insert(name.name.clone(), Declared { symbol, span: name.span });
    }

    pub fn find(&self, path: &ast::Path) -> Option<&Declared> {
        if path.global { self.scopes.global(&path.name.name) } else { self.scopes.get(&path.name.name) }
    }

    /// What the path stands for; an unknown name is reported, with the nearest that `wanted` accepts.
    pub fn lookup(&mut self, path: &ast::Path, kind: &str, wanted: impl Fn(&Symbol) -> bool) -> Symbol {
        if let Some(declared) = self.find(path) {
            return declared.symbol.clone();
        }
        let name = &path.name.name;
        if self.diags.error_count() > MAX_SUGGESTIONS {
            self.error(path.name.span, format!("there is no {kind} `{name}` in this scope"));
            return Symbol::Poison;
        }
        let names = self.scopes.visible().filter(|(_, d)| wanted(&d.symbol)).map(|(name, _)| name);
        let near = nearest(name, names).map(str::to_owned);
        self.unknown(path.name.span, format!("there is no {kind} `{name}` in this scope"), near);
        Symbol::Poison
    }

    /// Reports an unknown name, with the nearest known one if there is one.
    pub fn unknown(&mut self, span: Span, message: String, near: Option<String>) {
        match near {
            Some(near) => self.error_help(span, message, format!("did you mean `{near}`?")),
            None => self.error(span, message),
        }
    }
}
