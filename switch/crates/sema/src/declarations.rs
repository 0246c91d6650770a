//! Declarations outside parsers and controls, and the parts that all declarations share.

use std::collections::HashSet;
use std::rc::Rc;

use hir::{Direction, Type, TypeId, Var, VarId, VarKind};
use syntax::ast;

use crate::arguments::{CallSite, Purpose};
use crate::checker::{Checker, Place};
use crate::fold;
use crate::scope::Symbol;
use crate::signature::{Sig, SigParam, Ty};

impl<'a> Checker<'a> {
    pub fn program(&mut self, program: &'a ast::Program) {
        for decl in &program.decls {
            self.top_level(decl);
        }
    }

    fn top_level(&mut self, decl: &'a ast::Decl) {
        match decl {
            ast::Decl::Const(decl) => {
                self.constant(decl);
            }
            ast::Decl::Error(list) => {
                let before = std::mem::take(&mut self.prog.errors);
                self.prog.errors = self.members(before, list, "error");
            }
            ast::Decl::MatchKind(list) => {
                let before = std::mem::take(&mut self.prog.match_kinds);
                self.prog.match_kinds = self.members(before, list, "match_kind");
            }
            ast::Decl::Typedef(decl) => self.declare_typedef(decl),
            ast::Decl::Struct(decl) => self.declare_struct(decl),
            ast::Decl::Enum(decl) => self.declare_enum(decl),
            ast::Decl::ExternObject(decl) => self.declare_extern(decl),
            ast::Decl::ExternFunction(decl) => self.declare_extern_function(decl),
            ast::Decl::Parser(decl) => self.declare_parser(decl),
            ast::Decl::Control(decl) => self.declare_control(decl),
            ast::Decl::Package(decl) => self.declare_package(decl),
            ast::Decl::Instance(decl) => self.top_instance(decl),
            ast::Decl::Function(decl) => self.declare_function(decl),
            ast::Decl::Action(decl) => {
                self.declare_action(decl);
            }
            ast::Decl::Var(_) | ast::Decl::ValueSet(_) | ast::Decl::Table(_) => {
                self.error(decl.span(), "this cannot be declared outside of parsers and controls");
            }
        }
    }

    fn members(&mut self, mut all: Vec<String>, list: &ast::MemberList, what: &str) -> Vec<String> {
        let mut seen: HashSet<String> = all.iter().cloned().collect();
        for member in &list.members {
            if seen.insert(member.name.clone()) {
                all.push(member.name.clone());
            } else {
                self.error(member.span, format!("the {what} `{}` is declared twice", member.name));
            }
        }
        all
    }

    /// `const T name = value;`. The value is folded into its uses, unless only an instance knows it: then the
    /// constant is a variable, and its initialiser is returned.
    pub fn constant(&mut self, decl: &'a ast::ConstDecl) -> Option<(VarId, hir::Expr)> {
        let annotations = self.annotations(&decl.annotations);
        let ty = self.resolve_type(&decl.ty);
        if self.is_object(ty) {
            let name = self.name(ty);
            self.error(decl.ty.span, format!("there are no constants of type `{name}`"));
            self.declare(&decl.name, Symbol::Poison);
            return None;
        }
        let value = self.expr_of(&decl.value, ty);
        if self.is_poison(&value) {
            self.declare(&decl.name, Symbol::Poison);
            return None;
        }
        if fold::is_const(&value) {
            self.declare(&decl.name, Symbol::Const(Rc::new(value)));
            return None;
        }
        if !self.known_at_compile_time(&value) {
            self.error(
                decl.value.span,
                format!("the value of the constant `{}` is not known at compile time", decl.name.name),
            );
            self.declare(&decl.name, Symbol::Poison);
            return None;
        }
        let var = self.new_var(Var {
            name: decl.name.name.clone(),
            ty,
            kind: VarKind::Local,
            default: None,
            annotations,
            span: decl.name.span,
        });
        self.readonly.insert(var);
        self.declare(&decl.name, Symbol::Var(var));
        Some((var, value))
    }

    /// `T name = init;` in a body.
    pub fn variable(&mut self, decl: &'a ast::VarDecl) -> (VarId, Option<hir::Expr>) {
        let mut ty = self.resolve_type(&decl.ty);
        let init = decl.init.as_ref().map(|init| self.expr_of(init, ty));
        if !self.storable(ty) {
            let name = self.name(ty);
            let message = format!("there are no variables of type `{name}`");
            match self.ty(ty) {
                Type::Int => self.error_help(
                    decl.ty.span,
                    message,
                    "it exists at compile time only: declare a `const`, or write `bit<W>`".into(),
                ),
                Type::Extern(..) | Type::Parser(_) | Type::Control(_) => self.error_help(
                    decl.ty.span,
                    message,
                    format!("to make an instance write `{name}(...) {};`", decl.name.name),
                ),
                _ => self.error(decl.ty.span, message),
            }
            ty = self.basic.any;
        }
        let annotations = self.annotations(&decl.annotations);
        let var = self.new_var(Var {
            name: decl.name.name.clone(),
            ty,
            kind: VarKind::Local,
            default: None,
            annotations,
            span: decl.name.span,
        });
        self.declare(&decl.name, Symbol::Var(var));
        (var, init)
    }

    /// Whether a variable can be of the type.
    pub fn storable(&self, ty: TypeId) -> bool {
        !self.is_object(ty)
            && !self.has_int(ty)
            && !matches!(self.ty(ty), Type::String | Type::MatchKind | Type::TableResult(_))
            && !matches!(self.ty(ty), Type::Extern(..))
    }

    /// `T(args) name;` in the body that is being checked, or at the top level.
    pub fn instance(&mut self, decl: &'a ast::Instance) -> Option<VarId> {
        let made = self.instance_of(decl);
        let Some((ty, kind)) = made else {
            self.declare(&decl.name, Symbol::Poison);
            return None;
        };
        let annotations = self.annotations(&decl.annotations);
        let kind = VarKind::Instance(kind);
        let span = decl.name.span;
        let var = self.new_var(Var { name: decl.name.name.clone(), ty, kind, default: None, annotations, span });
        self.declare(&decl.name, Symbol::Var(var));
        Some(var)
    }

    fn instance_of(&mut self, decl: &'a ast::Instance) -> Option<(TypeId, hir::InstanceDecl)> {
        let (symbol, name, type_args) = self.constructed(&decl.ty)?;
        let site = CallSite::new(&decl.args, decl.span, Purpose::Construct);
        let (ty, instance) = self.construct(&symbol, name, type_args, site)?;
        let place = self.body.place;
        let misplaced = match self.ty(ty) {
            Type::Package(_) => (place != Place::Top).then_some("a package can be instantiated at the top level only"),
            Type::Parser(_) if place != Place::Parser => {
                Some("a parser can be instantiated only in a parser, or as an argument of a package")
            }
            Type::Control(_) if place != Place::Control => {
                Some("a control can be instantiated only in a control, or as an argument of a package")
            }
            _ if matches!(place, Place::Action | Place::Function) => {
                Some("instances cannot be declared in an action or function")
            }
            _ => None,
        };
        if let Some(message) = misplaced {
            self.error(decl.span, message);
            return None;
        }
        if decl.init.is_some() {
            self.error(decl.span, "only an extern type with abstract methods takes a body, and this target has none");
            return None;
        }
        Some((ty, instance))
    }

    fn top_instance(&mut self, decl: &'a ast::Instance) {
        let Some(var) = self.instance(decl) else { return };
        self.prog.instances.push(var);
        if decl.name.name != "main" {
            return;
        }
        if matches!(self.ty(self.prog.vars[var].ty), Type::Package(_)) {
            self.prog.main = Some(var);
            self.prog.main_annotations = self.prog.vars[var].annotations.clone();
        } else {
            self.error(decl.span, "`main` must be an instance of a package");
        }
    }

    /// Opens a scope in which the names stand for type parameters, the first of them the `first`-th.
    pub fn with_type_params<T>(&mut self, names: &[ast::Ident], first: usize, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.check_distinct(names.iter(), "type parameter");
        self.scoped(|checker| {
            for (i, name) in names.iter().enumerate() {
                checker.redeclare(name, Symbol::TypeParam(first + i));
            }
            inner(checker)
        })
    }

    pub fn sig_params(&mut self, params: &'a [ast::Param]) -> Vec<SigParam> {
        self.check_distinct(params.iter().map(|p| &p.name), "parameter");
        params.iter().map(|param| self.sig_param(param)).collect()
    }

    fn sig_param(&mut self, param: &'a ast::Param) -> SigParam {
        let mut ty = self.resolve_ty(&param.ty);
        let direction = param.direction.map(direction_of);
        if let Ty::Known(id) = ty {
            let problem = match self.ty(id) {
                Type::Void => Some("a parameter cannot be of type `void`"),
                _ if self.is_object(id) && direction.is_some() => {
                    Some("a parameter of an extern, parser or control type has no direction")
                }
                Type::Parser(_) | Type::Control(_) => Some(
                    "a parameter cannot be of the type of one parser or control; a type of them without a body can stand",
                ),
                Type::Int | Type::String if direction.is_some() => {
                    Some("values of this type exist at compile time only, so the parameter has no direction")
                }
                _ => None,
            };
            if let Some(problem) = problem {
                self.error(param.span, problem);
                ty = Ty::Known(self.basic.any);
            }
        }
        let default = param.default.as_ref().map(|default| {
            if matches!(direction, Some(Direction::Out | Direction::InOut)) {
                self.error(default.span, "an `out` or `inout` parameter has no default value");
            }
            let known = match ty {
                Ty::Known(id) => id,
                _ => self.basic.any,
            };
            let value = self.expr_of(default, known);
            if !self.is_poison(&value) && !self.known_at_compile_time(&value) {
                self.error(default.span, "the default value of a parameter must be a constant");
            }
            value
        });
        SigParam {
            name: param.name.name.clone(),
            direction,
            ty,
            default,
            optional: Self::is_optional(&param.annotations),
        }
    }

    pub fn prototype(&mut self, decl: &'a ast::Prototype, first: usize, outer: &[String]) -> Rc<Sig> {
        self.with_type_params(&decl.type_params, first, |checker| {
            let ret = checker.resolve_ty(&decl.ret);
            let params = checker.sig_params(&decl.params);
            let own = decl.type_params.iter().map(|p| p.name.clone());
            Rc::new(Sig {
                name: decl.name.name.clone(),
                type_params: outer.iter().cloned().chain(own).collect(),
                params,
                ret,
                span: decl.name.span,
            })
        })
    }

    /// Makes variables of the parameters and declares them.
    pub fn declare_params(
        &mut self,
        params: &'a [ast::Param],
        sig: &[SigParam],
        kind: impl Fn(Option<Direction>) -> VarKind,
    ) -> Vec<VarId> {
        let mut vars = Vec::new();
        for (param, sig) in params.iter().zip(sig) {
            let ty = match sig.ty {
                Ty::Known(id) => id,
                _ => self.basic.any,
            };
            let annotations = self.annotations(&param.annotations);
            let kind = kind(sig.direction);
            let block = matches!(self.ty(ty), Type::ArchBlock(_) | Type::Package(_));
            if block && kind != VarKind::CtorParam {
                let name = self.name(ty);
                self.error(param.span, format!("`{name}` can be the type of a constructor parameter only"));
            }
            let var = self.new_var(Var {
                name: sig.name.clone(),
                ty,
                kind,
                default: sig.default.clone(),
                annotations,
                span: param.name.span,
            });
            self.redeclare(&param.name, Symbol::Var(var));
            vars.push(var);
        }
        vars
    }

    pub fn check_not_optional(&mut self, params: &[ast::Param]) {
        for param in params.iter().filter(|param| Self::is_optional(&param.annotations)) {
            self.error_help(
                param.span,
                "this parameter cannot be `@optional`",
                "give it a default value: `name = value`".into(),
            );
        }
    }
}

pub fn direction_of(direction: ast::Direction) -> Direction {
    match direction {
        ast::Direction::In => Direction::In,
        ast::Direction::Out => Direction::Out,
        ast::Direction::InOut => Direction::InOut,
    }
}
