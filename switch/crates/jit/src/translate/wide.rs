//! Long values of which whole bytes only change their place (cut, moved by constants, put together) or are compared.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{Arg, BinaryOp, CompareOp, Dest, Inst, Operand, Place, WideOp, storage_size};

use super::memory::{MOST_INLINE, words};
use super::{Memory, Translator, type_of};

/// Bytes of a result, from its lowest on.
#[derive(Debug, Clone, Copy)]
enum Piece<'a> {
    Zeros(u32),
    /// From the byte on at which something in the frame has its second number, as many as its last one.
    Frame(&'a Place, u32, u32),
    /// A scalar that fills its bytes.
    Scalar(Operand, u32),
}

impl Piece<'_> {
    fn bytes(&self) -> u32 {
        match self {
            Self::Zeros(bytes) | Self::Frame(_, _, bytes) | Self::Scalar(_, bytes) => *bytes,
        }
    }
}

impl Translator<'_> {
    pub(super) fn wide(&mut self, inst: &Inst, op: WideOp, dst: &Dest, args: &[Arg]) {
        let width = match dst {
            Dest::Temp(temp) => self.width(*temp),
            Dest::Frame(_, width) => *width,
        };
        match (dst, op, args) {
            (Dest::Temp(temp), WideOp::Slice { hi: _, lo }, [Arg::Frame(place, _)])
                if lo % 8 == 0 || lo % 8 + width <= 64 =>
            {
                let value = self.cut(place, lo, width);
                self.set(*temp, value);
            }
            (Dest::Temp(temp), WideOp::Compare(op @ (CompareOp::Eq | CompareOp::Ne)), [Arg::Frame(a, of), b])
                if (129..=8 * MOST_INLINE).contains(of) && matches!(b, Arg::Frame(..) | Arg::Const(..)) =>
            {
                let value = self.compare_wide(op, a, b, *of);
                self.set(*temp, value);
            }
            (Dest::Frame(place, _), ..) if storage_size(width) <= MOST_INLINE => {
                let Some(mut pieces) = pieces(op, width, args) else { return self.slow(inst) };
                pieces.push(Piece::Zeros(storage_size(width) - width / 8));
                self.put(place, &pieces);
            }
            _ => self.slow(inst),
        }
    }

    /// `width` bits, at most 128, from bit `lo` on: one load, which may reach beyond what is there, as the memory does.
    fn cut(&mut self, place: &Place, lo: u32, width: u32) -> Value {
        let address = self.readable(place);
        let (first, offset) = (lo % 8, address.offset + (lo / 8) as i32);
        let loaded = type_of(first + width);
        let value = self.load_from(Memory::Frame, loaded, address.base, offset);
        let value = self.shift_right(value, first);
        let value = self.cast(value, type_of(width));
        self.masked(value, width)
    }

    /// Whether two values of `width` bits are the same, or are not.
    fn compare_wide(&mut self, op: CompareOp, a: &Place, b: &Arg, width: u32) -> Value {
        let a = self.readable(a);
        let b_at = if let Arg::Frame(place, _) = b { Some(self.readable(place)) } else { None };
        let number = if let Arg::Const(number, _) = b { number.to_u64_digits() } else { Vec::new() };
        let mut differences = self.constant(I64, 0);
        for limb in 0..width.div_ceil(64) {
            let at = limb as i32 * 8;
            let one = self.load_from(Memory::Frame, I64, a.base, a.offset + at);
            let other = match b_at {
                Some(b) => self.load_from(Memory::Frame, I64, b.base, b.offset + at),
                None => self.constant(I64, number.get(limb as usize).copied().unwrap_or(0).into()),
            };
            let difference = self.builder.ins().bxor(one, other);
            let difference = self.masked(difference, (width - limb * 64).min(64));
            differences = self.builder.ins().bor(differences, difference);
        }
        let zero = self.constant(I64, 0);
        let cc = if op == CompareOp::Eq { IntCC::Equal } else { IntCC::NotEqual };
        self.builder.ins().icmp(cc, differences, zero)
    }

    /// Writes pieces one after the other.
    fn put(&mut self, place: &Place, pieces: &[Piece<'_>]) {
        // All loads come before all stores, so what is read and what is written may overlap.
        let mut values: Vec<(u32, Value)> = vec![];
        let mut at = 0;
        for piece in pieces {
            match piece {
                Piece::Zeros(bytes) => {
                    for (delta, ty) in words(*bytes) {
                        values.push((at + delta, self.constant(ty, 0)));
                    }
                }
                Piece::Frame(source, from, bytes) => {
                    let address = self.readable(source);
                    for (delta, ty) in words(*bytes) {
                        let offset = address.offset + (from + delta) as i32;
                        values.push((at + delta, self.load_from(Memory::Frame, ty, address.base, offset)));
                    }
                }
                Piece::Scalar(operand, bytes) => values.push((at, self.operand(*operand, bytes * 8))),
            }
            at += piece.bytes();
        }
        self.writable(place, at, |this, to| {
            for (delta, value) in values {
                this.store_to(Memory::Frame, value, to.base, to.offset + delta as i32);
            }
        });
        self.forget(place, at);
    }
}

/// What the result is made of, if that is whole bytes of the arguments.
fn pieces<'a>(op: WideOp, width: u32, args: &'a [Arg]) -> Option<Vec<Piece<'a>>> {
    if !width.is_multiple_of(8) {
        return None;
    }
    let bytes = width / 8;
    Some(match (op, args) {
        (WideOp::Slice { hi: _, lo }, [Arg::Frame(place, _)]) => vec![Piece::Frame(place, whole(lo.into())?, bytes)],
        (WideOp::ResizeU, [arg]) => {
            let piece = piece(arg)?;
            match piece {
                Piece::Frame(place, from, long) if long > bytes => vec![Piece::Frame(place, from, bytes)],
                _ => vec![piece, Piece::Zeros(bytes.checked_sub(piece.bytes())?)],
            }
        }
        (WideOp::Binary(BinaryOp::Shl), [Arg::Frame(place, _), Arg::Scalar(Operand::Imm(by), _)]) => {
            let by = whole(*by)?.min(bytes);
            vec![Piece::Zeros(by), Piece::Frame(place, 0, bytes - by)]
        }
        (WideOp::Binary(BinaryOp::Shr), [Arg::Frame(place, _), Arg::Scalar(Operand::Imm(by), _)]) => {
            let by = whole(*by)?.min(bytes);
            vec![Piece::Frame(place, by, bytes - by), Piece::Zeros(by)]
        }
        (WideOp::Concat, _) => args.iter().rev().map(piece).collect::<Option<_>>()?,
        _ => return None,
    })
}

/// An argument of whole bytes; of constants only zero.
fn piece(arg: &Arg) -> Option<Piece<'_>> {
    let bytes = whole(arg.width().into())?;
    match arg {
        Arg::Frame(place, _) => Some(Piece::Frame(place, 0, bytes)),
        Arg::Const(number, _) if number.bits() == 0 => Some(Piece::Zeros(bytes)),
        Arg::Scalar(operand, width) if storage_size(*width) == bytes => Some(Piece::Scalar(*operand, bytes)),
        _ => None,
    }
}

/// So many bits in bytes, if they are whole ones.
fn whole(bits: u128) -> Option<u32> {
    u32::try_from(bits).ok().filter(|bits| bits.is_multiple_of(8)).map(|bits| bits / 8)
}
