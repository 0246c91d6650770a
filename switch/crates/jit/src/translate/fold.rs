//! What is known when code is compiled: values that are the same for every packet.

use cranelift_codegen::ir::{InstructionData, Opcode, Value, ValueDef};
use ir::eval::{self, mask};
use ir::{BinaryOp, Handle, Inst, Operand, Temp};

use super::{Slot, Translator};

impl Translator<'_> {
    /// The value of a constant.
    pub(super) fn constant_of_value(&self, value: Value) -> Option<u128> {
        let dfg = &self.builder.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(value) else { return None };
        match dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
                Some(u128::from(imm.bits() as u64) & mask(dfg.value_type(value).bits()))
            }
            InstructionData::Binary { opcode: Opcode::Iconcat, args: [lo, hi] } => {
                Some(self.constant_of_value(hi)? << 64 | self.constant_of_value(lo)?)
            }
            _ => None,
        }
    }

    /// The value of an operand, if it is a constant.
    pub(super) fn constant_of(&self, operand: Operand) -> Option<u128> {
        match operand {
            Operand::Imm(value) => Some(value),
            Operand::Temp(temp) => match self.temps[temp.index()]? {
                Slot::Value(value) => self.constant_of_value(value),
                Slot::Variable(_) => None,
            },
        }
    }

    /// What an instruction computes, if that is known.
    pub(super) fn fold(&self, inst: &Inst) -> Option<(Temp, Operand)> {
        self.fold_with(inst, &|operand| self.constant_of(operand))
    }

    /// The same where other operands are known.
    pub(super) fn fold_with(&self, inst: &Inst, known: &dyn Fn(Operand) -> Option<u128>) -> Option<(Temp, Operand)> {
        let result = match *inst {
            Inst::Unary { dst, op, a } => (dst, eval::unary(op, known(a)?, self.width(dst))),
            Inst::Binary { dst, op, a, b } => {
                return self.fold_binary(dst, op, (a, known(a)), (b, known(b))).map(|result| (dst, result));
            }
            Inst::Compare { dst, op, width, a, b } => (dst, eval::compare(op, known(a)?, known(b)?, width).into()),
            Inst::Resize { dst, signed, from, a } => (dst, eval::resize(signed, known(a)?, from, self.width(dst))),
            Inst::Slice { dst, a, hi, lo } => (dst, eval::slice(known(a)?, hi, lo)),
            Inst::Insert { dst, a, value, hi, lo } => (dst, eval::insert(known(a)?, known(value)?, hi, lo)),
            Inst::Concat { dst, a, b, b_width } => (dst, eval::concat(known(a)?, known(b)?, b_width)),
            Inst::Select { dst, cond, a, b } => return Some((dst, if known(cond)? != 0 { a } else { b })),
            Inst::LoadArg { dst, offset } => (dst, self.known_argument(offset, self.width(dst))?),
            _ => return None,
        };
        Some((result.0, Operand::Imm(result.1)))
    }

    /// One operand is enough for some operations.
    fn fold_binary(
        &self,
        dst: Temp,
        op: BinaryOp,
        (a, x): (Operand, Option<u128>),
        (b, y): (Operand, Option<u128>),
    ) -> Option<Operand> {
        let width = self.width(dst);
        if let (Some(x), Some(y)) = (x, y) {
            return Some(Operand::Imm(eval::binary(op, x, y, width)));
        }
        let (constant, other) = x.map(|x| (x, b)).or(y.map(|y| (y, a)))?;
        let is_zero = constant == 0;
        let is_full = constant == mask(width);
        match op {
            BinaryOp::And if is_zero => Some(Operand::Imm(0)),
            BinaryOp::And if is_full => Some(other),
            BinaryOp::Or if is_full => Some(Operand::Imm(mask(width))),
            BinaryOp::Or if is_zero => Some(other),
            _ => None,
        }
    }
}
