//! Functions and actions.

use std::collections::HashMap;
use std::rc::Rc;

use hir::{Function, Type, VarKind};
use syntax::ast;
use syntax::source::Span;

use crate::checker::{Body, Checker, Place, UserFn};
use crate::scope::{FnRef, Symbol};
use crate::signature::{Sig, SigParam, Ty};

impl<'a> Checker<'a> {
    pub fn declare_function(&mut self, decl: &'a ast::Function) {
        let generic = !decl.prototype.type_params.is_empty();
        let sig = self.prototype(&decl.prototype, 0, &[]);
        self.annotations(&decl.prototype.annotations);
        self.functions.push(UserFn { decl, sig, instances: HashMap::new(), in_progress: !generic });
        let index = self.functions.len() - 1;
        self.declare(&decl.prototype.name, Symbol::Functions(vec![FnRef::User(index)]));
        if !generic {
            let outer = std::mem::replace(&mut self.body, Body::new(Place::Function, self.basic.void));
            let id = self.scoped(|checker| checker.function_body(decl));
            self.body = outer;
            self.functions[index].instances.insert(Vec::new(), id);
            self.functions[index].in_progress = false;
        }
    }

    /// Checks the function in the scopes that are open, type parameters standing for types.
    pub fn function_body(&mut self, decl: &'a ast::Function) -> hir::FunctionId {
        let ret = self.resolve_type(&decl.prototype.ret);
        let sig_params = self.sig_params(&decl.prototype.params);
        self.check_not_optional(&decl.prototype.params);
        let params = self.declare_params(&decl.prototype.params, &sig_params, VarKind::Param);
        self.body.ret = ret;
        let body = self.block(&decl.body);
        if ret != self.basic.void && ret != self.basic.any && !crate::statements::always_leaves(&body) {
            let name = &decl.prototype.name;
            self.error(name.span, format!("`{}` does not return a value on every way through it", name.name));
        }
        let span = decl.prototype.name.span;
        self.prog.functions.push(Function { name: decl.prototype.name.name.clone(), params, ret, body, span })
    }

    pub fn declare_action(&mut self, decl: &'a ast::Action) -> hir::ActionId {
        let outer = std::mem::replace(&mut self.body, Body::new(Place::Action, self.basic.void));
        self.scopes.push();
        let sig_params = self.sig_params(&decl.params);
        self.check_not_optional(&decl.params);
        self.check_directions_first(&decl.params);
        self.check_action_params(&decl.params, &sig_params);
        let params = self.declare_params(&decl.params, &sig_params, VarKind::Param);
        let body = self.block(&decl.body);
        self.scopes.pop();
        self.body = outer;
        let annotations = self.annotations(&decl.annotations);
        let name = decl.name.name.clone();
        let span = decl.name.span;
        self.action_sigs.push(Rc::new(Sig {
            name: name.clone(),
            type_params: Vec::new(),
            params: sig_params,
            ret: Ty::Known(self.basic.void),
            span,
        }));
        let id = self.prog.actions.push(hir::Action { name, params, body, annotations, span });
        self.declare(&decl.name, Symbol::Action(id));
        id
    }

    fn check_action_params(&mut self, params: &[ast::Param], sig: &[SigParam]) {
        for (param, sig) in params.iter().zip(sig) {
            let Ty::Known(ty) = sig.ty else { continue };
            if self.is_object(ty) || matches!(self.ty(ty), Type::Int | Type::String) {
                let name = self.name(ty);
                self.error(param.span, format!("a parameter of an action cannot be of type `{name}`"));
            }
        }
    }

    fn check_directions_first(&mut self, params: &[ast::Param]) {
        let Some(first) = params.iter().position(|p| p.direction.is_none()) else { return };
        if let Some(late) = params[first..].iter().find(|p| p.direction.is_some()) {
            let message =
                format!("the parameter `{}` has a direction, so it must stand before those without", late.name.name);
            let labels: [(Span, String); 1] = [(params[first].span, "this one has none".into())];
            self.error_at(late.span, message, &labels);
        }
    }
}
