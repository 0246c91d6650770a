//! The frame: places, loads and stores, copies.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types::*};
use ir::{Index, Operand, Place, storage_size};

use super::known::Fact;
use super::{Memory, Translator, type_of};
use crate::helper::Helper;
use crate::raw::at;

/// Up to as many bytes are copied or zeroed by loads and stores of words.
pub(super) const MOST_INLINE: u32 = 128;

/// An address within the frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    pub base: Value,
    pub offset: i32,
    /// The offset in the frame, if it is known here.
    pub fixed: Option<u32>,
}

/// Where a place is.
pub(super) enum Located {
    At(Address),
    /// Behind an index that is out of range.
    Nowhere,
    /// At the address, if the condition is not 0.
    If(Value, Address),
}

impl Translator<'_> {
    pub(super) fn locate(&mut self, place: &Place) -> Located {
        let Some(Index { index, stride, count }) = place.index else {
            return Located::At(self.fixed_address(place.offset));
        };
        let temp = match index {
            Operand::Imm(index) if index < count.into() => {
                return Located::At(self.fixed_address(place.offset + index as u32 * stride));
            }
            Operand::Imm(_) => return Located::Nowhere,
            Operand::Temp(temp) => temp,
        };
        let width = self.width(temp);
        let index = self.operand(index, width);
        let wide = self.cast(index, I64);
        let stride = self.constant(I64, stride.into());
        let distance = self.builder.ins().imul(wide, stride);
        let base = self.builder.ins().iadd(self.frame, distance);
        let address = Address { base, offset: place.offset as i32, fixed: None };
        let bound = self.constant(self.type_of_value(index), count.into());
        let in_range = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, bound);
        Located::If(in_range, address)
    }

    fn fixed_address(&self, offset: u32) -> Address {
        Address { base: self.frame, offset: offset as i32, fixed: Some(offset) }
    }

    /// Where to read a place: a place that is not there is full of zeros.
    pub(super) fn readable(&mut self, place: &Place) -> Address {
        match self.locate(place) {
            Located::At(address) => address,
            Located::Nowhere => {
                let base = self.builder.ins().iconst(I64, self.shared.zeros as i64);
                Address { base, offset: 0, fixed: None }
            }
            Located::If(in_range, address) => {
                let zeros = self.builder.ins().iconst(I64, self.shared.zeros as i64 - i64::from(address.offset));
                let base = self.builder.ins().select(in_range, address.base, zeros);
                Address { base, ..address }
            }
        }
    }

    /// Runs `body` with the address of a place to write, if it is there; `bytes` from it on are written.
    pub(super) fn writable(&mut self, place: &Place, bytes: u32, body: impl FnOnce(&mut Self, Address)) {
        self.note_written(place, bytes);
        self.erasable(place, bytes, body);
    }

    /// The same where zeros are written, so that there is nothing more to zero when the next packet enters.
    fn erasable(&mut self, place: &Place, bytes: u32, body: impl FnOnce(&mut Self, Address)) {
        match self.locate(place) {
            Located::At(address) => {
                if address.fixed.is_none() {
                    self.forget(place, bytes);
                }
                body(self, address);
            }
            Located::Nowhere => {}
            Located::If(in_range, address) => {
                self.forget(place, bytes);
                self.only_if(in_range, |this| body(this, address));
            }
        }
    }

    /// Has the headers zeroed when the next packet enters of which `bytes` from `place` on are written, whatever the index.
    pub(super) fn note_written(&mut self, place: &Place, bytes: u32) {
        let bits = self.shared.erased.bits(place.offset, span(place) + bytes) & !self.known.written;
        if bits == 0 {
            return;
        }
        let before = self.load_raw(I64, at::WRITTEN);
        let bits_value = self.constant(I64, bits.into());
        let after = self.builder.ins().bor(before, bits_value);
        self.store_to(Memory::Raw, after, self.raw, at::WRITTEN);
        self.known.written |= bits;
    }

    /// `bytes` from `place` on are written, whatever the index.
    pub(super) fn forget(&mut self, place: &Place, bytes: u32) {
        self.known.forget(place.offset, span(place) + bytes);
    }

    /// The scalar at `delta` bytes from an address.
    pub(super) fn load_at(&mut self, address: Address, delta: u32, ty: Type) -> Value {
        match address.fixed.and_then(|fixed| self.known.get(fixed + delta, ty)) {
            Some(Fact::Value(value)) => value,
            Some(Fact::Constant(value)) => self.constant(ty, value),
            None => {
                let value = self.load_from(Memory::Frame, ty, address.base, address.offset + delta as i32);
                if let Some(fixed) = address.fixed {
                    self.known.learn(fixed + delta, ty, Fact::Value(value));
                }
                value
            }
        }
    }

    fn fact(&self, value: Value) -> Fact {
        self.constant_of_value(value).map_or(Fact::Value(value), Fact::Constant)
    }

    /// Stores a scalar at `delta` bytes from an address.
    pub(super) fn store_at(&mut self, address: Address, delta: u32, value: Value) {
        self.store_to(Memory::Frame, value, address.base, address.offset + delta as i32);
        if let Some(fixed) = address.fixed {
            let ty = self.type_of_value(value);
            self.known.write(fixed + delta, ty, self.fact(value));
        }
    }

    pub(super) fn load(&mut self, place: &Place, width: u32) -> Value {
        if let (None, Some(variable)) = (place.index, self.promoted.get(&place.offset)) {
            let variable = *variable;
            return match self.known_constant(place, width) {
                Some(value) => self.constant(type_of(width), value),
                None => self.builder.use_var(variable),
            };
        }
        let address = self.readable(place);
        self.load_at(address, 0, type_of(width))
    }

    pub(super) fn store(&mut self, place: &Place, width: u32, src: Operand) {
        let value = self.operand(src, width);
        if let (None, Some(variable)) = (place.index, self.promoted.get(&place.offset)) {
            self.builder.def_var(*variable, value);
            // Other values are kept by their variables.
            match self.fact(value) {
                constant @ Fact::Constant(_) => self.known.write(place.offset, type_of(width), constant),
                Fact::Value(_) => self.known.forget(place.offset, storage_size(width)),
            }
            return;
        }
        let bytes = storage_size(width);
        if self.constant_of_value(value) == Some(0) {
            if self.is_zero(place, bytes) {
                return;
            }
        } else {
            self.note_written(place, bytes);
        }
        self.erasable(place, bytes, |this, address| this.store_at(address, 0, value));
    }

    /// Whether all of a place is known to be zero.
    fn is_zero(&self, place: &Place, bytes: u32) -> bool {
        self.known.zeros.covers(place.offset, span(place) + bytes)
    }

    pub(super) fn copy(&mut self, dst: &Place, src: &Place, bytes: u32) {
        if self.is_zero(src, bytes) {
            return self.zero(dst, bytes);
        }
        let from = self.readable(src);
        self.writable(dst, bytes, |this, to| {
            if bytes > MOST_INLINE {
                let (to, from) = (this.pointer(to), this.pointer(from));
                let bytes = this.constant(I64, bytes.into());
                this.call(Helper::copy(), &[to, from, bytes]);
                return;
            }
            // All loads come before all stores, so the two may overlap.
            let values: Vec<_> = words(bytes)
                .map(|(delta, ty)| (delta, this.load_from(Memory::Frame, ty, from.base, from.offset + delta as i32)))
                .collect();
            for (delta, value) in values {
                this.store_to(Memory::Frame, value, to.base, to.offset + delta as i32);
            }
        });
        self.forget(dst, bytes);
    }

    pub(super) fn copy_arg(&mut self, dst: &Place, offset: u32, bytes: u32) {
        let data = self.builder.use_var(self.data);
        self.writable(dst, bytes, |this, to| {
            for (delta, ty) in words(bytes) {
                let value = this.load_from(Memory::ActionData, ty, data, (offset + delta) as i32);
                this.store_to(Memory::Frame, value, to.base, to.offset + delta as i32);
            }
        });
        self.forget(dst, bytes);
    }

    pub(super) fn zero(&mut self, place: &Place, bytes: u32) {
        if self.is_zero(place, bytes) {
            return;
        }
        self.erasable(place, bytes, |this, to| {
            if bytes > MOST_INLINE {
                let to = this.pointer(to);
                let bytes = this.constant(I64, bytes.into());
                this.call(Helper::zero(), &[to, bytes]);
                return;
            }
            for (delta, ty) in words(bytes) {
                let zero = this.constant(ty, 0);
                this.store_to(Memory::Frame, zero, to.base, to.offset + delta as i32);
            }
        });
        self.forget(place, bytes);
        if place.index.is_none() {
            self.known.zeros.note(place.offset, bytes, true);
        }
    }

    pub(super) fn pointer(&mut self, address: Address) -> Value {
        let offset = self.builder.ins().iconst(I64, i64::from(address.offset));
        self.builder.ins().iadd(address.base, offset)
    }
}

/// Bytes between the first element that a place may be in and the last.
pub(super) fn span(place: &Place) -> u32 {
    place.index.map_or(0, |index| index.stride * index.count.saturating_sub(1))
}

/// The words that make up so many bytes, with their offsets.
pub(super) fn words(bytes: u32) -> impl Iterator<Item = (u32, Type)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let ty = match bytes - at {
            0 => return None,
            1 => I8,
            2..4 => I16,
            4..8 => I32,
            _ => I64,
        };
        at += ty.bytes();
        Some((at - ty.bytes(), ty))
    })
}
