//! Tables.

use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use ir::{Arg, Handle, TableId, Temp};
use runtime::context::PACKET;

use super::wire::{Writer, total_bits};
use super::{Memory, Slot, Translator};
use crate::helper::Helper;
use crate::raw::at;

impl Translator<'_> {
    pub(super) fn lookup(&mut self, id: TableId, keys: &[Arg], selector: &[Arg], hit: Temp, action: Temp) {
        self.known.found = None;
        let Some(missed) = self.plain_miss(id) else {
            let (hit_value, action_value) = self.find(id, keys, selector);
            self.set(hit, hit_value);
            self.set(action, action_value);
            return;
        };
        // Many tables of a large program are empty: a look at one byte is all they cost.
        let (hit_found, action_found) = (self.builder.declare_var(I8), self.builder.declare_var(I32));
        let (no, default) = (self.constant(I8, 0), self.constant(I32, missed.into()));
        self.builder.def_var(hit_found, no);
        self.builder.def_var(action_found, default);
        let occupied = self.load_raw(I64, at::OCCUPIED);
        let occupied = self.load_from(Memory::Raw, I8, occupied, id.index() as i32);
        let look_up = |this: &mut Self| {
            let (hit, action) = this.find(id, keys, selector);
            this.builder.def_var(hit_found, hit);
            this.builder.def_var(action_found, action);
        };
        if self.program.tables[id].direct_counter.is_some() {
            self.either(occupied, look_up, |this| this.count_miss(id));
        } else {
            self.only_if(occupied, look_up);
        }
        self.temps[hit.index()] = Some(Slot::Variable(hit_found));
        self.temps[action.index()] = Some(Slot::Variable(action_found));
    }

    /// Counts the packet at the default entry, as a lookup does.
    pub(super) fn count_miss(&mut self, id: TableId) {
        let counts = self.load_raw(I64, at::MISSED);
        let offset = id.index() as i32 * 8;
        let before = self.load_from(Memory::Raw, I64, counts, offset);
        let (packet, length) = (self.constant(I64, PACKET.into()), self.load_raw(I64, at::PACKET_LEN));
        let this_one = self.builder.ins().iadd(packet, length);
        let sum = self.builder.ins().iadd(before, this_one);
        self.store_to(Memory::Raw, sum, counts, offset);
    }

    /// The action of a miss, if it is always the same, has no data, and leaves nothing for others to read.
    fn plain_miss(&self, id: TableId) -> Option<u32> {
        let table = &self.program.tables[id];
        let default = table.default_action.as_ref().filter(|default| default.is_const)?;
        let plain = default.args.is_empty() && table.direct_meter.is_none() && table.profile.is_none();
        plain.then_some(default.action as u32)
    }

    /// Whether an entry is hit, and the index of the action.
    fn find(&mut self, id: TableId, keys: &[Arg], selector: &[Arg]) -> (Value, Value) {
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
        let action = self.builder.ins().ireduce(I32, found);
        let hit = self.shift_right(found, 32);
        let hit = self.builder.ins().ireduce(I8, hit);
        // Unused where no action has parameters; Cranelift would load it all the same.
        if self.program.tables[id].actions.iter().any(|action| self.program.actions[action.action].data_size() > 0) {
            let data = self.load_raw(I64, at::DATA);
            self.builder.def_var(self.data, data);
        }
        (hit, action)
    }
}
