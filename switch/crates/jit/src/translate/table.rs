//! Tables.

use cranelift_codegen::ir::{InstBuilder, types::*};
use ir::{Arg, Handle, TableId, Temp};

use super::wire::{Writer, total_bits};
use super::{Memory, Translator};
use crate::helper::Helper;
use crate::raw::at;

impl Translator<'_> {
    pub(super) fn lookup(&mut self, id: TableId, keys: &[Arg], selector: &[Arg], hit: Temp, action: Temp) {
        let key_bytes: u32 = keys.iter().map(|key| key.width().div_ceil(8)).sum();
        let selector_bits = total_bits(selector).expect("a selector has no varbits");
        let selector_at = (key_bytes + 7).next_multiple_of(8);
        let base = self.scratch(selector_at + selector_bits.div_ceil(8) + 7);
        let mut writer = Writer::new(Memory::Scratch, base);
        for key in keys {
            // Each key has whole bytes, with zeros in front.
            let missing = key.width().next_multiple_of(8) - key.width();
            if missing > 0 {
                let zero = self.constant(I64, 0);
                self.write_bits(&mut writer, zero, missing);
            }
            self.write_arg(&mut writer, key);
        }
        let selector_offset = self.constant(I64, selector_at.into());
        let selector_base = self.builder.ins().iadd(base, selector_offset);
        let mut writer = Writer::new(Memory::Scratch, selector_base);
        for arg in selector {
            self.write_arg(&mut writer, arg);
        }
        self.pad(&mut writer);

        let table = self.constant(I32, id.index() as u128);
        let [key_bytes, selector_bits] = [key_bytes, selector_bits].map(|n| self.constant(I64, n.into()));
        let args = [self.raw, table, base, key_bytes, selector_base, selector_bits];
        let found = self.call(Helper::lookup(), &args).expect("a lookup has a result");
        let value = self.builder.ins().ireduce(I32, found);
        self.set(action, value);
        let value = self.shift_right(found, 32);
        let value = self.builder.ins().ireduce(I8, value);
        self.set(hit, value);
        // Unused where no action has parameters; Cranelift would load it all the same.
        if self.program.tables[id].actions.iter().any(|action| self.program.actions[action.action].data_size() > 0) {
            let data = self.load_raw(I64, at::DATA);
            self.builder.def_var(self.data, data);
        }
    }
}
