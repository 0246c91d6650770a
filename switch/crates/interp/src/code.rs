//! Functions decoded for speed: operands in four bytes, jumps to places in one list.

use ir::*;

/// An operand: a temp, or with the highest bit set, a constant.
#[derive(Clone, Copy)]
pub struct Ref(u32);

const CONSTANT: u32 = 1 << 31;

impl Ref {
    /// The number of a temp, or else of a constant.
    pub fn split(self) -> Result<usize, usize> {
        if self.0 & CONSTANT == 0 { Ok(self.0 as usize) } else { Err((self.0 & !CONSTANT) as usize) }
    }
}

/// A place at a run-time index.
#[derive(Clone, Copy)]
pub struct Indexed {
    pub offset: u32,
    pub index: Ref,
    pub stride: u32,
    pub count: u32,
}

/// A decoded instruction. Temps are numbers in the list of temps; targets are numbers in the list of operations.
#[derive(Clone, Copy)]
pub enum Op {
    Unary {
        op: UnaryOp,
        width: u8,
        dst: u32,
        a: Ref,
    },
    Binary {
        op: BinaryOp,
        width: u8,
        dst: u32,
        a: Ref,
        b: Ref,
    },
    Compare {
        op: CompareOp,
        width: u8,
        dst: u32,
        a: Ref,
        b: Ref,
    },
    Resize {
        signed: bool,
        from: u8,
        to: u8,
        dst: u32,
        a: Ref,
    },
    Slice {
        hi: u8,
        lo: u8,
        dst: u32,
        a: Ref,
    },
    Insert {
        hi: u8,
        lo: u8,
        dst: u32,
        a: Ref,
        value: Ref,
    },
    Concat {
        b_width: u8,
        dst: u32,
        a: Ref,
        b: Ref,
    },
    Select {
        dst: u32,
        cond: Ref,
        a: Ref,
        b: Ref,
    },
    Load {
        width: u8,
        dst: u32,
        offset: u32,
    },
    /// `place` is a number in the list of indexed places.
    LoadAt {
        width: u8,
        dst: u32,
        place: u32,
    },
    Store {
        width: u8,
        offset: u32,
        src: Ref,
    },
    StoreAt {
        width: u8,
        place: u32,
        src: Ref,
    },
    Copy {
        dst: u32,
        src: u32,
        bytes: u32,
    },
    Zero {
        offset: u32,
        bytes: u32,
    },
    LoadArg {
        width: u8,
        dst: u32,
        offset: u32,
    },
    /// Any other instruction, by its number in their list.
    Other(u32),
    Jump(u32),
    Branch {
        cond: Ref,
        then: u32,
        otherwise: u32,
    },
    /// By the number in the list of switches.
    Switch {
        value: Ref,
        switch: u32,
    },
    Return,
}

/// Cases in ascending order.
pub struct Switch {
    pub cases: Vec<(u128, u32)>,
    pub default: u32,
}

pub struct Code {
    pub ops: Vec<Op>,
    pub constants: Vec<u128>,
    pub indexed: Vec<Indexed>,
    pub others: Vec<Inst>,
    pub switches: Vec<Switch>,
    /// Widths of the temps.
    pub temps: Vec<u8>,
}

impl Code {
    /// The decoded function; notes are left out unless they are asked for.
    pub fn new(function: &Function, notes: bool) -> Self {
        let mut code = Self {
            ops: Vec::new(),
            constants: Vec::new(),
            indexed: Vec::new(),
            others: Vec::new(),
            switches: Vec::new(),
            temps: function.temps.clone(),
        };
        let mut starts = Vec::new();
        for (_, block) in function.blocks.iter() {
            starts.push(code.ops.len() as u32);
            for inst in &block.insts {
                if notes || !inst.is_note() {
                    let op = code.inst(inst);
                    code.ops.push(op);
                }
            }
            let end = code.end(&block.end);
            code.ops.push(end);
        }
        code.resolve(&starts);
        code
    }

    /// Turns numbers of blocks into numbers of operations.
    fn resolve(&mut self, starts: &[u32]) {
        for op in &mut self.ops {
            match op {
                Op::Jump(to) => *to = starts[*to as usize],
                Op::Branch { then, otherwise, .. } => {
                    *then = starts[*then as usize];
                    *otherwise = starts[*otherwise as usize];
                }
                _ => {}
            }
        }
        for switch in &mut self.switches {
            switch.default = starts[switch.default as usize];
            for (_, to) in &mut switch.cases {
                *to = starts[*to as usize];
            }
        }
    }

    fn operand(&mut self, operand: Operand) -> Ref {
        match operand {
            Operand::Temp(temp) => Ref(temp.index() as u32),
            Operand::Imm(value) => {
                let known = self.constants.iter().position(|constant| *constant == value);
                let number = known.unwrap_or_else(|| {
                    self.constants.push(value);
                    self.constants.len() - 1
                });
                Ref(number as u32 | CONSTANT)
            }
        }
    }

    fn indexed(&mut self, offset: u32, index: Index) -> u32 {
        let Index { index, stride, count } = index;
        let index = self.operand(index);
        self.indexed.push(Indexed { offset, index, stride, count });
        self.indexed.len() as u32 - 1
    }

    fn width(&self, temp: Temp) -> u8 {
        self.temps[temp.index()]
    }

    fn inst(&mut self, inst: &Inst) -> Op {
        let number = |temp: &Temp| temp.index() as u32;
        match inst {
            Inst::Unary { dst, op, a } => {
                Op::Unary { op: *op, width: self.width(*dst), dst: number(dst), a: self.operand(*a) }
            }
            Inst::Binary { dst, op, a, b } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                Op::Binary { op: *op, width: self.width(*dst), dst: number(dst), a, b }
            }
            Inst::Compare { dst, op, width, a, b } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                Op::Compare { op: *op, width: *width as u8, dst: number(dst), a, b }
            }
            Inst::Resize { dst, signed, from, a } => {
                let to = self.width(*dst);
                Op::Resize { signed: *signed, from: *from as u8, to, dst: number(dst), a: self.operand(*a) }
            }
            Inst::Slice { dst, a, hi, lo } => {
                Op::Slice { hi: *hi as u8, lo: *lo as u8, dst: number(dst), a: self.operand(*a) }
            }
            Inst::Insert { dst, a, value, hi, lo } => {
                let (a, value) = (self.operand(*a), self.operand(*value));
                Op::Insert { hi: *hi as u8, lo: *lo as u8, dst: number(dst), a, value }
            }
            Inst::Concat { dst, a, b, b_width } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                Op::Concat { b_width: *b_width as u8, dst: number(dst), a, b }
            }
            Inst::Select { dst, cond, a, b } => {
                let (cond, a, b) = (self.operand(*cond), self.operand(*a), self.operand(*b));
                Op::Select { dst: number(dst), cond, a, b }
            }
            Inst::Load { dst, place: Place { offset, index } } => {
                let (width, dst) = (self.width(*dst), number(dst));
                match index {
                    None => Op::Load { width, dst, offset: *offset },
                    Some(index) => Op::LoadAt { width, dst, place: self.indexed(*offset, *index) },
                }
            }
            Inst::Store { place: Place { offset, index }, width, src } => {
                let (width, src) = (*width as u8, self.operand(*src));
                match index {
                    None => Op::Store { width, offset: *offset, src },
                    Some(index) => Op::StoreAt { width, place: self.indexed(*offset, *index), src },
                }
            }
            Inst::Copy { dst: Place { offset: dst, index: None }, src: Place { offset: src, index: None }, bytes } => {
                Op::Copy { dst: *dst, src: *src, bytes: *bytes }
            }
            Inst::Zero { place: Place { offset, index: None }, bytes } => Op::Zero { offset: *offset, bytes: *bytes },
            Inst::LoadArg { dst, offset } => Op::LoadArg { width: self.width(*dst), dst: number(dst), offset: *offset },
            other => {
                self.others.push(other.clone());
                Op::Other(self.others.len() as u32 - 1)
            }
        }
    }

    fn end(&mut self, end: &Terminator) -> Op {
        let number = |block: &BlockId| block.index() as u32;
        match end {
            Terminator::Jump(to) => Op::Jump(number(to)),
            Terminator::Branch { cond, then, otherwise } => {
                Op::Branch { cond: self.operand(*cond), then: number(then), otherwise: number(otherwise) }
            }
            Terminator::Switch { value, cases, default, .. } => {
                let mut cases: Vec<_> = cases.iter().map(|(value, to)| (*value, number(to))).collect();
                cases.sort_unstable_by_key(|(value, _)| *value);
                self.switches.push(Switch { cases, default: number(default) });
                Op::Switch { value: self.operand(*value), switch: self.switches.len() as u32 - 1 }
            }
            Terminator::Return => Op::Return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_small() {
        assert!(size_of::<Op>() <= 20, "{} bytes", size_of::<Op>());
    }
}
