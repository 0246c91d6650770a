//! Calls: functions, actions, methods, constructors, and `apply`.

use hir::{Call, Callee, Expr, ExprKind, Handle, Type, TypeId, Var, VarKind};
use syntax::ast;
use syntax::source::Span;

use crate::arguments::{CallSite, Purpose};
use crate::checker::{Body, Checker, Place};
use crate::expr::Entity;
use crate::scope::{FnRef, Symbol};
use crate::signature::{Bound, Ty};
use crate::suggest::nearest;
use crate::types::count;

impl<'a> Checker<'a> {
    pub fn call(
        &mut self,
        callee: &'a ast::Expr,
        type_args: &'a [ast::Type],
        args: &'a [ast::Arg],
        span: Span,
        expected: Option<TypeId>,
    ) -> Expr {
        let site = CallSite { expected, ..CallSite::new(args, span, Purpose::Call) };
        let called = match &callee.kind {
            ast::ExprKind::Member { base, member } => self.call_member(base, member, type_args, site),
            _ => self.call_entity(callee, type_args, site),
        };
        called.unwrap_or_else(|| self.poison(span))
    }

    fn no_type_args(&mut self, type_args: &'a [ast::Type]) {
        if let Some(arg) = type_args.first() {
            self.error(arg.span, "what is called here has no type parameters");
        }
    }

    fn call_node(&self, ty: TypeId, callee: Callee, args: Vec<Option<Expr>>, span: Span) -> Expr {
        self.make(ty, ExprKind::Call(Box::new(Call { callee, args })), span)
    }

    fn call_entity(&mut self, callee: &'a ast::Expr, type_args: &'a [ast::Type], site: CallSite<'a>) -> Option<Expr> {
        // A constructor call names a type: what it makes is an instance without a name.
        if let ast::ExprKind::Path(path) = &callee.kind
            && let Some(declared) = self.find(path)
        {
            let symbol = declared.symbol.clone();
            if matches!(
                symbol,
                Symbol::Type(_)
                    | Symbol::Extern(_)
                    | Symbol::Arch(_)
                    | Symbol::Package(_)
                    | Symbol::Parser(_)
                    | Symbol::Control(_)
            ) {
                let (ty, decl) = self.construct(&symbol, &path.name, type_args, site)?;
                return Some(self.make(ty, ExprKind::New(decl), site.span));
            }
        }
        match self.entity(callee, None) {
            Entity::Symbol(Symbol::Functions(functions)) => {
                let name = match &callee.kind {
                    ast::ExprKind::Path(path) => path.name.name.as_str(),
                    _ => "the function",
                };
                self.call_function(name, &functions, type_args, site)
            }
            Entity::Symbol(Symbol::Action(action)) => {
                if matches!(self.body.place, Place::Parser | Place::Function) {
                    self.error(site.span, "an action can be called only in a control or in another action");
                }
                self.no_type_args(type_args);
                let sig = self.sig_of_action(action);
                let matched = self.match_call(&sig, Bound::new(), CallSite { purpose: Purpose::Action, ..site })?;
                Some(self.call_node(self.basic.void, Callee::Action(action), matched.args, site.span))
            }
            Entity::Symbol(Symbol::Poison) => None,
            Entity::Symbol(symbol) => {
                let message = format!("{} cannot be called", symbol.what());
                if matches!(symbol, Symbol::Table(_)) {
                    self.error_help(callee.span, message, "write `.apply()`".into());
                } else {
                    self.error(callee.span, message);
                }
                None
            }
            Entity::Type(ty) => {
                if ty != self.basic.any {
                    let name = self.name(ty);
                    self.error(callee.span, format!("`{name}` has no constructor"));
                }
                None
            }
            Entity::Value(value) => {
                if !self.is_poison(&value) {
                    let found = self.describe(&value);
                    let help = "to run a parser or control, write `.apply(...)`";
                    match self.ty(value.ty) {
                        Type::Parser(_) | Type::Control(_) | Type::ArchBlock(_) => {
                            self.error_help(callee.span, format!("{found} cannot be called"), help.into());
                        }
                        _ => self.error(callee.span, format!("{found} cannot be called")),
                    }
                }
                None
            }
        }
    }

    fn call_function(
        &mut self,
        name: &str,
        functions: &[FnRef],
        type_args: &'a [ast::Type],
        site: CallSite<'a>,
    ) -> Option<Expr> {
        let sigs: Vec<_> = functions.iter().map(|function| self.sig_of_function(*function)).collect();
        let chosen = self.overload(name, &sigs, site)?;
        let bound = self.type_args_for(name, sigs[chosen].type_params.len(), 0, type_args, site.span)?;
        let matched = self.match_call(&sigs[chosen], bound, site)?;
        if name == "verify" && matches!(functions[chosen], FnRef::Extern(_)) && self.body.place != Place::Parser {
            self.error(site.span, "`verify` can be called only in a parser");
        }
        let callee = match functions[chosen] {
            FnRef::Extern(function) => Callee::ExternFn { function, type_args: matched.type_args },
            FnRef::User(i) => Callee::Function(self.instantiate_function(i, matched.type_args, site.span)?),
        };
        let node = self.call_node(matched.ret, callee, matched.args, site.span);
        Some(self.fold_assertion(name, node))
    }

    pub fn sig_of_function(&self, function: FnRef) -> std::rc::Rc<crate::signature::Sig> {
        match function {
            FnRef::Extern(id) => self.extern_sigs[id.index()].clone(),
            FnRef::User(i) => self.functions[i].sig.clone(),
        }
    }

    /// `static_assert` is checked here: it has no meaning at run time but `true`.
    fn fold_assertion(&mut self, name: &str, node: Expr) -> Expr {
        let ExprKind::Call(call) = &node.kind else { return node };
        let (Callee::ExternFn { .. }, "static_assert") = (&call.callee, name) else { return node };
        let message = match call.args.get(1) {
            Some(Some(Expr { kind: ExprKind::Str(text), .. })) => format!("static_assert failed: {text}"),
            _ => "static_assert failed".into(),
        };
        match &call.args[0] {
            Some(Expr { kind: ExprKind::Bool(false), span, .. }) => {
                self.error(*span, message);
                self.poison(node.span)
            }
            Some(Expr { kind: ExprKind::Bool(true), .. }) => self.make(node.ty, ExprKind::Bool(true), node.span),
            _ => node,
        }
    }

    /// The type arguments written at a call, after those the object brings. None written: all are inferred.
    fn type_args_for(
        &mut self,
        name: &str,
        total: usize,
        from_object: usize,
        type_args: &'a [ast::Type],
        span: Span,
    ) -> Option<Bound> {
        let written = self.written_type_args(type_args);
        if !written.is_empty() && written.len() != total - from_object {
            let takes = count(total - from_object, "type argument");
            self.error(span, format!("`{name}` takes {takes}, {} given", written.len()));
            return None;
        }
        Some(written)
    }

    fn call_member(
        &mut self,
        base: &'a ast::Expr,
        member: &'a ast::Ident,
        type_args: &'a [ast::Type],
        site: CallSite<'a>,
    ) -> Option<Expr> {
        match self.entity(base, None) {
            Entity::Type(ty) => {
                if let Some(bits) = self.size_method(ty, member, site) {
                    return bits;
                }
                if member.name == "apply" && self.block_sig(ty).is_some() && !matches!(self.ty(ty), Type::ArchBlock(_))
                {
                    let object = self.direct_instance(ty, base.span)?;
                    return self.apply_block(object, site);
                }
                let name = self.name(ty);
                self.error(member.span, format!("the type `{name}` has no method `{}`", member.name));
                None
            }
            Entity::Symbol(Symbol::Table(table)) if member.name == "apply" => {
                if self.body.place != Place::Control {
                    self.error(site.span, "a table can be applied only in the `apply` block of its control");
                }
                self.no_type_args(type_args);
                if let Some(arg) = site.args.first() {
                    self.error(arg.span, "the `apply` of a table takes no arguments");
                }
                let ty = self.intern(Type::TableResult(table));
                Some(self.call_node(ty, Callee::TableApply(table), Vec::new(), site.span))
            }
            Entity::Symbol(Symbol::Poison) => None,
            Entity::Symbol(symbol) => {
                self.error(member.span, format!("{} has no method `{}`", symbol.what(), member.name));
                None
            }
            Entity::Value(object) if self.is_poison(&object) => None,
            Entity::Value(object) => match self.ty(object.ty) {
                Type::Extern(..) => self.call_method(object, member, type_args, site),
                Type::Parser(_) | Type::Control(_) | Type::ArchBlock(_) if member.name == "apply" => {
                    self.no_type_args(type_args);
                    self.apply_block(object, site)
                }
                _ => {
                    self.no_type_args(type_args);
                    self.builtin_method(object, member, site)
                }
            },
        }
    }

    fn call_method(
        &mut self,
        object: Expr,
        member: &'a ast::Ident,
        type_args: &'a [ast::Type],
        site: CallSite<'a>,
    ) -> Option<Expr> {
        let Type::Extern(id, object_args) = self.ty(object.ty).clone() else { return None };
        let methods = &self.prog.types.externs[id].methods;
        let named: Vec<usize> = (0..methods.len()).filter(|i| methods[*i].name == member.name).collect();
        if named.is_empty() {
            let near = nearest(&member.name, methods.iter().map(|m| m.name.as_str())).map(str::to_owned);
            let message = format!("`{}` has no method `{}`", self.name(object.ty), member.name);
            self.unknown(member.span, message, near);
            return None;
        }
        let sigs: Vec<_> = named.iter().map(|i| self.externs[id.index()].methods[*i].clone()).collect();
        let chosen = self.overload(&member.name, &sigs, site)?;
        let total = sigs[chosen].type_params.len();
        let from_object = object_args.len();
        let written = self.type_args_for(&member.name, total, from_object, type_args, site.span)?;
        let mut bound: Bound = object_args.into_iter().map(Some).collect();
        bound.extend(written);
        let matched = self.match_call(&sigs[chosen], bound, site)?;
        let type_args = matched.type_args[from_object..].to_vec();
        if self.prog.types.externs[id].name == "packet_in" {
            self.check_packet_in(&member.name, &matched.args, &type_args, site.span);
        }
        let callee = Callee::ExternMethod { object: Box::new(object), method: named[chosen], type_args };
        Some(self.call_node(matched.ret, callee, matched.args, site.span))
    }

    fn apply_block(&mut self, object: Expr, site: CallSite<'a>) -> Option<Expr> {
        let sig = self.block_sig(object.ty)?;
        let is_parser = match self.ty(object.ty) {
            Type::Parser(_) => true,
            Type::ArchBlock(_) => {
                self.arch_types.get(&object.ty).is_some_and(|(arch, _)| self.arch_blocks[*arch].is_parser)
            }
            _ => false,
        };
        match self.body.place {
            Place::Parser if is_parser => {}
            Place::Control if !is_parser => {}
            _ if is_parser => self.error(site.span, "a parser can be applied only in a state of another parser"),
            _ => self.error(site.span, "a control can be applied only in the `apply` block of another control"),
        }
        let matched = self.match_call(&sig, Bound::new(), site)?;
        let object = Box::new(object);
        let callee = if is_parser { Callee::ParserApply(object) } else { Callee::ControlApply(object) };
        Some(self.call_node(self.basic.void, callee, matched.args, site.span))
    }

    /// The instance that `C.apply()` of a type `C` stands for: one in each parser or control, named after the type.
    fn direct_instance(&mut self, ty: TypeId, span: Span) -> Option<Expr> {
        if let Some(var) = self.body.direct.get(&ty) {
            return Some(self.make(ty, ExprKind::Var(*var), span));
        }
        let (name, ctor) = match self.ty(ty) {
            Type::Parser(id) => (self.prog.parsers[*id].name.clone(), self.parser_sigs[id.index()].1.clone()),
            Type::Control(id) => (self.prog.controls[*id].name.clone(), self.control_sigs[id.index()].1.clone()),
            _ => return None,
        };
        if ctor.params.iter().any(|p| p.default.is_none() && !p.optional) {
            let takes = count(ctor.params.len(), "constructor argument");
            self.error_help(
                span,
                format!("`{name}` takes {takes}, so it cannot be applied without an instance"),
                format!("declare one: `{name}(...) instance;`"),
            );
            return None;
        }
        let args = ctor.params.iter().map(|p| p.default.clone()).collect();
        let kind = VarKind::Instance(hir::InstanceDecl { args });
        let var = self.new_var(Var { name, ty, kind, default: None, annotations: Vec::new(), span });
        self.body.locals.push(hir::Local { var, init: None });
        self.body.direct.insert(ty, var);
        Some(self.make(ty, ExprKind::Var(var), span))
    }

    /// The function for these type arguments; its body is checked on the first call.
    fn instantiate_function(&mut self, index: usize, type_args: Vec<TypeId>, span: Span) -> Option<hir::FunctionId> {
        let function = &self.functions[index];
        if let Some(id) = function.instances.get(&type_args) {
            return Some(*id);
        }
        let decl = function.decl;
        let name = &decl.prototype.name;
        if function.in_progress {
            let message = format!("`{}` calls itself; P4 has no recursion", name.name);
            self.error_at(span, message, &[(name.span, format!("`{}` is declared here", name.name))]);
            return None;
        }
        if self.prog.functions.len() >= crate::types::MAX_INSTANCES {
            self.error(span, format!("more than {} instances of generic functions", crate::types::MAX_INSTANCES));
            return None;
        }
        self.functions[index].in_progress = true;
        let saved = self.scopes.enter_global();
        let outer = std::mem::replace(&mut self.body, Body::new(Place::Function, self.basic.void));
        self.scopes.push();
        for (param, arg) in decl.prototype.type_params.iter().zip(&type_args) {
            self.redeclare(param, Symbol::Type(*arg));
        }
        let made = self.deeper(span, |checker| checker.function_body(decl));
        self.body = outer;
        self.scopes.restore(saved);
        self.functions[index].in_progress = false;
        let id = made?;
        self.functions[index].instances.insert(type_args, id);
        Some(id)
    }

    /// Makes an instance: its type and its constructor arguments.
    pub fn construct(
        &mut self,
        symbol: &Symbol,
        name: &ast::Ident,
        type_args: &'a [ast::Type],
        site: CallSite<'a>,
    ) -> Option<(TypeId, hir::InstanceDecl)> {
        let site = CallSite { purpose: Purpose::Construct, expected: None, ..site };
        // A `typedef` of an extern with its type arguments is as good as the extern.
        let (symbol, given) = match symbol {
            Symbol::Type(ty) => match self.ty(*ty).clone() {
                Type::Extern(id, args) => (Symbol::Extern(id), Some(args)),
                Type::Parser(id) => (Symbol::Parser(id), None),
                Type::Control(id) => (Symbol::Control(id), None),
                Type::Package(id) => (Symbol::Package(id), None),
                Type::Any => return None,
                _ => {
                    let ty = self.name(*ty);
                    self.error(site.span, format!("`{ty}` has no constructor: it is the type of values"));
                    return None;
                }
            },
            other => (other.clone(), None),
        };
        let sigs = match &symbol {
            Symbol::Extern(id) => self.externs[id.index()].constructors.clone(),
            Symbol::Parser(id) => vec![self.parser_sigs[id.index()].1.clone()],
            Symbol::Control(id) => vec![self.control_sigs[id.index()].1.clone()],
            Symbol::Package(id) => vec![self.package_sigs[id.index()].clone()],
            Symbol::Poison => return None,
            other => {
                let message = format!("`{}` is {}, which cannot be instantiated", name.name, other.what());
                self.error(site.span, message);
                return None;
            }
        };
        if sigs.is_empty() {
            self.error(site.span, format!("`{}` has no constructor", name.name));
            return None;
        }
        let chosen = self.overload(&name.name, &sigs, site)?;
        let sig = sigs[chosen].clone();
        let bound = match given {
            Some(args) => args.into_iter().map(Some).collect(),
            None => self.type_args_for(&name.name, sig.type_params.len(), 0, type_args, name.span)?,
        };
        let open_types = matches!(symbol, Symbol::Package(_));
        let matched = self.match_call(&sig, bound, CallSite { open_types, ..site })?;
        if let Symbol::Extern(id) = symbol
            && let Some(method) = self.prog.types.externs[id].methods.iter().find(|m| m.is_abstract)
        {
            let message =
                format!("the abstract method `{}` has no body here, and this target has none to give", method.name);
            self.error(site.span, message);
            return None;
        }
        let ty = match symbol {
            Symbol::Extern(id) => Type::Extern(id, matched.type_args),
            Symbol::Parser(id) => Type::Parser(id),
            Symbol::Control(id) => Type::Control(id),
            Symbol::Package(id) => Type::Package(id),
            _ => return None,
        };
        let ty = self.intern(ty);
        Some((ty, hir::InstanceDecl { args: matched.args }))
    }

    /// The symbol, name and type arguments that an instance's type names.
    pub fn constructed(&mut self, ty: &'a ast::Type) -> Option<(Symbol, &'a ast::Ident, &'a [ast::Type])> {
        let ast::TypeKind::Named { path, args } = &ty.kind else {
            if let Ty::Known(id) = self.resolve_ty(ty)
                && id != self.basic.any
            {
                let name = self.name(id);
                self.error(ty.span, format!("`{name}` has no constructor: it is the type of values"));
            }
            return None;
        };
        let symbol = self.lookup(path, "type", |s| {
            matches!(s, Symbol::Extern(_) | Symbol::Parser(_) | Symbol::Control(_) | Symbol::Package(_))
        });
        Some((symbol, &path.name, args))
    }
}
