//! Registers, for the packets of one thread.

use tables::sync::MutexGuard;

use ir::{Handle, RegisterId};

use crate::Device;

/// What a packet does with registers from its first use to [`Self::end_turn`] is one step for packets of other threads.
pub struct RegisterAccess<'d> {
    device: &'d Device,
    /// While the packet may use registers and no other thread's may.
    turn: Option<MutexGuard<'d, ()>>,
}

impl<'d> RegisterAccess<'d> {
    pub(crate) fn new(device: &'d Device) -> Self {
        Self { device, turn: None }
    }

    /// Whether a packet that uses a register which packets write has to take the turn first.
    #[inline]
    pub fn needs_turn(&self) -> bool {
        self.turn.is_none() && self.device.turns.are_needed()
    }

    /// Whether it was taken, so that packets of other threads wait.
    #[inline]
    pub fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Before a register is used; until [`Self::end_turn`].
    #[inline]
    pub fn take_turn(&mut self, register: RegisterId) {
        if self.turn.is_none() {
            self.turn = self.device.turns.take(register);
        }
    }

    /// To be called at the end of each block: packets of other threads may use registers.
    #[inline]
    pub fn end_turn(&mut self) {
        self.turn = None;
    }

    /// A cell of a register of at most 128 bits.
    #[inline]
    pub fn read(&mut self, register: RegisterId, index: u32) -> u128 {
        self.take_turn(register);
        self.device.registers[register.index()].read(index.into())
    }

    /// Sets a cell of a register of at most 128 bits.
    #[inline]
    pub fn write(&mut self, register: RegisterId, index: u32, value: u128) {
        self.take_turn(register);
        self.device.registers[register.index()].write(index.into(), value);
    }

    /// A cell of a register of any width, little-endian.
    pub fn read_wide(&mut self, register: RegisterId, index: u32, out: &mut [u8]) {
        self.take_turn(register);
        self.device.registers[register.index()].read_bytes(index.into(), out);
    }

    /// Sets a cell of a register of any width, little-endian.
    pub fn write_wide(&mut self, register: RegisterId, index: u32, value: &[u8]) {
        self.take_turn(register);
        self.device.registers[register.index()].write_bytes(index.into(), value);
    }

    /// Whether a cell of a register of any width has these words, the lowest first.
    pub fn is(&mut self, register: RegisterId, index: u32, words: &[u64]) -> bool {
        self.take_turn(register);
        self.device.registers[register.index()].is(index.into(), words)
    }
}
