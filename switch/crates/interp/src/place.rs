//! Operands, places and arguments of undecoded instructions.

use ir::eval::{Wide, mask};
use ir::*;
use runtime::BitString;

use crate::run::Run;

impl Run<'_, '_> {
    pub fn value(&self, operand: &Operand) -> u128 {
        match operand {
            Operand::Temp(temp) => self.temps[temp.index()],
            Operand::Imm(value) => *value,
        }
    }

    /// The value of an operand of 32 bits.
    pub fn short(&self, operand: &Operand) -> u32 {
        self.value(operand) as u32
    }

    /// An index: what is too large for 64 bits is out of every range.
    pub fn index(&self, operand: &Operand) -> u64 {
        u64::try_from(self.value(operand)).unwrap_or(u64::MAX)
    }

    /// Assigns the value, cut to the temp's width.
    pub fn assign(&mut self, temp: Temp, value: u128) {
        let width = self.code.temps[temp.index()];
        self.temps[temp.index()] = value & mask(width.into());
    }

    /// Where a place is now; nowhere with an index out of range.
    pub fn offset(&self, place: &Place) -> Option<u32> {
        let Some(Index { index, stride, count }) = &place.index else { return Some(place.offset) };
        let index = self.value(index);
        (index < u128::from(*count)).then(|| place.offset + index as u32 * stride)
    }

    /// The bits a varbit holds, in wire order, and how many.
    pub fn varbit(&self, place: &Place, most: u32) -> (&[u8], u32) {
        let Some(offset) = self.offset(place) else { return (&[], 0) };
        let bits = (self.context.frame.read(offset, 32) as u32).min(most);
        (self.context.frame.bytes(offset + 4, bits.div_ceil(8)), bits)
    }

    /// The value of an argument of at most 128 bits that is not a varbit.
    pub fn scalar(&self, arg: &Arg) -> u128 {
        match arg {
            Arg::Scalar(operand, _) => self.value(operand),
            Arg::Frame(place, width) => self.offset(place).map_or(0, |offset| self.context.frame.read(offset, *width)),
            Arg::Const(..) | Arg::Varbit(..) => self.wide(arg).low_u128(),
        }
    }

    pub fn wide(&self, arg: &Arg) -> Wide {
        match arg {
            Arg::Scalar(operand, width) => Wide::from_u128(self.value(operand), *width),
            Arg::Const(value, width) => Wide::from_biguint(value, *width),
            Arg::Frame(place, width) => match self.offset(place) {
                Some(offset) => self.variable(offset, *width),
                None => Wide::zero(*width),
            },
            Arg::Varbit(place, most) => {
                let (bytes, bits) = self.varbit(place, *most);
                Wide::from_wire_bits(bytes, bits)
            }
        }
    }

    /// The variable of `width` bits at `offset`.
    pub fn variable(&self, offset: u32, width: u32) -> Wide {
        Wide::from_le_bytes(self.context.frame.bytes(offset, storage_size(width)), width)
    }

    /// The width of what goes to a destination.
    pub fn width(&self, dest: &Dest) -> u32 {
        match dest {
            Dest::Temp(temp) => self.code.temps[temp.index()].into(),
            Dest::Frame(_, width) => *width,
        }
    }

    /// Writes a value of the destination's width.
    pub fn give(&mut self, dest: &Dest, value: &Wide) {
        match dest {
            Dest::Temp(temp) => self.assign(*temp, value.low_u128()),
            Dest::Frame(place, width) => {
                if let Some(offset) = self.offset(place) {
                    value.write_le_bytes(self.context.frame.bytes_mut(offset, storage_size(*width)));
                }
            }
        }
    }

    /// Appends arguments to `bits`, one after the other.
    pub fn append(&self, bits: &mut BitString, args: &[Arg]) {
        for arg in args {
            match arg {
                Arg::Varbit(place, most) => {
                    let (bytes, count) = self.varbit(place, *most);
                    bits.push_wire(bytes, count as usize);
                }
                _ if arg.width() <= 128 => bits.push(self.scalar(arg), arg.width()),
                _ => {
                    let value = self.wide(arg);
                    let mut width = arg.width();
                    for limb in value.limbs().iter().rev() {
                        // The highest limb holds what is over whole ones.
                        let part = (width - 1) % 64 + 1;
                        bits.push((*limb).into(), part);
                        width -= part;
                    }
                }
            }
        }
    }

    /// Packs arguments as a key: each big-endian in whole bytes.
    pub fn pack(&self, key: &mut Vec<u8>, args: &[Arg]) {
        for arg in args {
            let size = arg.width().div_ceil(8) as usize;
            if arg.width() <= 128 {
                key.extend_from_slice(&self.scalar(arg).to_be_bytes()[16 - size..]);
            } else {
                let start = key.len();
                key.resize(start + size, 0);
                self.wide(arg).write_le_bytes(&mut key[start..]);
                key[start..].reverse();
            }
        }
    }
}
