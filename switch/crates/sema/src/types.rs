//! Types as they are written, resolved.

use hir::{EnumMember, ExternDecl, Field, NewType, StructDecl, Type, TypeId};
use num_traits::ToPrimitive;
use syntax::ast;
use syntax::source::Span;

use crate::checker::{Checker, Generic};
use crate::fold;
use crate::scope::Symbol;
use crate::signature::{Bound, ExternInfo, Ty};

/// The widest `bit<W>`, `int<W>` and `varbit<W>`.
pub const MAX_WIDTH: u32 = 1 << 16;

/// The most simple values that a value of one type may hold: types that hold two of the next, level by level, double
/// each time, and so would everything that walks through them.
const MAX_LEAVES: u64 = 1 << 16;

/// The most instances of generic structs, and of generic functions, for the same reason.
pub const MAX_INSTANCES: usize = 1 << 14;

impl<'a> Checker<'a> {
    /// A type in a place where no type parameter can be.
    pub fn resolve_type(&mut self, ty: &'a ast::Type) -> TypeId {
        match self.resolve_ty(ty) {
            Ty::Known(id) => id,
            _ => {
                self.error(ty.span, "a type parameter cannot stand here");
                self.basic.any
            }
        }
    }

    pub fn resolve_ty(&mut self, ty: &'a ast::Type) -> Ty {
        self.deeper(ty.span, |checker| checker.resolve_ty_here(ty)).unwrap_or(Ty::Known(self.basic.any))
    }

    fn resolve_ty_here(&mut self, ty: &'a ast::Type) -> Ty {
        let basic = self.basic;
        Ty::Known(match &ty.kind {
            ast::TypeKind::Bool => basic.bool,
            ast::TypeKind::Error => basic.error,
            ast::TypeKind::String => basic.string,
            ast::TypeKind::Void => basic.void,
            ast::TypeKind::MatchKind => basic.match_kind,
            ast::TypeKind::InfInt => basic.int,
            ast::TypeKind::DontCare => {
                self.error_help(
                    ty.span,
                    "`_` is not a type",
                    "`_` may stand for a type argument only, and is inferred there".into(),
                );
                basic.any
            }
            ast::TypeKind::Bit(None) => basic.bit1,
            ast::TypeKind::Bit(Some(width)) => match self.width(width, 0) {
                Some(width) => self.intern(Type::Bit(width)),
                None => basic.any,
            },
            ast::TypeKind::Int(width) => match self.width(width, 1) {
                Some(width) => self.intern(Type::Signed(width)),
                None => basic.any,
            },
            ast::TypeKind::Varbit(width) => match self.width(width, 0) {
                Some(width) => self.intern(Type::Varbit(width)),
                None => basic.any,
            },
            ast::TypeKind::Tuple(items) => {
                let resolved: Vec<Ty> = items.iter().map(|item| self.resolve_ty(item)).collect();
                for (item, ast) in resolved.iter().zip(items) {
                    self.check_component(item, ast.span, "a tuple");
                }
                let tuple = self.collapse(resolved, Ty::Tuple);
                return self.bounded(tuple, ty.span);
            }
            ast::TypeKind::List(item) => {
                let item = self.resolve_ty(item);
                return self.collapse(vec![item], |mut items| Ty::List(Box::new(items.remove(0))));
            }
            ast::TypeKind::Stack { element, size } => {
                let resolved = self.resolve_ty(element);
                let Some(size) = self.stack_size(size) else { return Ty::Known(basic.any) };
                self.check_component(&resolved, element.span, "an array");
                let stack = self.collapse(vec![resolved], |mut items| Ty::Stack(Box::new(items.remove(0)), size));
                return self.bounded(stack, ty.span);
            }
            ast::TypeKind::Named { path, args } => return self.resolve_named(ty.span, path, args),
        })
    }

    /// How many simple values a value of the type holds.
    fn leaf_count(&mut self, ty: TypeId) -> u64 {
        if let Some(count) = self.leaves.get(&ty) {
            return *count;
        }
        let (parts, times) = match self.ty(ty) {
            Type::Struct(id) | Type::Header(id) | Type::HeaderUnion(id) => {
                (self.prog.types.structs[*id].fields.iter().map(|f| f.ty).collect(), 1)
            }
            Type::Tuple(items) => (items.clone(), 1),
            Type::Stack(element, size) => (vec![*element], u64::from(*size)),
            _ => (Vec::new(), 1),
        };
        let sum = parts.into_iter().fold(0u64, |sum, part| sum.saturating_add(self.leaf_count(part)));
        let count = sum.max(1).saturating_mul(times);
        self.leaves.insert(ty, count);
        count
    }

    /// The type, unless its values would be too large.
    fn bounded(&mut self, ty: Ty, span: Span) -> Ty {
        if let Ty::Known(id) = ty
            && self.leaf_count(id) > MAX_LEAVES
        {
            self.error(span, format!("a value of this type holds more than {MAX_LEAVES} simple values"));
            return Ty::Known(self.basic.any);
        }
        ty
    }

    /// Makes the type known if its parts are.
    fn collapse(&mut self, parts: Vec<Ty>, make: impl FnOnce(Vec<Ty>) -> Ty) -> Ty {
        let known = parts.iter().all(|part| matches!(part, Ty::Known(_)));
        let ty = make(parts);
        if !known {
            return ty;
        }
        self.substitute(&ty, &Bound::new()).map_or(ty, Ty::Known)
    }

    fn resolve_named(&mut self, span: Span, path: &'a ast::Path, args: &'a [ast::Type]) -> Ty {
        let symbol = self.lookup(path, "type", |s| {
            matches!(
                s,
                Symbol::Type(_)
                    | Symbol::TypeParam(_)
                    | Symbol::Generic(_)
                    | Symbol::Extern(_)
                    | Symbol::Arch(_)
                    | Symbol::Parser(_)
                    | Symbol::Control(_)
            )
        });
        let any = Ty::Known(self.basic.any);
        let name = &path.name.name;
        let wanted = match &symbol {
            Symbol::Generic(generic) => self.generics[*generic].decl.type_params.len(),
            Symbol::Extern(id) => self.externs[hir::Handle::index(*id)].type_params,
            Symbol::Arch(arch) => self.arch_blocks[*arch].sig.type_params.len(),
            Symbol::Package(_) | Symbol::Poison => args.len(),
            _ => 0,
        };
        if wanted != args.len() {
            let message = format!("`{name}` takes {}, {} given", count(wanted, "type argument"), args.len());
            self.error_at(span, message, &self.declared_here(path));
            return any;
        }
        let any_arg = Ty::Known(self.basic.any);
        let takes_any = matches!(symbol, Symbol::Arch(_) | Symbol::Package(_));
        let resolved: Vec<Ty> = args
            .iter()
            .map(|arg| match arg.kind {
                // A parser, control or package type that leaves a part open.
                ast::TypeKind::DontCare if takes_any => any_arg.clone(),
                _ => self.resolve_ty(arg),
            })
            .collect();
        match symbol {
            Symbol::Type(id) => Ty::Known(id),
            Symbol::TypeParam(i) => Ty::Param(i),
            Symbol::Generic(generic) => self.collapse(resolved, |args| Ty::Generic(generic, args)),
            Symbol::Extern(id) => self.collapse(resolved, |args| Ty::Extern(id, args)),
            Symbol::Arch(arch) => self.collapse(resolved, |args| Ty::Arch(arch, args)),
            Symbol::Parser(id) => Ty::Known(self.intern(Type::Parser(id))),
            Symbol::Control(id) => Ty::Known(self.intern(Type::Control(id))),
            Symbol::Package(id) => Ty::Known(self.intern(Type::Package(id))),
            Symbol::Poison => any,
            other => {
                let message = format!("`{name}` is {}, not a type", other.what());
                self.error_at(span, message, &self.declared_here(path));
                any
            }
        }
    }

    /// A secondary label at the declaration of what the path names.
    pub fn declared_here(&self, path: &ast::Path) -> Vec<(Span, String)> {
        self.find(path).map(|d| (d.span, format!("`{}` is declared here", path.name.name))).into_iter().collect()
    }

    fn width(&mut self, e: &'a ast::Expr, least: u32) -> Option<u32> {
        let width = self.const_number(e, "a width")?;
        match width.to_u32() {
            Some(width) if (least..=MAX_WIDTH).contains(&width) => Some(width),
            _ => {
                self.error(e.span, format!("a width of {width} bits: it must be between {least} and {MAX_WIDTH}"));
                None
            }
        }
    }

    fn stack_size(&mut self, e: &'a ast::Expr) -> Option<u32> {
        let size = self.const_number(e, "the size of a stack")?;
        match size.to_u32() {
            Some(size) if size <= MAX_WIDTH => Some(size),
            _ => {
                self.error(e.span, format!("a stack of {size} elements: it must have between 0 and {MAX_WIDTH}"));
                None
            }
        }
    }

    /// A number that must be known now.
    pub fn const_number(&mut self, e: &'a ast::Expr, what: &str) -> Option<num_bigint::BigInt> {
        let value = self.expr(e, None);
        match value.kind {
            hir::ExprKind::Int(n) => Some(n),
            _ if self.is_poison(&value) => None,
            _ if fold::is_const(&value) => {
                let found = self.describe(&value);
                self.error(e.span, format!("{what} must be a number, found {found}"));
                None
            }
            _ => {
                self.error(e.span, format!("{what} must be a constant known when the program is compiled"));
                None
            }
        }
    }

    fn check_component(&mut self, ty: &Ty, span: Span, whole: &str) {
        if let Ty::Known(id) = ty
            && self.is_object(*id)
        {
            let name = self.name(*id);
            self.error(span, format!("`{name}` cannot be a part of {whole}"));
        }
    }

    /// Whether the type is one no value has: an object, or nothing at all.
    pub fn is_object(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Extern(id, _) => Some(*id) != self.list_extern,
            Type::Parser(_) | Type::Control(_) | Type::Package(_) | Type::ArchBlock(_) | Type::Void => true,
            _ => false,
        }
    }

    /// `list<T>` stands in the HIR as an extern type named `list`.
    pub fn list_type(&mut self, item: TypeId) -> TypeId {
        let id = match self.list_extern {
            Some(id) => id,
            None => {
                let id = self.prog.types.externs.push(ExternDecl {
                    name: "list".into(),
                    constructors: Vec::new(),
                    methods: Vec::new(),
                    annotations: Vec::new(),
                    span: Span::default(),
                });
                self.externs.push(ExternInfo { type_params: 1, ..ExternInfo::default() });
                self.list_extern = Some(id);
                id
            }
        };
        self.intern(Type::Extern(id, vec![item]))
    }

    /// The type of a parser or control that a type without a body describes.
    pub fn arch_type(&mut self, arch: usize, args: Vec<TypeId>) -> TypeId {
        let mut name = self.arch_blocks[arch].sig.name.clone();
        if !args.is_empty() {
            name = format!("{name}<{}>", self.names(&args));
        }
        let ty = self.intern(Type::ArchBlock(name));
        self.arch_types.insert(ty, (arch, args));
        ty
    }

    pub fn declare_struct(&mut self, decl: &'a ast::StructDecl) {
        self.check_distinct(decl.type_params.iter(), "type parameter");
        if decl.type_params.is_empty() {
            let ty = self.make_struct(decl, decl.name.name.clone());
            self.declare(&decl.name, Symbol::Type(ty));
        } else {
            self.generics.push(Generic { decl, instances: Default::default(), in_progress: false });
            self.declare(&decl.name, Symbol::Generic(self.generics.len() - 1));
        }
    }

    /// The generic struct under these type arguments.
    pub fn instantiate_generic(&mut self, generic: usize, args: Vec<TypeId>) -> TypeId {
        if let Some(ty) = self.generics[generic].instances.get(&args) {
            return *ty;
        }
        let decl = self.generics[generic].decl;
        if self.generics[generic].in_progress {
            self.error(decl.name.span, format!("`{}` holds itself", decl.name.name));
            return self.basic.any;
        }
        if self.prog.types.structs.len() >= MAX_INSTANCES {
            self.error(decl.name.span, format!("more than {MAX_INSTANCES} instances of generic structs"));
            return self.basic.any;
        }
        self.generics[generic].in_progress = true;
        let saved = self.scopes.enter_global();
        self.scopes.push();
        for (param, arg) in decl.type_params.iter().zip(&args) {
            self.redeclare(param, Symbol::Type(*arg));
        }
        let name = format!("{}<{}>", decl.name.name, self.names(&args));
        let made = self.deeper(decl.span, |checker| checker.make_struct(decl, name));
        self.scopes.restore(saved);
        self.generics[generic].in_progress = false;
        let ty = made.unwrap_or(self.basic.any);
        if let Type::Struct(id) | Type::Header(id) | Type::HeaderUnion(id) = self.ty(ty) {
            let id = *id;
            self.origins.insert(id, (generic, args.clone()));
        }
        self.generics[generic].instances.insert(args, ty);
        ty
    }

    fn make_struct(&mut self, decl: &'a ast::StructDecl, name: String) -> TypeId {
        self.check_distinct(decl.fields.iter().map(|f| &f.name), "field");
        let mut fields = Vec::new();
        for field in &decl.fields {
            let mut ty = self.resolve_type(&field.ty);
            if let Some(why) = self.field_problem(decl.kind, ty) {
                let found = self.name(ty);
                self.error(field.ty.span, format!("a field cannot be of type `{found}`: {why}"));
                ty = self.basic.any;
            }
            let annotations = self.annotations(&field.annotations);
            fields.push(Field { name: field.name.name.clone(), ty, annotations });
        }
        let annotations = self.annotations(&decl.annotations);
        let id = self.prog.types.structs.push(StructDecl { name, fields, annotations, span: decl.name.span });
        let ty = self.intern(match decl.kind {
            ast::StructKind::Struct => Type::Struct(id),
            ast::StructKind::Header => Type::Header(id),
            ast::StructKind::HeaderUnion => Type::HeaderUnion(id),
        });
        match self.bounded(Ty::Known(ty), decl.name.span) {
            Ty::Known(ty) => ty,
            _ => self.basic.any,
        }
    }

    fn field_problem(&self, kind: ast::StructKind, ty: TypeId) -> Option<&'static str> {
        match kind {
            _ if ty == self.basic.any => None,
            ast::StructKind::Struct if self.is_object(ty) => Some("it is not the type of a value"),
            ast::StructKind::Struct => match self.ty(ty) {
                Type::Int | Type::String | Type::MatchKind => Some("it exists at compile time only"),
                _ => None,
            },
            ast::StructKind::Header => (!self.fits_header(ty)).then_some(
                "a header holds `bit`, `int<W>`, `varbit`, `bool`, enums with an underlying type, and structs of these",
            ),
            ast::StructKind::HeaderUnion => {
                (!matches!(self.ty(ty), Type::Header(_))).then_some("a header_union holds headers")
            }
        }
    }

    fn fits_header(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) | Type::Bool | Type::Any => true,
            Type::Enum(id) => self.prog.types.enums[*id].underlying.is_some(),
            Type::New(id) => self.fits_header(self.prog.types.new_types[*id].underlying),
            Type::Struct(id) => self.prog.types.structs[*id].fields.iter().all(|f| self.fits_header(f.ty)),
            Type::Stack(element, _) => !self.is_header(*element) && self.fits_header(*element),
            _ => false,
        }
    }

    pub fn is_header(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Header(_) | Type::HeaderUnion(_))
    }

    pub fn declare_enum(&mut self, decl: &'a ast::EnumDecl) {
        self.check_distinct(decl.members.iter().map(|m| &m.name), "member");
        let underlying = decl.underlying.as_ref().map(|ty| {
            let id = self.resolve_type(ty);
            if id != self.basic.any && fold::width(self.ty(id)).is_none() {
                let found = self.name(id);
                self.error(ty.span, format!("the underlying type of an enum must be bit<W> or int<W>, not `{found}`"));
                return self.basic.any;
            }
            id
        });
        let mut members: Vec<EnumMember> = Vec::new();
        // A member's value may name the members before it.
        self.scopes.push();
        for member in &decl.members {
            let value = match (underlying, &member.value) {
                (Some(underlying), Some(value)) => self.enum_value(value, underlying),
                (Some(_), None) => {
                    let message =
                        format!("member `{}` of an enum with an underlying type needs a value", member.name.name);
                    self.error_help(member.span, message, format!("write `{} = ...`", member.name.name));
                    None
                }
                (None, Some(value)) => {
                    self.error_help(
                        value.span,
                        "only an enum with an underlying type gives its members values",
                        format!("write `enum bit<W> {}`", decl.name.name),
                    );
                    None
                }
                (None, None) => None,
            };
            if let (Some(ty), Some(value)) = (underlying, &value) {
                let value = self.make(ty, hir::ExprKind::Int(value.clone()), member.span);
                self.redeclare(&member.name, Symbol::Const(std::rc::Rc::new(value)));
            }
            let annotations = self.annotations(&member.annotations);
            members.push(EnumMember { name: member.name.name.clone(), value, annotations });
        }
        self.scopes.pop();
        let annotations = self.annotations(&decl.annotations);
        let id = self.prog.types.enums.push(hir::EnumDecl {
            name: decl.name.name.clone(),
            underlying,
            members,
            annotations,
            span: decl.name.span,
        });
        let ty = self.intern(Type::Enum(id));
        self.declare(&decl.name, Symbol::Type(ty));
    }

    fn enum_value(&mut self, value: &'a ast::Expr, underlying: TypeId) -> Option<num_bigint::BigInt> {
        let value = self.expr(value, Some(underlying));
        let value = self.coerce(value, underlying);
        match value.kind {
            hir::ExprKind::Int(n) => Some(n),
            _ => {
                if value.ty != self.basic.any {
                    self.error(value.span, "the value of an enum member must be a constant");
                }
                None
            }
        }
    }

    pub fn declare_typedef(&mut self, decl: &'a ast::TypedefDecl) {
        let underlying = self.resolve_type(&decl.ty);
        let annotations = self.annotations(&decl.annotations);
        if !decl.is_new {
            self.declare(&decl.name, Symbol::Type(underlying));
            return;
        }
        let stored = self.prog.types.stored(underlying);
        let allowed =
            matches!(self.ty(stored), Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) | Type::Bool | Type::Any);
        if !allowed || matches!(self.ty(underlying), Type::Enum(_)) {
            let found = self.name(underlying);
            self.error_help(
                decl.ty.span,
                format!("a `type` cannot stand over `{found}`"),
                "it may stand over bit<W>, int<W>, varbit<W>, bool or another `type`; `typedef` names any type".into(),
            );
        }
        let id = self.prog.types.new_types.push(NewType {
            name: decl.name.name.clone(),
            underlying,
            annotations,
            span: decl.name.span,
        });
        let ty = self.intern(Type::New(id));
        self.declare(&decl.name, Symbol::Type(ty));
    }

    /// Reports names that stand twice in one list.
    pub fn check_distinct<'n>(&mut self, names: impl Iterator<Item = &'n ast::Ident>, what: &str) {
        let mut seen: std::collections::HashMap<&str, Span> = std::collections::HashMap::new();
        for name in names {
            if let Some(before) = seen.insert(&name.name, name.span) {
                let message = format!("the {what} `{}` is declared twice", name.name);
                self.error_at(name.span, message, &[(before, "first declared here".into())]);
            }
        }
    }
}

/// "1 argument", "2 arguments".
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
