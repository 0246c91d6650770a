//! Arithmetic on scalars; its meaning is [`ir::eval`].

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types::*};
use ir::eval::{self, mask};
use ir::{BinaryOp, CompareOp, Operand, UnaryOp};

use super::{Memory, Translator};
use crate::helper::Helper;

/// The type of a value of `width` bits.
pub(crate) fn type_of(width: u32) -> Type {
    match width {
        0..=8 => I8,
        9..=16 => I16,
        17..=32 => I32,
        33..=64 => I64,
        _ => I128,
    }
}

impl Translator<'_> {
    /// A number; bits above the type are cut.
    pub(super) fn constant(&mut self, ty: Type, value: u128) -> Value {
        if ty == I128 {
            let lo = self.builder.ins().iconst(I64, value as i64);
            let hi = self.builder.ins().iconst(I64, (value >> 64) as i64);
            return self.builder.ins().iconcat(lo, hi);
        }
        self.builder.ins().iconst(ty, (value & mask(ty.bits())) as i64)
    }

    /// The low bits of a value as another type, or the value with zeros in front.
    pub(super) fn cast(&mut self, value: Value, to: Type) -> Value {
        let from = self.type_of_value(value);
        match from.bits().cmp(&to.bits()) {
            std::cmp::Ordering::Less => self.builder.ins().uextend(to, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.builder.ins().ireduce(to, value),
        }
    }

    /// Clears the bits above `width`.
    pub(super) fn masked(&mut self, value: Value, width: u32) -> Value {
        let ty = self.type_of_value(value);
        if width >= ty.bits() {
            return value;
        }
        if ty == I128 && width > 64 {
            let (lo, hi) = self.builder.ins().isplit(value);
            let hi = self.masked(hi, width - 64);
            return self.builder.ins().iconcat(lo, hi);
        }
        let ones = self.constant(ty, mask(width));
        self.builder.ins().band(value, ones)
    }

    /// `value << by` for a constant below the type's bits.
    pub(super) fn shift_left(&mut self, value: Value, by: u32) -> Value {
        let ty = self.type_of_value(value);
        if by == 0 {
            return value;
        }
        if ty != I128 {
            let by = self.constant(ty, by.into());
            return self.builder.ins().ishl(value, by);
        }
        let (lo, hi) = self.builder.ins().isplit(value);
        let (lo, hi) = if by >= 64 {
            (self.constant(I64, 0), self.shift_left(lo, by - 64))
        } else {
            let carried = self.shift_right(lo, 64 - by);
            let hi = self.shift_left(hi, by);
            (self.shift_left(lo, by), self.builder.ins().bor(hi, carried))
        };
        self.builder.ins().iconcat(lo, hi)
    }

    /// `value >> by`, with zeros in front, for a constant below the type's bits.
    pub(super) fn shift_right(&mut self, value: Value, by: u32) -> Value {
        let ty = self.type_of_value(value);
        if by == 0 {
            return value;
        }
        if ty != I128 {
            let by = self.constant(ty, by.into());
            return self.builder.ins().ushr(value, by);
        }
        let (lo, hi) = self.builder.ins().isplit(value);
        let (lo, hi) = if by >= 64 {
            (self.shift_right(hi, by - 64), self.constant(I64, 0))
        } else {
            let carried = self.shift_left(hi, 64 - by);
            let lo = self.shift_right(lo, by);
            (self.builder.ins().bor(lo, carried), self.shift_right(hi, by))
        };
        self.builder.ins().iconcat(lo, hi)
    }

    /// `value >> by` with the sign of the type in front, for a constant below the type's bits.
    fn shift_right_signed(&mut self, value: Value, by: u32) -> Value {
        let by = self.constant(I32, by.into());
        self.builder.ins().sshr(value, by)
    }

    /// The signed number of `width` bits as a signed number of the value's type.
    fn sign_extended(&mut self, value: Value, width: u32) -> Value {
        let unused = self.type_of_value(value).bits() - width;
        if unused == 0 {
            return value;
        }
        let value = self.shift_left(value, unused);
        self.shift_right_signed(value, unused)
    }

    /// `cond ? a : b`. Of 128 bits each half is chosen by itself: Cranelift 0.135 makes a minimum or maximum of a choice
    /// between the values compared, and generates no code for those of 128 bits.
    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        if self.type_of_value(a) != I128 {
            return self.builder.ins().select(cond, a, b);
        }
        let ((a_lo, a_hi), (b_lo, b_hi)) = (self.builder.ins().isplit(a), self.builder.ins().isplit(b));
        let lo = self.builder.ins().select(cond, a_lo, b_lo);
        let hi = self.builder.ins().select(cond, a_hi, b_hi);
        self.builder.ins().iconcat(lo, hi)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, a: Operand, width: u32) -> Value {
        let ty = type_of(width);
        let a = self.operand(a, width);
        match op {
            UnaryOp::Neg => {
                let zero = self.constant(ty, 0);
                let value = self.builder.ins().isub(zero, a);
                self.masked(value, width)
            }
            UnaryOp::Not => {
                let ones = self.constant(ty, mask(width));
                self.builder.ins().bxor(a, ones)
            }
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand, width: u32) -> Value {
        if let (Operand::Imm(a), Operand::Imm(b)) = (a, b) {
            return self.constant(type_of(width), eval::binary(op, a, b, width));
        }
        if let BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar = op {
            return self.shift(op, a, b, width);
        }
        if let (BinaryOp::Div | BinaryOp::Mod, Operand::Imm(0)) = (op, b) {
            return self.constant(type_of(width), 0);
        }
        let divisor_known = matches!(b, Operand::Imm(_));
        let (a, b) = (self.operand(a, width), self.operand(b, width));
        match op {
            BinaryOp::Add => {
                let value = self.builder.ins().iadd(a, b);
                self.masked(value, width)
            }
            BinaryOp::Sub => {
                let value = self.builder.ins().isub(a, b);
                self.masked(value, width)
            }
            BinaryOp::Mul => {
                let value = self.builder.ins().imul(a, b);
                self.masked(value, width)
            }
            BinaryOp::And => self.builder.ins().band(a, b),
            BinaryOp::Or => self.builder.ins().bor(a, b),
            BinaryOp::Xor => self.builder.ins().bxor(a, b),
            BinaryOp::Div | BinaryOp::Mod => self.divide(op, a, b, divisor_known),
            BinaryOp::AddSatU | BinaryOp::SubSatU => self.saturate_unsigned(op, a, b, width),
            BinaryOp::AddSatS | BinaryOp::SubSatS => self.saturate_signed(op, a, b, width),
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar => unreachable!("shifts stand above"),
        }
    }

    fn divide(&mut self, op: BinaryOp, a: Value, b: Value, divisor_known: bool) -> Value {
        let ty = self.type_of_value(a);
        if ty == I128 {
            let pair = self.scratch(32);
            self.store_to(Memory::Scratch, a, pair, 0);
            self.store_to(Memory::Scratch, b, pair, 16);
            self.call(Helper::divide(), &[pair]);
            return self.load_from(Memory::Scratch, I128, pair, if op == BinaryOp::Div { 0 } else { 16 });
        }
        let divide = |this: &mut Self, divisor| match op {
            BinaryOp::Div => this.builder.ins().udiv(a, divisor),
            _ => this.builder.ins().urem(a, divisor),
        };
        if divisor_known {
            return divide(self, b);
        }
        // The processor traps on zero, so divide by one and drop the result.
        let (zero, one) = (self.constant(ty, 0), self.constant(ty, 1));
        let is_zero = self.builder.ins().icmp(IntCC::Equal, b, zero);
        let divisor = self.select(is_zero, one, b);
        let value = divide(self, divisor);
        self.select(is_zero, zero, value)
    }

    fn saturate_unsigned(&mut self, op: BinaryOp, a: Value, b: Value, width: u32) -> Value {
        let ty = self.type_of_value(a);
        if op == BinaryOp::SubSatU {
            let value = self.builder.ins().isub(a, b);
            let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b);
            let zero = self.constant(ty, 0);
            return self.select(below, zero, value);
        }
        let sum = self.builder.ins().iadd(a, b);
        let most = self.constant(ty, mask(width));
        let above = if width == ty.bits() {
            self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a)
        } else {
            self.builder.ins().icmp(IntCC::UnsignedGreaterThan, sum, most)
        };
        self.select(above, most, sum)
    }

    /// With the operands at the top of the type, its own overflow is theirs.
    fn saturate_signed(&mut self, op: BinaryOp, a: Value, b: Value, width: u32) -> Value {
        let ty = self.type_of_value(a);
        let unused = ty.bits() - width;
        let (a, b) = (self.shift_left(a, unused), self.shift_left(b, unused));
        // Overflow is in the sign bit of: for a sum, (a ^ result) & (b ^ result); for a difference, (a ^ b) & (a ^ result).
        let (value, other) = if op == BinaryOp::AddSatS {
            let value = self.builder.ins().iadd(a, b);
            (value, self.builder.ins().bxor(b, value))
        } else {
            (self.builder.ins().isub(a, b), self.builder.ins().bxor(a, b))
        };
        let changed = self.builder.ins().bxor(a, value);
        let overflow = self.builder.ins().band(changed, other);
        let zero = self.constant(ty, 0);
        let overflow = self.builder.ins().icmp(IntCC::SignedLessThan, overflow, zero);
        let sign = self.shift_right_signed(a, ty.bits() - 1);
        let highest = self.constant(ty, mask(ty.bits() - 1));
        let extreme = self.builder.ins().bxor(sign, highest);
        let value = self.select(overflow, extreme, value);
        self.shift_right(value, unused)
    }

    fn shift(&mut self, op: BinaryOp, a: Operand, amount: Operand, width: u32) -> Value {
        let ty = type_of(width);
        let mut a = self.operand(a, width);
        if op == BinaryOp::Sar {
            a = self.sign_extended(a, width);
        }
        if let Operand::Imm(amount) = amount {
            let value = match op {
                BinaryOp::Sar => self.shift_right_signed(a, amount.min(u128::from(width) - 1) as u32),
                _ if amount >= width.into() => self.constant(ty, 0),
                BinaryOp::Shl => self.shift_left(a, amount as u32),
                _ => self.shift_right(a, amount as u32),
            };
            return self.masked(value, width);
        }
        let amount_width = self.operand_width(amount);
        let amount = self.operand(amount, amount_width);
        let amount_type = self.type_of_value(amount);
        // Some amounts can't reach the width.
        let bounded = amount_width < 32 && 1 << amount_width <= width;
        let in_range = (!bounded).then(|| {
            let bound = self.constant(amount_type, width.into());
            self.builder.ins().icmp(IntCC::UnsignedLessThan, amount, bound)
        });
        let low = self.cast(amount, I32);
        let value = match op {
            BinaryOp::Sar => {
                let low = in_range.map_or(low, |in_range| {
                    let most = self.constant(I32, u128::from(width) - 1);
                    self.select(in_range, low, most)
                });
                self.builder.ins().sshr(a, low)
            }
            BinaryOp::Shl => self.builder.ins().ishl(a, low),
            _ => self.builder.ins().ushr(a, low),
        };
        let value = self.masked(value, width);
        match in_range {
            Some(in_range) if op != BinaryOp::Sar => {
                let zero = self.constant(ty, 0);
                self.select(in_range, value, zero)
            }
            _ => value,
        }
    }

    pub(super) fn compare(&mut self, op: CompareOp, width: u32, a: Operand, b: Operand) -> Value {
        let (mut a, mut b) = (self.operand(a, width), self.operand(b, width));
        let cc = match op {
            CompareOp::Eq => IntCC::Equal,
            CompareOp::Ne => IntCC::NotEqual,
            CompareOp::LtU => IntCC::UnsignedLessThan,
            CompareOp::LeU => IntCC::UnsignedLessThanOrEqual,
            CompareOp::LtS => IntCC::SignedLessThan,
            CompareOp::LeS => IntCC::SignedLessThanOrEqual,
        };
        if let CompareOp::LtS | CompareOp::LeS = op {
            let unused = self.type_of_value(a).bits() - width;
            (a, b) = (self.shift_left(a, unused), self.shift_left(b, unused));
        }
        self.builder.ins().icmp(cc, a, b)
    }

    pub(super) fn resize(&mut self, signed: bool, a: Operand, from: u32, to: u32) -> Value {
        let (a, ty) = (self.operand(a, from), type_of(to));
        if to <= from {
            let value = self.cast(a, ty);
            return self.masked(value, to);
        }
        if !signed {
            return self.cast(a, ty);
        }
        let value = self.sign_extended(a, from);
        let value = if self.type_of_value(value) == ty { value } else { self.builder.ins().sextend(ty, value) };
        self.masked(value, to)
    }

    pub(super) fn slice(&mut self, a: Operand, hi: u32, lo: u32) -> Value {
        let a = self.operand(a, self.operand_width(a).max(hi + 1));
        let value = self.shift_right(a, lo);
        let value = self.cast(value, type_of(hi - lo + 1));
        self.masked(value, hi - lo + 1)
    }

    pub(super) fn insert(&mut self, a: Operand, value: Operand, hi: u32, lo: u32, width: u32) -> Value {
        let ty = type_of(width);
        let a = self.operand(a, width);
        let value = self.operand(value, hi - lo + 1);
        let keep = self.constant(ty, !(mask(hi - lo + 1) << lo) & mask(width));
        let kept = self.builder.ins().band(a, keep);
        let value = self.cast(value, ty);
        let value = self.shift_left(value, lo);
        self.builder.ins().bor(kept, value)
    }

    pub(super) fn concat(&mut self, a: Operand, b: Operand, b_width: u32, width: u32) -> Value {
        let ty = type_of(width);
        let b = self.operand(b, b_width);
        let low = self.cast(b, ty);
        if b_width >= width {
            return low;
        }
        let a = self.operand(a, width - b_width);
        let high = self.cast(a, ty);
        let high = self.shift_left(high, b_width);
        self.builder.ins().bor(high, low)
    }
}
