//! Who may use the registers where several threads run packets.
//!
//! A packet reads a register, computes, and writes it back. Two packets that did so side by side could both begin with the
//! old value, and what one of them did would be lost. So a packet takes the turn when it first comes to a register that
//! packets write, and gives it back at the end of the block (parser, ingress, egress and so on): whatever a block does with
//! registers is one step for all other packets. Packets that come to no such register never wait.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use ir::{Handle, Inst, Program, RegisterId};
use tables::sync::{AtomicBool, Mutex, MutexGuard};

/// There is one turn for all registers of a program: with one for each, two packets could wait for each other.
pub(crate) struct Turns {
    /// Set before packets run by several threads.
    needed: AtomicBool,
    /// By register.
    written: Box<[bool]>,
    turn: Mutex<()>,
}

impl Turns {
    pub fn new(program: &Program) -> Self {
        let mut written = vec![false; program.registers.len()];
        for register in registers_written_by_packets(program) {
            written[register.index()] = true;
        }
        Self { needed: AtomicBool::new(false), written: written.into(), turn: Mutex::default() }
    }

    /// From now on packets run by several threads.
    pub fn need(&self) {
        self.needed.store(true, Relaxed);
    }

    /// Whether packets run by several threads.
    #[inline]
    pub fn are_needed(&self) -> bool {
        self.needed.load(Relaxed)
    }

    /// The turn if the register asks for it, once no other packet has it.
    #[inline]
    pub fn take(&self, register: RegisterId) -> Option<MutexGuard<'_, ()>> {
        let is_asked = self.are_needed() && self.written[register.index()];
        is_asked.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The registers that packets write, in the order of the program.
pub fn registers_written_by_packets(program: &Program) -> Vec<RegisterId> {
    let blocks = program.functions.iter().flat_map(|(_, function)| function.blocks.iter());
    let mut registers: Vec<RegisterId> = blocks
        .flat_map(|(_, block)| &block.insts)
        .filter_map(|inst| match inst {
            Inst::RegisterWrite { register, .. } => Some(*register),
            _ => None,
        })
        .collect();
    registers.sort_by_key(|register| register.index());
    registers.dedup();
    registers
}
