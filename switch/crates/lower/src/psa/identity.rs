//! Checksums that are the data itself: the first eight octets of all that they were given, as `Hash` has them.

use hir::Expr;
use ir::{BinaryOp, CompareOp, Operand};

use super::checksum::{Checksum, OCTETS};
use crate::context::{Lower, R};

/// The octets that a number holds.
const MOST: u32 = 8;

impl Lower<'_> {
    /// Appends octets while there is room, the first one highest.
    pub fn continue_identity(&mut self, checksum: Checksum, data: &Expr) -> R<()> {
        let (list, bits) = self.octets_of(data)?;
        let given = (bits / 8).min(MOST);
        if given == 0 {
            return Ok(());
        }
        let width = checksum.width();
        let new = self.plain_hash(checksum, list);
        let had = self.b.load(checksum.octets(), OCTETS);
        let room = self.b.binary(BinaryOp::Sub, OCTETS, Operand::Imm(MOST.into()), had);
        let given = Operand::Imm(given.into());
        let all_fit = self.b.compare(CompareOp::LeU, OCTETS, given, room);
        let taken = self.b.select(OCTETS, all_fit, given, room);
        let left = self.b.binary(BinaryOp::Sub, OCTETS, given, taken);
        // A shift by all 64 bits leaves nothing.
        let [up, down] = [taken, left].map(|octets| {
            let octets = self.b.resize(octets, OCTETS, width, false);
            self.b.binary(BinaryOp::Shl, width, octets, Operand::Imm(3))
        });
        let before = self.b.load(checksum.place, width);
        let high = self.b.binary(BinaryOp::Shl, width, before, up);
        let low = self.b.binary(BinaryOp::Shr, width, new, down);
        let both = self.b.binary(BinaryOp::Or, width, high, low);
        self.b.store(checksum.place, width, both);
        let now = self.b.binary(BinaryOp::Add, OCTETS, had, taken);
        self.b.store(checksum.octets(), OCTETS, now);
        Ok(())
    }
}
