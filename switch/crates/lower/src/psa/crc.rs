//! Checksums that are CRCs: one goes on from another's end.

use hir::Expr;
use ir::{Arg, BinaryOp, Dest, Inst, Operand};

use super::checksum::Checksum;
use crate::context::{Lower, R, fail};

impl Lower<'_> {
    /// The CRC `c` goes on over `data` of `n` bits. Those of this switch are reflected, and that of nothing is 0, so:
    ///
    /// ```text
    ///   next = (c >> n) ^ crc(data ^ c)
    ///        = (c >> n) ^ crc(data) ^ crc(c) ^ crc(0)
    /// ```
    ///
    /// where `c` stands before zeros, its lowest octet first, and all three have `n` bits.
    pub fn continue_crc(&mut self, checksum: Checksum, data: &Expr) -> R<()> {
        let (list, bits) = self.octets_of(data)?;
        if bits == 0 {
            return Ok(());
        }
        let width = checksum.width();
        let before = self.b.load(checksum.place, width);
        let mut first = self.octets_reversed(before, width);
        let taken = width.min(bits);
        first = self.b.binary(BinaryOp::Shr, width, first, Operand::Imm((width - taken).into()));
        first = self.b.resize(first, width, taken, false);
        let mut next = self.b.binary(BinaryOp::Shr, width, before, Operand::Imm(taken.into()));
        let zeros = |bits: u32| (bits > 0).then(|| Arg::Const(0u8.into(), bits));
        let mut with_first = vec![Arg::Scalar(first, taken)];
        with_first.extend(zeros(bits - taken));
        for data in [list, with_first, zeros(bits).into_iter().collect()] {
            let crc = self.plain_hash(checksum, data);
            next = self.b.binary(BinaryOp::Xor, width, next, crc);
        }
        self.b.store(checksum.place, width, next);
        Ok(())
    }

    /// The hash of data by a checksum's algorithm.
    pub fn plain_hash(&mut self, checksum: Checksum, data: Vec<Arg>) -> Operand {
        let dst = self.b.temp(checksum.width());
        let none = Arg::Scalar(Operand::Imm(0), 1);
        let algorithm = checksum.algorithm;
        self.b.push(Inst::Hash { dst: Dest::Temp(dst), algorithm, base: none.clone(), data, max: none });
        Operand::Temp(dst)
    }

    /// What a checksum is given in parts, and its bits.
    pub fn octets_of(&mut self, data: &Expr) -> R<(Vec<Arg>, u32)> {
        let mut list = Vec::new();
        self.args(data, &mut list)?;
        if list.iter().any(|arg| matches!(arg, Arg::Varbit(..))) {
            return fail(data.span, "this `Checksum` takes no `varbit`; `Hash` does");
        }
        let bits: u32 = list.iter().map(Arg::width).sum();
        if !bits.is_multiple_of(8) {
            return fail(data.span, format!("this `Checksum` takes a multiple of 8 bits, not {bits}"));
        }
        Ok((list, bits))
    }

    fn octets_reversed(&mut self, number: Operand, width: u32) -> Operand {
        let mut reversed = Operand::Imm(0);
        for from in (0..width).step_by(8) {
            let octet = self.b.binary(BinaryOp::Shr, width, number, Operand::Imm(from.into()));
            let octet = self.b.binary(BinaryOp::And, width, octet, Operand::Imm(0xff));
            let octet = self.b.binary(BinaryOp::Shl, width, octet, Operand::Imm((width - 8 - from).into()));
            reversed = self.b.binary(BinaryOp::Or, width, reversed, octet);
        }
        reversed
    }
}
