//! Matching the arguments of a call with the parameters: by place or name, with defaults, conversions, directions and
//! inferred type arguments.

use std::rc::Rc;

use hir::{Direction, Expr, ExprKind, TypeId, VarKind};
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;
use crate::signature::{Bound, Sig, SigParam, Ty};
use crate::suggest::nearest;
use crate::types::count;

/// What arguments without direction may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A call: directionless arguments must be known at compile time.
    Call,
    /// A direct call of an action, or arguments given on the control plane's behalf.
    Action,
    /// A constructor: all arguments must be known at compile time.
    Construct,
}

/// The arguments in the order of the parameters.
#[derive(Debug)]
pub struct Matched {
    pub args: Vec<Option<Expr>>,
    pub type_args: Vec<TypeId>,
    pub ret: TypeId,
}

/// A call as it is written.
#[derive(Debug, Clone, Copy)]
pub struct CallSite<'a> {
    pub args: &'a [ast::Arg],
    pub span: Span,
    pub purpose: Purpose,
    /// The type that the place of the call asks for.
    pub expected: Option<TypeId>,
    /// Type parameters that nothing determines stay open: those of a package, which nothing at run time has.
    pub open_types: bool,
}

impl<'a> CallSite<'a> {
    pub fn new(args: &'a [ast::Arg], span: Span, purpose: Purpose) -> Self {
        Self { args, span, purpose, expected: None, open_types: false }
    }
}

impl<'a> Checker<'a> {
    /// The type arguments that stand in the source; `_` leaves one to be inferred.
    pub fn written_type_args(&mut self, type_args: &'a [ast::Type]) -> Bound {
        type_args
            .iter()
            .map(|arg| match arg.kind {
                ast::TypeKind::DontCare => None,
                _ => Some(self.resolve_type(arg)),
            })
            .collect()
    }

    /// The overload that takes arguments of this number and these names.
    pub fn overload(&mut self, name: &str, sigs: &[Rc<Sig>], site: CallSite<'a>) -> Option<usize> {
        if sigs.len() == 1 {
            return Some(0);
        }
        let names: Vec<&str> = site.args.iter().filter_map(|arg| Some(arg.name.as_ref()?.name.as_str())).collect();
        let fitting: Vec<usize> = (0..sigs.len()).filter(|i| sigs[*i].takes(site.args.len(), &names)).collect();
        let exact: Vec<usize> = fitting.iter().copied().filter(|i| sigs[*i].params.len() == site.args.len()).collect();
        match (exact.as_slice(), fitting.as_slice()) {
            ([one], _) | (_, [one]) => Some(*one),
            (_, []) => {
                let labels: Vec<(Span, String)> = sigs
                    .iter()
                    .map(|sig| (sig.span, format!("this one takes {}", count(sig.params.len(), "argument"))))
                    .collect();
                let given = count(site.args.len(), "argument");
                let with_names = if names.is_empty() { "" } else { " of these names" };
                self.error_at(site.span, format!("no `{name}` takes {given}{with_names}"), &labels);
                self.check_unmatched(site.args);
                None
            }
            _ => {
                let labels: Vec<(Span, String)> =
                    fitting.iter().map(|i| (sigs[*i].span, "this one could be meant".into())).collect();
                self.error_at(site.span, format!("the call of `{name}` fits several declarations"), &labels);
                None
            }
        }
    }

    /// Reports what is wrong inside arguments that no parameter takes.
    fn check_unmatched(&mut self, args: &'a [ast::Arg]) {
        for arg in args {
            if arg.value.kind != ast::ExprKind::DontCare {
                self.entity(&arg.value, None);
            }
        }
    }

    /// Checks a call of `sig`. `bound` holds the type arguments known before; those of the object come first.
    pub fn match_call(&mut self, sig: &Sig, mut bound: Bound, site: CallSite<'a>) -> Option<Matched> {
        bound.resize(sig.type_params.len(), None);
        let given = bound.clone();
        let Some(placed) = self.place_arguments(sig, site.args, site.span) else {
            self.check_unmatched(site.args);
            return None;
        };
        let mut values: Vec<Option<Expr>> = Vec::new();
        for (param, arg) in sig.params.iter().zip(&placed) {
            values.push(arg.map(|arg| self.argument(param, arg, &mut bound)));
        }
        if let Some(expected) = site.expected {
            self.learn(&sig.ret, expected, &mut bound);
        }
        let failed = values.iter().flatten().any(|v| self.is_poison(v) && !is_left_out(&placed, v));
        // What is written stands, whatever the arguments would say.
        for (bound, given) in bound.iter_mut().zip(given) {
            *bound = given.or(*bound);
        }
        if site.open_types {
            bound.iter_mut().for_each(|ty| {
                ty.get_or_insert(self.basic.any);
            });
        }
        if let Some(at) = bound.iter().position(Option::is_none) {
            if !failed {
                let message =
                    format!("the type argument `{}` of `{}` is not known here", sig.type_params[at], sig.name);
                self.error_help(site.span, message, format!("write it: `{}<...>(...)`", sig.name));
            }
            return None;
        }
        let mut args = Vec::new();
        for ((param, arg), value) in sig.params.iter().zip(placed).zip(values) {
            let ty = self.substitute(&param.ty, &bound)?;
            let Some((arg, value)) = arg.zip(value) else {
                args.push(param.default.clone());
                continue;
            };
            args.push(self.fit_argument(param, ty, arg, value, site.purpose));
        }
        let ret = self.substitute(&sig.ret, &bound)?;
        let type_args = bound.into_iter().flatten().collect();
        Some(Matched { args, type_args, ret })
    }

    /// Which argument goes to which parameter.
    pub fn place_arguments(
        &mut self,
        sig: &Sig,
        args: &'a [ast::Arg],
        span: Span,
    ) -> Option<Vec<Option<&'a ast::Arg>>> {
        let declared = [(sig.span, format!("`{}` is declared here", sig.name))];
        let mut placed: Vec<Option<&'a ast::Arg>> = vec![None; sig.params.len()];
        let named = args.iter().filter(|arg| arg.name.is_some()).count();
        if named > 0 && named < args.len() {
            self.error(span, "either all arguments have names or none");
            return None;
        }
        let wrong_count = |least: usize, most: usize| {
            let takes = match (least, most) {
                (least, most) if least == most => count(most, "argument"),
                (least, most) => format!("{least} to {}", count(most, "argument")),
            };
            format!("`{}` takes {takes}, {} given", sig.name, args.len())
        };
        let least = sig.params.iter().filter(|p| p.default.is_none() && !p.optional).count();
        if args.len() > sig.params.len() || (named == 0 && args.len() < least) {
            self.error_at(span, wrong_count(least, sig.params.len()), &declared);
            return None;
        }
        for (i, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                None => i,
                Some(name) => match sig.params.iter().position(|p| p.name == name.name) {
                    Some(at) => at,
                    None => {
                        let near = nearest(&name.name, sig.params.iter().map(|p| p.name.as_str())).map(str::to_owned);
                        let message = format!("`{}` has no parameter `{}`", sig.name, name.name);
                        self.unknown(name.span, message, near);
                        return None;
                    }
                },
            };
            if placed[at].is_some() {
                let message = format!("the parameter `{}` is given two arguments", sig.params[at].name);
                self.error(arg.span, message);
                return None;
            }
            placed[at] = Some(arg);
        }
        let missing =
            sig.params.iter().zip(&placed).find(|(p, arg)| arg.is_none() && p.default.is_none() && !p.optional);
        if let Some((param, _)) = missing {
            let message = format!("no argument for the parameter `{}` of `{}`", param.name, sig.name);
            self.error_at(span, message, &declared);
            return None;
        }
        Some(placed)
    }

    fn argument(&mut self, param: &SigParam, arg: &'a ast::Arg, bound: &mut Bound) -> Expr {
        if arg.value.kind == ast::ExprKind::DontCare {
            return self.make(self.basic.any, ExprKind::DontCare, arg.span);
        }
        let expected = self.substitute(&param.ty, bound);
        let value = self.expr(&arg.value, expected);
        if !matches!(param.ty, Ty::Known(_)) {
            self.learn(&param.ty, value.ty, bound);
        }
        value
    }

    fn fit_argument(
        &mut self,
        param: &SigParam,
        ty: TypeId,
        arg: &'a ast::Arg,
        value: Expr,
        purpose: Purpose,
    ) -> Option<Expr> {
        if arg.value.kind == ast::ExprKind::DontCare {
            return match param.direction {
                Some(Direction::Out) => Some(self.make(ty, ExprKind::DontCare, arg.span)),
                _ if param.optional || param.default.is_some() => param.default.clone(),
                _ => {
                    let message = format!("`_` cannot stand for `{}`, which is not an `out` parameter", param.name);
                    self.error(arg.span, message);
                    Some(self.poison(arg.span))
                }
            };
        }
        let span = value.span;
        match param.direction {
            Some(direction @ (Direction::Out | Direction::InOut)) => {
                let word = if direction == Direction::Out { "out" } else { "inout" };
                if self.is_poison(&value)
                    || !self
                        .check_writable(&value, &format!("the `{word}` parameter `{}` needs a variable", param.name))
                {
                    return Some(self.poison(span));
                }
                if value.ty != ty && ty != self.basic.any {
                    let (want, have) = (self.name(ty), self.describe(&value));
                    let message = format!("the `{word}` parameter `{}` is of type `{want}`, found {have}", param.name);
                    self.error(span, message);
                    return Some(self.poison(span));
                }
                Some(value)
            }
            direction => {
                let value = self.coerce(value, ty);
                if self.is_poison(&value) {
                    return Some(value);
                }
                let fixed = purpose == Purpose::Construct || (purpose == Purpose::Call && direction.is_none());
                if fixed && !self.known_at_compile_time(&value) {
                    let message =
                        format!("the argument for `{}` must be known when the program is compiled", param.name);
                    self.error(span, message);
                    return Some(self.poison(span));
                }
                if purpose == Purpose::Call && !matches!(param.ty, Ty::Known(_)) && self.has_int(value.ty) {
                    self.error_help(
                        span,
                        format!("the width of the number for `{}` is unknown", param.name),
                        "give it one, as in `8w1` or `(bit<8>) 1`".into(),
                    );
                    return Some(self.poison(span));
                }
                if direction.is_some() && value.ty == self.basic.string {
                    let message = format!("a string cannot be given to `{}`, which has a direction", param.name);
                    self.error(span, message);
                    return Some(self.poison(span));
                }
                Some(value)
            }
        }
    }

    /// Whether every instance of the program knows the value: it is made of constants, constructor parameters and
    /// instances.
    pub fn known_at_compile_time(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(id) => {
                let kind = &self.prog.vars[*id].kind;
                self.readonly.contains(id)
                    || matches!(kind, VarKind::CtorParam | VarKind::Instance(_) | VarKind::Param(None))
            }
            ExprKind::New(_) => true,
            ExprKind::Field(base, _)
            | ExprKind::TupleField(base, _)
            | ExprKind::Slice { base, .. }
            | ExprKind::Unary(_, base)
            | ExprKind::Cast(base) => self.known_at_compile_time(base),
            ExprKind::Binary(_, l, r) => self.known_at_compile_time(l) && self.known_at_compile_time(r),
            ExprKind::Ternary(c, a, b) => [c, a, b].into_iter().all(|e| self.known_at_compile_time(e)),
            ExprKind::Aggregate(items) => items.iter().all(|item| self.known_at_compile_time(item)),
            _ => fold::is_const(e),
        }
    }
}

/// Whether the poisoned value is only the stand-in of a `_`.
fn is_left_out(placed: &[Option<&ast::Arg>], value: &Expr) -> bool {
    placed.iter().flatten().any(|arg| arg.span == value.span && arg.value.kind == ast::ExprKind::DontCare)
}
