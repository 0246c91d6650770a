//! Externs, and instructions that a helper runs.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{Arg, CounterId, Dest, Handle, HashAlgorithm, Inst, Operand};

use super::wire::{Writer, total_bits};
use super::{Memory, Translator, type_of};
use crate::helper::{Helper, algorithm_number};
use crate::slow::SlowCall;

impl Translator<'_> {
    /// Runs an instruction by a helper.
    pub(super) fn slow(&mut self, inst: &Inst) {
        let moves_cursor = matches!(inst, Inst::Extract { .. });
        self.write_back();
        self.slow_call(inst);
        if moves_cursor {
            self.read_back();
        }
        let program = self.program;
        inst.writes(program, |place, bytes| self.forget(place, bytes));
    }

    /// The call itself: temps that the instruction reads go into slots, those that it assigns come from slots.
    pub(super) fn slow_call(&mut self, inst: &Inst) {
        let call = Box::new(SlowCall::new(inst, self.function));
        let slots = self.scratch(call.slots() as u32 * 16);
        for (i, temp) in call.inputs().iter().enumerate() {
            let value = self.operand(Operand::Temp(*temp), 0);
            let value = self.cast(value, I128);
            self.store_to(Memory::Scratch, value, slots, i as i32 * 16);
        }
        let address = self.builder.ins().iconst(I64, &raw const *call as i64);
        self.call(Helper::slow(), &[self.raw, address, slots]);
        let first = call.inputs().len() as i32;
        for (i, temp) in call.outputs().iter().enumerate() {
            let ty = type_of(self.width(*temp));
            let value = self.load_from(Memory::Scratch, ty, slots, (first + i as i32) * 16);
            self.set(*temp, value);
        }
        self.shared.slow_calls.push(call);
    }

    pub(super) fn count(&mut self, counter: CounterId, index: Operand) {
        let counter = self.constant(I32, counter.index() as u128);
        let index = self.operand64(index);
        self.call(Helper::count(), &[self.raw, counter, index]);
    }

    /// Packs values one after the other: where they stand, and how many bits they are.
    fn gather(&mut self, args: &[Arg], bits: u32) -> [Value; 2] {
        let base = self.scratch(bits.div_ceil(8) + 7);
        let mut writer = Writer::new(Memory::Scratch, base);
        for arg in args {
            self.write_arg(&mut writer, arg);
        }
        self.pad(&mut writer);
        [base, self.constant(I64, bits.into())]
    }

    fn algorithm(&mut self, algorithm: HashAlgorithm) -> Value {
        self.constant(I32, algorithm_number(algorithm) as u128)
    }

    pub(super) fn hash(
        &mut self,
        inst: &Inst,
        dst: &Dest,
        algorithm: HashAlgorithm,
        base: &Arg,
        data: &[Arg],
        max: &Arg,
    ) {
        // The sum must not overflow 64 bits; a base of 63 bits and a remainder or hash of 63 do not.
        let small = |arg: &Arg| match arg {
            Arg::Scalar(operand, width) if *width < 64 => Some((*operand, *width)),
            _ => None,
        };
        let (Some(bits), Dest::Temp(dst), Some(base), Some(max), true) =
            (total_bits(data), dst, small(base), small(max), hash_is_short(algorithm))
        else {
            return self.slow(inst);
        };
        let algorithm = self.algorithm(algorithm);
        let [data, bits] = self.gather(data, bits);
        let hash = self.call(Helper::hash(), &[self.raw, algorithm, data, bits]).expect("a hash has a result");
        let [base, max] = [base, max].map(|(operand, width)| {
            let value = self.operand(operand, width);
            self.cast(value, I64)
        });
        let zero = self.constant(I64, 0);
        let one = self.constant(I64, 1);
        let whole = self.builder.ins().icmp(IntCC::Equal, max, zero);
        let divisor = self.builder.ins().select(whole, one, max);
        let rest = self.builder.ins().urem(hash, divisor);
        let rest = self.builder.ins().select(whole, hash, rest);
        let sum = self.builder.ins().iadd(base, rest);
        let width = self.width(*dst);
        let value = self.cast(sum, type_of(width));
        let value = self.masked(value, width);
        self.set(*dst, value);
    }

    pub(super) fn checksum(&mut self, inst: &Inst, dst: &Dest, algorithm: HashAlgorithm, data: &[Arg], payload: bool) {
        let (Some(bits), Dest::Temp(dst)) = (total_bits(data), dst) else { return self.slow(inst) };
        if payload {
            self.write_back();
        }
        let algorithm = self.algorithm(algorithm);
        let [data, bits] = self.gather(data, bits);
        let payload = self.constant(I32, payload.into());
        let args = [self.raw, algorithm, data, bits, payload];
        let sum = self.call(Helper::checksum(), &args).expect("a checksum has a result");
        let width = self.width(*dst);
        let value = self.cast(sum, type_of(width));
        let value = self.masked(value, width);
        self.set(*dst, value);
    }

    pub(super) fn assert(&mut self, cond: Operand, inst: &Inst) {
        let cond = self.operand(cond, 1);
        let zero = self.constant(I8, 0);
        let failed = self.builder.ins().icmp(IntCC::Equal, cond, zero);
        self.only_if(failed, |this| this.slow(inst));
    }
}

/// Whether the results of an algorithm stay below 2^63 for sure.
fn hash_is_short(algorithm: HashAlgorithm) -> bool {
    !matches!(algorithm, HashAlgorithm::Identity | HashAlgorithm::Random)
}
