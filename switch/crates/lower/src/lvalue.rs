//! Places in the frame that expressions name, and writing to them.

use hir::{Expr, ExprKind, TypeId};
use ir::{BinaryOp, CompareOp, Dest, Inst, Operand, Place, WideOp};
use num_bigint::BigInt;
use syntax::source::Span;

use crate::context::{Binding, Lower, R, fail, offset};
use crate::effects::{effectful_choices, extent, replace};
use crate::layout::{LeafKind, Shape};
use crate::value::{FALSE, NARROW, TRUE, Value, Values, arg};

/// A variable or a part of one.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    pub place: Place,
    /// The header union of which this is a member: its place, its type and the member.
    pub union: Option<(Place, TypeId, usize)>,
}

/// Where an assignment goes.
#[derive(Debug, Clone)]
pub enum LValue {
    Spot(Spot),
    /// Bits of a scalar of `width` bits.
    Bits {
        place: Place,
        width: u32,
        hi: u32,
        lo: u32,
    },
    /// `size` bits from a start that only run time knows.
    BitsFrom {
        place: Place,
        width: u32,
        start: Operand,
        start_width: u32,
        size: u32,
    },
    /// `_`.
    Nowhere,
}

impl Lower<'_> {
    /// Where the expression's value stands. What is not a variable is computed into new memory.
    pub fn spot(&mut self, expr: &Expr) -> R<Spot> {
        let spot = |place| Spot { place, union: None };
        match &expr.kind {
            ExprKind::Var(var) => match self.binding(*var) {
                Some(Binding::Place(place)) => Ok(spot(place)),
                _ => self.computed(expr),
            },
            ExprKind::Field(base, index) | ExprKind::TupleField(base, index) => {
                let outer = self.spot(base)?;
                let layout = self.layout(base.ty);
                let (members, in_union) = match &layout.shape {
                    Shape::Struct(members) | Shape::Header(_, members) => (members, false),
                    Shape::Union(members) => (members, true),
                    _ => return fail(expr.span, "this has no fields"),
                };
                let Some(member) = members.get(*index) else {
                    return fail(expr.span, "there is no such field");
                };
                let union = in_union.then_some((outer.place, base.ty, *index));
                Ok(Spot { place: offset(outer.place, member.offset), union })
            }
            ExprKind::Index(base, index) => {
                let outer = self.spot(base)?;
                let layout = self.layout(base.ty);
                let Shape::Stack { count, stride, first, .. } = layout.shape else {
                    return fail(expr.span, "only stacks and arrays have elements");
                };
                let index = self.index(index, count)?;
                Ok(spot(self.element(outer.place, first, stride, count, index)))
            }
            ExprKind::StackNext(base) => self.stack_end(expr, base, false),
            ExprKind::StackLast(base) => self.stack_end(expr, base, true),
            ExprKind::Cast(inner) if self.same_storage(inner.ty, expr.ty) => self.spot(inner),
            _ => self.computed(expr),
        }
    }

    fn computed(&mut self, expr: &Expr) -> R<Spot> {
        let value = self.expr(expr)?;
        let place = self.in_frame(value, expr.ty);
        Ok(Spot { place, union: None })
    }

    /// `next` or `last` of a stack; past its ends the parser stops.
    fn stack_end(&mut self, expr: &Expr, base: &Expr, last: bool) -> R<Spot> {
        let outer = self.spot(base)?;
        let Shape::Stack { count, stride, first, .. } = self.layout(base.ty).shape else {
            return fail(expr.span, "only stacks of headers have `next` and `last`");
        };
        let mut index = self.b.load(outer.place, 32);
        if last {
            index = self.b.binary(BinaryOp::Sub, 32, index, Operand::Imm(1));
        }
        let inside = self.b.compare(CompareOp::LtU, 32, index, Operand::Imm(count.into()));
        self.require(inside, "StackOutOfBounds", expr.span)?;
        Ok(Spot { place: self.element(outer.place, first, stride, count, index), union: None })
    }

    /// An index as 32 bits; what doesn't fit is past the end.
    pub fn index(&mut self, expr: &Expr, count: u32) -> R<Operand> {
        let signed = self.is_signed(expr.ty);
        let width = self.width(expr.ty, expr.span)?;
        let value = self.expr(expr)?;
        Ok(self.saturated_index(&value, width, signed, u128::from(count)))
    }

    /// Evaluates the parts of an l-value, so that it can be read or written later.
    pub fn lvalue(&mut self, expr: &Expr) -> R<LValue> {
        match &expr.kind {
            ExprKind::DontCare => Ok(LValue::Nowhere),
            ExprKind::Slice { base, hi, lo } => {
                let width = self.width(base.ty, base.span)?;
                match self.lvalue(base)? {
                    LValue::Spot(spot) => Ok(LValue::Bits { place: spot.place, width, hi: *hi, lo: *lo }),
                    LValue::Bits { place, width, lo: base_lo, .. } => {
                        Ok(LValue::Bits { place, width, hi: base_lo + hi, lo: base_lo + lo })
                    }
                    _ => fail(expr.span, "a slice of a slice with a computed start cannot be assigned"),
                }
            }
            ExprKind::SliceFrom { base, start, width: size } => {
                let width = self.width(base.ty, base.span)?;
                let LValue::Spot(spot) = self.lvalue(base)? else {
                    return fail(expr.span, "a slice with a computed start can only be assigned in a whole variable");
                };
                let start_width = self.width(start.ty, start.span)?;
                let Value::Scalar(from) = self.expr(start)? else {
                    return fail(start.span, "the start of a slice has at most 128 bits");
                };
                Ok(LValue::BitsFrom { place: spot.place, width, start: from, start_width, size: *size })
            }
            ExprKind::Cast(inner) if self.same_storage(inner.ty, expr.ty) => self.lvalue(inner),
            ExprKind::Var(_)
            | ExprKind::Field(..)
            | ExprKind::TupleField(..)
            | ExprKind::Index(..)
            | ExprKind::StackNext(_)
            | ExprKind::StackLast(_) => Ok(LValue::Spot(self.spot(expr)?)),
            _ => fail(expr.span, "this cannot be assigned"),
        }
    }

    /// The value at an l-value of type `ty`.
    pub fn read(&mut self, target: &LValue, ty: TypeId) -> Value {
        match target {
            LValue::Spot(spot) => match self.scalar_type(ty) {
                Some((width, _)) => self.load(spot.place, width),
                None => Value::Frame(spot.place),
            },
            LValue::Bits { place, width, hi, lo } => {
                let base = self.load(*place, *width);
                self.slice(&base, *width, *hi, *lo)
            }
            LValue::BitsFrom { place, width, start, start_width, size } => {
                let base = self.load(*place, *width);
                let moved = self.shift(BinaryOp::Shr, *width, &base, *start, *start_width);
                self.slice(&moved, *width, size - 1, 0)
            }
            LValue::Nowhere => {
                let place = self.alloc(ty);
                let bytes = self.layout(ty).size;
                self.zero(place, bytes);
                self.read(&LValue::Spot(Spot { place, union: None }), ty)
            }
        }
    }

    /// Writes a value of type `ty` to an l-value.
    pub fn assign(&mut self, target: &LValue, ty: TypeId, value: &Value) {
        match target {
            LValue::Spot(spot) => {
                self.write(spot.place, ty, value);
                self.settle(spot);
            }
            LValue::Bits { place, width, hi, lo } => {
                let size = hi - lo + 1;
                if *width > NARROW {
                    let args = vec![arg(&Value::Frame(*place), *width), arg(value, size)];
                    let dst = Dest::Frame(*place, *width);
                    self.b.push(Inst::Wide { op: WideOp::Insert { hi: *hi, lo: *lo }, dst, args });
                } else if let Value::Scalar(bits) = value {
                    let a = self.b.load(*place, *width);
                    let dst = self.b.temp(*width);
                    self.b.push(Inst::Insert { dst, a, value: *bits, hi: *hi, lo: *lo });
                    self.b.store(*place, *width, Operand::Temp(dst));
                }
            }
            LValue::BitsFrom { place, width, start, start_width, size } => {
                let base = self.load(*place, *width);
                let ones = crate::value::number(&((BigInt::from(1) << *size) - 1), *width);
                let hole = self.shift(BinaryOp::Shl, *width, &ones, *start, *start_width);
                let keep = self.unary(ir::UnaryOp::Not, *width, &hole);
                let kept = self.binary(BinaryOp::And, *width, &base, &keep);
                let bits = self.resize(value, *size, *width, false);
                let moved = self.shift(BinaryOp::Shl, *width, &bits, *start, *start_width);
                let whole = self.binary(BinaryOp::Or, *width, &kept, &moved);
                self.store(*place, *width, &whole);
            }
            LValue::Nowhere => {}
        }
    }

    /// After a header was written that is a member of a union: if it is valid, the others are not.
    pub fn settle(&mut self, spot: &Spot) {
        if spot.union.is_none() {
            return;
        }
        let valid = self.b.load(spot.place, 1);
        let invalid = self.b.not(valid);
        for sibling in self.siblings(spot) {
            let was = self.b.load(sibling, 1);
            let is = self.b.and(was, invalid);
            self.b.store(sibling, 1, is);
        }
    }

    /// Makes the other members of the union, if there is one, invalid.
    pub fn oust_siblings(&mut self, spot: &Spot) {
        for sibling in self.siblings(spot) {
            self.b.store(sibling, 1, FALSE);
        }
    }

    fn siblings(&mut self, spot: &Spot) -> Vec<Place> {
        let Some((place, ty, own)) = spot.union else { return Vec::new() };
        let layout = self.layout(ty);
        let Shape::Union(members) = &layout.shape else { return Vec::new() };
        let others = members.iter().enumerate().filter(|(index, _)| *index != own);
        others.map(|(_, member)| offset(place, member.offset)).collect()
    }

    /// Makes all headers inside a value invalid and all stacks empty.
    pub fn invalidate(&mut self, place: Place, ty: TypeId) {
        let mut leaves = Vec::new();
        self.layouts.leaves(&self.hir.types, ty, "", 0, &mut leaves);
        for leaf in leaves {
            match leaf.kind {
                LeafKind::Valid => self.b.store(offset(place, leaf.offset), 1, FALSE),
                LeafKind::Next => self.b.store(offset(place, leaf.offset), 32, FALSE),
                LeafKind::Scalar(..) | LeafKind::Varbit(_) => {}
            }
        }
    }

    /// `left = right`: the l-value first, then the value.
    pub fn assignment(&mut self, left: &Expr, right: &Expr) -> R<()> {
        // `left op= right` stands as `left = left op right`: what chooses the place in both is evaluated once.
        let mut choices = Vec::new();
        effectful_choices(left, &mut choices);
        if !choices.is_empty() {
            let (mut once, mut value) = (left.clone(), right.clone());
            for choice in choices {
                let operand = self.scalar(choice)?;
                let var = self.fresh_var(Binding::Value(operand));
                replace(&mut once, choice, var);
                replace(&mut value, choice, var);
            }
            return self.assignment(&once, &value);
        }
        let target = self.lvalue(left)?;
        let spot = match &target {
            LValue::Spot(spot) if self.scalar_type(left.ty).is_none() => *spot,
            _ => {
                let value = self.expr(right)?;
                self.assign(&target, left.ty, &value);
                return Ok(());
            }
        };
        let size = self.layout(left.ty).size;
        let written = extent(spot.place, size);
        if !is_built(right) || !self.may_read(right, written) {
            self.fill(right, spot.place, left.ty)?;
        } else {
            let copy = self.b.alloc(size, 8);
            self.fill(right, copy, left.ty)?;
            self.copy(spot.place, copy, size);
        }
        self.settle(&spot);
        Ok(())
    }

    /// Writes an expression's value of type `ty` to memory that the expression does not read while it is written.
    pub fn fill(&mut self, expr: &Expr, place: Place, ty: TypeId) -> R<()> {
        let layout = self.layout(ty);
        match &expr.kind {
            ExprKind::Aggregate(items) => match &layout.shape {
                Shape::Struct(members) | Shape::Header(_, members) | Shape::Union(members) => {
                    for (item, member) in items.iter().zip(members) {
                        self.fill(item, offset(place, member.offset), member.ty)?;
                    }
                    if matches!(layout.shape, Shape::Header(..)) {
                        self.b.store(place, 1, TRUE);
                    }
                    Ok(())
                }
                Shape::Stack { element, stride, first, count } => {
                    if *first > 0 {
                        self.b.store(place, 32, FALSE);
                    }
                    for (index, item) in (0..*count).zip(items) {
                        self.fill(item, offset(place, first + index * stride), *element)?;
                    }
                    Ok(())
                }
                _ => fail(expr.span, "a list cannot stand for a single value"),
            },
            ExprKind::Invalid => {
                self.zero(place, layout.size);
                Ok(())
            }
            ExprKind::Cast(inner) if matches!(inner.kind, ExprKind::Aggregate(_) | ExprKind::Invalid) => {
                self.fill(inner, place, ty)
            }
            ExprKind::Cast(inner) if self.scalar_type(ty).is_none() && !self.same_storage(inner.ty, ty) => {
                let from = self.spot(inner)?;
                self.convert(from.place, inner.ty, place, ty, expr.span)
            }
            ExprKind::Ternary(cond, yes, no) if self.scalar_type(ty).is_none() => {
                let (then, otherwise, join) = (self.b.block(), self.b.block(), self.b.block());
                self.condition(cond, then, otherwise)?;
                self.b.enter(then);
                self.fill(yes, place, ty)?;
                self.b.jump(join);
                self.b.enter(otherwise);
                self.fill(no, place, ty)?;
                self.b.jump(join);
                self.b.enter(join);
                Ok(())
            }
            _ => {
                let mut value = self.expr(expr)?;
                if let (Some((from, signed)), Some((to, _))) = (self.scalar_type(expr.ty), self.scalar_type(ty)) {
                    value = self.resize(&value, from, to, signed);
                }
                self.write(place, ty, &value);
                Ok(())
            }
        }
    }

    /// Copies a tuple or structure to one of another type with the same members.
    fn convert(&mut self, from: Place, from_ty: TypeId, to: Place, to_ty: TypeId, span: Span) -> R<()> {
        let (source, target) = (self.layout(from_ty), self.layout(to_ty));
        match (&source.shape, &target.shape) {
            _ if self.same_storage(from_ty, to_ty) => self.copy(to, from, source.size),
            (Shape::Scalar { width: a, signed, .. }, Shape::Scalar { width: b, .. }) => {
                let value = self.load(from, *a);
                let value = self.resize(&value, *a, *b, *signed);
                self.store(to, *b, &value);
            }
            (Shape::Struct(a) | Shape::Header(_, a), Shape::Struct(b) | Shape::Header(_, b)) if a.len() == b.len() => {
                for (a, b) in a.iter().zip(b) {
                    self.convert(offset(from, a.offset), a.ty, offset(to, b.offset), b.ty, span)?;
                }
                if matches!(target.shape, Shape::Header(..)) {
                    self.b.store(to, 1, TRUE);
                }
            }
            _ => return fail(span, "this value cannot be converted to that type"),
        }
        Ok(())
    }
}

/// Whether the value is put together piece by piece where it goes, not copied as a whole.
fn is_built(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Aggregate(_) | ExprKind::Ternary(..) | ExprKind::Cast(_))
}
