//! Parsers and deparsers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{BlockId, Dest, Handle, HeaderType, HeaderTypeId, Inst, Operand, Place, Temp, storage_size};

use super::known::Known;
use super::memory::{Address, Located};
use super::wire::{Reader, Writer};
use super::{Memory, Slot, Translator, type_of};
use crate::helper::Helper;
use crate::raw::at;

impl Translator<'_> {
    /// An instruction that gives an error. With `failed`, the block to go to if it does and nothing else to do then,
    /// the code goes on only where it did not.
    pub(super) fn translate_fallible(&mut self, inst: &Inst, failed: Option<BlockId>) {
        match inst {
            Inst::Extract { error, header, place, peek, .. } => self.extract(*error, *header, place, *peek, failed),
            Inst::Lookahead { error, dst } => self.lookahead(*error, dst, failed),
            Inst::Advance { error, bits } => self.advance(*error, *bits, failed),
            _ => unreachable!("no other instruction gives an error by itself"),
        }
    }

    /// Splits the way by whether the packet has `bytes` more. If it has, `pass` runs with the cursor behind those bytes;
    /// if not, `fail` runs. With `failed`, the second way ends there. An `invalid` that is not 0 leads there too.
    fn with_bytes(
        &mut self,
        error: Temp,
        bytes: Value,
        invalid: Option<Value>,
        failed: Option<BlockId>,
        fail: impl FnOnce(&mut Self),
        pass: impl FnOnce(&mut Self, Value),
    ) {
        let cursor = self.builder.use_var(self.cursor);
        let next = self.builder.ins().iadd(cursor, bytes);
        let short = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, next, self.packet_len);
        let wrong = invalid.map_or(short, |invalid| self.builder.ins().bor(short, invalid));
        let (fail_block, pass_block) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(wrong, fail_block, &[], pass_block, &[]);
        // Where the ways join, the error is what each has made of the variable.
        let variable = self.builder.declare_var(I32);
        self.temps[error.index()] = Some(Slot::Variable(variable));
        let before = self.known.clone();

        self.builder.switch_to_block(fail_block);
        self.builder.set_cold_block(fail_block);
        let mut code = self.constant(I32, self.shared.packet_too_short.into());
        if let Some(invalid) = invalid {
            let argument = self.constant(I32, self.shared.invalid_argument.into());
            code = self.select(invalid, argument, code);
        }
        self.builder.def_var(variable, code);
        fail(self);
        let join = match failed {
            Some(failed) => {
                self.jump(failed);
                None
            }
            None => {
                let join = self.builder.create_block();
                self.builder.ins().jump(join, &[]);
                Some(join)
            }
        };

        self.known = before;
        self.builder.switch_to_block(pass_block);
        let zero = self.constant(I32, 0);
        self.builder.def_var(variable, zero);
        pass(self, next);
        if let Some(join) = join {
            self.builder.ins().jump(join, &[]);
            self.builder.switch_to_block(join);
            // What either way learned does not hold on the other.
            self.known = Known::default();
        }
    }

    fn extract(&mut self, error: Temp, header: HeaderTypeId, place: &Place, peek: bool, failed: Option<BlockId>) {
        let size = self.program.header_types[header].size;
        match self.locate(place) {
            Located::At(to) => self.extract_to(error, header, to, peek, failed),
            // An element that is not there takes nothing from the packet; lowered programs check before.
            Located::Nowhere => {
                let none = self.constant(I32, 0);
                self.set(error, none);
            }
            Located::If(in_range, to) => {
                self.forget(place, size);
                let variable = self.builder.declare_var(I32);
                let none = self.constant(I32, 0);
                self.builder.def_var(variable, none);
                self.only_if(in_range, |this| {
                    this.extract_to(error, header, to, peek, None);
                    let result = this.operand(Operand::Temp(error), 32);
                    this.builder.def_var(variable, result);
                });
                self.temps[error.index()] = Some(Slot::Variable(variable));
            }
        }
    }

    /// Extracts into a header that is there.
    fn extract_to(&mut self, error: Temp, header: HeaderTypeId, to: Address, peek: bool, failed: Option<BlockId>) {
        let header = &self.program.header_types[header];
        let bytes = header.fixed_bits().div_ceil(8);
        let count = self.constant(I64, bytes.into());
        let pass = |this: &mut Self, next| {
            let mut reader = Reader::new(this.position(), bytes);
            let valid = this.constant(I8, 1);
            this.store_at(to, 0, valid);
            let mut bit = 0;
            for (i, field) in header.fields.iter().enumerate() {
                let run = unaligned_run(header, i, bit);
                for (k, limb) in this.read_limbs(&mut reader, bit, field.width, run).into_iter().enumerate() {
                    this.store_at(to, field.offset + k as u32 * 8, limb);
                }
                bit += field.width;
            }
            if !peek {
                this.builder.def_var(this.cursor, next);
            }
        };
        self.with_bytes(error, count, None, failed, |_| (), pass);
    }

    /// Where the cursor stands in memory.
    fn position(&mut self) -> Value {
        let cursor = self.builder.use_var(self.cursor);
        self.builder.ins().iadd(self.packet, cursor)
    }

    /// A lookahead past the packet's end gives zero.
    fn lookahead(&mut self, error: Temp, dst: &Dest, failed: Option<BlockId>) {
        let width = match dst {
            Dest::Temp(temp) => self.width(*temp),
            Dest::Frame(_, width) => *width,
        };
        let bytes = width.div_ceil(8);
        let count = self.constant(I64, bytes.into());
        match dst {
            Dest::Temp(temp) => {
                let ty = type_of(width);
                let variable = self.builder.declare_var(ty);
                self.temps[temp.index()] = Some(Slot::Variable(variable));
                let fail = |this: &mut Self| {
                    let zero = this.constant(ty, 0);
                    this.builder.def_var(variable, zero);
                };
                self.with_bytes(error, count, None, failed, fail, |this, _| {
                    let mut reader = Reader::new(this.position(), bytes);
                    let value = match this.read_limbs(&mut reader, 0, width, width)[..] {
                        [value] => value,
                        ref limbs => this.builder.ins().iconcat(limbs[0], limbs[1]),
                    };
                    this.builder.def_var(variable, value);
                });
            }
            Dest::Frame(place, _) => {
                let size = storage_size(width);
                self.with_bytes(
                    error,
                    count,
                    None,
                    failed,
                    |this| this.zero(place, size),
                    |this, _| {
                        let mut reader = Reader::new(this.position(), bytes);
                        let limbs = this.read_limbs(&mut reader, 0, width, width);
                        this.writable(place, size, |this, to| {
                            for (k, limb) in limbs.into_iter().enumerate() {
                                this.store_at(to, k as u32 * 8, limb);
                            }
                        });
                    },
                );
            }
        }
    }

    fn advance(&mut self, error: Temp, bits: Operand, failed: Option<BlockId>) {
        let bits = self.operand(bits, 32);
        let wide = self.cast(bits, I64);
        let bytes = self.shift_right(wide, 3);
        let (seven, zero) = (self.constant(I32, 7), self.constant(I32, 0));
        let rest = self.builder.ins().band(bits, seven);
        let invalid = self.builder.ins().icmp(IntCC::NotEqual, rest, zero);
        self.with_bytes(
            error,
            bytes,
            Some(invalid),
            failed,
            |_| (),
            |this, next| this.builder.def_var(this.cursor, next),
        );
    }

    pub(super) fn take_fuel(&mut self, dst: Temp) {
        let fuel = self.builder.use_var(self.fuel);
        let zero = self.constant(I32, 0);
        let empty = self.builder.ins().icmp(IntCC::Equal, fuel, zero);
        let spent = self.cast(empty, I32);
        let one = self.constant(I32, 1);
        let step = self.builder.ins().isub(one, spent);
        let left = self.builder.ins().isub(fuel, step);
        self.builder.def_var(self.fuel, left);
        self.set(dst, empty);
    }

    /// Bytes that a header takes on the wire at most.
    pub(super) fn most_bytes(&self, header: HeaderTypeId) -> u32 {
        let bits: u32 = self.program.header_types[header].fields.iter().map(|field| field.width).sum();
        bits.div_ceil(8)
    }

    pub(super) fn emit(&mut self, id: HeaderTypeId, place: &Place) {
        let header = &self.program.header_types[id];
        let from = self.readable(place);
        let valid = self.load_at(from, 0, I8);
        if header.fields.iter().any(|field| field.varbit) {
            let inst = Inst::Emit { header: id, place: *place };
            self.only_if(valid, |this| {
                this.write_back();
                this.slow_call(&inst, 0);
                this.read_back();
            });
            return;
        }
        self.only_if(valid, |this| {
            if !this.output_reserved {
                this.reserve(id);
            }
            let out = this.builder.use_var(this.out);
            let mut writer = Writer::new(Memory::Output, out);
            for field in &header.fields {
                this.write_stored(&mut writer, from, field.offset, field.width);
            }
            this.pad(&mut writer);
            let bytes = this.constant(I64, (writer.len() / 8).into());
            let out = this.builder.ins().iadd(out, bytes);
            this.builder.def_var(this.out, out);
        });
    }

    /// Makes sure that the header's bytes fit behind the output.
    fn reserve(&mut self, header: HeaderTypeId) {
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

/// Bits from the field `i`, which starts at `bit`, to where fields are next aligned to bytes.
fn unaligned_run(header: &HeaderType, i: usize, bit: u32) -> u32 {
    let mut end = bit;
    for field in header.fields[i..].iter().filter(|field| !field.varbit) {
        end += field.width;
        if end.is_multiple_of(8) {
            break;
        }
    }
    end - bit
}
