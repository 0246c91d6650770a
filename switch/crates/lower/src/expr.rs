//! Expressions.

use hir::instances::Value as Constant;
use hir::{BinaryOp as Op, Expr, ExprKind, TypeId};
use ir::{Arg, BinaryOp, BlockId, CompareOp, Operand, Place, UnaryOp};
use num_bigint::{BigInt, Sign};
use syntax::source::Span;

use crate::context::{Binding, Lower, R, fail, offset};
use crate::effects::{has_effects, is_cheap};
use crate::layout::{LeafKind, Shape};
use crate::value::{FALSE, NARROW, TRUE, Value, Values, arg, number};

impl Lower<'_> {
    /// Evaluates an expression.
    pub fn expr(&mut self, expr: &Expr) -> R<Value> {
        match &expr.kind {
            ExprKind::Bool(value) => Ok(Value::Scalar(if *value { TRUE } else { FALSE })),
            ExprKind::Int(value) => {
                let width = self.width(expr.ty, expr.span)?;
                Ok(number(value, width))
            }
            ExprKind::Error(index) => Ok(Value::Scalar(Operand::Imm(self.error_code(*index) as u128))),
            ExprKind::EnumMember(index) => Ok(Value::Scalar(Operand::Imm(*index as u128))),
            ExprKind::Var(var) => match self.binding(*var) {
                Some(Binding::Place(place)) => Ok(match self.scalar_type(expr.ty) {
                    Some((width, _)) => self.load(place, width),
                    None => Value::Frame(place),
                }),
                Some(Binding::Value(operand)) => Ok(Value::Scalar(operand)),
                Some(Binding::Instance(_) | Binding::Packet) => fail(expr.span, "an object is not a value"),
                None => self.constructor_parameter(expr),
            },
            ExprKind::Field(..)
            | ExprKind::TupleField(..)
            | ExprKind::Index(..)
            | ExprKind::StackNext(_)
            | ExprKind::StackLast(_) => {
                let spot = self.spot(expr)?;
                Ok(match self.scalar_type(expr.ty) {
                    Some((width, _)) => self.load(spot.place, width),
                    None => Value::Frame(spot.place),
                })
            }
            ExprKind::StackLastIndex(stack) => {
                let spot = self.spot(stack)?;
                let next = self.b.load(spot.place, 32);
                Ok(Value::Scalar(self.b.binary(BinaryOp::Sub, 32, next, Operand::Imm(1))))
            }
            ExprKind::Slice { base, hi, lo } => {
                let width = self.width(base.ty, base.span)?;
                let value = self.expr(base)?;
                Ok(self.slice(&value, width, *hi, *lo))
            }
            ExprKind::SliceFrom { base, start, width: size } => {
                let width = self.width(base.ty, base.span)?;
                let values = self.operands(&[base, start])?;
                let by_width = self.width(start.ty, start.span)?;
                let Value::Scalar(by) = values[1] else {
                    return fail(start.span, "the start of a slice has at most 128 bits");
                };
                let moved = self.shift(BinaryOp::Shr, width, &values[0], by, by_width);
                Ok(self.slice(&moved, width, size - 1, 0))
            }
            ExprKind::Unary(op, inner) => {
                let width = self.width(expr.ty, expr.span)?;
                let value = self.expr(inner)?;
                let op = match op {
                    hir::UnaryOp::Neg => UnaryOp::Neg,
                    hir::UnaryOp::Complement | hir::UnaryOp::Not => UnaryOp::Not,
                };
                Ok(self.unary(op, width, &value))
            }
            ExprKind::Binary(op, left, right) => self.binary_expr(expr, *op, left, right),
            ExprKind::Ternary(cond, yes, no) => self.ternary(expr, cond, yes, no),
            ExprKind::Cast(inner) => self.cast(expr, inner),
            ExprKind::Aggregate(_) | ExprKind::Invalid => {
                let place = self.alloc(expr.ty);
                self.fill(expr, place, expr.ty)?;
                Ok(Value::Frame(place))
            }
            ExprKind::IsValid(header) => {
                let spot = self.spot(header)?;
                Ok(Value::Scalar(self.is_valid(spot.place, header.ty)))
            }
            ExprKind::TableHit(table) => Ok(Value::Scalar(self.apply_table(*table, expr.span)?)),
            ExprKind::TableMiss(table) => {
                let hit = self.apply_table(*table, expr.span)?;
                Ok(Value::Scalar(self.b.not(hit)))
            }
            ExprKind::Call(call) => match self.call(call, expr)? {
                Some(value) => Ok(value),
                None => fail(expr.span, "this call yields no value"),
            },
            ExprKind::Str(_) => fail(expr.span, "a string can only stand in a message or an annotation"),
            ExprKind::New(_) => fail(expr.span, "an object can only be made by a declaration"),
            ExprKind::DontCare => fail(expr.span, "`_` can only take the place of an `out` argument"),
        }
    }

    /// A scalar of at most 128 bits.
    pub fn scalar(&mut self, expr: &Expr) -> R<Operand> {
        match self.expr(expr)? {
            Value::Scalar(operand) => Ok(operand),
            _ => fail(expr.span, "a value of at most 128 bits is needed here"),
        }
    }

    /// Evaluates expressions in order; what one of them changes leaves the values before it alone.
    pub fn operands(&mut self, exprs: &[&Expr]) -> R<Vec<Value>> {
        let mut values = Vec::with_capacity(exprs.len());
        for (index, expr) in exprs.iter().enumerate() {
            let mut value = self.expr(expr)?;
            if exprs[index + 1..].iter().any(|later| has_effects(later)) {
                value = self.snapshot(value, expr.ty);
            }
            values.push(value);
        }
        Ok(values)
    }

    fn constructor_parameter(&mut self, expr: &Expr) -> R<Value> {
        match self.constant(expr) {
            Some(Constant::Bool(value)) => Ok(Value::Scalar(if value { TRUE } else { FALSE })),
            Some(Constant::Int(value)) => {
                let width = self.width(expr.ty, expr.span)?;
                Ok(number(&value, width))
            }
            Some(Constant::EnumMember(_, index)) => Ok(Value::Scalar(Operand::Imm(index as u128))),
            Some(Constant::Error(index)) => Ok(Value::Scalar(Operand::Imm(self.error_code(index) as u128))),
            Some(Constant::Expr(value)) => {
                let place = self.alloc(expr.ty);
                self.fill(&value, place, expr.ty)?;
                Ok(Value::Frame(place))
            }
            _ => fail(expr.span, "this has no value here"),
        }
    }

    fn binary_expr(&mut self, expr: &Expr, op: Op, left: &Expr, right: &Expr) -> R<Value> {
        match op {
            Op::And | Op::Or => return self.short_circuit(expr, op, left, right),
            Op::Shl | Op::Shr => return self.shift_expr(expr, op, left, right),
            _ => {}
        }
        let values = self.operands(&[left, right])?;
        let (a, b) = (&values[0], &values[1]);
        if matches!(op, Op::Eq | Op::Ne) {
            let equal = match self.scalar_type(left.ty) {
                Some((width, _)) => {
                    let op = if op == Op::Eq { CompareOp::Eq } else { CompareOp::Ne };
                    return Ok(Value::Scalar(self.compare(op, width, a, b)));
                }
                None => {
                    let a = self.in_frame(a.clone(), left.ty);
                    let b = self.in_frame(b.clone(), right.ty);
                    self.equal(a, left.ty, b, right.ty, expr.span)?
                }
            };
            return Ok(Value::Scalar(if op == Op::Eq { equal } else { self.b.not(equal) }));
        }
        let width = self.width(left.ty, left.span)?;
        let signed = self.is_signed(left.ty);
        let pick = |unsigned, with_sign| if signed { with_sign } else { unsigned };
        let compare = match op {
            Op::Lt => Some((pick(CompareOp::LtU, CompareOp::LtS), false)),
            Op::Le => Some((pick(CompareOp::LeU, CompareOp::LeS), false)),
            Op::Gt => Some((pick(CompareOp::LtU, CompareOp::LtS), true)),
            Op::Ge => Some((pick(CompareOp::LeU, CompareOp::LeS), true)),
            _ => None,
        };
        if let Some((op, swap)) = compare {
            let (a, b) = if swap { (b, a) } else { (a, b) };
            return Ok(Value::Scalar(self.compare(op, width, a, b)));
        }
        if op == Op::Concat {
            let right_width = self.width(right.ty, right.span)?;
            return Ok(self.concat(a, width, b, right_width));
        }
        let op = match op {
            Op::Add => BinaryOp::Add,
            Op::Sub => BinaryOp::Sub,
            Op::Mul => BinaryOp::Mul,
            Op::Div => BinaryOp::Div,
            Op::Mod => BinaryOp::Mod,
            Op::SatAdd => pick_op(signed, BinaryOp::AddSatU, BinaryOp::AddSatS),
            Op::SatSub => pick_op(signed, BinaryOp::SubSatU, BinaryOp::SubSatS),
            Op::BitAnd => BinaryOp::And,
            Op::BitOr => BinaryOp::Or,
            _ => BinaryOp::Xor,
        };
        if width == 0 {
            return Ok(Value::Scalar(FALSE));
        }
        Ok(self.binary(op, width, a, b))
    }

    fn shift_expr(&mut self, expr: &Expr, op: Op, left: &Expr, right: &Expr) -> R<Value> {
        if let ExprKind::Int(by) = &right.kind
            && by.sign() == Sign::Minus
        {
            return fail(right.span, "the amount of a shift cannot be negative");
        }
        let width = self.width(expr.ty, expr.span)?;
        let op = match (op, self.is_signed(left.ty)) {
            (Op::Shl, _) => BinaryOp::Shl,
            (_, false) => BinaryOp::Shr,
            (_, true) => BinaryOp::Sar,
        };
        // A constant amount may be of type `int`; past the width every amount is the same.
        if let ExprKind::Int(by) = &right.kind {
            let value = self.expr(left)?;
            let by = u32::try_from(by).unwrap_or(width).min(width);
            return Ok(self.shift(op, width, &value, Operand::Imm(by.into()), 32));
        }
        let values = self.operands(&[left, right])?;
        let by_width = self.width(right.ty, right.span)?;
        let by = match &values[1] {
            Value::Scalar(by) => *by,
            wide => self.saturated_index(wide, by_width, false, u128::from(width)),
        };
        let by_width = if by_width > NARROW { 32 } else { by_width };
        Ok(self.shift(op, width, &values[0], by, by_width))
    }

    fn short_circuit(&mut self, expr: &Expr, op: Op, left: &Expr, right: &Expr) -> R<Value> {
        if is_cheap(right) {
            let a = self.scalar(left)?;
            let b = self.scalar(right)?;
            return Ok(Value::Scalar(if op == Op::And { self.b.and(a, b) } else { self.b.or(a, b) }));
        }
        let place = self.b.alloc(1, 1);
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        self.condition(expr, yes, no)?;
        self.b.enter(yes);
        self.b.store(place, 1, TRUE);
        self.b.jump(join);
        self.b.enter(no);
        self.b.store(place, 1, FALSE);
        self.b.jump(join);
        self.b.enter(join);
        Ok(Value::Scalar(self.b.load(place, 1)))
    }

    /// Goes to `then` if the expression holds, else to `otherwise`.
    pub fn condition(&mut self, expr: &Expr, then: BlockId, otherwise: BlockId) -> R<()> {
        match &expr.kind {
            ExprKind::Unary(hir::UnaryOp::Not, inner) => self.condition(inner, otherwise, then),
            ExprKind::Binary(op @ (Op::And | Op::Or), left, right) if !is_cheap(right) => {
                let next = self.b.block();
                if *op == Op::And {
                    self.condition(left, next, otherwise)?;
                } else {
                    self.condition(left, then, next)?;
                }
                self.b.enter(next);
                self.condition(right, then, otherwise)
            }
            _ => {
                let cond = self.scalar(expr)?;
                self.b.branch(cond, then, otherwise);
                Ok(())
            }
        }
    }

    fn ternary(&mut self, expr: &Expr, cond: &Expr, yes: &Expr, no: &Expr) -> R<Value> {
        if let Some((width @ 1..=NARROW, _)) = self.scalar_type(expr.ty)
            && is_cheap(yes)
            && is_cheap(no)
        {
            let cond = self.scalar(cond)?;
            let (a, b) = (self.scalar(yes)?, self.scalar(no)?);
            return Ok(Value::Scalar(self.b.select(width, cond, a, b)));
        }
        let place = self.alloc(expr.ty);
        let (then, otherwise, join) = (self.b.block(), self.b.block(), self.b.block());
        self.condition(cond, then, otherwise)?;
        for (block, arm) in [(then, yes), (otherwise, no)] {
            self.b.enter(block);
            self.fill(arm, place, expr.ty)?;
            self.b.jump(join);
        }
        self.b.enter(join);
        Ok(match self.scalar_type(expr.ty) {
            Some((width, _)) => self.load(place, width),
            None => Value::Frame(place),
        })
    }

    fn cast(&mut self, expr: &Expr, inner: &Expr) -> R<Value> {
        if let (Some((from, signed)), Some((to, _))) = (self.scalar_type(inner.ty), self.scalar_type(expr.ty)) {
            // A constant of type `int` has no width that could cut it.
            if let ExprKind::Int(value) = &inner.kind {
                return Ok(number(value, to));
            }
            let value = self.expr(inner)?;
            return Ok(self.resize(&value, from, to, signed));
        }
        if self.same_storage(inner.ty, expr.ty) {
            return self.expr(inner);
        }
        let place = self.alloc(expr.ty);
        self.fill(expr, place, expr.ty)?;
        Ok(Value::Frame(place))
    }

    /// Whether a header, or a member of a header union, is valid.
    pub fn is_valid(&mut self, place: Place, ty: TypeId) -> Operand {
        let layout = self.layout(ty);
        match &layout.shape {
            Shape::Union(members) => members.iter().fold(FALSE, |any, member| {
                let valid = self.b.load(offset(place, member.offset), 1);
                self.b.or(any, valid)
            }),
            _ => self.b.load(place, 1),
        }
    }

    /// Whether two values that are no scalars are equal.
    fn equal(&mut self, a: Place, a_ty: TypeId, b: Place, b_ty: TypeId, span: Span) -> R<Operand> {
        let (left, right) = (self.layout(a_ty), self.layout(b_ty));
        match (&left.shape, &right.shape) {
            (Shape::Scalar { width, .. }, Shape::Scalar { .. }) => {
                let a = self.load(a, *width);
                let b = self.load(b, *width);
                Ok(self.compare(CompareOp::Eq, *width, &a, &b))
            }
            (Shape::Varbit(a_max), Shape::Varbit(b_max)) => {
                let args = vec![Arg::Varbit(a, *a_max), Arg::Varbit(b, *b_max)];
                Ok(self.compare_args(CompareOp::Eq, args))
            }
            // Two headers are equal when both are invalid, or both valid with equal fields.
            (Shape::Header(_, a_members), Shape::Header(_, b_members)) => {
                let a_valid = self.b.load(a, 1);
                let b_valid = self.b.load(b, 1);
                let same_validity = self.b.compare(CompareOp::Eq, 1, a_valid, b_valid);
                let mut same = TRUE;
                for (x, y) in a_members.iter().zip(b_members) {
                    let equal = self.equal(offset(a, x.offset), x.ty, offset(b, y.offset), y.ty, span)?;
                    same = self.b.and(same, equal);
                }
                let invalid = self.b.not(a_valid);
                let fields = self.b.or(invalid, same);
                Ok(self.b.and(same_validity, fields))
            }
            (Shape::Struct(a_members), Shape::Struct(b_members))
            | (Shape::Union(a_members), Shape::Union(b_members)) => {
                let mut same = TRUE;
                for (x, y) in a_members.iter().zip(b_members) {
                    let equal = self.equal(offset(a, x.offset), x.ty, offset(b, y.offset), y.ty, span)?;
                    same = self.b.and(same, equal);
                }
                Ok(same)
            }
            (Shape::Stack { element, count, stride, first }, Shape::Stack { .. }) => {
                let mut same = TRUE;
                for index in 0..*count {
                    let at = first + index * stride;
                    let equal = self.equal(offset(a, at), *element, offset(b, at), *element, span)?;
                    same = self.b.and(same, equal);
                }
                Ok(same)
            }
            _ => fail(span, "these two cannot be compared"),
        }
    }

    /// The scalars of an expression's value, lists, structures and headers written out.
    pub fn args(&mut self, expr: &Expr, out: &mut Vec<Arg>) -> R<()> {
        match &expr.kind {
            ExprKind::Aggregate(items) => items.iter().try_for_each(|item| self.args(item, out)),
            ExprKind::Cast(inner) if matches!(inner.kind, ExprKind::Aggregate(_)) => self.args(inner, out),
            _ => {
                if let Some((width, _)) = self.scalar_type(expr.ty) {
                    let value = self.expr(expr)?;
                    out.extend((width > 0).then(|| arg(&value, width)));
                    return Ok(());
                }
                let spot = self.spot(expr)?;
                let mut leaves = Vec::new();
                self.layouts.leaves(&self.hir.types, expr.ty, "", 0, &mut leaves);
                for leaf in leaves {
                    let place = offset(spot.place, leaf.offset);
                    match leaf.kind {
                        LeafKind::Valid | LeafKind::Next => {}
                        LeafKind::Scalar(width, _) => {
                            let value = self.load(place, width);
                            out.push(arg(&value, width));
                        }
                        LeafKind::Varbit(max) => out.push(Arg::Varbit(place, max)),
                    }
                }
                Ok(())
            }
        }
    }

    /// One value, which may be wide or a varbit.
    pub fn arg(&mut self, expr: &Expr) -> R<Arg> {
        let width = self.width(expr.ty, expr.span)?;
        let value = self.expr(expr)?;
        Ok(arg(&value, width))
    }

    /// A constant as a number of `width` bits.
    pub fn constant_bits(&self, value: &BigInt, width: u32) -> num_bigint::BigUint {
        let modulus = BigInt::from(1) << width;
        (((value % &modulus) + &modulus) % &modulus).to_biguint().unwrap_or_default()
    }
}

fn pick_op(signed: bool, unsigned: BinaryOp, with_sign: BinaryOp) -> BinaryOp {
    if signed { with_sign } else { unsigned }
}
