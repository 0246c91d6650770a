//! Deparsers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{Handle, HeaderField, HeaderTypeId, Inst, Place};

use super::memory::Address;
use super::parser::Parts;
use super::wire::Writer;
use super::{Memory, Translator};
use crate::helper::Helper;
use crate::raw::at;

/// So many headers are asked for together whether any of them may be there.
const GROUP: usize = 8;

impl Translator<'_> {
    /// Bytes of output to reserve before the function runs: all, where no block can run twice.
    pub(super) fn output_at_once(&self) -> u32 {
        let mut place = vec![0; self.function.blocks.len()];
        for (i, block) in self.flow.order.iter().enumerate() {
            place[block.index()] = i;
        }
        let mut output = 0;
        for block in &self.flow.order {
            let block_data = &self.function.blocks[*block];
            if block_data.end.successors().any(|next| place[next.index()] <= place[block.index()]) {
                return 0;
            }
            for inst in &block_data.insts {
                if let Inst::Emit { header, .. } = *inst {
                    output += self.most_bytes(header);
                }
            }
        }
        output
    }

    /// How many instructions from the first on do nothing but emit headers that may all be unwritten.
    pub(super) fn rare_emits(&self, insts: &[Inst]) -> usize {
        let (mut emits, mut end) = (0, 0);
        for (i, inst) in insts.iter().enumerate() {
            match inst {
                Inst::Emit { place: Place { offset, index: None }, .. }
                    if emits < GROUP && self.shared.erased.bits(*offset, 1) != 0 =>
                {
                    (emits, end) = (emits + 1, i + 1);
                }
                note if emits > 0 && note.is_note() => {}
                _ => break,
            }
        }
        end
    }

    /// Emits headers, and looks at none of them if none was written: they stand far from each other in the frame.
    pub(super) fn emit_if_any(&mut self, insts: &[Inst]) {
        let bits = insts.iter().fold(0, |bits, inst| match inst {
            Inst::Emit { place, .. } => bits | self.shared.erased.bits(place.offset, 1),
            _ => bits,
        });
        let written = self.load_raw(I64, at::WRITTEN);
        let bits = self.constant(I64, bits.into());
        let any = self.builder.ins().band(written, bits);
        self.only_if(any, |this| insts.iter().for_each(|inst| this.translate_inst(inst)));
    }

    /// Bytes that a header takes on the wire at most.
    pub(super) fn most_bytes(&self, header: HeaderTypeId) -> u32 {
        let bits: u32 = self.program.header_types[header].fields.iter().map(|field| field.width).sum();
        bits.div_ceil(8)
    }

    pub(super) fn emit(&mut self, id: HeaderTypeId, place: &Place) {
        let program = self.program;
        let header = &program.header_types[id];
        let from = self.readable(place);
        let valid = self.load_at(from, 0, I8);
        let parts = Parts::of(header);
        self.only_if(valid, |this| {
            if !parts.whole_bytes {
                return this.emit_slow(id, place);
            }
            let Some(varbit) = parts.varbit else {
                this.make_room(id);
                let out = this.builder.use_var(this.out);
                return this.emit_fields(out, parts.before, from);
            };
            let most = this.constant(I32, varbit.width.into());
            let bits = this.load_at(from, varbit.offset, I32);
            let longer = this.builder.ins().icmp(IntCC::UnsignedGreaterThan, bits, most);
            let bits = this.select(longer, most, bits);
            let odd = this.not_whole_bytes(bits);
            let (slow, fast, join) =
                (this.builder.create_block(), this.builder.create_block(), this.builder.create_block());
            this.builder.set_cold_block(slow);
            this.builder.ins().brif(odd, slow, &[], fast, &[]);
            this.builder.switch_to_block(slow);
            this.emit_slow(id, place);
            this.builder.ins().jump(join, &[]);

            this.builder.switch_to_block(fast);
            this.make_room(id);
            let out = this.builder.use_var(this.out);
            this.emit_fields(out, parts.before, from);
            let out = this.builder.use_var(this.out);
            let value = this.pointer(Address { offset: from.offset + varbit.offset as i32 + 4, ..from });
            let bits = this.cast(bits, I64);
            let bytes = this.shift_right(bits, 3);
            this.call(Helper::copy(), &[out, value, bytes]);
            let out = this.builder.ins().iadd(out, bytes);
            this.emit_fields(out, parts.after, from);
            this.builder.ins().jump(join, &[]);
            this.builder.switch_to_block(join);
        });
    }

    /// Writes fields to `out`, which the output then follows.
    fn emit_fields(&mut self, out: Value, fields: &[HeaderField], from: Address) {
        let mut writer = Writer::new(Memory::Output, out);
        for field in fields {
            self.write_stored(&mut writer, from, field.offset, field.width);
        }
        let out = self.offset_by(out, writer.len() / 8);
        self.builder.def_var(self.out, out);
    }

    fn emit_slow(&mut self, header: HeaderTypeId, place: &Place) {
        self.write_back();
        self.slow_call(&Inst::Emit { header, place: *place });
        self.read_back();
    }

    /// Makes sure that the header's bytes fit behind the output.
    fn make_room(&mut self, header: HeaderTypeId) {
        if self.output_reserved {
            return;
        }
        let bytes = self.constant(I64, self.most_bytes(header).into());
        let out = self.builder.use_var(self.out);
        let after = self.builder.ins().iadd(out, bytes);
        let end = self.load_raw(I64, at::OUT_END);
        let full = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, after, end);
        self.only_if(full, |this| {
            this.write_back();
            this.call(Helper::reserve(), &[this.raw, bytes]);
            this.read_back();
        });
    }
}
