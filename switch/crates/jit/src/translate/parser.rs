//! Parsers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{
    BlockId, Dest, Handle, HeaderField, HeaderType, HeaderTypeId, Inst, Operand, Place, Temp, Terminator, storage_size,
};

use super::known::Known;
use super::memory::{Address, Located};
use super::wire::Reader;
use super::{Slot, Translator, type_of};
use crate::helper::Helper;

impl Translator<'_> {
    /// The error temp of an instruction that has code of its own for its failure, which can lead straight elsewhere.
    pub(super) fn fallible(&self, inst: &Inst) -> Option<Temp> {
        match inst {
            Inst::Extract { error, header, place, .. } => {
                let index = place.index;
                let there = index.is_none_or(|index| matches!(index.index, Operand::Imm(i) if i < index.count.into()));
                (there && is_simple(&self.program.header_types[*header])).then_some(*error)
            }
            Inst::Lookahead { error, .. } | Inst::Advance { error, .. } => Some(*error),
            _ => None,
        }
    }

    /// When the rest of a block does nothing but branch on whether `error` is set: where it goes if it is, and if not.
    pub(super) fn decides(&self, error: Temp, rest: &[Inst], end: &Terminator) -> Option<(BlockId, BlockId)> {
        let mut rest = rest.iter().filter(|inst| !inst.is_note());
        let (Some(Inst::Compare { dst, op, a, b, .. }), None) = (rest.next(), rest.next()) else { return None };
        let Terminator::Branch { cond, then, otherwise } = end else { return None };
        if *cond != Operand::Temp(*dst) || self.uses[dst.index()] != 1 {
            return None;
        }
        let (error, zero) = (Operand::Temp(error), Operand::Imm(0));
        if (*a, *b) != (error, zero) && (*a, *b) != (zero, error) {
            return None;
        }
        match op {
            ir::CompareOp::Ne => Some((*then, *otherwise)),
            ir::CompareOp::Eq => Some((*otherwise, *then)),
            _ => None,
        }
    }

    /// An instruction that gives an error. With `failed`, the block to go to if it does and nothing else to do then,
    /// the code goes on only where it did not.
    pub(super) fn translate_fallible(&mut self, inst: &Inst, failed: Option<BlockId>) {
        match inst {
            Inst::Extract { error, header, place, varbit_bits, peek } => {
                let what = Extract { error: *error, header: *header, varbit_bits: *varbit_bits, peek: *peek };
                self.extract(what, place, failed);
            }
            Inst::Lookahead { error, dst } => self.lookahead(*error, dst, failed),
            Inst::Advance { error, bits } => self.advance(*error, *bits, failed),
            _ => unreachable!("no other instruction gives an error by itself"),
        }
    }

    /// Splits the way by whether the packet has `bytes` more. If it has, `pass` runs with the cursor behind those bytes;
    /// if not, `fail` runs. With `failed`, the second way ends there. What else is wrong leads there too.
    fn with_bytes(
        &mut self,
        error: Temp,
        bytes: Value,
        also: Wrong,
        failed: Option<BlockId>,
        fail: impl FnOnce(&mut Self),
        pass: impl FnOnce(&mut Self, Value),
    ) {
        let cursor = self.builder.use_var(self.cursor);
        let next = self.builder.ins().iadd(cursor, bytes);
        let short = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, next, self.packet_len);
        let mut wrong = short;
        for condition in [also.argument, also.length].into_iter().flatten() {
            wrong = self.builder.ins().bor(wrong, condition);
        }
        let (fail_block, pass_block) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(wrong, fail_block, &[], pass_block, &[]);
        // Where the ways join, the error is what each has made of the variable.
        let variable = self.builder.declare_var(I32);
        self.temps[error.index()] = Some(Slot::Variable(variable));
        let before = self.known.clone();

        self.builder.switch_to_block(fail_block);
        self.builder.set_cold_block(fail_block);
        // The order of the checks is that of P4_16, 12.8.2.
        let mut code = self.constant(I32, self.shared.packet_too_short.into());
        if also.length.is_some() {
            let length = self.constant(I32, self.shared.header_too_short.into());
            code = self.select(short, code, length);
        }
        if let Some(condition) = also.argument {
            let argument = self.constant(I32, self.shared.invalid_argument.into());
            code = self.select(condition, argument, code);
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

    fn extract(&mut self, what: Extract, place: &Place, failed: Option<BlockId>) {
        let size = self.program.header_types[what.header].size;
        self.note_written(place, size);
        match self.locate(place) {
            Located::At(to) => self.extract_to(what, to, failed),
            // An element that is not there takes nothing from the packet; lowered programs check before.
            Located::Nowhere => {
                let none = self.constant(I32, 0);
                self.set(what.error, none);
            }
            Located::If(in_range, to) => {
                self.forget(place, size);
                let variable = self.builder.declare_var(I32);
                let none = self.constant(I32, 0);
                self.builder.def_var(variable, none);
                self.only_if(in_range, |this| {
                    this.extract_to(what, to, None);
                    let result = this.operand(Operand::Temp(what.error), 32);
                    this.builder.def_var(variable, result);
                });
                self.temps[what.error.index()] = Some(Slot::Variable(variable));
            }
        }
    }

    /// Extracts into a header that is there.
    fn extract_to(&mut self, what: Extract, to: Address, failed: Option<BlockId>) {
        let program = self.program;
        let header = &program.header_types[what.header];
        let bytes = header.fixed_bits().div_ceil(8);
        let fixed = self.constant(I64, bytes.into());
        let parts = Parts::of(header);
        let Some((varbit, bits)) = parts.varbit.zip(what.varbit_bits) else {
            let pass = |this: &mut Self, next| {
                let mut reader = Reader::new(this.position(), bytes);
                this.extract_fields(&mut reader, parts.before, to);
                this.set_valid(to);
                if !what.peek {
                    this.builder.def_var(this.cursor, next);
                }
            };
            return self.with_bytes(what.error, fixed, Wrong::default(), failed, |_| (), pass);
        };
        let bits = self.operand(bits, 32);
        let argument = self.not_whole_bytes(bits);
        let most = self.constant(I32, varbit.width.into());
        let length = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, bits, most);
        let wide = self.cast(bits, I64);
        let varbit_bytes = self.shift_right(wide, 3);
        let count = self.builder.ins().iadd(fixed, varbit_bytes);
        let also = Wrong { argument: Some(argument), length: Some(length) };
        let pass = |this: &mut Self, next| {
            let start = this.position();
            let before = bits_of(parts.before) / 8;
            let mut reader = Reader::new(start, before);
            this.extract_fields(&mut reader, parts.before, to);
            this.store_at(to, varbit.offset, bits);
            let value = Address { offset: to.offset + varbit.offset as i32 + 4, ..to };
            let value = this.pointer(value);
            let from = this.offset_by(start, before);
            this.call(Helper::copy(), &[value, from, varbit_bytes]);
            if let Some(fixed) = to.fixed {
                this.known.forget(fixed + varbit.offset + 4, varbit.width.div_ceil(8));
            }
            let after = this.builder.ins().iadd(from, varbit_bytes);
            let mut reader = Reader::new(after, bytes - before);
            this.extract_fields(&mut reader, parts.after, to);
            this.set_valid(to);
            if !what.peek {
                this.builder.def_var(this.cursor, next);
            }
        };
        self.with_bytes(what.error, count, also, failed, |_| (), pass);
    }

    fn set_valid(&mut self, header: Address) {
        let valid = self.constant(I8, 1);
        self.store_at(header, 0, valid);
    }

    /// Fields that follow each other on the wire from the reader's start on.
    fn extract_fields(&mut self, reader: &mut Reader, fields: &[HeaderField], to: Address) {
        let mut bit = 0;
        for (i, field) in fields.iter().enumerate() {
            let run = unaligned_run(&fields[i..], bit);
            for (k, limb) in self.read_limbs(reader, bit, field.width, run).into_iter().enumerate() {
                self.store_at(to, field.offset + k as u32 * 8, limb);
            }
            bit += field.width;
        }
    }

    /// Whether a number of bits is not one of bytes.
    pub(super) fn not_whole_bytes(&mut self, bits: Value) -> Value {
        let (seven, zero) = (self.constant(I32, 7), self.constant(I32, 0));
        let rest = self.builder.ins().band(bits, seven);
        self.builder.ins().icmp(IntCC::NotEqual, rest, zero)
    }

    pub(super) fn offset_by(&mut self, pointer: Value, bytes: u32) -> Value {
        let bytes = self.constant(I64, bytes.into());
        self.builder.ins().iadd(pointer, bytes)
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
                self.with_bytes(error, count, Wrong::default(), failed, fail, |this, _| {
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
                    Wrong::default(),
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
        let argument = self.not_whole_bytes(bits);
        let also = Wrong { argument: Some(argument), length: None };
        self.with_bytes(error, bytes, also, failed, |_| (), |this, next| this.builder.def_var(this.cursor, next));
    }

    pub(super) fn take_fuel(&mut self, dst: Temp) {
        let fuel = self.builder.use_var(self.fuel);
        let zero = self.constant(I32, 0);
        let any = self.builder.ins().icmp(IntCC::NotEqual, fuel, zero);
        let step = self.cast(any, I32);
        let left = self.builder.ins().isub(fuel, step);
        self.builder.def_var(self.fuel, left);
        let empty = self.builder.ins().icmp(IntCC::Equal, left, zero);
        self.set(dst, empty);
    }
}

/// An extraction but for its place.
#[derive(Clone, Copy)]
struct Extract {
    error: Temp,
    header: HeaderTypeId,
    varbit_bits: Option<Operand>,
    peek: bool,
}

/// What can be wrong besides a packet too short, as conditions.
#[derive(Clone, Copy, Default)]
struct Wrong {
    argument: Option<Value>,
    /// A varbit longer than its field.
    length: Option<Value>,
}

/// A header's fields before and after its varbit.
pub(super) struct Parts<'a> {
    pub before: &'a [HeaderField],
    pub varbit: Option<&'a HeaderField>,
    pub after: &'a [HeaderField],
    /// Whether both parts are whole bytes, so that all fields have their place when the varbit has whole bytes.
    pub whole_bytes: bool,
}

impl<'a> Parts<'a> {
    pub fn of(header: &'a HeaderType) -> Self {
        let fields = &header.fields[..];
        let (before, rest) = fields.split_at(fields.iter().position(|field| field.varbit).unwrap_or(fields.len()));
        let (varbit, after) = rest.split_first().map_or((None, rest), |(varbit, after)| (Some(varbit), after));
        let whole_bytes = [before, after].iter().all(|part| bits_of(part).is_multiple_of(8));
        Self { before, varbit, after, whole_bytes }
    }
}

/// Whether an extraction of the header needs no helper.
pub(super) fn is_simple(header: &HeaderType) -> bool {
    let parts = Parts::of(header);
    parts.varbit.is_none() || parts.whole_bytes
}

fn bits_of(fields: &[HeaderField]) -> u32 {
    fields.iter().map(|field| field.width).sum()
}

/// Bits from the first of the fields, which starts at `bit`, to where fields are next aligned to bytes.
fn unaligned_run(fields: &[HeaderField], bit: u32) -> u32 {
    let mut end = bit;
    for field in fields {
        end += field.width;
        if end.is_multiple_of(8) {
            break;
        }
    }
    end - bit
}
