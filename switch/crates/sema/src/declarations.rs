//! Declarations outside parsers and controls, and the parts that all declarations share.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hir::{Direction, ExternDecl, ExternFn, Function, Method, PackageDecl, Type, TypeId, Var, VarId, VarKind};
use syntax::ast;
use syntax::source::Span;

use crate::arguments::{CallSite, Purpose};
use crate::checker::{Body, Checker, Place, UserFn};
use crate::fold;
use crate::scope::{FnRef, Symbol};
use crate::signature::{ArchBlock, ExternInfo, Sig, SigParam, Ty};

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

    fn prototype(&mut self, decl: &'a ast::Prototype, first: usize, outer: &[String]) -> Rc<Sig> {
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

    fn declare_extern(&mut self, decl: &'a ast::ExternObject) {
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

    fn declare_extern_function(&mut self, decl: &'a ast::Prototype) {
        let sig = self.prototype(decl, 0, &[]);
        self.check_overload(&decl.name, &sig);
        let annotations = self.annotations(&decl.annotations);
        let params = sig.extern_params();
        let id = self.prog.extern_fns.push(ExternFn { name: sig.name.clone(), params, annotations, span: sig.span });
        self.extern_sigs.push(sig);
        self.declare(&decl.name, Symbol::Functions(vec![FnRef::Extern(id)]));
    }

    fn declare_package(&mut self, decl: &'a ast::PackageDecl) {
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

    fn declare_function(&mut self, decl: &'a ast::Function) {
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

    /// Reports a function that no call could tell from an earlier one: overloads differ in the number or the names of
    /// their parameters.
    fn check_overload(&mut self, name: &ast::Ident, sig: &Sig) {
        let Some(Symbol::Functions(before)) = self.scopes.local(&name.name).map(|d| d.symbol.clone()) else { return };
        let sigs: Vec<Rc<Sig>> = before.iter().map(|function| self.sig_of_function(*function)).collect();
        self.check_distinct_sig(sig, &sigs);
    }

    fn check_distinct_sig(&mut self, sig: &Sig, before: &[Rc<Sig>]) {
        let names = |sig: &Sig| sig.params.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        if let Some(same) = before.iter().find(|before| names(before) == names(sig)) {
            let labels = [(same.span, "first declared here".to_owned())];
            let message = format!("`{}` is declared twice with parameters of the same names", sig.name);
            self.error_at(sig.span, message, &labels);
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

    pub fn check_not_optional(&mut self, params: &[ast::Param]) {
        for param in params.iter().filter(|param| Self::is_optional(&param.annotations)) {
            self.error_help(
                param.span,
                "this parameter cannot be `@optional`",
                "give it a default value: `name = value`".into(),
            );
        }
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

pub fn direction_of(direction: ast::Direction) -> Direction {
    match direction {
        ast::Direction::In => Direction::In,
        ast::Direction::Out => Direction::Out,
        ast::Direction::InOut => Direction::InOut,
    }
}
