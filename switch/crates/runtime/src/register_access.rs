//! Registers for a packet that does not run through the program, since its way is known.

use std::sync::MutexGuard;

use ir::{Handle, RegisterId};

use crate::Device;

/// What it does with registers until this goes is one step for packets of other threads, as a block's run is.
pub struct RegisterAccess<'d> {
    device: &'d Device,
    turn: Option<MutexGuard<'d, ()>>,
}

impl<'d> RegisterAccess<'d> {
    pub(crate) fn new(device: &'d Device) -> Self {
        Self { device, turn: None }
    }

    /// A cell of a register of at most 64 bits.
    #[inline]
    pub fn read(&mut self, register: RegisterId, index: u32) -> u64 {
        self.take_turn(register);
        self.device.registers[register.index()].read(index.into()) as u64
    }

    /// Whether a cell of any width has these words, the lowest first.
    #[inline]
    pub fn is(&mut self, register: RegisterId, index: u32, words: &[u64]) -> bool {
        self.take_turn(register);
        self.device.registers[register.index()].is(index.into(), words)
    }

    /// Sets a cell of a register of at most 64 bits.
    #[inline]
    pub fn write(&mut self, register: RegisterId, index: u32, value: u64) {
        self.take_turn(register);
        self.device.registers[register.index()].write(index.into(), value.into());
    }

    /// Sets a cell of a register of any width.
    pub fn write_words(&mut self, register: RegisterId, index: u32, words: &[u64]) {
        self.take_turn(register);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.device.registers[register.index()].write_bytes(index.into(), &bytes);
    }

    #[inline]
    fn take_turn(&mut self, register: RegisterId) {
        if self.turn.is_none() {
            self.turn = self.device.turns.take(register);
        }
    }
}
