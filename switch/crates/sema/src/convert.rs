//! Conversions: the implicit ones, made explicit here, and casts.

use hir::{Expr, ExprKind, Type, TypeId};
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;
use crate::types::count;

impl Checker<'_> {
    pub fn make(&self, ty: TypeId, kind: ExprKind, span: Span) -> Expr {
        Expr { ty, kind, span }
    }

    /// What stands for an expression that was reported: it fits everywhere.
    pub fn poison(&self, span: Span) -> Expr {
        if self.given_up.get().is_none() {
            self.given_up.set(Some(span));
        }
        Expr { ty: self.basic.any, kind: ExprKind::DontCare, span }
    }

    /// Whether the expression was reported already.
    pub fn is_poison(&self, e: &Expr) -> bool {
        e.ty == self.basic.any && e.kind != ExprKind::Invalid
    }

    /// The expression as a value of the type, by the conversions that need no cast in the source; else an error.
    pub fn coerce(&mut self, e: Expr, to: TypeId) -> Expr {
        // Where an `int` is asked for, a constant of a fixed width will do.
        if to == self.basic.int && fold::width(self.ty(e.ty)).is_some() && fold::is_const(&e) {
            return self.cast_node(e, to);
        }
        match self.convert(e, to) {
            Ok(e) => e,
            Err(e) => {
                self.mismatch(&e, to);
                self.poison(e.span)
            }
        }
    }

    fn mismatch(&mut self, e: &Expr, to: TypeId) {
        let (want, have) = (self.name(to), self.describe(e));
        if self.is_poison(e) {
            return;
        }
        if let Some(why) = self.reads_block(to).then(|| self.block_mismatch(e.ty, to)).flatten() {
            self.error(e.span, format!("expected `{want}`, found {have}: {why}"));
        } else if e.kind == ExprKind::Invalid {
            self.error(e.span, format!("`{{#}}` is an invalid header or header union, `{want}` is neither"));
        } else if self.can_cast(e.ty, to) {
            self.error_help(
                e.span,
                format!("expected `{want}`, found {have}"),
                format!("convert it with a cast: `({want}) ...`"),
            );
        } else {
            self.error(e.span, format!("expected `{want}`, found {have}"));
        }
    }

    fn reads_block(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::ArchBlock(_))
    }

    /// As [`Checker::coerce`], but an expression that does not fit comes back as it was, unreported.
    pub fn convert(&mut self, e: Expr, to: TypeId) -> Result<Expr, Expr> {
        if e.ty == to {
            return Ok(e);
        }
        if e.kind == ExprKind::Invalid && e.ty == self.basic.any {
            let fits = match self.ty(to) {
                Type::Any => true,
                Type::Stack(element, _) => self.is_header(*element),
                _ => self.is_header(to),
            };
            return if fits { Ok(self.make(to, ExprKind::Invalid, e.span)) } else { Err(e) };
        }
        if e.ty == self.basic.any || to == self.basic.any {
            return Ok(e);
        }
        let literal = matches!(e.kind, ExprKind::Aggregate(_)) && matches!(self.ty(e.ty), Type::Tuple(_));
        match (self.ty(e.ty), self.ty(to)) {
            (Type::Int, Type::Bit(_) | Type::Signed(_)) => Ok(self.int_to_fixed(e, to)),
            (Type::Int, Type::New(_)) if fold::width(self.ty(self.prog.types.stored(to))).is_some() => {
                Ok(self.int_to_fixed(e, to))
            }
            (Type::Enum(id), _) if self.prog.types.enums[*id].underlying == Some(to) => Ok(self.cast_node(e, to)),
            (Type::Parser(_) | Type::Control(_) | Type::ArchBlock(_), Type::ArchBlock(_)) => {
                if self.block_mismatch(e.ty, to).is_none() { Ok(e) } else { Err(e) }
            }
            _ if literal => self.convert_literal(e, to),
            _ => Err(e),
        }
    }

    fn int_to_fixed(&mut self, e: Expr, to: TypeId) -> Expr {
        let stored = self.ty(self.prog.types.stored(to));
        if let ExprKind::Int(n) = &e.kind
            && !fold::fits(n, stored)
        {
            let name = self.name(to);
            let kept = fold::wrap(n, stored);
            self.warn(e.span, format!("{n} does not fit in `{name}`; its low bits give {kept}"));
        }
        self.cast_node(e, to)
    }

    /// A cast that is known to be allowed, folded if it can be.
    pub fn cast_node(&mut self, e: Expr, to: TypeId) -> Expr {
        let kind = match fold::fold_cast(&self.prog.types, &e, to) {
            Some(kind) => kind,
            None => return Expr { ty: to, span: e.span, kind: ExprKind::Cast(Box::new(e)) },
        };
        self.make(to, kind, e.span)
    }

    /// `{a, b}` as a value of a type with parts.
    fn convert_literal(&mut self, e: Expr, to: TypeId) -> Result<Expr, Expr> {
        let Some(part_types) = self.part_types(to, e_len(&e)) else { return Err(e) };
        let span = e.span;
        let ExprKind::Aggregate(items) = e.kind else { return Err(e) };
        if items.len() != part_types.len() {
            let name = self.name(to);
            let message = format!("`{name}` takes {}, found {}", count(part_types.len(), "element"), items.len());
            self.error(span, message);
            return Ok(self.poison(span));
        }
        let items: Vec<Expr> = items.into_iter().zip(part_types).map(|(item, ty)| self.coerce(item, ty)).collect();
        if items.iter().any(|item| self.is_poison(item)) {
            return Ok(self.poison(span));
        }
        Ok(self.make(to, ExprKind::Aggregate(items), span))
    }

    /// The types of the parts of a value, `len` of them where the type leaves that open.
    pub fn part_types(&self, ty: TypeId, len: usize) -> Option<Vec<TypeId>> {
        match self.ty(ty) {
            Type::Struct(_) | Type::Header(_) => {
                self.prog.types.fields(ty).map(|fields| fields.iter().map(|f| f.ty).collect())
            }
            Type::Tuple(items) => Some(items.clone()),
            Type::Stack(element, size) => Some(vec![*element; *size as usize]),
            Type::Extern(id, args) if Some(*id) == self.list_extern => Some(vec![args[0]; len]),
            _ => None,
        }
    }

    pub fn field_names(&self, ty: TypeId) -> Option<Vec<String>> {
        self.prog.types.fields(ty).map(|fields| fields.iter().map(|f| f.name.clone()).collect())
    }

    /// `(to) e`.
    pub fn cast(&mut self, e: Expr, to: TypeId, span: Span) -> Expr {
        if self.is_poison(&e) || to == self.basic.any {
            return self.poison(span);
        }
        if matches!(self.ty(e.ty), Type::Int) && self.can_cast(e.ty, to) {
            return self.cast_int(e, to, span);
        }
        match self.convert(e, to) {
            Ok(mut e) => {
                e.span = span;
                e
            }
            Err(e) if self.can_cast(e.ty, to) => {
                let mut e = self.cast_node(e, to);
                e.span = span;
                e
            }
            Err(e) => {
                let (want, have) = (self.name(to), self.describe(&e));
                match self.cast_steps(e.ty, to) {
                    Some(through) => {
                        let through = self.name(through);
                        self.error_help(
                            span,
                            format!("there is no cast from {have} to `{want}`"),
                            format!("cast in two steps: `({want}) ({through}) ...`"),
                        );
                    }
                    None => self.error(span, format!("there is no cast from {have} to `{want}`")),
                }
                self.poison(span)
            }
        }
    }

    fn cast_int(&mut self, e: Expr, to: TypeId, span: Span) -> Expr {
        if let (ExprKind::Int(n), Type::Bool) = (&e.kind, self.ty(to))
            && n.bits() > 1
        {
            let message = format!("only 0 and 1 can be cast to `bool`, not {n}");
            self.error(span, message);
            return self.poison(span);
        }
        let mut e = self.cast_node(e, to);
        e.span = span;
        e
    }

    /// Whether the language lets a value of one type be cast to the other.
    pub fn can_cast(&self, from: TypeId, to: TypeId) -> bool {
        if from == to {
            return true;
        }
        let types = &self.prog.types;
        match (types.get(from), types.get(to)) {
            (Type::Int, Type::New(id)) => self.can_cast(from, types.new_types[*id].underlying),
            (_, Type::New(id)) if types.new_types[*id].underlying == from => true,
            (Type::New(id), _) => types.new_types[*id].underlying == to,
            (Type::Enum(id), _) if types.enums[*id].underlying.is_some_and(|u| self.can_cast(u, to)) => true,
            (_, Type::Enum(id)) => types.enums[*id].underlying.is_some_and(|u| self.can_cast(from, u)),
            (Type::Bit(_), Type::Bit(_)) | (Type::Signed(_), Type::Signed(_)) => true,
            (Type::Bit(a), Type::Signed(b)) | (Type::Signed(a), Type::Bit(b)) => a == b,
            (Type::Bit(1), Type::Bool) | (Type::Bool, Type::Bit(1)) => true,
            (Type::Bit(_) | Type::Signed(_), Type::Int) => true,
            (Type::Int, Type::Bit(_) | Type::Signed(_) | Type::Bool) => true,
            _ => false,
        }
    }

    /// The type to go through where a cast in one step is not allowed but one in two is.
    fn cast_steps(&mut self, from: TypeId, to: TypeId) -> Option<TypeId> {
        match (self.ty(from).clone(), self.ty(to).clone()) {
            (Type::Bit(_), Type::Signed(w)) => Some(self.intern(Type::Bit(w))),
            (Type::Signed(_), Type::Bit(w)) => Some(self.intern(Type::Signed(w))),
            (Type::New(id), _) => {
                let through = self.prog.types.new_types[id].underlying;
                self.can_cast(through, to).then_some(through)
            }
            (_, Type::New(id)) => {
                let through = self.prog.types.new_types[id].underlying;
                self.can_cast(from, through).then_some(through)
            }
            (Type::Bool, Type::Bit(_)) => Some(self.basic.bit1),
            (Type::Bit(_), Type::Bool) => Some(self.basic.bit1),
            _ => None,
        }
    }

    /// What `...` stands for in a place of the type.
    pub fn default_value(&mut self, ty: TypeId, span: Span) -> Expr {
        let stored = self.prog.types.stored(ty);
        let kind = match self.ty(stored).clone() {
            Type::Any => return self.poison(span),
            Type::Bool => ExprKind::Bool(false),
            Type::Bit(_) | Type::Signed(_) | Type::Int => ExprKind::Int(0.into()),
            Type::Error => ExprKind::Error(0),
            Type::String => ExprKind::Str(String::new()),
            Type::Enum(_) => ExprKind::EnumMember(0),
            Type::Header(_) | Type::HeaderUnion(_) => ExprKind::Invalid,
            Type::Stack(element, _) if self.is_header(element) => ExprKind::Invalid,
            Type::Struct(_) | Type::Tuple(_) | Type::Stack(..) => {
                let parts = self.part_types(stored, 0).unwrap_or_default();
                ExprKind::Aggregate(parts.into_iter().map(|part| self.default_value(part, span)).collect())
            }
            _ => {
                let name = self.name(ty);
                self.error(span, format!("`{name}` has no default value for `...`"));
                return self.poison(span);
            }
        };
        self.make(ty, kind, span)
    }
}

fn e_len(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Aggregate(items) => items.len(),
        _ => 0,
    }
}
