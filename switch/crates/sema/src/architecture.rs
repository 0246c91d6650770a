//! What an architecture declares: externs, packages, and types of parsers and controls without a body.

use std::rc::Rc;

use hir::{ExternDecl, ExternFn, Method, PackageDecl};
use syntax::ast;

use crate::checker::Checker;
use crate::scope::{FnRef, Symbol};
use crate::signature::{ArchBlock, ExternInfo, Sig, Ty};

impl<'a> Checker<'a> {
    pub fn declare_extern(&mut self, decl: &'a ast::ExternObject) {
        let outer: Vec<String> = decl.type_params.iter().map(|p| p.name.clone()).collect();
        let annotations = self.annotations(&decl.annotations);
        let id = self.prog.types.externs.push(ExternDecl {
            name: decl.name.name.clone(),
            constructors: Vec::new(),
            methods: Vec::new(),
            annotations,
            span: decl.name.span,
        });
        // Known before its methods are resolved: they may name the type.
        self.externs.push(ExternInfo { type_params: outer.len(), ..ExternInfo::default() });
        self.declare(&decl.name, Symbol::Extern(id));
        let info = self.with_type_params(&decl.type_params, 0, |checker| {
            let constructors = decl.constructors.iter().map(|constructor| {
                Rc::new(Sig {
                    name: decl.name.name.clone(),
                    type_params: outer.clone(),
                    params: checker.sig_params(&constructor.params),
                    ret: Ty::Known(checker.basic.void),
                    span: constructor.span,
                })
            });
            let constructors: Vec<Rc<Sig>> = constructors.collect();
            let methods: Vec<Rc<Sig>> =
                decl.methods.iter().map(|m| checker.prototype(&m.prototype, outer.len(), &outer)).collect();
            for (i, sig) in constructors.iter().enumerate() {
                checker.check_distinct_sig(sig, &constructors[..i]);
            }
            for method in methods.iter().filter(|method| method.name == decl.name.name) {
                checker.error_help(
                    method.span,
                    format!("`{}` is the constructor, which returns nothing", method.name),
                    format!("write `{}(...);` without a type", method.name),
                );
            }
            for (i, sig) in methods.iter().enumerate() {
                let same: Vec<Rc<Sig>> = methods[..i].iter().filter(|m| m.name == sig.name).cloned().collect();
                checker.check_distinct_sig(sig, &same);
            }
            ExternInfo { type_params: outer.len(), constructors, methods }
        });
        let mut methods = Vec::new();
        for (method, sig) in decl.methods.iter().zip(&info.methods) {
            methods.push(Method {
                name: sig.name.clone(),
                params: sig.extern_params(),
                is_abstract: method.is_abstract,
                annotations: self.annotations(&method.prototype.annotations),
            });
        }
        self.prog.types.externs[id].constructors = info.constructors.iter().map(|sig| sig.extern_params()).collect();
        self.prog.types.externs[id].methods = methods;
        self.externs[hir::Handle::index(id)] = info;
    }

    pub fn declare_extern_function(&mut self, decl: &'a ast::Prototype) {
        let sig = self.prototype(decl, 0, &[]);
        self.check_overload(&decl.name, &sig);
        let annotations = self.annotations(&decl.annotations);
        let params = sig.extern_params();
        let id = self.prog.extern_fns.push(ExternFn { name: sig.name.clone(), params, annotations, span: sig.span });
        self.extern_sigs.push(sig);
        self.declare(&decl.name, Symbol::Functions(vec![FnRef::Extern(id)]));
    }

    pub fn declare_package(&mut self, decl: &'a ast::PackageDecl) {
        let params = self.with_type_params(&decl.type_params, 0, |checker| checker.sig_params(&decl.params));
        let sig = Sig {
            name: decl.name.name.clone(),
            type_params: decl.type_params.iter().map(|p| p.name.clone()).collect(),
            params,
            ret: Ty::Known(self.basic.void),
            span: decl.name.span,
        };
        let annotations = self.annotations(&decl.annotations);
        let id = self.prog.types.packages.push(PackageDecl {
            name: sig.name.clone(),
            params: sig.params.iter().map(|p| p.name.clone()).collect(),
            annotations,
            span: sig.span,
        });
        self.package_sigs.push(Rc::new(sig));
        self.declare(&decl.name, Symbol::Package(id));
    }

    /// A parser or control type without a body.
    pub fn declare_arch(
        &mut self,
        is_parser: bool,
        name: &ast::Ident,
        type_params: &'a [ast::Ident],
        params: &'a [ast::Param],
    ) {
        let sig_params = self.with_type_params(type_params, 0, |checker| checker.sig_params(params));
        let sig = Sig {
            name: name.name.clone(),
            type_params: type_params.iter().map(|p| p.name.clone()).collect(),
            params: sig_params,
            ret: Ty::Known(self.basic.void),
            span: name.span,
        };
        let generic = !sig.type_params.is_empty();
        self.arch_blocks.push(ArchBlock { is_parser, sig: Rc::new(sig) });
        let arch = self.arch_blocks.len() - 1;
        if generic {
            self.declare(name, Symbol::Arch(arch));
        } else {
            let ty = self.arch_type(arch, Vec::new());
            self.declare(name, Symbol::Type(ty));
        }
    }

    /// Reports a function that no call could tell from an earlier one: overloads differ in the number or the names of
    /// their parameters.
    pub fn check_overload(&mut self, name: &ast::Ident, sig: &Sig) {
        let Some(Symbol::Functions(before)) = self.scopes.local(&name.name).map(|d| d.symbol.clone()) else { return };
        let sigs: Vec<Rc<Sig>> = before.iter().map(|function| self.sig_of_function(*function)).collect();
        self.check_distinct_sig(sig, &sigs);
    }

    pub fn check_distinct_sig(&mut self, sig: &Sig, before: &[Rc<Sig>]) {
        let names = |sig: &Sig| sig.params.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        if let Some(same) = before.iter().find(|before| names(before) == names(sig)) {
            let labels = [(same.span, "first declared here".to_owned())];
            let message = format!("`{}` is declared twice with parameters of the same names", sig.name);
            self.error_at(sig.span, message, &labels);
        }
    }
}
