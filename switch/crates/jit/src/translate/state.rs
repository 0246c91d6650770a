//! What a function keeps in registers: parts of the raw context, and promoted variables of the frame.

use cranelift_codegen::ir::types::*;
use ir::Inst;

use super::{Memory, Translator, promote, type_of};
use crate::raw::at;

impl Translator<'_> {
    /// Loads of the raw context what the function uses.
    pub(super) fn load_state(&mut self) {
        let (mut packet, mut out, mut fuel, mut data) = (false, false, false, false);
        for block in &self.flow.order {
            for inst in &self.function.blocks[*block].insts {
                match inst {
                    Inst::Extract { .. }
                    | Inst::Lookahead { .. }
                    | Inst::Advance { .. }
                    | Inst::PacketLength { .. } => {
                        packet = true;
                    }
                    Inst::Emit { .. } => out = true,
                    Inst::Fuel { .. } => fuel = true,
                    Inst::LoadArg { .. } | Inst::CopyArg { .. } => data = true,
                    _ => {}
                }
            }
        }
        if packet {
            self.packet = self.load_raw(I64, at::PACKET);
            self.packet_len = self.load_raw(I64, at::PACKET_LEN);
            self.state.push((self.cursor, I64, at::CURSOR));
        }
        if out {
            self.state.push((self.out, I64, at::OUT));
        }
        if fuel {
            self.state.push((self.fuel, I32, at::FUEL));
        }
        if data {
            let value = self.load_raw(I64, at::DATA);
            self.builder.def_var(self.data, value);
        }
        self.read_back();
    }

    pub(super) fn load_promoted(&mut self) {
        for local in promote::promote(self.program, self.function, &self.flow) {
            let ty = type_of(local.width);
            let variable = self.builder.declare_var(ty);
            let value = if local.read_first {
                self.load_from(Memory::Frame, ty, self.frame, local.offset as i32)
            } else {
                self.constant(ty, 0)
            };
            self.builder.def_var(variable, value);
            self.promoted.insert(local.offset, variable);
        }
    }

    /// Stores what the function may have changed into the raw context.
    pub(super) fn write_back(&mut self) {
        for i in 0..self.state.len() {
            let (variable, _, offset) = self.state[i];
            let value = self.builder.use_var(variable);
            self.store_to(Memory::Raw, value, self.raw, offset);
        }
    }

    /// Takes over what a helper may have changed in the raw context.
    pub(super) fn read_back(&mut self) {
        for i in 0..self.state.len() {
            let (variable, ty, offset) = self.state[i];
            let value = self.load_raw(ty, offset);
            self.builder.def_var(variable, value);
        }
    }
}
