//! Branches and loops of random programs.

use ir::eval::mask;
use ir::*;

use super::{Builder, WIDTHS};

/// Recipes that go into an arm of a branch or the body of a loop.
const ARM: u32 = 3;

/// A branch or loop that is being filled.
pub(super) struct Open {
    part: Part,
    /// Recipes still to come in this part.
    left: u32,
    /// Temps that could be used before, and can after.
    visible: usize,
}

#[derive(Clone, Copy)]
enum Part {
    /// The branch stands at the end of this block.
    Then(BlockId),
    /// The other arm ends with this block.
    Otherwise(BlockId, BlockId),
    /// The loop's head is this block.
    Body(BlockId),
}

impl Builder {
    /// Ends the current block and gives its number.
    pub(super) fn end(&mut self, end: Terminator) -> BlockId {
        self.blocks.push(Block { insts: std::mem::take(&mut self.insts), end })
    }

    fn open(&mut self, part: Part, visible: usize) {
        self.open = Some(Open { part, left: ARM + 1, visible });
    }

    /// The block after the current one.
    fn next(&self) -> BlockId {
        BlockId::new(self.blocks.len() + 1)
    }

    pub(super) fn fork(&mut self, pick: u32, other: u32, number: u128) {
        let (then, unknown) = (self.next(), BlockId::new(0));
        let end = if pick.is_multiple_of(2) {
            Terminator::Branch { cond: self.operand(1, other, number), then, otherwise: unknown }
        } else {
            let width = WIDTHS[pick as usize % WIDTHS.len()];
            let value = self.operand(width, other, number);
            let cases = (0..pick / 64 % 8).map(|i| ((u128::from(i) * 3) & mask(width), then));
            let mut cases: Vec<_> = cases.chain([(mask(width), then)]).collect();
            cases.sort_by_key(|case| case.0);
            cases.dedup_by_key(|case| case.0);
            Terminator::Switch { value, width, cases, default: unknown }
        };
        let fork = self.end(end);
        self.open(Part::Then(fork), self.visible.len());
    }

    pub(super) fn start_loop(&mut self) {
        let head = self.next();
        self.end(Terminator::Jump(head));
        let empty = self.temp(1);
        self.insts.push(Inst::Fuel { dst: empty });
        let (then, otherwise) = (BlockId::new(0), self.next());
        let head = self.end(Terminator::Branch { cond: Operand::Temp(empty), then, otherwise });
        self.open(Part::Body(head), self.visible.len());
    }

    /// One recipe is done: goes on to the next part of what is open when its time has come.
    pub(super) fn step(&mut self, pick: u32, number: u128) {
        let Some(open) = &mut self.open else { return };
        open.left -= 1;
        if open.left > 0 {
            return;
        }
        let (part, visible) = (open.part, open.visible);
        match part {
            Part::Then(fork) => {
                let then = self.end(Terminator::Jump(BlockId::new(0)));
                self.open(Part::Otherwise(fork, then), visible);
            }
            Part::Otherwise(fork, then) => {
                let join = self.next();
                let otherwise = self.end(Terminator::Jump(join));
                self.blocks[then].end = Terminator::Jump(join);
                // The second arm starts behind the end of the first.
                let second = BlockId::new(then.index() + 1);
                assert!(second.index() <= otherwise.index());
                match &mut self.blocks[fork].end {
                    Terminator::Branch { otherwise, .. } => *otherwise = second,
                    Terminator::Switch { default, .. } => *default = second,
                    end => unreachable!("{end:?} is no fork"),
                }
                self.open = None;
            }
            Part::Body(head) => {
                let exit = self.next();
                let cond = self.operand(1, pick, number);
                self.end(Terminator::Branch { cond, then: head, otherwise: exit });
                match &mut self.blocks[head].end {
                    Terminator::Branch { then, .. } => *then = exit,
                    end => unreachable!("{end:?} is no head of a loop"),
                }
                self.open = None;
            }
        }
        self.visible.truncate(visible);
    }

    pub(super) fn close(&mut self) {
        while self.open.is_some() {
            self.step(0, 0);
        }
    }
}
