//! Jump threading: what a branch was taken for holds until something else is written, and whoever jumps to a block that
//! only asks for what is known goes straight to where the answer leads. Programs ask again and again whether a packet is
//! decided, or a header there.

use ir::{BinaryOp, Block, BlockId, CompareOp, Handle, Inst, Operand, Place, Temp, Terminator, UnaryOp};

use super::known::Fact;
use super::{Slot, Translator, type_of};

/// Instructions of a block that only asks, at most.
const MOST: usize = 8;

impl Translator<'_> {
    /// From here on an operand is known to be this.
    pub(super) fn assume(&mut self, operand: Operand, is: u128) {
        let Operand::Temp(temp) = operand else { return };
        if let Some(Slot::Value(value)) = self.temps[temp.index()] {
            self.known.assume(value, is);
        }
        let one_bit = self.width(temp) == 1;
        match self.definitions[temp.index()] {
            Some(Inst::Unary { op: UnaryOp::Not, a, .. }) if one_bit => self.assume(*a, is ^ 1),
            Some(Inst::Binary { op: BinaryOp::And, a, b, .. }) if one_bit && is == 1 => {
                self.assume(*a, 1);
                self.assume(*b, 1);
            }
            Some(Inst::Binary { op: BinaryOp::Or, a, b, .. }) if one_bit && is == 0 => {
                self.assume(*a, 0);
                self.assume(*b, 0);
            }
            Some(Inst::Compare { op, a, b, .. }) if *op == [CompareOp::Ne, CompareOp::Eq][is as usize & 1] => {
                match (self.constant_of(*a), self.constant_of(*b)) {
                    (None, Some(is)) => self.assume(*a, is),
                    (Some(is), None) => self.assume(*b, is),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Where a jump to a block leads from here.
    pub(super) fn destination(&self, mut to: BlockId) -> BlockId {
        // All that leads to a block has to be translated before it.
        while self.before_loops[to.index()]
            && let Some(next) = self.answer(to)
        {
            to = next;
        }
        to
    }

    /// Where a block leads that does nothing but ask for what is known here.
    fn answer(&self, id: BlockId) -> Option<BlockId> {
        let block = &self.function.blocks[id];
        if block.insts.len() > MOST || !self.is_read_here_alone(block) {
            return None;
        }
        let mut values: Vec<(Temp, u128)> = Vec::with_capacity(MOST);
        let of = |values: &[(Temp, u128)], operand: Operand| {
            let found = values.iter().find(|(temp, _)| operand == Operand::Temp(*temp));
            found.map(|(_, value)| *value).or_else(|| self.constant_of(operand))
        };
        for inst in &block.insts {
            let value = match inst {
                Inst::Load { dst, place } => self.known_constant(place, self.width(*dst)).map(|value| (*dst, value)),
                Inst::Unary { .. } | Inst::Binary { .. } | Inst::Compare { .. } => {
                    let folded = self.fold_with(inst, &|operand| of(&values, operand));
                    folded.and_then(|(dst, result)| of(&values, result).map(|value| (dst, value)))
                }
                note if note.is_note() && self.shared.stages.is_none() => None,
                _ => return None,
            };
            values.extend(value);
        }
        match &block.end {
            Terminator::Jump(to) => Some(*to),
            Terminator::Branch { cond, then, otherwise } => {
                of(&values, *cond).map(|cond| if cond != 0 { *then } else { *otherwise })
            }
            Terminator::Switch { .. } | Terminator::Return => None,
        }
    }

    /// Whether nobody else reads what a block computes.
    fn is_read_here_alone(&self, block: &Block) -> bool {
        let mut read: Vec<Temp> = Vec::new();
        block.insts.iter().for_each(|inst| inst.uses(|temp| read.push(temp)));
        block.end.uses(|temp| read.push(temp));
        let mut alone = true;
        for inst in &block.insts {
            inst.defs(|temp| {
                alone &= self.uses[temp.index()] as usize == read.iter().filter(|other| **other == temp).count();
            });
        }
        alone
    }

    pub(super) fn known_constant(&self, place: &Place, width: u32) -> Option<u128> {
        let known = place.index.is_none().then(|| self.known.get(place.offset, type_of(width))).flatten();
        match known {
            Some(Fact::Constant(value)) => Some(value),
            Some(Fact::Value(_)) | None => None,
        }
    }
}
