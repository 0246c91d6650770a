//! Values of any width, and the operations on them: in temps up to 128 bits, in the frame above.

use hir::TypeId;
use ir::{Arg, BinaryOp, CompareOp, Dest, Index, Inst, Operand, Place, UnaryOp, WideOp, storage_align, storage_size};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;

use crate::build::{Builder, mask};
use crate::context::{Lower, offset};

/// The result of an expression.
#[derive(Debug, Clone)]
pub enum Value {
    /// A scalar of at most 128 bits.
    Scalar(Operand),
    /// Any other value, where it stands: perhaps in a variable that a later side effect changes.
    Frame(Place),
    /// A number of more than 128 bits.
    Const(BigUint),
}

pub const FALSE: Operand = Operand::Imm(0);
pub const TRUE: Operand = Operand::Imm(1);

/// The largest width of a temp.
pub const NARROW: u32 = 128;

/// `number` in `width` bits of two's complement.
pub fn number(number: &BigInt, width: u32) -> Value {
    let modulus = BigInt::from(1) << width;
    let wrapped = ((number % &modulus) + &modulus) % &modulus;
    let bits = wrapped.to_biguint().unwrap_or_default();
    match bits.to_u128() {
        Some(bits) if width <= NARROW => Value::Scalar(Operand::Imm(bits)),
        _ => Value::Const(bits),
    }
}

pub fn arg(value: &Value, width: u32) -> Arg {
    match value {
        Value::Scalar(operand) => Arg::Scalar(*operand, width),
        Value::Frame(place) => Arg::Frame(*place, width),
        Value::Const(number) => Arg::Const(number.clone(), width),
    }
}

/// An index that is past every stack's end.
const OUTSIDE: Operand = Operand::Imm(u32::MAX as u128);

/// Who writes code with values of any width.
pub trait Values {
    fn builder(&mut self) -> &mut Builder;

    fn load(&mut self, place: Place, width: u32) -> Value {
        match width {
            0 => Value::Scalar(FALSE),
            1..=NARROW => Value::Scalar(self.builder().load(place, width)),
            _ => Value::Frame(place),
        }
    }

    /// Writes a scalar.
    fn store(&mut self, place: Place, width: u32, value: &Value) {
        match value {
            _ if width == 0 => {}
            Value::Scalar(src) => self.builder().store(place, width, *src),
            Value::Frame(src) if *src == place => {}
            Value::Frame(src) => self.builder().push(Inst::Copy { dst: place, src: *src, bytes: storage_size(width) }),
            Value::Const(_) => {
                let args = vec![arg(value, width)];
                self.builder().push(Inst::Wide { op: WideOp::ResizeU, dst: Dest::Frame(place, width), args });
            }
        }
    }

    fn copy(&mut self, dst: Place, src: Place, bytes: u32) {
        if bytes > 0 {
            self.builder().push(Inst::Copy { dst, src, bytes });
        }
    }

    fn zero(&mut self, place: Place, bytes: u32) {
        if bytes > 0 {
            self.builder().push(Inst::Zero { place, bytes });
        }
    }

    /// Memory or a temp for a result of `width` bits.
    fn dest(&mut self, width: u32) -> (Dest, Value) {
        if width <= NARROW {
            let temp = self.builder().temp(width.max(1));
            (Dest::Temp(temp), Value::Scalar(Operand::Temp(temp)))
        } else {
            let place = self.builder().alloc(storage_size(width), storage_align(width));
            (Dest::Frame(place, width), Value::Frame(place))
        }
    }

    fn wide(&mut self, op: WideOp, width: u32, args: Vec<Arg>) -> Value {
        let (dst, value) = self.dest(width);
        self.builder().push(Inst::Wide { op, dst, args });
        value
    }

    fn unary(&mut self, op: UnaryOp, width: u32, a: &Value) -> Value {
        match a {
            Value::Scalar(a) => Value::Scalar(self.builder().unary(op, width, *a)),
            _ => self.wide(WideOp::Unary(op), width, vec![arg(a, width)]),
        }
    }

    /// Both operands have `width` bits.
    fn binary(&mut self, op: BinaryOp, width: u32, a: &Value, b: &Value) -> Value {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if width <= NARROW => {
                Value::Scalar(self.builder().binary(op, width, *a, *b))
            }
            _ => self.wide(WideOp::Binary(op), width, vec![arg(a, width), arg(b, width)]),
        }
    }

    /// `op` is a shift; the amount has a width of its own, at most 128 bits.
    fn shift(&mut self, op: BinaryOp, width: u32, a: &Value, by: Operand, by_width: u32) -> Value {
        match a {
            Value::Scalar(a) => {
                if by == FALSE {
                    return Value::Scalar(*a);
                }
                let dst = self.builder().temp(width);
                self.builder().push(Inst::Binary { dst, op, a: *a, b: by });
                Value::Scalar(Operand::Temp(dst))
            }
            _ => self.wide(WideOp::Binary(op), width, vec![arg(a, width), Arg::Scalar(by, by_width)]),
        }
    }

    fn compare(&mut self, op: CompareOp, width: u32, a: &Value, b: &Value) -> Operand {
        match (a, b) {
            _ if width == 0 => Operand::Imm(u128::from(matches!(op, CompareOp::Eq | CompareOp::LeU | CompareOp::LeS))),
            (Value::Scalar(a), Value::Scalar(b)) => self.builder().compare(op, width, *a, *b),
            _ => self.compare_args(op, vec![arg(a, width), arg(b, width)]),
        }
    }

    fn compare_args(&mut self, op: CompareOp, args: Vec<Arg>) -> Operand {
        let dst = self.builder().temp(1);
        self.builder().push(Inst::Wide { op: WideOp::Compare(op), dst: Dest::Temp(dst), args });
        Operand::Temp(dst)
    }

    fn resize(&mut self, value: &Value, from: u32, to: u32, signed: bool) -> Value {
        match value {
            _ if from == to => value.clone(),
            _ if to == 0 || from == 0 => number(&BigInt::ZERO, to),
            Value::Scalar(a) if to <= NARROW => Value::Scalar(self.builder().resize(*a, from, to, signed)),
            _ => {
                let op = if signed { WideOp::ResizeS } else { WideOp::ResizeU };
                self.wide(op, to, vec![arg(value, from)])
            }
        }
    }

    fn slice(&mut self, value: &Value, width: u32, hi: u32, lo: u32) -> Value {
        let size = hi - lo + 1;
        match value {
            _ if size == width => value.clone(),
            Value::Scalar(Operand::Imm(bits)) => Value::Scalar(Operand::Imm((bits >> lo) & mask(size))),
            Value::Scalar(a) => {
                let dst = self.builder().temp(size);
                self.builder().push(Inst::Slice { dst, a: *a, hi, lo });
                Value::Scalar(Operand::Temp(dst))
            }
            _ => self.wide(WideOp::Slice { hi, lo }, size, vec![arg(value, width)]),
        }
    }

    fn concat(&mut self, a: &Value, a_width: u32, b: &Value, b_width: u32) -> Value {
        match (a, b) {
            _ if a_width == 0 => b.clone(),
            _ if b_width == 0 => a.clone(),
            (Value::Scalar(a), Value::Scalar(b)) if a_width + b_width <= NARROW => {
                let dst = self.builder().temp(a_width + b_width);
                self.builder().push(Inst::Concat { dst, a: *a, b: *b, b_width });
                Value::Scalar(Operand::Temp(dst))
            }
            _ => self.wide(WideOp::Concat, a_width + b_width, vec![arg(a, a_width), arg(b, b_width)]),
        }
    }

    /// `value` as 32 bits, or all ones when it is not below `count`.
    fn saturated_index(&mut self, value: &Value, width: u32, signed: bool, count: u128) -> Operand {
        let Value::Scalar(narrow) = value else {
            let limit = Value::Const(BigUint::from(count));
            let inside = self.compare(CompareOp::LtU, width, value, &limit);
            let Value::Scalar(low) = self.resize(value, width, 32, false) else { return OUTSIDE };
            return self.builder().select(32, inside, low, OUTSIDE);
        };
        if width <= 32 {
            return self.builder().resize(*narrow, width, 32, signed);
        }
        let inside = self.builder().compare(CompareOp::LtU, width, *narrow, Operand::Imm(count));
        let low = self.builder().resize(*narrow, width, 32, false);
        self.builder().select(32, inside, low, OUTSIDE)
    }

    /// An element of a stack. A place has one index; of two, one in bytes is made.
    fn element(&mut self, base: Place, first: u32, stride: u32, count: u32, index: Operand) -> Place {
        if let Operand::Imm(index) = index
            && index < u128::from(count)
        {
            return offset(base, first + index as u32 * stride);
        }
        let place = offset(base, first);
        let Some(outer) = base.index else {
            return Place { index: Some(Index { index, stride, count }), ..place };
        };
        let outer_in = self.builder().compare(CompareOp::LtU, 32, outer.index, Operand::Imm(outer.count.into()));
        let inner_in = self.builder().compare(CompareOp::LtU, 32, index, Operand::Imm(count.into()));
        let inside = self.builder().and(outer_in, inner_in);
        let outer_bytes = self.builder().binary(BinaryOp::Mul, 32, outer.index, Operand::Imm(outer.stride.into()));
        let inner_bytes = self.builder().binary(BinaryOp::Mul, 32, index, Operand::Imm(stride.into()));
        let bytes = self.builder().binary(BinaryOp::Add, 32, outer_bytes, inner_bytes);
        let index = self.builder().select(32, inside, bytes, OUTSIDE);
        let last = outer.count.saturating_sub(1) * outer.stride + count.saturating_sub(1) * stride;
        Place { index: Some(Index { index, stride: 1, count: last + 1 }), ..place }
    }
}

impl Values for Lower<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }
}

impl Lower<'_> {
    /// Writes a value of any type.
    pub fn write(&mut self, place: Place, ty: TypeId, value: &Value) {
        match (self.scalar_type(ty), value) {
            (Some((width, _)), _) => self.store(place, width, value),
            (None, Value::Frame(src)) if *src != place => {
                let bytes = self.layout(ty).size;
                self.copy(place, *src, bytes);
            }
            _ => {}
        }
    }

    /// A copy of the value that no later side effect changes.
    pub fn snapshot(&mut self, value: Value, ty: TypeId) -> Value {
        match value {
            Value::Frame(_) => {
                let place = self.alloc(ty);
                self.write(place, ty, &value);
                Value::Frame(place)
            }
            other => other,
        }
    }

    /// The value in the frame.
    pub fn in_frame(&mut self, value: Value, ty: TypeId) -> Place {
        match value {
            Value::Frame(place) => place,
            other => {
                let place = self.alloc(ty);
                self.write(place, ty, &other);
                place
            }
        }
    }
}
