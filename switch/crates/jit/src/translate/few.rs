//! Tables whose content is built in: few entries, or none.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use ir::eval::mask;
use ir::{Arg, BlockId, Handle, Inst, Match, Operand, TableId, Temp, Terminator, storage_size};
use num_bigint::BigUint;
use runtime::Outcome;
use runtime::uncounted::{self, Hits};

use super::{Memory, Slot, Translator, type_of};
use crate::helper::Helper;
use crate::raw::at;

/// Where the actions of a table lead, by index, and where all others do.
pub(super) struct Actions<'f> {
    cases: &'f [(u128, BlockId)],
    default: BlockId,
}

impl Actions<'_> {
    fn of(&self, action: u32) -> BlockId {
        self.cases.iter().find(|(case, _)| *case == action.into()).map_or(self.default, |(_, to)| *to)
    }
}

impl Translator<'_> {
    /// Whether the content of a table is known, and its keys can be compared here.
    pub(super) fn is_built_in(&self, id: TableId, keys: &[Arg]) -> bool {
        let held = self.shared.held[id.index()].as_ref();
        held.is_some_and(|held| held.entries.is_empty() || keys.iter().all(|key| matches!(key, Arg::Scalar(..))))
    }

    /// When the rest of a block does nothing but choose by `action`: where it goes for each.
    pub(super) fn chooses<'f>(&self, action: Temp, rest: &[Inst], end: &'f Terminator) -> Option<Actions<'f>> {
        match end {
            Terminator::Switch { value, cases, default, .. }
                if *value == Operand::Temp(action) && rest.iter().all(Inst::is_note) =>
            {
                Some(Actions { cases, default: *default })
            }
            _ => None,
        }
    }

    /// A lookup in a table whose content is known: compares the keys with those of each entry, and goes straight to the
    /// action if nothing else follows.
    pub(super) fn compare_few(
        &mut self,
        id: TableId,
        keys: &[Arg],
        (hit, action): (Temp, Temp),
        actions: Option<&Actions<'_>>,
    ) {
        let count = self.shared.held[id.index()].as_ref().map_or(0, |held| held.entries.len());
        if count == 0 {
            let (no, default) = (self.constant(I8, 0), self.constant(I32, self.outcome(id, None).action.into()));
            self.set(hit, no);
            self.set(action, default);
            self.note_miss(id);
            self.found(id, None);
            if let Some(actions) = actions {
                self.jump(actions.of(self.outcome(id, None).action));
            }
            return;
        }
        let keys: Vec<(Value, u32)> = keys
            .iter()
            .map(|key| match key {
                Arg::Scalar(operand, width) => (self.operand(*operand, *width), *width),
                other => unreachable!("{other:?} is no scalar"),
            })
            .collect();
        let (hit_found, action_found) = (self.builder.declare_var(I8), self.builder.declare_var(I32));
        self.temps[hit.index()] = Some(Slot::Variable(hit_found));
        self.temps[action.index()] = Some(Slot::Variable(action_found));
        let join = self.builder.create_block();
        let mut entries: Vec<Option<usize>> = (0..count).map(Some).collect();
        entries.push(None);
        // Parameters are known behind a block that one entry alone leads to.
        let leads = |this: &Self, entry| actions.map(|actions| actions.of(this.outcome(id, entry).action));
        let targets: Vec<Option<BlockId>> = entries.iter().map(|entry| leads(self, *entry)).collect();
        for (entry, to) in entries.into_iter().zip(&targets) {
            let next = entry.and_then(|entry| self.unless_matches(id, entry, &keys));
            let (is_hit, action) = (entry.is_some(), self.outcome(id, entry).action);
            let (is_hit, action) = (self.constant(I8, is_hit.into()), self.constant(I32, action.into()));
            self.builder.def_var(hit_found, is_hit);
            self.builder.def_var(action_found, action);
            match entry {
                Some(entry) => self.note_hit(id, entry),
                None => self.note_miss(id),
            }
            self.found(id, entry);
            match to {
                Some(block) => {
                    if targets.iter().filter(|other| *other == to).count() > 1 {
                        self.known.found = None;
                    }
                    self.jump(*block);
                }
                None => {
                    self.builder.ins().jump(join, &[]);
                }
            }
            self.known.found = None;
            match next {
                Some(next) => self.builder.switch_to_block(next),
                // It matches every packet, or is the last.
                None => break,
            }
        }
        if actions.is_none() {
            self.builder.switch_to_block(join);
        }
    }

    /// What a lookup ends in that finds the entry, or none.
    fn outcome(&self, id: TableId, entry: Option<usize>) -> &Outcome {
        let held = self.shared.held[id.index()].as_ref().expect("the table's content is known");
        entry.map_or(&held.default, |entry| &held.entries[entry].outcome)
    }

    /// From here on the action's parameters are those of the entry.
    fn found(&mut self, id: TableId, entry: Option<usize>) {
        let data = self.outcome(id, entry).data.as_ptr() as i64;
        let data = self.builder.ins().iconst(I64, data);
        self.builder.def_var(self.data, data);
        self.known.found = Some((id, entry));
    }

    fn note_miss(&mut self, id: TableId) {
        if self.program.tables[id].direct_counter.is_some() {
            self.count_miss(id);
        }
    }

    fn note_hit(&mut self, id: TableId, entry: usize) {
        let held = self.shared.held[id.index()].as_ref().expect("the table's content is known");
        if held.notes_hits {
            let slot = held.entries[entry].slot;
            if self.program.tables[id].idle_timeout {
                return self.call_note_hit(id, slot);
            }
            self.count_hit(id, slot);
        }
    }

    fn call_note_hit(&mut self, id: TableId, slot: u32) {
        let (table, slot) = (self.constant(I32, id.index() as u128), self.constant(I32, slot.into()));
        self.call(Helper::note_hit(), &[self.raw, table, slot]);
    }

    /// What [`Context::note_hit`](runtime::Context::note_hit) does where only a counter is told, unless another entry has
    /// the place.
    fn count_hit(&mut self, id: TableId, slot: u32) {
        let place = uncounted::place(slot);
        let hits = self.load_raw(I64, at::HITS);
        let at = |field: usize| ((id.index() * uncounted::ENTRIES + place) * size_of::<Hits>() + field) as i32;
        let counted = self.load_from(Memory::Raw, I32, hits, at(offset_of!(Hits, slot)));
        let wanted = self.constant(I32, slot.into());
        let others = self.builder.ins().icmp(IntCC::NotEqual, counted, wanted);
        let count = |this: &mut Self| {
            let (packets, bytes) = (at(offset_of!(Hits, packets)), at(offset_of!(Hits, bytes)));
            let before = this.load_from(Memory::Raw, I32, hits, packets);
            let one = this.constant(I32, 1);
            let sum = this.builder.ins().iadd(before, one);
            this.store_to(Memory::Raw, sum, hits, packets);
            let before = this.load_from(Memory::Raw, I64, hits, bytes);
            let length = this.load_raw(I64, at::PACKET_LEN);
            let sum = this.builder.ins().iadd(before, length);
            this.store_to(Memory::Raw, sum, hits, bytes);
            let some = this.load_raw(I64, at::SOME_HITS);
            let before = this.load_from(Memory::Raw, I8, some, id.index() as i32);
            let bit = this.constant(I8, 1 << place);
            let bits = this.builder.ins().bor(before, bit);
            this.store_to(Memory::Raw, bits, some, id.index() as i32);
        };
        self.either(others, |this| this.call_note_hit(id, slot), count);
    }

    /// Goes on only if the keys match an entry; the block where it goes otherwise, unless every key does.
    fn unless_matches(&mut self, id: TableId, entry: usize, keys: &[(Value, u32)]) -> Option<Block> {
        let held = self.shared.held[id.index()].as_ref().expect("the table's content is known");
        let matches = held.entries[entry].keys.clone();
        let mut next = None;
        for ((value, width), wanted) in keys.iter().zip(&matches) {
            for cond in self.conditions(*value, *width, wanted) {
                let otherwise = *next.get_or_insert_with(|| self.builder.create_block());
                let then = self.builder.create_block();
                self.builder.ins().brif(cond, then, &[], otherwise, &[]);
                self.builder.switch_to_block(then);
            }
        }
        next
    }

    /// What must hold for a key to match.
    fn conditions(&mut self, value: Value, width: u32, wanted: &Match) -> Vec<Value> {
        let full = mask(width);
        let (first, mask) = match wanted {
            Match::Exact(first) | Match::Optional(Some(first)) => (number(first), full),
            Match::Optional(None) => (0, 0),
            Match::Lpm { value: first, prefix: 0 } => (number(first), 0),
            Match::Lpm { value: first, prefix } => (number(first), full & !(full.checked_shr(*prefix).unwrap_or(0))),
            Match::Ternary { value: first, mask } => (number(first), number(mask)),
            Match::Range { low, high } => {
                let ty = type_of(width);
                let bounds =
                    [(low, IntCC::UnsignedGreaterThanOrEqual, 0), (high, IntCC::UnsignedLessThanOrEqual, full)];
                let bounds = bounds.into_iter().filter(|(bound, _, all)| number(bound) != *all);
                return bounds
                    .map(|(bound, cc, _)| {
                        let bound = self.constant(ty, number(bound));
                        self.builder.ins().icmp(cc, value, bound)
                    })
                    .collect();
            }
        };
        if mask == 0 {
            return Vec::new();
        }
        let ty = type_of(width);
        let first = self.constant(ty, first);
        let masked = if mask == full {
            value
        } else {
            let mask = self.constant(ty, mask);
            self.builder.ins().band(value, mask)
        };
        vec![self.builder.ins().icmp(IntCC::Equal, masked, first)]
    }

    /// A parameter of the action that the last lookup found, if that is known.
    pub(super) fn known_argument(&self, offset: u32, width: u32) -> Option<u128> {
        let (id, entry) = self.known.found?;
        let data: &[u8] = bytemuck::cast_slice(&self.outcome(id, entry).data);
        let bytes = data.get(offset as usize..)?.get(..storage_size(width) as usize)?;
        let mut value = [0; 16];
        value[..bytes.len()].copy_from_slice(bytes);
        Some(u128::from_le_bytes(value))
    }
}

/// A number of at most 128 bits.
fn number(value: &BigUint) -> u128 {
    value.try_into().expect("keys that are compared have at most 128 bits")
}
