//! Elements of stacks and lists, and slices of numbers.

use hir::{Expr, ExprKind, Type};
use num_traits::ToPrimitive;
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;
use crate::types::count;

impl<'a> Checker<'a> {
    pub(super) fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Expr {
        let base = self.expr(base, None);
        let index = self.expr(index, None);
        if self.is_poison(&base) || self.is_poison(&index) {
            return self.poison(span);
        }
        let index = match self.ty(index.ty) {
            Type::Enum(id) if self.prog.types.enums[*id].underlying.is_some() => {
                let stored = self.prog.types.stored(index.ty);
                self.cast_node(index, stored)
            }
            _ => index,
        };
        if !matches!(self.ty(index.ty), Type::Int | Type::Bit(_) | Type::Signed(_)) {
            let found = self.describe(&index);
            self.error(index.span, format!("an index must be a number, found {found}"));
            return self.poison(span);
        }
        let (len, element) = match self.ty(base.ty).clone() {
            Type::Stack(element, size) => (size as usize, Some(element)),
            Type::Tuple(items) => (items.len(), None),
            _ => {
                let found = self.describe(&base);
                self.error(base.span, format!("only stacks, arrays and tuples can be indexed, found {found}"));
                return self.poison(span);
            }
        };
        let at = match &index.kind {
            ExprKind::Int(n) => match n.to_usize().filter(|n| *n < len) {
                Some(at) => Some(at),
                None => {
                    let (name, n) = (self.name(base.ty), n.clone());
                    let message = format!("index {n} is out of bounds: `{name}` has {}", count(len, "element"));
                    self.error(index.span, message);
                    return self.poison(span);
                }
            },
            _ => None,
        };
        if let (Some(at), ExprKind::Aggregate(items)) = (at, &base.kind)
            && fold::is_const(&items[at])
        {
            return Expr { span, ..items[at].clone() };
        }
        match (element, at, self.part_types(base.ty, 0)) {
            (None, Some(at), Some(types)) => self.make(types[at], ExprKind::TupleField(Box::new(base), at), span),
            (None, ..) => {
                self.error(index.span, "the index of a tuple must be a constant");
                self.poison(span)
            }
            (Some(element), ..) => {
                let index = if index.ty == self.basic.int { self.coerce(index, self.basic.bit32) } else { index };
                self.make(element, ExprKind::Index(Box::new(base), Box::new(index)), span)
            }
        }
    }

    /// The value that is sliced, and its width; an `int` has none.
    fn slice_base(&mut self, base: &'a ast::Expr) -> Option<(Expr, Option<u32>)> {
        let base = self.expr(base, None);
        if self.is_poison(&base) {
            return None;
        }
        let stored = match self.ty(base.ty) {
            Type::Enum(_) => self.prog.types.stored(base.ty),
            _ => base.ty,
        };
        let width = fold::width(self.ty(stored));
        let constant = matches!(base.kind, ExprKind::Int(_));
        if width.is_none() && !(stored == self.basic.int && constant) {
            let found = self.describe(&base);
            let message = format!("bits can be taken from bit<W> and int<W>, found {found}");
            if let Type::New(id) = self.ty(base.ty) {
                let under = self.name(self.prog.types.new_types[*id].underlying);
                self.error_help(base.span, message, format!("cast it first: `(({under}) ...)[...]`"));
            } else {
                self.error(base.span, message);
            }
            return None;
        }
        let base = if stored == base.ty { base } else { self.cast_node(base, stored) };
        Some((base, width))
    }

    fn bit_number(&mut self, e: &'a ast::Expr) -> Option<u32> {
        let n = self.const_number(e, "the number of a bit")?;
        match n.to_u32().filter(|n| *n < crate::types::MAX_WIDTH) {
            Some(n) => Some(n),
            None => {
                self.error(e.span, format!("there is no bit {n}"));
                None
            }
        }
    }

    pub(super) fn slice(&mut self, base: &'a ast::Expr, hi: &'a ast::Expr, lo: &'a ast::Expr, span: Span) -> Expr {
        let base = self.slice_base(base);
        let (hi_at, lo_at) = (self.bit_number(hi), self.bit_number(lo));
        let (Some((base, width)), Some(hi_at), Some(lo_at)) = (base, hi_at, lo_at) else {
            return self.poison(span);
        };
        if let Some(width) = width
            && hi_at >= width
        {
            let name = self.name(base.ty);
            self.error(hi.span, format!("there is no bit {hi_at}: `{name}` has bits 0 to {}", i64::from(width) - 1));
            return self.poison(span);
        }
        if lo_at > hi_at {
            let message = format!("the slice [{hi_at}:{lo_at}] is empty: the high bit stands first");
            self.error_help(span, message, format!("write `[{lo_at}:{hi_at}]`"));
            return self.poison(span);
        }
        self.slice_node(base, hi_at, lo_at, span)
    }

    fn slice_node(&mut self, base: Expr, hi: u32, lo: u32, span: Span) -> Expr {
        let ty = self.intern(Type::Bit(hi - lo + 1));
        let kind = fold::fold_slice(&base, hi, lo).unwrap_or(ExprKind::Slice { base: Box::new(base), hi, lo });
        self.make(ty, kind, span)
    }

    pub(super) fn slice_from(
        &mut self,
        base: &'a ast::Expr,
        low: &'a ast::Expr,
        width: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let base = self.slice_base(base);
        let start = self.expr(low, None);
        let bits = self.const_number(width, "the width of a slice").and_then(|n| n.to_u32());
        let (Some((base, whole)), Some(bits)) = (base, bits) else { return self.poison(span) };
        if self.is_poison(&start) {
            return self.poison(span);
        }
        if bits == 0 || whole.is_some_and(|whole| bits > whole) || bits > crate::types::MAX_WIDTH {
            let name = self.name(base.ty);
            self.error(width.span, format!("a slice of {bits} bits cannot be taken from `{name}`"));
            return self.poison(span);
        }
        let start = match self.ty(start.ty) {
            Type::Enum(id) if self.prog.types.enums[*id].underlying.is_some() => {
                let stored = self.prog.types.stored(start.ty);
                self.cast_node(start, stored)
            }
            _ => start,
        };
        if let ExprKind::Int(n) = &start.kind {
            let limit = whole.unwrap_or(crate::types::MAX_WIDTH);
            let Some(lo) = n.to_u32().filter(|lo| lo.saturating_add(bits) <= limit) else {
                let (n, name) = (n.clone(), self.name(base.ty));
                self.error(low.span, format!("{bits} bits from bit {n} on are not all in `{name}`"));
                return self.poison(span);
            };
            return self.slice_node(base, lo + bits - 1, lo, span);
        }
        if !matches!(self.ty(start.ty), Type::Bit(_)) {
            let found = self.describe(&start);
            self.error(low.span, format!("the first bit of a slice must be an unsigned number, found {found}"));
            return self.poison(span);
        }
        let ty = self.intern(Type::Bit(bits));
        let kind = ExprKind::SliceFrom { base: Box::new(base), start: Box::new(start), width: bits };
        self.make(ty, kind, span)
    }
}
