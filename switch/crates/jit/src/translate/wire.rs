//! Bits in wire order, read from the packet and written to the output, a key or the input of a hash.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types::*};
use ir::{Arg, storage_size};
use num_bigint::BigUint;

use super::memory::Address;
use super::{Memory, Translator, type_of};

/// Bytes that hold `bytes` bytes and can be loaded at once, for at most 8.
fn rounded(bytes: u32) -> u32 {
    bytes.next_power_of_two()
}

fn type_of_bytes(bytes: u32) -> Type {
    type_of(bytes * 8)
}

/// Reads fields of a run of bytes, `len` long, all there.
pub(super) struct Reader {
    base: Value,
    len: u32,
    /// The last word read: where it starts, its bytes, and its value as a 64-bit number.
    word: Option<(u32, u32, Value)>,
}

impl Reader {
    pub fn new(base: Value, len: u32) -> Self {
        Self { base, len, word: None }
    }
}

/// Writes values one after the other, first bit highest.
///
/// Words are stored whole, so up to 7 bytes after the last are overwritten.
pub(super) struct Writer {
    memory: Memory,
    base: Value,
    /// Bytes written.
    offset: u32,
    /// Bits not written yet, at the bottom of the value; what stands above them does not matter.
    pending: Option<Value>,
    bits: u32,
}

impl Writer {
    pub fn new(memory: Memory, base: Value) -> Self {
        Self { memory, base, offset: 0, pending: None, bits: 0 }
    }

    /// Bits so far.
    pub fn len(&self) -> u32 {
        self.offset * 8 + self.bits
    }
}

impl Translator<'_> {
    /// The word of `bytes` (1, 2, 4 or 8) at `offset`, first byte highest, in the type of its size.
    fn read_word(&mut self, base: Value, offset: u32, bytes: u32) -> Value {
        let value = self.load_from(Memory::Packet, type_of_bytes(bytes), base, offset as i32);
        if bytes == 1 { value } else { self.builder.ins().bswap(value) }
    }

    /// The `width` bits (at most 64) from bit `bit` on, in their type. `run` is how many bits from `bit` on will be
    /// asked for next: it decides how much is loaded at once.
    pub(super) fn read_bits(&mut self, reader: &mut Reader, bit: u32, width: u32, run: u32) -> Value {
        let ty = type_of(width);
        let first = bit / 8;
        let bytes = (bit + width).div_ceil(8) - first;
        if let Some((start, size, word)) = reader.word
            && start <= first
            && first + bytes <= start + size
        {
            return self.bits_of(word, bit - start * 8, size * 8, width);
        }
        if bit.is_multiple_of(8) && width == ty.bits() {
            return self.read_word(reader.base, first, bytes);
        }
        if bytes > 8 {
            let high = self.read_bits(reader, bit, width - 32, 0);
            let low = self.read_bits(reader, bit + width - 32, 32, 0);
            let (high, low) = (self.cast(high, I64), self.cast(low, I64));
            let high = self.shift_left(high, 32);
            return self.builder.ins().bor(high, low);
        }
        let run_bytes = (bit + run).div_ceil(8) - first;
        let size = rounded(if run_bytes <= 8 { bytes.max(run_bytes) } else { bytes });
        let (start, size, word) = if first + size <= reader.len {
            (first, size, self.read_word(reader.base, first, size))
        } else if size <= reader.len {
            (reader.len - size, size, self.read_word(reader.base, reader.len - size, size))
        } else {
            (0, reader.len, self.read_short(reader))
        };
        let word = self.cast(word, I64);
        reader.word = Some((start, size, word));
        self.bits_of(word, bit - start * 8, size * 8, width)
    }

    /// All of a run of bytes that is shorter than a word and longer than the next smaller one.
    fn read_short(&mut self, reader: &Reader) -> Value {
        let mut value = self.constant(I64, 0);
        let mut at = 0;
        while at < reader.len {
            let bytes = rounded(reader.len - at + 1) / 2;
            let part = self.read_word(reader.base, at, bytes);
            let part = self.cast(part, I64);
            let high = self.shift_left(value, bytes * 8);
            value = self.builder.ins().bor(high, part);
            at += bytes;
        }
        value
    }

    /// The `width` bits from bit `first` on of a word of `of` bits, whose first bit is its highest.
    fn bits_of(&mut self, word: Value, first: u32, of: u32, width: u32) -> Value {
        let value = self.shift_right(word, of - first - width);
        let value = self.cast(value, type_of(width));
        if first == 0 { value } else { self.masked(value, width) }
    }

    /// The `width` bits from bit `bit` on as little-endian words of 64 bits, the lowest first. The first of a value of at
    /// most 64 bits has that value's type.
    pub(super) fn read_limbs(&mut self, reader: &mut Reader, bit: u32, width: u32, run: u32) -> Vec<Value> {
        if width <= 64 {
            return vec![self.read_bits(reader, bit, width, run)];
        }
        let end = bit + width;
        (0..width.div_ceil(64))
            .map(|i| {
                let bits = (width - i * 64).min(64);
                let limb = self.read_bits(reader, end - i * 64 - bits, bits, 0);
                self.cast(limb, I64)
            })
            .collect()
    }

    /// Appends `width` bits, at most 64, of a value whose higher bits are zero.
    pub(super) fn write_bits(&mut self, writer: &mut Writer, value: Value, width: u32) {
        if writer.bits == 0 && width == self.type_of_value(value).bits() {
            self.write_word(writer, value, width / 8);
            return;
        }
        let value = self.cast(value, I64);
        let room = 64 - writer.bits;
        if width > room {
            let high = self.shift_right(value, width - room);
            self.write_bits(writer, high, room);
            self.write_bits(writer, value, width - room);
            return;
        }
        writer.pending = Some(match writer.pending {
            Some(pending) if width < 64 => {
                let pending = self.shift_left(pending, width);
                // A part of a value that was written in two has bits above its width.
                let value = self.masked(value, width);
                self.builder.ins().bor(pending, value)
            }
            _ => value,
        });
        writer.bits += width;
        if writer.bits.is_multiple_of(8) {
            self.flush(writer);
        }
    }

    /// Stores the pending bits, a whole number of bytes.
    fn flush(&mut self, writer: &mut Writer) {
        let Some(pending) = writer.pending.take() else { return };
        let bytes = writer.bits / 8;
        let size = rounded(bytes);
        let word = self.shift_left(pending, (size - bytes) * 8);
        let word = self.cast(word, type_of_bytes(size));
        writer.bits = 0;
        self.write_word(writer, word, bytes);
    }

    /// Stores a word and goes `bytes` on.
    fn write_word(&mut self, writer: &mut Writer, word: Value, bytes: u32) {
        let word = if self.type_of_value(word) == I8 { word } else { self.builder.ins().bswap(word) };
        self.store_to(writer.memory, word, writer.base, writer.offset as i32);
        writer.offset += bytes;
    }

    /// Fills the last byte up with zeros and stores it.
    pub(super) fn pad(&mut self, writer: &mut Writer) {
        let missing = writer.bits.next_multiple_of(8) - writer.bits;
        if missing > 0 {
            let zero = self.constant(I64, 0);
            self.write_bits(writer, zero, missing);
        }
    }

    /// Appends a scalar of `width` bits.
    pub(super) fn write_scalar(&mut self, writer: &mut Writer, value: Value, width: u32) {
        if width <= 64 {
            self.write_bits(writer, value, width);
            return;
        }
        let (lo, hi) = self.builder.ins().isplit(value);
        self.write_bits(writer, hi, width - 64);
        self.write_bits(writer, lo, 64);
    }

    /// Appends the value of `width` bits that stands at `delta` bytes from an address.
    pub(super) fn write_stored(&mut self, writer: &mut Writer, address: Address, delta: u32, width: u32) {
        if width <= 128 {
            let value = self.load_at(address, delta, type_of(width));
            self.write_scalar(writer, value, width);
            return;
        }
        for i in (0..storage_size(width) / 8).rev() {
            let limb = self.load_from(Memory::Frame, I64, address.base, address.offset + (delta + i * 8) as i32);
            self.write_bits(writer, limb, (width - i * 64).min(64));
        }
    }

    /// Appends an argument whose length is known here.
    pub(super) fn write_arg(&mut self, writer: &mut Writer, arg: &Arg) {
        match arg {
            Arg::Scalar(operand, width) => {
                let value = self.operand(*operand, *width);
                self.write_scalar(writer, value, *width);
            }
            Arg::Frame(place, width) => {
                let address = self.readable(place);
                self.write_stored(writer, address, 0, *width);
            }
            Arg::Const(number, width) => self.write_number(writer, number, *width),
            Arg::Varbit(..) => unreachable!("callers know that a varbit's length is not known here"),
        }
    }

    fn write_number(&mut self, writer: &mut Writer, number: &BigUint, width: u32) {
        let limbs = number.to_u64_digits();
        for i in (0..width.div_ceil(64)).rev() {
            let limb = self.constant(I64, limbs.get(i as usize).copied().unwrap_or(0).into());
            self.write_bits(writer, limb, (width - i * 64).min(64));
        }
    }
}

/// Bits of the arguments together, if that is known here.
pub(super) fn total_bits(args: &[Arg]) -> Option<u32> {
    args.iter().map(|arg| if let Arg::Varbit(..) = arg { None } else { Some(arg.width()) }).sum()
}
