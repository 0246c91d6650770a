//! Shadows of what involves the packet, tables and externs; and what ends the watching.

use flow_cache::LITERAL;
use ir::eval::Wide;
use ir::*;
use runtime::Object;

use super::registers::Words;
use super::{Shadow, Watcher};
use crate::run::Run;

impl Watcher {
    fn assign(&mut self, temp: Temp, shadow: Shadow) {
        self.temps[temp.index()] = shadow;
    }

    fn operand(&self, operand: &Operand) -> Shadow {
        match operand {
            Operand::Temp(temp) => self.temps[temp.index()],
            Operand::Imm(_) => Shadow::default(),
        }
    }

    fn demand_operand(&mut self, operand: &Operand) {
        let shadow = self.operand(operand);
        self.demand(shadow);
    }

    /// The packet has octets up to there, or the run had taken another way.
    fn need(&mut self, octets: usize) {
        self.at_least = self.at_least.max(octets);
    }
}

impl Run<'_, '_> {
    /// To be called after an undecoded instruction ran; `cursor` is where it stood before.
    pub fn watch_call(&mut self, inst: &Inst, cursor: usize) {
        // Taken out, so that operands can be asked for meanwhile.
        let Some(watcher) = self.watcher.take() else { return };
        if !watcher.gave_up {
            self.called_by(watcher, inst, cursor);
        }
        self.watcher = Some(watcher);
    }

    fn called_by(&self, watcher: &mut Watcher, inst: &Inst, cursor: usize) {
        match inst {
            Inst::Copy { dst, src, bytes } => {
                let (dst, src) = (self.watched_place(watcher, dst), self.watched_place(watcher, src));
                match (dst, src) {
                    (Some(dst), Some(src)) => watcher.frame.copy(dst, src, *bytes),
                    (Some(dst), None) => watcher.frame.fix(dst, *bytes),
                    (None, _) => {}
                }
            }
            Inst::Zero { place, bytes } => {
                if let Some(offset) = self.watched_place(watcher, place) {
                    watcher.frame.fix(offset, *bytes);
                }
            }
            Inst::Wide { op, dst, args } => {
                let result = match (op, &args[..]) {
                    (WideOp::Slice { hi, lo }, [arg]) if !matches!(arg, Arg::Varbit(..)) => {
                        self.watched_arg(watcher, arg).slice(*hi, *lo)
                    }
                    (WideOp::ResizeU, [arg]) if !matches!(arg, Arg::Varbit(..)) => {
                        self.watched_arg(watcher, arg).slice(self.width(dst) - 1, 0)
                    }
                    _ => self.watched_args(watcher, args),
                };
                self.watched_result(watcher, dst, result);
            }
            Inst::StackShift { place, stride, count, by, push } => {
                if let Some(offset) = self.watched_place(watcher, place) {
                    let (bytes, gap) = (stride * count, stride * by.min(count));
                    let (from, to, freed) = if *push { (0, gap, 0) } else { (gap, 0, bytes - gap) };
                    watcher.frame.copy(offset + to, offset + from, bytes - gap);
                    watcher.frame.fix(offset + freed, gap);
                }
            }
            Inst::Extract { error, header, place, varbit_bits, .. } => {
                let bits = varbit_bits.map_or(0, |bits| {
                    watcher.demand_operand(&bits);
                    self.short(&bits)
                });
                watcher.assign(*error, Shadow::default());
                match self.watched_place(watcher, place) {
                    _ if self.temps[error.index()] != 0 => watcher.give_up(),
                    Some(offset) => self.extracted(watcher, *header, offset, bits, cursor),
                    None => {}
                }
            }
            Inst::Lookahead { error, dst } => {
                watcher.assign(*error, Shadow::default());
                let width = self.width(dst);
                if self.temps[error.index()] != 0 {
                    return watcher.give_up();
                }
                watcher.need((8 * cursor + width as usize).div_ceil(8));
                self.watched_result(watcher, dst, Shadow::copy(8 * cursor, width));
            }
            Inst::Advance { error, bits } => {
                watcher.demand_operand(bits);
                watcher.assign(*error, Shadow::default());
                if self.temps[error.index()] != 0 {
                    return watcher.give_up();
                }
                watcher.need(self.context.cursor);
            }
            Inst::PacketLength { dst } => watcher.assign(*dst, Shadow::LENGTH),
            Inst::InValueSet { dst, args, set } => {
                self.demand_args(watcher, args);
                watcher.read.push(self.context.device.writes().number(Object::ValueSet(*set)));
                watcher.assign(*dst, Shadow::default());
            }
            Inst::Fuel { dst } => watcher.assign(*dst, Shadow::default()),
            Inst::Emit { header, place } => {
                if let Some(offset) = self.watched_place(watcher, place) {
                    self.emitted(watcher, *header, offset);
                }
            }
            Inst::Lookup { table, keys, selector, hit, action } => {
                self.demand_args(watcher, keys);
                self.demand_args(watcher, selector);
                watcher.assign(*hit, Shadow::default());
                watcher.assign(*action, Shadow::default());
                let objects = self.program.tables[*table].profile.map(Object::Profile);
                let numbers = objects.into_iter().chain([Object::Table(*table)]);
                watcher.read.extend(numbers.map(|object| self.context.device.writes().number(object)));
                if chooses_at_random(self.program, *table) {
                    return watcher.give_up();
                }
                let found = self.context.last_found().filter(|_| self.context.device.notes_hits(*table));
                watcher.found.extend(found);
            }
            Inst::CopyArg { dst, bytes, .. } => {
                if let Some(offset) = self.watched_place(watcher, dst) {
                    watcher.frame.fix(offset, *bytes);
                }
            }
            Inst::Count { counter, index } => {
                watcher.demand_operand(index);
                watcher.counts.push((*counter, self.index(index)));
            }
            Inst::Hash { algorithm: HashAlgorithm::Random, .. } | Inst::Checksum { payload: true, .. } => {
                watcher.give_up();
            }
            Inst::Checksum { algorithm: HashAlgorithm::Random, .. } => watcher.give_up(),
            Inst::Hash { dst, base, data, max, .. } => {
                let parts = [base, max].map(|arg| self.watched_arg(watcher, arg));
                let data = self.watched_args(watcher, data);
                let result = watcher.sets.join([parts[0], parts[1], data]);
                self.watched_result(watcher, dst, result);
            }
            Inst::Checksum { dst, data, .. } => {
                let result = self.watched_args(watcher, data);
                self.watched_result(watcher, dst, result);
            }
            Inst::Assert { cond, .. } => {
                watcher.demand_operand(cond);
                if self.value(cond) == 0 {
                    watcher.give_up();
                }
            }
            Inst::RegisterRead { dst, register, index } => {
                watcher.demand_operand(index);
                let value = self.given(dst);
                let info = &self.program.registers[*register];
                let shadow = watcher.register_read(*register, info, self.short(index), value);
                self.watched_result(watcher, dst, shadow);
            }
            Inst::RegisterWrite { register, index, value } => {
                watcher.demand_operand(index);
                let shadow = self.watched_arg(watcher, value);
                let info = &self.program.registers[*register];
                watcher.register_written(*register, info, self.short(index), shadow, words(&self.wide(value)));
            }
            Inst::Note(_) | Inst::Locals(_) => {}
            // What lasts longer than the packet, goes to someone else, or is another thing for each packet.
            Inst::Meter { .. }
            | Inst::DirectMeter { .. }
            | Inst::BufferKeep { .. }
            | Inst::BufferRelease { .. }
            | Inst::BufferSend { .. }
            | Inst::Random { .. }
            | Inst::Digest { .. }
            | Inst::CallExtern { .. }
            | Inst::Clone { .. }
            | Inst::Resubmit { .. }
            | Inst::Recirculate { .. }
            | Inst::Truncate { .. }
            | Inst::LogMessage { .. } => watcher.give_up(),
            Inst::Unary { .. }
            | Inst::Binary { .. }
            | Inst::Compare { .. }
            | Inst::Resize { .. }
            | Inst::Slice { .. }
            | Inst::Insert { .. }
            | Inst::Concat { .. }
            | Inst::Select { .. }
            | Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::LoadArg { .. } => unreachable!("decoded to an operation of its own"),
        }
    }

    /// Where a place is; its index decides that.
    fn watched_place(&self, watcher: &mut Watcher, place: &Place) -> Option<u32> {
        if let Some(index) = &place.index {
            watcher.demand_operand(&index.index);
        }
        self.offset(place)
    }

    fn watched_arg(&self, watcher: &mut Watcher, arg: &Arg) -> Shadow {
        match arg {
            Arg::Scalar(operand, _) => watcher.operand(operand),
            Arg::Const(..) => Shadow::default(),
            Arg::Frame(place, width) => {
                let offset = self.watched_place(watcher, place);
                offset.map_or_else(Shadow::default, |offset| watcher.read(offset, *width))
            }
            Arg::Varbit(place, most) => {
                let Some(offset) = self.watched_place(watcher, place) else { return Shadow::default() };
                let length = watcher.read(offset, 32);
                watcher.demand(length);
                let bytes = (self.context.frame.read(offset, 32) as u32).min(*most).div_ceil(8);
                let parts: Vec<_> = (0..bytes).map(|at| watcher.read(offset + 4 + at, 8)).collect();
                watcher.sets.join(parts)
            }
        }
    }

    /// What an instruction gave, the lowest word first.
    fn given(&self, dst: &Dest) -> Words {
        match dst {
            Dest::Temp(temp) => words(&Wide::from_u128(self.temps[temp.index()], self.width(dst))),
            Dest::Frame(place, width) => {
                let offset = self.offset(place);
                offset.map_or_else(Words::new, |offset| {
                    words(&Wide::from_le_bytes(self.context.frame.bytes(offset, storage_size(*width)), *width))
                })
            }
        }
    }

    fn watched_args(&self, watcher: &mut Watcher, args: &[Arg]) -> Shadow {
        let shadows: smallvec::SmallVec<[Shadow; 8]> = args.iter().map(|arg| self.watched_arg(watcher, arg)).collect();
        watcher.sets.join(shadows)
    }

    fn demand_args(&self, watcher: &mut Watcher, args: &[Arg]) {
        for arg in args {
            let shadow = self.watched_arg(watcher, arg);
            watcher.demand(shadow);
        }
    }

    fn watched_result(&self, watcher: &mut Watcher, dst: &Dest, shadow: Shadow) {
        match dst {
            Dest::Temp(temp) => {
                let width = self.width(dst);
                watcher.assign(*temp, shadow.slice(width - 1, 0));
            }
            Dest::Frame(place, width) => {
                if let Some(offset) = self.watched_place(watcher, place) {
                    watcher.frame.write(offset, *width, shadow);
                }
            }
        }
    }

    fn extracted(&self, watcher: &mut Watcher, header: HeaderTypeId, offset: u32, varbit: u32, cursor: usize) {
        let info = &self.program.header_types[header];
        let mut at = 8 * cursor;
        for field in &info.fields {
            let place = offset + field.offset;
            if field.varbit {
                watcher.frame.write(place, 32, Shadow::default());
                for byte in 0..varbit.div_ceil(8) {
                    let count = (varbit - 8 * byte).min(8);
                    let copy = Shadow::copy(at + 8 * byte as usize, count);
                    // Bits of a last octet that is not full stand high in it.
                    let shadow = if count == 8 { copy } else { watcher.sets.join([copy]) };
                    watcher.frame.write(place + 4 + byte, 8, shadow);
                }
                at += varbit as usize;
            } else {
                watcher.frame.write(place, field.width, Shadow::copy(at, field.width));
                at += field.width as usize;
            }
        }
        watcher.frame.write(offset, 1, Shadow::default());
        watcher.need(at / 8);
    }

    fn emitted(&self, watcher: &mut Watcher, header: HeaderTypeId, offset: u32) {
        let valid = watcher.read(offset, 1);
        watcher.demand(valid);
        if self.context.frame.read(offset, 1) == 0 {
            return;
        }
        for field in &self.program.header_types[header].fields {
            let place = offset + field.offset;
            if !field.varbit {
                let shadow = watcher.read(place, field.width);
                watcher.leaves(shadow, field.width);
                continue;
            }
            let length = watcher.read(place, 32);
            watcher.demand(length);
            let bits = (self.context.frame.read(place, 32) as u32).min(field.width);
            for byte in 0..bits.div_ceil(8) {
                let shadow = watcher.read(place + 4 + byte, 8);
                match (bits - 8 * byte).min(8) {
                    8 => watcher.leaves(shadow, 8),
                    count => {
                        watcher.demand(shadow);
                        watcher.leaves(Shadow::default(), count);
                    }
                }
            }
        }
        // The next header begins with an octet of its own.
        let octets = watcher.sources.len().div_ceil(8);
        watcher.sources.resize(8 * octets, LITERAL);
    }
}

impl Watcher {
    /// A value of so many bits leaves: its copied bits are the packet's, others have to be the same for all packets.
    fn leaves(&mut self, shadow: Shadow, width: u32) {
        match shadow.copied() {
            Some((first, copied)) if copied <= width => {
                self.sources.extend((copied..width).map(|_| LITERAL));
                self.sources.extend(first as u32..first as u32 + copied);
            }
            _ => {
                self.demand(shadow);
                self.sources.extend((0..width).map(|_| LITERAL));
            }
        }
    }
}

fn words(value: &Wide) -> Words {
    value.limbs().into()
}

/// Whether a table's groups choose another member for each packet.
fn chooses_at_random(program: &Program, table: TableId) -> bool {
    let profile = program.tables[table].profile.map(|profile| &program.profiles[profile]);
    let selector = profile.and_then(|profile| profile.selector.as_ref());
    selector.is_some_and(|selector| selector.algorithm == HashAlgorithm::Random)
}
