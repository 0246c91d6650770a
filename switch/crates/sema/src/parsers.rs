//! Parsers and their states.

use std::collections::HashMap;
use std::rc::Rc;

use hir::{Expr, ExprKind, Local, Parser, SelectCase, State, StateRef, Transition, Type, ValueSet, VarKind};
use num_traits::ToPrimitive;
use syntax::ast;

use crate::checker::{Body, Checker, Place};
use crate::scope::Symbol;
use crate::signature::{Sig, Ty};
use crate::suggest::nearest;

impl<'a> Checker<'a> {
    pub fn declare_parser(&mut self, decl: &'a ast::ParserDecl) {
        let Some(body) = &decl.body else {
            self.declare_arch(true, &decl.name, &decl.type_params, &decl.params);
            return;
        };
        if let Some(param) = decl.type_params.first() {
            self.error(param.span, "a parser with a body has no type parameters");
            self.declare(&decl.name, Symbol::Poison);
            return;
        }
        let outer = std::mem::replace(&mut self.body, Body::new(Place::Parser, self.basic.void));
        self.scopes.push();
        let (apply, ctor) = self.block_sigs(&decl.name, &decl.params, &decl.ctor_params);
        let params = self.declare_params(&decl.params, &apply.params, VarKind::Param);
        let ctor_params = self.declare_params(&decl.ctor_params, &ctor.params, |_| VarKind::CtorParam);
        self.scopes.push();
        let mut value_sets = Vec::new();
        for local in &body.locals {
            match local {
                ast::Decl::ValueSet(set) => value_sets.extend(self.declare_value_set(set)),
                other => self.block_local(other),
            }
        }
        let states = self.states(decl, &body.states);
        self.scopes.pop();
        self.scopes.pop();
        let locals = std::mem::replace(&mut self.body, outer).locals;
        let annotations = self.annotations(&decl.annotations);
        let id = self.prog.parsers.push(Parser {
            name: decl.name.name.clone(),
            params,
            ctor_params,
            locals,
            value_sets,
            states,
            annotations,
            span: decl.name.span,
        });
        self.parser_sigs.push((apply, ctor));
        self.declare(&decl.name, Symbol::Parser(id));
    }

    /// The signatures of the `apply` and the constructor of a parser or control.
    pub fn block_sigs(
        &mut self,
        name: &ast::Ident,
        params: &'a [ast::Param],
        ctor_params: &'a [ast::Param],
    ) -> (Rc<Sig>, Rc<Sig>) {
        let apply = self.sig_params(params);
        let ctor = self.sig_params(ctor_params);
        self.check_not_optional(ctor_params);
        for param in ctor_params {
            if param.direction.is_some() {
                self.error(param.span, "a constructor parameter has no direction");
            }
            if let Some(apply) = params.iter().find(|p| p.name.name == param.name.name) {
                let labels = [(apply.span, "first declared here".to_owned())];
                self.error_at(param.span, format!("the parameter `{}` is declared twice", param.name.name), &labels);
            }
        }
        let sig = |params| {
            Rc::new(Sig {
                name: name.name.clone(),
                type_params: Vec::new(),
                params,
                ret: Ty::Known(self.basic.void),
                span: name.span,
            })
        };
        (sig(apply), sig(ctor))
    }

    /// A constant, variable or instance among the locals of a parser or control.
    pub fn block_local(&mut self, decl: &'a ast::Decl) {
        match decl {
            ast::Decl::Const(decl) => {
                if let Some((var, init)) = self.constant(decl) {
                    self.body.locals.push(Local { var, init: Some(init) });
                }
            }
            ast::Decl::Var(decl) => {
                let (var, init) = self.variable(decl);
                self.body.locals.push(Local { var, init });
            }
            ast::Decl::Instance(decl) => {
                if let Some(var) = self.instance(decl) {
                    self.body.locals.push(Local { var, init: None });
                }
            }
            other => self.error(other.span(), "this cannot be declared here"),
        }
    }

    fn declare_value_set(&mut self, decl: &'a ast::ValueSetDecl) -> Option<hir::ValueSetId> {
        let ty = self.resolve_type(&decl.ty);
        let size = self.const_number(&decl.size, "the size of a value set");
        let annotations = self.annotations(&decl.annotations);
        let Some(size) = size else {
            self.declare(&decl.name, Symbol::Poison);
            return None;
        };
        let Some(size) = size.to_u64() else {
            self.error(decl.size.span, format!("a value set cannot have the size {size}"));
            self.declare(&decl.name, Symbol::Poison);
            return None;
        };
        let set = ValueSet { name: decl.name.name.clone(), ty, size, annotations, span: decl.name.span };
        let id = self.prog.value_sets.push(set);
        self.declare(&decl.name, Symbol::ValueSet(id));
        Some(id)
    }

    fn states(&mut self, decl: &'a ast::ParserDecl, states: &'a [ast::State]) -> Vec<State> {
        self.check_distinct(states.iter().map(|s| &s.name), "state");
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (i, state) in states.iter().enumerate() {
            let name = state.name.name.as_str();
            if name == "accept" || name == "reject" {
                self.error(state.name.span, format!("`{name}` is the end of every parser and cannot be declared"));
            }
            if let Some(before) = self.scopes.local(name) {
                let labels = [(before.span, "first declared here".to_owned())];
                self.error_at(state.name.span, format!("`{name}` is declared twice in one scope"), &labels);
            }
            places.entry(name).or_insert(i);
        }
        if !places.contains_key("start") {
            let message = format!("the parser `{}` has no state `start`", decl.name.name);
            self.error(decl.name.span, message);
        }
        let checked: Vec<State> = states.iter().map(|state| self.state(state, &places)).collect();
        if let Some(start) = places.get("start")
            && !ends(&checked, *start)
        {
            self.error(decl.name.span, format!("the parser `{}` never comes to `accept` or `reject`", decl.name.name));
        }
        checked
    }

    fn state(&mut self, state: &'a ast::State, places: &HashMap<&str, usize>) -> State {
        let annotations = self.annotations(&state.annotations);
        self.scopes.push();
        let body = self.statements(&state.stmts);
        let transition = match &state.transition {
            None => Transition::Direct(StateRef::Reject),
            Some(ast::Transition::Direct(target)) => Transition::Direct(self.state_ref(target, places)),
            Some(ast::Transition::Select(select)) => self.select(select, places),
        };
        self.scopes.pop();
        State { name: state.name.name.clone(), body, transition, annotations, span: state.name.span }
    }

    fn state_ref(&mut self, name: &ast::Ident, places: &HashMap<&str, usize>) -> StateRef {
        match (name.name.as_str(), places.get(name.name.as_str())) {
            ("accept", _) => StateRef::Accept,
            ("reject", _) => StateRef::Reject,
            (_, Some(index)) => StateRef::State(*index),
            (unknown, None) => {
                let known = places.keys().copied().chain(["accept", "reject"]);
                let near = nearest(unknown, known).map(str::to_owned);
                self.unknown(name.span, format!("there is no state `{unknown}` in this parser"), near);
                StateRef::Reject
            }
        }
    }

    fn select(&mut self, select: &'a ast::Select, places: &HashMap<&str, usize>) -> Transition {
        let mut exprs = Vec::new();
        let mut values = Vec::new();
        let mut shapes = Vec::new();
        for e in &select.exprs {
            let value = self.expr(e, None);
            shapes.push(flatten(value, &mut values));
        }
        for value in values {
            let stored = self.prog.types.stored(value.ty);
            let selectable = matches!(
                self.ty(stored),
                Type::Bit(_) | Type::Signed(_) | Type::Bool | Type::Enum(_) | Type::Error | Type::Any
            );
            if !selectable {
                let found = self.describe(&value);
                let message = format!("`select` goes by numbers, enums, errors and bools, found {found}");
                if stored == self.basic.int {
                    self.error_help(value.span, message, "give the number a width, as in `8w1`".into());
                } else {
                    self.error(value.span, message);
                }
                exprs.push(self.poison(value.span));
            } else {
                exprs.push(value);
            }
        }
        let types: Vec<_> = exprs.iter().map(|e| e.ty).collect();
        let mut cases = Vec::new();
        for case in &select.cases {
            let target = self.state_ref(&case.state, places);
            if let Some(keys) = self.select_keys(&case.keys, &shapes, &types, case.span) {
                cases.push(SelectCase { keys, target, span: case.span });
            }
        }
        Transition::Select { exprs, cases }
    }
}

/// How a selected expression falls apart into the values that are matched: `{a, b}` into its items.
pub enum Shape {
    Value,
    List(Vec<Shape>),
}

impl Shape {
    pub fn values(&self) -> usize {
        match self {
            Self::Value => 1,
            Self::List(items) => items.iter().map(Self::values).sum(),
        }
    }
}

fn flatten(e: Expr, values: &mut Vec<Expr>) -> Shape {
    match e.kind {
        ExprKind::Aggregate(items) => Shape::List(items.into_iter().map(|item| flatten(item, values)).collect()),
        _ => {
            values.push(e);
            Shape::Value
        }
    }
}

/// Whether `accept` or `reject` can be reached. A `select` without a case for everything may end in `reject`.
fn ends(states: &[State], start: usize) -> bool {
    let mut seen = vec![false; states.len()];
    let mut open = vec![StateRef::State(start)];
    while let Some(next) = open.pop() {
        let StateRef::State(index) = next else { return true };
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        match &states[index].transition {
            Transition::Direct(target) => open.push(*target),
            Transition::Select { cases, .. } => {
                if !cases.iter().any(|case| case.keys.iter().all(|key| matches!(key, hir::KeySet::Any))) {
                    return true;
                }
                open.extend(cases.iter().map(|case| case.target));
            }
        }
    }
    false
}
