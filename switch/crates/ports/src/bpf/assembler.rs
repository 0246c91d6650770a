//! Instructions of the kernel's machine, one call for each.
//!
//! Registers are 64 bits wide. R0 is what a program or helper answers, R1 to R5 are a helper's arguments and lost by a call,
//! R6 to R9 stay, R10 points behind the 512 octets of the stack. A program begins with its context in R1.

#[cfg(test)]
mod tests;

use std::os::fd::{AsFd, AsRawFd};

use super::Map;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// Octets of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    One,
    Two,
    Four,
    Eight,
}

/// What is done with a register, 64 bits wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alu {
    Add,
    Sub,
    Mul,
    /// By nothing it is nothing.
    Div,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Move,
}

/// Of unsigned numbers, 64 bits wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// A number is extended to 64 bits by its sign, also where it is then taken as unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Reg(Reg),
    Number(i32),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}

impl From<i32> for Operand {
    fn from(number: i32) -> Self {
        Self::Number(number)
    }
}

/// A place in the code that jumps lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

/// The kernel's `struct bpf_insn`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Instruction {
    code: u8,
    /// Destination and source, in the order of the machine's bit fields.
    registers: u8,
    offset: i16,
    immediate: i32,
}

// Classes, modes and operations of linux/bpf.h and linux/bpf_common.h.
const LD: u8 = 0x00;
const LDX: u8 = 0x01;
const ST: u8 = 0x02;
const STX: u8 = 0x03;
const ALU: u8 = 0x04;
const JMP: u8 = 0x05;
const ALU64: u8 = 0x07;
const IMM: u8 = 0x00;
const MEM: u8 = 0x60;
const DW: u8 = 0x18;
/// The operand is a register.
const X: u8 = 0x08;
const END: u8 = 0xd0;
const TO_BE: u8 = 0x08;
const JA: u8 = 0x00;
const CALL: u8 = 0x80;
const EXIT: u8 = 0x90;
/// What a 64-bit immediate is, in place of its source register.
const PSEUDO_MAP_FD: u8 = 1;
const PSEUDO_MAP_VALUE: u8 = 2;

/// A program being written.
#[derive(Default)]
pub struct Code {
    instructions: Vec<Instruction>,
    /// Where each label was placed.
    labels: Vec<Option<usize>>,
    /// Instructions that jump, and where to.
    jumps: Vec<(usize, Label)>,
}

impl Code {
    pub fn new() -> Self {
        Self::default()
    }

    /// A label that is to be placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Has the label stand before the next instruction.
    pub fn place(&mut self, label: Label) {
        let place = &mut self.labels[label.0];
        assert!(place.is_none(), "{label:?} is placed twice");
        *place = Some(self.instructions.len());
    }

    /// `into` = what stands at `from` + `offset`, in the machine's order; what it does not fill is zero.
    pub fn load(&mut self, size: Size, into: Reg, from: Reg, offset: i16) {
        self.push(LDX | MEM | size.code(), into, from as u8, offset, 0);
    }

    /// What stands at `to` + `offset` = `value`, of which the lowest octets are taken.
    pub fn store(&mut self, size: Size, to: Reg, offset: i16, value: impl Into<Operand>) {
        match value.into() {
            Operand::Reg(value) => self.push(STX | MEM | size.code(), to, value as u8, offset, 0),
            Operand::Number(value) => self.push(ST | MEM | size.code(), to, 0, offset, value),
        }
    }

    pub fn alu(&mut self, operation: Alu, into: Reg, with: impl Into<Operand>) {
        self.with_operand(ALU64 | operation.code(), into, with.into());
    }

    /// Turns a number from the machine's order into that of the network or back, whichever order the machine has; what is
    /// above `size` becomes zero.
    pub fn swap_octets(&mut self, into: Reg, size: Size) {
        let bits = match size {
            // The kernel has no instruction for what has no order.
            Size::One => return self.alu(Alu::And, into, 0xff),
            Size::Two => 16,
            Size::Four => 32,
            Size::Eight => 64,
        };
        self.push(ALU | END | TO_BE, into, 0, 0, bits);
    }

    /// `into` = `number`, in two instructions where one has no room for it.
    pub fn number(&mut self, into: Reg, number: u64) {
        match i32::try_from(number as i64) {
            Ok(number) => self.alu(Alu::Move, into, number),
            Err(_) => self.wide(into, 0, number as i32, (number >> 32) as i32),
        }
    }

    /// `into` = the map, for a helper. The map must be open until the program is loaded, which keeps it then.
    pub fn map(&mut self, into: Reg, map: &Map) {
        self.wide(into, PSEUDO_MAP_FD, map.as_fd().as_raw_fd(), 0);
    }

    /// `into` = where the value of an array of one entry stands, and `offset` more: without a helper and a check. The map
    /// must be open until the program is loaded, which keeps it then.
    pub fn map_value(&mut self, into: Reg, map: &Map, offset: u32) {
        self.wide(into, PSEUDO_MAP_VALUE, map.as_fd().as_raw_fd(), offset as i32);
    }

    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.push(JMP | JA, Reg::R0, 0, 0, 0);
    }

    pub fn jump_if(&mut self, reg: Reg, compare: Compare, with: impl Into<Operand>, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.with_operand(JMP | compare.code(), reg, with.into());
    }

    /// R0 = what the helper of this number in linux/bpf.h answers.
    pub fn call(&mut self, helper: i32) {
        self.push(JMP | CALL, Reg::R0, 0, 0, helper);
    }

    /// The program ends, with R0 for its answer.
    pub fn exit(&mut self) {
        self.push(JMP | EXIT, Reg::R0, 0, 0, 0);
    }

    /// The instructions, each jump with its distance. Panics where a label was not placed, or is too far from a jump.
    pub fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in self.jumps {
            let Some(target) = self.labels[label.0] else { panic!("{label:?} is not placed") };
            // From the next instruction on.
            let distance = target as i64 - at as i64 - 1;
            let Ok(offset) = i16::try_from(distance) else { panic!("{label:?} is {distance} instructions away") };
            self.instructions[at].offset = offset;
        }
        self.instructions
    }

    fn with_operand(&mut self, code: u8, into: Reg, operand: Operand) {
        match operand {
            Operand::Reg(reg) => self.push(code | X, into, reg as u8, 0, 0),
            Operand::Number(number) => self.push(code, into, 0, 0, number),
        }
    }

    /// An immediate of 64 bits, whose upper half is in an instruction of its own.
    fn wide(&mut self, into: Reg, source: u8, low: i32, high: i32) {
        self.push(LD | DW | IMM, into, source, 0, low);
        self.push(0, Reg::R0, 0, 0, high);
    }

    fn push(&mut self, code: u8, destination: Reg, source: u8, offset: i16, immediate: i32) {
        self.instructions.push(Instruction {
            code,
            registers: registers(destination as u8, source),
            offset,
            immediate,
        });
    }
}

fn registers(destination: u8, source: u8) -> u8 {
    if cfg!(target_endian = "little") { source << 4 | destination } else { destination << 4 | source }
}

impl Size {
    fn code(self) -> u8 {
        match self {
            Size::Four => 0x00,
            Size::Two => 0x08,
            Size::One => 0x10,
            Size::Eight => DW,
        }
    }
}

impl Alu {
    fn code(self) -> u8 {
        match self {
            Alu::Add => 0x00,
            Alu::Sub => 0x10,
            Alu::Mul => 0x20,
            Alu::Div => 0x30,
            Alu::Or => 0x40,
            Alu::And => 0x50,
            Alu::ShiftLeft => 0x60,
            Alu::ShiftRight => 0x70,
            Alu::Xor => 0xa0,
            Alu::Move => 0xb0,
        }
    }
}

impl Compare {
    fn code(self) -> u8 {
        match self {
            Compare::Equal => 0x10,
            Compare::Greater => 0x20,
            Compare::GreaterOrEqual => 0x30,
            Compare::NotEqual => 0x50,
            Compare::Less => 0xa0,
            Compare::LessOrEqual => 0xb0,
        }
    }
}
