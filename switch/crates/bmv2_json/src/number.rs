//! Numbers: the low bits of an expression's value. Most operations need no more than the low bits of their operands;
//! the others take them with all the bits that they can have.

use ir::{BinaryOp, CompareOp, Inst, Operand, UnaryOp};
use lower::value::{FALSE, NARROW, Value, Values, arg, number};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::bounds::{cast_width, is_bool};
use crate::context::{Argument, Spot, Translation, field_at, field_of};
use crate::error::{Error, Result, fail};
use crate::expr::{Expr, Op};
use crate::layout::{Header, Stack};

impl Translation<'_> {
    /// The low `width` bits of the value.
    pub fn low(&mut self, expr: &Expr, width: u32) -> Result<Value> {
        if is_bool(expr) {
            let truth = self.truth(expr)?;
            return Ok(self.resize(&Value::Scalar(truth), 1, width, false));
        }
        match expr {
            Expr::Number(value) => Ok(number(value, width)),
            Expr::Argument(index) => {
                let (value, from) = self.argument(*index)?;
                Ok(self.resize(&value, from, width, false))
            }
            Expr::Register(name, index) => {
                let (register, from) = self.register(name)?;
                let index = self.index(index, u128::from(u32::MAX))?;
                let (dst, value) = self.dest(from);
                self.b.push(Inst::RegisterRead { dst, register, index });
                Ok(self.resize(&value, from, width, false))
            }
            Expr::Lookahead(offset, size) => {
                let value = self.lookahead(*offset, *size)?;
                Ok(self.resize(&value, *size, width, false))
            }
            Expr::Op(op) if op.name != "access_field" => self.operation(op, width),
            _ => {
                let spot = self.spot(expr)?;
                if spot.varbit {
                    return fail("a field of variable length is no number");
                }
                let value = self.load(spot.place, spot.width);
                Ok(self.resize(&value, spot.width, width, spot.signed))
            }
        }
    }

    /// Where a value stands that can be assigned.
    pub fn spot(&mut self, expr: &Expr) -> Result<Spot> {
        match expr {
            Expr::Field(header, field) => self.field(header, field),
            Expr::Member(header, field) => {
                let header = self.header_spot(header)?;
                field_of(&header, field)
            }
            Expr::StackField(stack, field) => {
                let last = self.last(stack)?;
                field_of(&last[0], field)
            }
            Expr::UnionStackField(stack, member, field) => {
                let (_, index) = self.union_member(stack, member)?;
                let last = self.last(stack)?;
                field_of(&last[index], field)
            }
            Expr::Op(op) if op.name == "access_field" => self.accessed(op),
            _ => fail(format!("no field can be found by {expr:?}")),
        }
    }

    /// A field of a header that only run time may know.
    pub fn accessed(&mut self, op: &Op) -> Result<Spot> {
        let (Some(header), Expr::Number(field)) = (&op.left, &op.right) else {
            return fail("`access_field` needs a header and the number of a field");
        };
        let header = self.header_spot(header)?;
        field_at(&header, field.to_usize().unwrap_or(usize::MAX))
    }

    /// A member of a stack of unions by name: its header, and which it is.
    pub fn union_member(&self, stack: &str, member: &str) -> Result<(Header, usize)> {
        let Stack { members, names, .. } = self.stack(stack)?;
        let found = names.iter().zip(members).enumerate().find(|(_, (name, _))| *name == member);
        let (index, (_, header)) = found.ok_or_else(|| Error::new(format!("stack {stack} has no member {member}")))?;
        Ok((header, index))
    }

    pub fn register(&self, name: &str) -> Result<(ir::RegisterId, u32)> {
        let id = self.objects.registers.get(name);
        let id = *id.ok_or_else(|| Error::new(format!("there is no register {name}")))?;
        Ok((id, self.out.registers[id].width))
    }

    fn argument(&mut self, index: usize) -> Result<(Value, u32)> {
        let argument = self.arguments.get(index).cloned();
        match argument.ok_or_else(|| Error::new(format!("the action has no argument {index}")))? {
            Argument::Constant(value, width) => Ok((number(&value, width), width)),
            Argument::Entry { offset, width } if width <= NARROW => {
                let dst = self.b.temp(width);
                self.b.push(Inst::LoadArg { dst, offset });
                Ok((Value::Scalar(Operand::Temp(dst)), width))
            }
            Argument::Entry { offset, width } => {
                let bytes = ir::storage_size(width);
                let dst = self.b.alloc(bytes, ir::storage_align(width));
                self.b.push(Inst::CopyArg { dst, offset, bytes });
                Ok((Value::Frame(dst), width))
            }
        }
    }

    /// The next bits of the packet behind an offset.
    fn lookahead(&mut self, offset: u32, size: u32) -> Result<Value> {
        if !self.in_parser {
            return fail("only a parser looks ahead");
        }
        if size == 0 {
            return Ok(Value::Scalar(FALSE));
        }
        let whole = offset + size;
        let error = self.b.temp(32);
        let (dst, value) = self.dest(whole);
        self.b.push(Inst::Lookahead { error, dst });
        self.check(error);
        Ok(self.slice(&value, whole, size - 1, 0))
    }

    /// The whole value as an index of 32 bits; what is not below `count` is past the end.
    pub fn index(&mut self, expr: &Expr, count: u128) -> Result<Operand> {
        let bounds = self.bounds(expr)?;
        let value = self.low(expr, bounds.width)?;
        Ok(self.saturated_index(&value, bounds.width, bounds.signed, count))
    }

    /// The low bits as an operand: at most 128 bits.
    pub fn operand(&mut self, expr: &Expr, width: u32) -> Result<Operand> {
        match self.low(expr, width)? {
            Value::Scalar(operand) => Ok(operand),
            _ => fail("a value of at most 128 bits is needed here"),
        }
    }

    fn operation(&mut self, op: &Op, width: u32) -> Result<Value> {
        let zero = Expr::Number(BigInt::ZERO);
        let left = op.left.as_ref().unwrap_or(&zero);
        let plain = match op.name.as_str() {
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "*" => BinaryOp::Mul,
            "|" => BinaryOp::Or,
            "^" => BinaryOp::Xor,
            "&" => return self.and(left, &op.right, width),
            "~" => {
                let value = self.low(&op.right, width)?;
                return Ok(self.unary(UnaryOp::Not, width, &value));
            }
            "<<" => {
                let value = self.low(left, width)?;
                let by = self.index(&op.right, width.into())?;
                return Ok(self.shift(BinaryOp::Shl, width, &value, by, 32));
            }
            ">>" => return self.shift_right(left, &op.right, width),
            "/" | "%" => return self.divide(op, left, width),
            "b2d" => {
                let truth = self.truth(&op.right)?;
                return Ok(self.resize(&Value::Scalar(truth), 1, width, false));
            }
            "two_comp_mod" => {
                let from = cast_width(op)?;
                let value = self.low(left, from)?;
                return Ok(self.resize(&value, from, width, true));
            }
            "usat_cast" | "sat_cast" => return self.saturate(op, left, width),
            "?" => {
                let Some(cond) = &op.cond else { return fail("`?` has no condition") };
                let cond = self.truth(cond)?;
                let (yes, no) = (self.low(left, width)?, self.low(&op.right, width)?);
                return Ok(self.choose(width, cond, &yes, &no));
            }
            "last_stack_index" | "size_stack" => {
                let Expr::HeaderStack(name) = &op.right else { return fail("only a header stack has a last index") };
                let next = Self::next_of(&self.stack(name)?);
                let mut value = self.b.load(next, 32);
                if op.name == "last_stack_index" {
                    value = self.b.binary(BinaryOp::Sub, 32, value, Operand::Imm(1));
                }
                return Ok(self.resize(&Value::Scalar(value), 32, width, false));
            }
            name => return fail(format!("operation `{name}` is not supported")),
        };
        let (a, b) = (self.low(left, width)?, self.low(&op.right, width)?);
        Ok(self.binary(plain, width, &a, &b))
    }

    /// No bit is set that is not set in both: the shorter operand says how many are worth computing.
    fn and(&mut self, left: &Expr, right: &Expr, width: u32) -> Result<Value> {
        let bounds = [self.bounds(left)?, self.bounds(right)?];
        let shortest = bounds.iter().filter(|bounds| !bounds.signed).map(|bounds| bounds.width).min();
        let inner = shortest.map_or(width, |shortest| shortest.min(width));
        let (a, b) = (self.low(left, inner)?, self.low(right, inner)?);
        let value = self.binary(BinaryOp::And, inner, &a, &b);
        Ok(self.resize(&value, inner, width, false))
    }

    fn shift_right(&mut self, left: &Expr, by: &Expr, width: u32) -> Result<Value> {
        let bounds = self.bounds(left)?;
        if let Expr::Number(by) = by
            && let Some(by) = by.to_u32()
        {
            // Bits that are shifted out at the top of a longer value need not be computed.
            let wanted = width.saturating_add(by);
            let from = if bounds.signed { wanted } else { bounds.width.min(wanted) };
            if !bounds.signed && by >= from {
                return Ok(number(&BigInt::ZERO, width));
            }
            if from <= 1 << 16 {
                let value = self.low(left, from)?;
                let value = self.slice(&value, from, from - 1, by);
                return Ok(self.resize(&value, from - by, width, bounds.signed));
            }
        }
        let from = bounds.width.max(width);
        let value = self.low(left, from)?;
        let by = self.index(by, u128::from(from))?;
        let op = if bounds.signed { BinaryOp::Sar } else { BinaryOp::Shr };
        let value = self.shift(op, from, &value, by, 32);
        Ok(self.resize(&value, from, width, false))
    }

    fn divide(&mut self, op: &Op, left: &Expr, width: u32) -> Result<Value> {
        let bounds = self.bounds(left)?.join(self.bounds(&op.right)?);
        if bounds.signed {
            return fail(format!("`{}` of numbers that may be negative is not supported", op.name));
        }
        let from = bounds.width;
        let (a, b) = (self.low(left, from)?, self.low(&op.right, from)?);
        let op = if op.name == "/" { BinaryOp::Div } else { BinaryOp::Mod };
        let value = self.binary(op, from, &a, &b);
        Ok(self.resize(&value, from, width, false))
    }

    /// The nearest number that the cast's width can hold.
    fn saturate(&mut self, op: &Op, inner: &Expr, width: u32) -> Result<Value> {
        let to = cast_width(op)?;
        let is_signed = op.name == "sat_cast";
        let bounds = self.bounds(inner)?;
        let wide = bounds.with_sign().max(to + 1);
        let mut value = self.low(inner, wide)?;
        let one = BigInt::from(1);
        let (least, most) =
            if is_signed { (-(&one << (to - 1)), (&one << (to - 1)) - 1) } else { (BigInt::ZERO, (&one << to) - 1) };
        let (least, most) = (number(&least, wide), number(&most, wide));
        let below = self.compare(CompareOp::LtS, wide, &value, &least);
        value = self.choose(wide, below, &least, &value);
        let above = self.compare(CompareOp::LtS, wide, &most, &value);
        value = self.choose(wide, above, &most, &value);
        let value = self.resize(&value, wide, to, false);
        Ok(self.resize(&value, to, width, is_signed))
    }

    /// One of two values of `width` bits.
    fn choose(&mut self, width: u32, cond: Operand, yes: &Value, no: &Value) -> Value {
        if let (Value::Scalar(yes), Value::Scalar(no)) = (yes, no) {
            return Value::Scalar(self.b.select(width, cond, *yes, *no));
        }
        let (then, otherwise, join) = (self.b.block(), self.b.block(), self.b.block());
        let place = self.b.alloc(ir::storage_size(width), ir::storage_align(width));
        self.b.branch(cond, then, otherwise);
        for (block, value) in [(then, yes), (otherwise, no)] {
            self.b.enter(block);
            self.store(place, width, value);
            self.b.jump(join);
        }
        self.b.enter(join);
        Value::Frame(place)
    }

    /// The value with all its bits, as an argument.
    pub fn argument_of(&mut self, expr: &Expr) -> Result<ir::Arg> {
        if let Expr::Field(header, field) = expr {
            let spot = self.field(header, field)?;
            if spot.varbit {
                return Ok(ir::Arg::Varbit(spot.place, spot.width));
            }
        }
        let bounds = self.bounds(expr)?;
        let value = self.low(expr, bounds.width)?;
        Ok(arg(&value, bounds.width))
    }
}
