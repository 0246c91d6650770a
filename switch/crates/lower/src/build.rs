//! Writes one function: blocks, temps, and the frame memory of its locals.

use ir::{BinaryOp, Block, BlockId, CompareOp, Function, Inst, LocalId, Operand, Place, Temp, Terminator, UnaryOp};

/// All ones in `width` bits.
pub fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Instructions that one function may have: bodies that use each other twice on every level grow without bound.
const MAX_INSTS: usize = 1 << 18;
/// Bytes that its locals may take.
const MAX_LOCALS: u32 = 1 << 24;

pub struct Builder {
    function: Function,
    insts: usize,
    current: BlockId,
    /// The next free byte of the frame, and the most that was in use.
    next: u32,
    high: u32,
    /// Where its locals start.
    locals: u32,
    /// Locals with a name that live, by where they stand, from the outside in.
    named: Vec<(u32, LocalId)>,
    /// Whether it ever had one.
    has_names: bool,
    /// The innermost one that the block has told.
    told: Option<Option<LocalId>>,
}

impl Builder {
    /// A function whose locals start at `locals`.
    pub fn new(name: String, locals: u32) -> Self {
        let mut function = Function { name, ..Function::default() };
        let current = function.blocks.push(empty_block());
        let (named, has_names, told) = (Vec::new(), false, None);
        Self { function, insts: 0, current, next: locals, high: locals, locals, named, has_names, told }
    }

    /// The function, and the end of its locals.
    pub fn finish(self) -> (Function, u32) {
        (self.function, self.high)
    }

    pub fn temp(&mut self, width: u32) -> Temp {
        debug_assert!((1..=128).contains(&width));
        let temp = ir::Handle::new(self.function.temps.len());
        self.function.temps.push(width as u8);
        temp
    }

    /// Memory for a local; it is free again after [`Builder::release`] of an earlier mark.
    pub fn alloc(&mut self, size: u32, align: u32) -> Place {
        let offset = self.next.next_multiple_of(align.max(1));
        self.next = offset.saturating_add(size);
        self.high = self.high.max(self.next);
        Place::at(offset)
    }

    pub fn mark(&self) -> u32 {
        self.next
    }

    pub fn release(&mut self, mark: u32) {
        self.next = mark;
        while self.named.pop_if(|(at, _)| *at >= mark).is_some() {}
    }

    /// The memory at `place` is this variable's until it is released.
    pub fn name(&mut self, place: Place, local: LocalId) {
        self.named.push((place.offset, local));
        self.has_names = true;
    }

    /// The variable that was named last, of those that live.
    pub fn innermost(&self) -> Option<LocalId> {
        self.named.last().map(|(_, local)| *local)
    }

    pub fn block(&mut self) -> BlockId {
        self.function.blocks.push(empty_block())
    }

    /// Instructions go to `block` from here on.
    pub fn enter(&mut self, block: BlockId) {
        self.current = block;
        self.told = None;
    }

    /// Whether the function has become larger than any sensible program's.
    pub fn is_full(&self) -> bool {
        self.insts > MAX_INSTS || self.function.blocks.len() > MAX_INSTS || self.high > MAX_LOCALS
    }

    pub fn push(&mut self, inst: Inst) {
        // A block may be come to from where other variables had the memory.
        let innermost = self.innermost();
        if self.has_names && self.told != Some(innermost) && inst.told_places().any(|place| place.offset >= self.locals)
        {
            self.told = Some(innermost);
            self.function.blocks[self.current].insts.push(Inst::Locals(innermost));
        }
        self.insts += 1;
        self.function.blocks[self.current].insts.push(inst);
    }

    /// Ends the current block. What is written before the next [`Builder::enter`] can't be reached.
    pub fn end(&mut self, end: Terminator) {
        self.function.blocks[self.current].end = end;
        let next = self.block();
        self.enter(next);
    }

    pub fn jump(&mut self, to: BlockId) {
        self.end(Terminator::Jump(to));
    }

    pub fn branch(&mut self, cond: Operand, then: BlockId, otherwise: BlockId) {
        match cond {
            Operand::Imm(0) => self.jump(otherwise),
            Operand::Imm(_) => self.jump(then),
            Operand::Temp(_) => self.end(Terminator::Branch { cond, then, otherwise }),
        }
    }

    pub fn load(&mut self, place: Place, width: u32) -> Operand {
        let dst = self.temp(width);
        self.push(Inst::Load { dst, place });
        Operand::Temp(dst)
    }

    pub fn store(&mut self, place: Place, width: u32, src: Operand) {
        self.push(Inst::Store { place, width, src });
    }

    pub fn unary(&mut self, op: UnaryOp, width: u32, a: Operand) -> Operand {
        if let Operand::Imm(value) = a {
            let result = match op {
                UnaryOp::Neg => value.wrapping_neg(),
                UnaryOp::Not => !value,
            };
            return Operand::Imm(result & mask(width));
        }
        let dst = self.temp(width);
        self.push(Inst::Unary { dst, op, a });
        Operand::Temp(dst)
    }

    pub fn not(&mut self, a: Operand) -> Operand {
        self.unary(UnaryOp::Not, 1, a)
    }

    pub fn binary(&mut self, op: BinaryOp, width: u32, a: Operand, b: Operand) -> Operand {
        if let Some(known) = fold(op, width, a, b) {
            return known;
        }
        let dst = self.temp(width);
        self.push(Inst::Binary { dst, op, a, b });
        Operand::Temp(dst)
    }

    pub fn and(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::And, 1, a, b)
    }

    pub fn or(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::Or, 1, a, b)
    }

    pub fn compare(&mut self, op: CompareOp, width: u32, a: Operand, b: Operand) -> Operand {
        if let (Operand::Imm(a), Operand::Imm(b)) = (a, b) {
            let sign = |value: u128| ((value << (128 - width)) as i128) >> (128 - width);
            let result = match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::LtU => a < b,
                CompareOp::LeU => a <= b,
                CompareOp::LtS => sign(a) < sign(b),
                CompareOp::LeS => sign(a) <= sign(b),
            };
            return Operand::Imm(u128::from(result));
        }
        let dst = self.temp(1);
        self.push(Inst::Compare { dst, op, width, a, b });
        Operand::Temp(dst)
    }

    /// `a` of `from` bits as `to` bits.
    pub fn resize(&mut self, a: Operand, from: u32, to: u32, signed: bool) -> Operand {
        if from == to {
            return a;
        }
        if let Operand::Imm(value) = a {
            let value =
                if signed && from < 128 { ((value << (128 - from)) as i128 >> (128 - from)) as u128 } else { value };
            return Operand::Imm(value & mask(to));
        }
        let dst = self.temp(to);
        self.push(Inst::Resize { dst, signed, from, a });
        Operand::Temp(dst)
    }

    pub fn select(&mut self, width: u32, cond: Operand, a: Operand, b: Operand) -> Operand {
        match cond {
            Operand::Imm(0) => b,
            Operand::Imm(_) => a,
            Operand::Temp(_) => {
                let dst = self.temp(width);
                self.push(Inst::Select { dst, cond, a, b });
                Operand::Temp(dst)
            }
        }
    }
}

fn empty_block() -> Block {
    Block { insts: Vec::new(), end: Terminator::Return }
}

/// What is plain without running: the usual constants that inlining leaves behind.
fn fold(op: BinaryOp, width: u32, a: Operand, b: Operand) -> Option<Operand> {
    let result = match (a, b) {
        (Operand::Imm(a), Operand::Imm(b)) => match op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            _ => return None,
        },
        (x, Operand::Imm(0)) | (Operand::Imm(0), x) if matches!(op, BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor) => {
            return Some(x);
        }
        (_, Operand::Imm(0)) | (Operand::Imm(0), _) if op == BinaryOp::And => 0,
        (x, Operand::Imm(ones)) | (Operand::Imm(ones), x) if op == BinaryOp::And && ones == mask(width) => {
            return Some(x);
        }
        (x, Operand::Imm(1)) | (Operand::Imm(1), x) if op == BinaryOp::Mul => return Some(x),
        _ => return None,
    };
    Some(Operand::Imm(result & mask(width)))
}
