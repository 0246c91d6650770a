//! What all instructions are made of: blocks, operands, memory, calls, branches.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types::*};
use ir::{BlockId, Handle, Operand, Temp};

use super::scalar::type_of;
use super::{Memory, Slot, Translator};
use crate::helper::Helper;

impl Translator<'_> {
    pub(super) fn block(&self, block: BlockId) -> Block {
        self.blocks[block.index()].expect("reachable blocks exist")
    }

    /// The block to jump to; it goes on with what is known here, and wherever else something jumps to it.
    pub(super) fn target(&mut self, to: BlockId) -> Block {
        let to = self.destination(to);
        self.reached[to.index()] = true;
        if to.index() != 0 && (self.before_loops[to.index()] || self.flow.predecessors[to.index()].len() == 1) {
            match &mut self.known_at[to.index()] {
                Some(known) => known.join(&self.known),
                none => *none = Some(self.known.clone()),
            }
        }
        self.block(to)
    }

    /// The same where the operand is found to be this.
    pub(super) fn target_if(&mut self, operand: Operand, is: u128, to: BlockId) -> Block {
        let before = self.known.clone();
        self.assume(operand, is);
        let target = self.target(to);
        self.known = before;
        target
    }

    pub(super) fn jump(&mut self, to: BlockId) {
        let to = self.target(to);
        self.builder.ins().jump(to, &[]);
    }

    pub(super) fn width(&self, temp: Temp) -> u32 {
        u32::from(self.function.temps[temp.index()])
    }

    pub(super) fn set(&mut self, temp: Temp, value: Value) {
        self.temps[temp.index()] = Some(Slot::Value(value));
    }

    /// The value of an operand of `width` bits.
    pub(super) fn operand(&mut self, operand: Operand, width: u32) -> Value {
        match operand {
            Operand::Imm(value) => self.constant(type_of(width), value),
            Operand::Temp(temp) => match self.temps[temp.index()].expect("definitions come before uses") {
                Slot::Value(value) => value,
                Slot::Variable(variable) => self.builder.use_var(variable),
            },
        }
    }

    /// The type that an operand has by itself.
    pub(super) fn operand_width(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Imm(value) => (128 - value.leading_zeros()).max(1),
            Operand::Temp(temp) => self.width(temp),
        }
    }

    /// An operand as a 64-bit number: what is larger becomes the largest.
    pub(super) fn operand64(&mut self, operand: Operand) -> Value {
        let value = self.operand(operand, self.operand_width(operand));
        if self.type_of_value(value) != I128 {
            return self.cast(value, I64);
        }
        let (lo, hi) = self.builder.ins().isplit(value);
        let (zero, most) = (self.constant(I64, 0), self.constant(I64, u64::MAX.into()));
        let fits = self.builder.ins().icmp(IntCC::Equal, hi, zero);
        self.builder.ins().select(fits, lo, most)
    }

    fn flags(&self, memory: Memory) -> MemFlagsData {
        MemFlagsData::new().with_notrap().with_alias_region(Some(self.regions[memory as usize]))
    }

    pub(super) fn load_from(&mut self, memory: Memory, ty: Type, base: Value, offset: i32) -> Value {
        let flags = self.flags(memory);
        if ty != I128 {
            return self.builder.ins().load(ty, flags, base, offset);
        }
        let lo = self.builder.ins().load(I64, flags, base, offset);
        let hi = self.builder.ins().load(I64, flags, base, offset + 8);
        self.builder.ins().iconcat(lo, hi)
    }

    pub(super) fn store_to(&mut self, memory: Memory, value: Value, base: Value, offset: i32) {
        let flags = self.flags(memory);
        if self.type_of_value(value) != I128 {
            self.builder.ins().store(flags, value, base, offset);
            return;
        }
        let (lo, hi) = self.builder.ins().isplit(value);
        self.builder.ins().store(flags, lo, base, offset);
        self.builder.ins().store(flags, hi, base, offset + 8);
    }

    pub(super) fn load_raw(&mut self, ty: Type, offset: i32) -> Value {
        self.load_from(Memory::Raw, ty, self.raw, offset)
    }

    pub(super) fn type_of_value(&self, value: Value) -> Type {
        self.builder.func.dfg.value_type(value)
    }

    /// `bytes` of the function's own memory, 16-byte aligned; every call gives the same memory.
    pub(super) fn scratch(&mut self, bytes: u32) -> Value {
        let slot = *self.scratch.get_or_insert_with(|| {
            self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 4))
        });
        let size = &mut self.builder.func.sized_stack_slots[slot].size;
        *size = (*size).max(bytes.next_multiple_of(16));
        self.builder.ins().stack_addr(I64, slot, 0)
    }

    pub(super) fn call(&mut self, helper: Helper, args: &[Value]) -> Option<Value> {
        let signature = self.builder.import_signature(helper.signature(self.shared.call_conv));
        let address = self.builder.ins().iconst(I64, helper.address as i64);
        let call = self.builder.ins().call_indirect(signature, address, args);
        self.builder.inst_results(call).first().copied()
    }

    /// Runs `body` only if `cond` is not zero, with what is known before it.
    pub(super) fn only_if(&mut self, cond: Value, body: impl FnOnce(&mut Self)) {
        let (then, join) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(cond, then, &[], join, &[]);
        self.builder.switch_to_block(then);
        let known = self.known.clone();
        body(self);
        self.known = known;
        self.builder.ins().jump(join, &[]);
        self.builder.switch_to_block(join);
    }

    pub(super) fn either(&mut self, cond: Value, yes: impl FnOnce(&mut Self), no: impl FnOnce(&mut Self)) {
        let [then, other, join] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().brif(cond, then, &[], other, &[]);
        let known = self.known.clone();
        self.builder.switch_to_block(then);
        yes(self);
        self.known.clone_from(&known);
        self.builder.ins().jump(join, &[]);
        self.builder.switch_to_block(other);
        no(self);
        self.known = known;
        self.builder.ins().jump(join, &[]);
        self.builder.switch_to_block(join);
    }
}
