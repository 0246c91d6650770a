//! Controls.

use hir::{Control, VarKind};
use syntax::ast;

use crate::checker::{Body, Checker, Place};
use crate::scope::Symbol;

impl<'a> Checker<'a> {
    pub fn declare_control(&mut self, decl: &'a ast::ControlDecl) {
        let Some(body) = &decl.body else {
            self.declare_arch(false, &decl.name, &decl.type_params, &decl.params);
            return;
        };
        if let Some(param) = decl.type_params.first() {
            self.error(param.span, "a control with a body has no type parameters");
            self.declare(&decl.name, Symbol::Poison);
            return;
        }
        let outer = std::mem::replace(&mut self.body, Body::new(Place::Control, self.basic.void));
        self.scopes.push();
        let (apply_sig, ctor) = self.block_sigs(&decl.name, &decl.params, &decl.ctor_params);
        let params = self.declare_params(&decl.params, &apply_sig.params, VarKind::Param);
        let ctor_params = self.declare_params(&decl.ctor_params, &ctor.params, |_| VarKind::CtorParam);
        self.scopes.push();
        let mut actions = Vec::new();
        let mut tables = Vec::new();
        for local in &body.locals {
            match local {
                ast::Decl::Action(action) => actions.push(self.declare_action(action)),
                ast::Decl::Table(table) => tables.push(self.declare_table(table)),
                other => self.block_local(other),
            }
        }
        let apply = self.block(&body.apply);
        self.scopes.pop();
        self.scopes.pop();
        let locals = std::mem::replace(&mut self.body, outer).locals;
        let annotations = self.annotations(&decl.annotations);
        let id = self.prog.controls.push(Control {
            name: decl.name.name.clone(),
            params,
            ctor_params,
            locals,
            actions,
            tables,
            apply,
            annotations,
            span: decl.name.span,
        });
        self.control_sigs.push((apply_sig, ctor));
        self.declare(&decl.name, Symbol::Control(id));
    }
}
