//! Values of any width, and the operations on them: in temps up to 128 bits, in the frame above.

use hir::TypeId;
use ir::{Arg, BinaryOp, CompareOp, Dest, Inst, Operand, Place, UnaryOp, WideOp, storage_align, storage_size};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;

use crate::build::mask;
use crate::context::Lower;

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

impl Lower<'_> {
    pub fn load(&mut self, place: Place, width: u32) -> Value {
        match width {
            0 => Value::Scalar(FALSE),
            1..=NARROW => Value::Scalar(self.b.load(place, width)),
            _ => Value::Frame(place),
        }
    }

    /// Writes a scalar.
    pub fn store(&mut self, place: Place, width: u32, value: &Value) {
        match value {
            _ if width == 0 => {}
            Value::Scalar(src) => self.b.store(place, width, *src),
            Value::Frame(src) if *src == place => {}
            Value::Frame(src) => self.b.push(Inst::Copy { dst: place, src: *src, bytes: storage_size(width) }),
            Value::Const(_) => {
                let args = vec![arg(value, width)];
                self.b.push(Inst::Wide { op: WideOp::ResizeU, dst: Dest::Frame(place, width), args });
            }
        }
    }

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

    pub fn copy(&mut self, dst: Place, src: Place, bytes: u32) {
        if bytes > 0 {
            self.b.push(Inst::Copy { dst, src, bytes });
        }
    }

    pub fn zero(&mut self, place: Place, bytes: u32) {
        if bytes > 0 {
            self.b.push(Inst::Zero { place, bytes });
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

    /// Memory or a temp for a result of `width` bits.
    pub fn dest(&mut self, width: u32) -> (Dest, Value) {
        if width <= NARROW {
            let temp = self.b.temp(width.max(1));
            (Dest::Temp(temp), Value::Scalar(Operand::Temp(temp)))
        } else {
            let place = self.b.alloc(storage_size(width), storage_align(width));
            (Dest::Frame(place, width), Value::Frame(place))
        }
    }

    pub fn wide(&mut self, op: WideOp, width: u32, args: Vec<Arg>) -> Value {
        let (dst, value) = self.dest(width);
        self.b.push(Inst::Wide { op, dst, args });
        value
    }

    pub fn unary(&mut self, op: UnaryOp, width: u32, a: &Value) -> Value {
        match a {
            Value::Scalar(a) => Value::Scalar(self.b.unary(op, width, *a)),
            _ => self.wide(WideOp::Unary(op), width, vec![arg(a, width)]),
        }
    }

    /// Both operands have `width` bits.
    pub fn binary(&mut self, op: BinaryOp, width: u32, a: &Value, b: &Value) -> Value {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if width <= NARROW => Value::Scalar(self.b.binary(op, width, *a, *b)),
            _ => self.wide(WideOp::Binary(op), width, vec![arg(a, width), arg(b, width)]),
        }
    }

    /// `op` is a shift; the amount has a width of its own, at most 128 bits.
    pub fn shift(&mut self, op: BinaryOp, width: u32, a: &Value, by: Operand, by_width: u32) -> Value {
        match a {
            Value::Scalar(a) => {
                if by == FALSE {
                    return Value::Scalar(*a);
                }
                let dst = self.b.temp(width);
                self.b.push(Inst::Binary { dst, op, a: *a, b: by });
                Value::Scalar(Operand::Temp(dst))
            }
            _ => self.wide(WideOp::Binary(op), width, vec![arg(a, width), Arg::Scalar(by, by_width)]),
        }
    }

    pub fn compare(&mut self, op: CompareOp, width: u32, a: &Value, b: &Value) -> Operand {
        match (a, b) {
            _ if width == 0 => Operand::Imm(u128::from(matches!(op, CompareOp::Eq | CompareOp::LeU | CompareOp::LeS))),
            (Value::Scalar(a), Value::Scalar(b)) => self.b.compare(op, width, *a, *b),
            _ => self.compare_args(op, vec![arg(a, width), arg(b, width)]),
        }
    }

    pub fn compare_args(&mut self, op: CompareOp, args: Vec<Arg>) -> Operand {
        let dst = self.b.temp(1);
        self.b.push(Inst::Wide { op: WideOp::Compare(op), dst: Dest::Temp(dst), args });
        Operand::Temp(dst)
    }

    pub fn resize(&mut self, value: &Value, from: u32, to: u32, signed: bool) -> Value {
        match value {
            _ if from == to => value.clone(),
            _ if to == 0 || from == 0 => number(&BigInt::ZERO, to),
            Value::Scalar(a) if to <= NARROW => Value::Scalar(self.b.resize(*a, from, to, signed)),
            _ => {
                let op = if signed { WideOp::ResizeS } else { WideOp::ResizeU };
                self.wide(op, to, vec![arg(value, from)])
            }
        }
    }

    pub fn slice(&mut self, value: &Value, width: u32, hi: u32, lo: u32) -> Value {
        let size = hi - lo + 1;
        match value {
            _ if size == width => value.clone(),
            Value::Scalar(Operand::Imm(bits)) => Value::Scalar(Operand::Imm((bits >> lo) & mask(size))),
            Value::Scalar(a) => {
                let dst = self.b.temp(size);
                self.b.push(Inst::Slice { dst, a: *a, hi, lo });
                Value::Scalar(Operand::Temp(dst))
            }
            _ => self.wide(WideOp::Slice { hi, lo }, size, vec![arg(value, width)]),
        }
    }

    pub fn concat(&mut self, a: &Value, a_width: u32, b: &Value, b_width: u32) -> Value {
        match (a, b) {
            _ if a_width == 0 => b.clone(),
            _ if b_width == 0 => a.clone(),
            (Value::Scalar(a), Value::Scalar(b)) if a_width + b_width <= NARROW => {
                let dst = self.b.temp(a_width + b_width);
                self.b.push(Inst::Concat { dst, a: *a, b: *b, b_width });
                Value::Scalar(Operand::Temp(dst))
            }
            _ => self.wide(WideOp::Concat, a_width + b_width, vec![arg(a, a_width), arg(b, b_width)]),
        }
    }
}
