//! Registers: cells of one word that begin as zero are loaded and stored where they are, others by helpers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{Arg, Dest, Handle, Inst, Operand, Place, RegisterId, storage_size};
use runtime::PAGE;

use super::{Memory, Translator, type_of};
use crate::helper::Helper;
use crate::raw::at;

/// Where a cell is: its page's first cell, and how many bytes behind.
struct Cell {
    page: Value,
    distance: Value,
}

impl Translator<'_> {
    pub(super) fn register_read(&mut self, dst: &Dest, register: RegisterId, index: Operand) {
        let index = self.cell_index(index);
        let dst = match dst {
            Dest::Temp(dst) => dst,
            Dest::Frame(place, width) => return self.register_load(place, storage_size(*width), register, index),
        };
        let width = self.width(*dst);
        let ty = type_of(width);
        let value = match self.shared.register_pages[register.index()] {
            Some(first) => {
                self.take_turn(register);
                let cell = self.cell(register, first, index);
                let address = self.builder.ins().iadd(cell.page, cell.distance);
                let word = self.load_from(Memory::Cells, I64, address, 0);
                self.cast(word, ty)
            }
            None => {
                let out = self.scratch(16);
                let register = self.constant(I32, register.index() as u128);
                self.call(Helper::register_read(), &[self.raw, register, index, out]);
                self.load_from(Memory::Scratch, ty, out, 0)
            }
        };
        let value = self.masked(value, width);
        self.set(*dst, value);
    }

    pub(super) fn register_write(&mut self, inst: &Inst, register: RegisterId, index: Operand, value: &Arg) {
        let value = match value {
            Arg::Scalar(value, width) => self.operand(*value, *width),
            Arg::Frame(place, width) => return self.register_store(register, index, place, storage_size(*width)),
            Arg::Const(..) | Arg::Varbit(..) => return self.slow(inst),
        };
        let index = self.cell_index(index);
        let Some(first) = self.shared.register_pages[register.index()] else {
            let value = self.cast(value, I128);
            return self.call_register_write(register, index, value);
        };
        self.take_turn(register);
        let cell = self.cell(register, first, index);
        let pages = self.load_raw(I64, at::REGISTER_PAGES);
        let blank = self.load_from(Memory::Cells, I64, pages, 0);
        let is_blank = self.builder.ins().icmp(IntCC::Equal, cell.page, blank);
        let make = |this: &mut Self| {
            let value = this.cast(value, I128);
            this.call_register_write(register, index, value);
        };
        self.either(is_blank, make, |this| {
            let address = this.builder.ins().iadd(cell.page, cell.distance);
            let word = this.cast(value, I64);
            this.store_to(Memory::Cells, word, address, 0);
        });
    }

    /// A wide cell comes to the frame.
    fn register_load(&mut self, place: &Place, bytes: u32, register: RegisterId, index: Value) {
        self.writable(place, bytes, |this, to| {
            let to = this.pointer(to);
            let [register, bytes] =
                [(I32, register.index() as u32), (I64, bytes)].map(|(ty, n)| this.constant(ty, n.into()));
            this.call(Helper::register_load(), &[this.raw, register, index, to, bytes]);
        });
        self.forget(place, bytes);
    }

    /// A wide cell gets what the frame holds.
    fn register_store(&mut self, register: RegisterId, index: Operand, place: &Place, bytes: u32) {
        let index = self.cell_index(index);
        let from = self.readable(place);
        let from = self.pointer(from);
        let [register, bytes] =
            [(I32, register.index() as u32), (I64, bytes)].map(|(ty, n)| self.constant(ty, n.into()));
        self.call(Helper::register_store(), &[self.raw, register, index, from, bytes]);
    }

    /// The number of a cell, which has 32 bits.
    fn cell_index(&mut self, index: Operand) -> Value {
        let index = self.operand(index, 32);
        self.cast(index, I32)
    }

    fn call_register_write(&mut self, register: RegisterId, index: Value, value: Value) {
        let register = self.constant(I32, register.index() as u128);
        let (lo, hi) = self.builder.ins().isplit(value);
        self.call(Helper::register_write(), &[self.raw, register, index, lo, hi]);
    }

    /// Where several threads run packets, no other may use registers from here to the end of the block.
    fn take_turn(&mut self, register: RegisterId) {
        if !self.shared.registers_written[register.index()] {
            return;
        }
        let needed = self.load_raw(I8, at::NEEDS_TURN);
        self.only_if(needed, |this| {
            let register = this.constant(I32, register.index() as u128);
            this.call(Helper::take_turn(), &[this.raw, register]);
        });
    }

    /// A cell of a register whose pages begin with number `first`; in the blank page if it is beyond the end.
    fn cell(&mut self, register: RegisterId, first: usize, index: Value) -> Cell {
        let size = self.program.registers[register].size;
        let wide = self.builder.ins().uextend(I64, index);
        let number = self.shift_right(wide, PAGE.ilog2());
        let before = self.constant(I64, first as u128);
        let mut number = self.builder.ins().iadd(number, before);
        if let Ok(size) = u32::try_from(size) {
            let size = self.constant(I32, size.into());
            let is_there = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, size);
            let blank = self.constant(I64, 0);
            number = self.builder.ins().select(is_there, number, blank);
        }
        let pages = self.load_raw(I64, at::REGISTER_PAGES);
        let distance = self.shift_left(number, 3);
        let entry = self.builder.ins().iadd(pages, distance);
        // The page is seen as its maker filled it: its address comes from this load.
        let page = self.load_from(Memory::Cells, I64, entry, 0);
        let in_page = self.masked(wide, PAGE.ilog2());
        let distance = self.shift_left(in_page, 3);
        Cell { page, distance }
    }
}
