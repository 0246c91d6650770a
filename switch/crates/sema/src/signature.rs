//! Signatures: types that may name type parameters, and finding the type arguments of a use.

use std::rc::Rc;

use hir::{Direction, Expr, ExternId, ExternParam, Type, TypeId};
use syntax::source::Span;

use crate::checker::Checker;

/// A type as a signature has it. A type without type parameters is always `Known`.
#[derive(Debug, Clone, PartialEq)]
pub enum Ty {
    Known(TypeId),
    /// A type parameter, by its place among the parameters of the extern object and then of the method.
    Param(usize),
    Tuple(Vec<Ty>),
    List(Box<Ty>),
    Stack(Box<Ty>, u32),
    /// A generic struct: index into `Checker::generics`.
    Generic(usize, Vec<Ty>),
    Extern(ExternId, Vec<Ty>),
    /// A parser or control type: index into `Checker::arch_blocks`.
    Arch(usize, Vec<Ty>),
}

#[derive(Debug, Clone)]
pub struct SigParam {
    pub name: String,
    pub direction: Option<Direction>,
    pub ty: Ty,
    pub default: Option<Expr>,
    /// Marked `@optional`: the argument may be left out and there is no default.
    pub optional: bool,
}

/// What can be called: a function, method, constructor, action, or the `apply` of a parser or control.
#[derive(Debug, Clone)]
pub struct Sig {
    pub name: String,
    pub type_params: Vec<String>,
    pub params: Vec<SigParam>,
    pub ret: Ty,
    pub span: Span,
}

impl Sig {
    /// Whether a call with that many arguments of these names could be meant.
    pub fn takes(&self, count: usize, names: &[&str]) -> bool {
        let needed = self.params.iter().filter(|p| p.default.is_none() && !p.optional).count();
        count <= self.params.len()
            && count >= needed
            && names.iter().all(|name| self.params.iter().any(|p| p.name == *name))
    }

    /// The parameters as the HIR keeps those of externs.
    pub fn extern_params(&self) -> Vec<ExternParam> {
        self.params.iter().map(|p| ExternParam { name: p.name.clone(), direction: p.direction }).collect()
    }
}

/// A parser or control type without a body.
#[derive(Debug, Clone)]
pub struct ArchBlock {
    pub is_parser: bool,
    pub sig: Rc<Sig>,
}

/// The signatures of an extern object.
#[derive(Debug, Clone, Default)]
pub struct ExternInfo {
    pub type_params: usize,
    pub constructors: Vec<Rc<Sig>>,
    pub methods: Vec<Rc<Sig>>,
}

/// Type arguments, as far as they are known.
pub type Bound = Vec<Option<TypeId>>;

impl Checker<'_> {
    /// The type under these type arguments, if all it needs are known.
    pub fn substitute(&mut self, ty: &Ty, bound: &Bound) -> Option<TypeId> {
        Some(match ty {
            Ty::Known(id) => *id,
            Ty::Param(i) => bound.get(*i).copied().flatten()?,
            Ty::Tuple(items) => {
                let items = self.substitute_all(items, bound)?;
                self.intern(Type::Tuple(items))
            }
            Ty::List(item) => {
                let item = self.substitute(item, bound)?;
                self.list_type(item)
            }
            Ty::Stack(element, size) => {
                let element = self.substitute(element, bound)?;
                self.intern(Type::Stack(element, *size))
            }
            Ty::Generic(generic, args) => {
                let args = self.substitute_all(args, bound)?;
                self.instantiate_generic(*generic, args)
            }
            Ty::Extern(id, args) => {
                let args = self.substitute_all(args, bound)?;
                self.intern(Type::Extern(*id, args))
            }
            Ty::Arch(arch, args) => {
                let args = self.substitute_all(args, bound)?;
                self.arch_type(*arch, args)
            }
        })
    }

    fn substitute_all(&mut self, types: &[Ty], bound: &Bound) -> Option<Vec<TypeId>> {
        types.iter().map(|ty| self.substitute(ty, bound)).collect()
    }

    /// Learns type arguments from an argument's type. Only the shape is compared: whether the argument then fits is for
    /// the conversion to say, which knows how to explain it.
    pub fn learn(&mut self, ty: &Ty, actual: TypeId, bound: &mut Bound) {
        match (ty, self.ty(actual).clone()) {
            (_, Type::Any) => {}
            (Ty::Param(i), _) => match bound[*i] {
                Some(before) if !self.has_int(before) || self.has_int(actual) => {}
                _ => bound[*i] = Some(actual),
            },
            (Ty::Tuple(items), Type::Tuple(actuals)) if items.len() == actuals.len() => {
                for (item, actual) in items.iter().zip(actuals) {
                    self.learn(item, actual, bound);
                }
            }
            (Ty::List(item), Type::Extern(id, args)) if Some(id) == self.list_extern => {
                self.learn(item, args[0], bound);
            }
            (Ty::List(item), Type::Tuple(actuals)) => {
                for actual in actuals {
                    self.learn(item, actual, bound);
                }
            }
            (Ty::Stack(element, _), Type::Stack(actual, _)) => self.learn(element, actual, bound),
            (Ty::Generic(generic, args), Type::Struct(id) | Type::Header(id) | Type::HeaderUnion(id)) => {
                if let Some((origin, actuals)) = self.origins.get(&id).cloned()
                    && origin == *generic
                {
                    for (arg, actual) in args.iter().zip(actuals) {
                        self.learn(arg, actual, bound);
                    }
                }
            }
            (Ty::Extern(id, args), Type::Extern(actual, actuals)) if *id == actual => {
                for (arg, actual) in args.iter().zip(actuals) {
                    self.learn(arg, actual, bound);
                }
            }
            (Ty::Arch(arch, args), _) => {
                if let Some(sig) = self.block_sig(actual) {
                    let block = self.arch_blocks[*arch].sig.clone();
                    for (param, actual) in block.params.iter().zip(&sig.params) {
                        let param = compose(&param.ty, args);
                        if let Ty::Known(actual) = actual.ty {
                            self.learn(&param, actual, bound);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the type holds an `int`, whose width nobody knows.
    pub fn has_int(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Int => true,
            Type::Tuple(items) => items.iter().any(|item| self.has_int(*item)),
            Type::Stack(element, _) => self.has_int(*element),
            _ => false,
        }
    }

    /// The parameters of `apply`, each type known, of a parser, a control or a type of one.
    pub fn block_sig(&mut self, ty: TypeId) -> Option<Rc<Sig>> {
        match self.ty(ty) {
            Type::Parser(id) => Some(self.parser_sigs[hir::Handle::index(*id)].0.clone()),
            Type::Control(id) => Some(self.control_sigs[hir::Handle::index(*id)].0.clone()),
            Type::ArchBlock(_) => {
                let (arch, args) = self.arch_types.get(&ty)?.clone();
                let mut sig = (*self.arch_blocks[arch].sig).clone();
                let bound: Bound = args.into_iter().map(Some).collect();
                sig.type_params.clear();
                for param in &mut sig.params {
                    if let Some(known) = self.substitute(&param.ty, &bound) {
                        param.ty = Ty::Known(known);
                    }
                }
                Some(Rc::new(sig))
            }
            _ => None,
        }
    }

    /// Why the parser or control `actual` does not fit the type `wanted` of one; `None` if it does.
    pub fn block_mismatch(&mut self, actual: TypeId, wanted: TypeId) -> Option<String> {
        let is_parser = |checker: &Self, ty: TypeId| match checker.ty(ty) {
            Type::Parser(_) => Some(true),
            Type::Control(_) => Some(false),
            Type::ArchBlock(_) => checker.arch_types.get(&ty).map(|(arch, _)| checker.arch_blocks[*arch].is_parser),
            _ => None,
        };
        let (Some(have), Some(want)) = (is_parser(self, actual), is_parser(self, wanted)) else {
            return Some("it is neither a parser nor a control".into());
        };
        if have != want {
            return Some(if want { "a parser is expected" } else { "a control is expected" }.into());
        }
        let (have, want) = (self.block_sig(actual)?, self.block_sig(wanted)?);
        let needed = |sig: &Sig| sig.params.iter().filter(|p| !p.optional && p.default.is_none()).count();
        if have.params.len() < needed(&want) || needed(&have) > want.params.len() {
            return Some(format!("it has {} parameters, {} are expected", have.params.len(), want.params.len()));
        }
        for (have, want) in have.params.iter().zip(&want.params) {
            if have.direction != want.direction {
                let (h, w) = (direction(have.direction), direction(want.direction));
                return Some(format!("its parameter `{}` is {h}, but {w} is expected", have.name));
            }
            if let (Ty::Known(h), Ty::Known(w)) = (&have.ty, &want.ty)
                && h != w
                && *h != self.basic.any
                && *w != self.basic.any
            {
                let (h, w) = (self.name(*h), self.name(*w));
                return Some(format!("its parameter `{}` is of type `{h}`, but `{w}` is expected", have.name));
            }
        }
        None
    }
}

pub fn direction(direction: Option<Direction>) -> &'static str {
    match direction {
        None => "directionless",
        Some(Direction::In) => "`in`",
        Some(Direction::Out) => "`out`",
        Some(Direction::InOut) => "`inout`",
    }
}

/// The type with its parameters replaced by types that may have parameters of their own.
fn compose(ty: &Ty, args: &[Ty]) -> Ty {
    let all = |types: &[Ty]| types.iter().map(|ty| compose(ty, args)).collect();
    match ty {
        Ty::Known(id) => Ty::Known(*id),
        Ty::Param(i) => args[*i].clone(),
        Ty::Tuple(items) => Ty::Tuple(all(items)),
        Ty::List(item) => Ty::List(Box::new(compose(item, args))),
        Ty::Stack(element, size) => Ty::Stack(Box::new(compose(element, args)), *size),
        Ty::Generic(generic, items) => Ty::Generic(*generic, all(items)),
        Ty::Extern(id, items) => Ty::Extern(*id, all(items)),
        Ty::Arch(arch, items) => Ty::Arch(*arch, all(items)),
    }
}
