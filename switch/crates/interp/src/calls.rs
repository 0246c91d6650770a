//! Instructions that involve more than temps: wide values, the packet, tables, externs.

use ir::eval::Wide;
use ir::*;
use num_bigint::BigUint;
use runtime::GREEN;
use smallvec::SmallVec;

use crate::run::Run;

impl Run<'_, '_> {
    pub fn call(&mut self, inst: &Inst) {
        match inst {
            Inst::Copy { dst, src, bytes } => self.copy(dst, src, *bytes),
            Inst::Zero { place, bytes } => {
                if let Some(offset) = self.offset(place) {
                    self.context.frame.bytes_mut(offset, *bytes).fill(0);
                }
            }
            Inst::Wide { op, dst, args } => {
                let args: SmallVec<[Wide; 2]> = args.iter().map(|arg| self.wide(arg)).collect();
                let result = eval::wide(*op, self.width(dst), &args);
                self.give(dst, &result);
            }
            Inst::StackShift { place, stride, count, by, push } => {
                self.shift(place, *stride * *count, *stride * *by.min(count), *push);
            }
            Inst::Extract { error, header, place, varbit_bits, peek } => {
                let bits = varbit_bits.map(|bits| self.short(&bits));
                let result = match self.offset(place) {
                    Some(offset) => self.context.extract(*header, offset, bits, *peek),
                    None => 0,
                };
                self.assign(*error, result.into());
            }
            Inst::Lookahead { error, dst } => self.lookahead(*error, dst),
            Inst::Advance { error, bits } => {
                let bits = self.short(bits);
                let result = self.context.advance(bits);
                self.assign(*error, result.into());
            }
            Inst::PacketLength { dst } => self.assign(*dst, self.context.packet_length().into()),
            Inst::InValueSet { dst, set, args } => {
                let mut key = std::mem::take(&mut self.scratch.key);
                key.clear();
                self.pack(&mut key, args);
                let found = self.context.in_value_set(*set, &key);
                self.scratch.key = key;
                self.assign(*dst, found.into());
            }
            Inst::Fuel { dst } => {
                let empty = self.context.take_fuel();
                self.assign(*dst, empty.into());
            }
            Inst::Emit { header, place } => {
                if let Some(offset) = self.offset(place) {
                    self.context.emit(*header, offset);
                }
            }
            Inst::Lookup { table, keys, selector, hit, action } => {
                let mut key = std::mem::take(&mut self.scratch.key);
                let mut bits = std::mem::take(&mut self.scratch.bits);
                key.clear();
                bits.clear();
                self.pack(&mut key, keys);
                self.append(&mut bits, selector);
                let (found, number) = self.context.lookup(*table, &key, &bits);
                self.scratch.key = key;
                self.scratch.bits = bits;
                self.assign(*hit, found.into());
                self.assign(*action, number.into());
            }
            Inst::CopyArg { dst, offset, bytes } => self.copy_argument(dst, *offset as usize, *bytes),
            Inst::Count { counter, index } => {
                let index = self.index(index);
                self.context.count(*counter, index);
            }
            Inst::Meter { dst, meter, index, before } => {
                let index = self.index(index);
                let before = before.as_ref().map_or(GREEN, |before| self.short(before));
                let colour = self.context.meter(*meter, index, before);
                self.assign(*dst, colour.into());
            }
            Inst::DirectMeter { dst, table, before } => {
                let before = before.as_ref().map_or(GREEN, |before| self.short(before));
                let colour = self.context.direct_meter(*table, before);
                self.assign(*dst, colour.into());
            }
            Inst::RegisterRead { dst, register, index } => self.register_read(dst, *register, index),
            Inst::RegisterWrite { register, index, value } => {
                let index = self.short(index);
                if value.width() <= 128 {
                    let value = self.scalar(value);
                    self.context.registers.write(*register, index, value);
                } else {
                    let value = self.wide(value);
                    let mut bytes = std::mem::take(&mut self.scratch.bytes);
                    bytes.resize(storage_size(value.width()) as usize, 0);
                    value.write_le_bytes(&mut bytes);
                    self.context.registers.write_wide(*register, index, &bytes);
                    self.scratch.bytes = bytes;
                }
            }
            Inst::BufferKeep { dst, buffer, queue, number, microseconds, fields } => {
                let [queue, number, microseconds] = [queue, number, microseconds].map(|it| self.short(it));
                let kept = self.context.buffer_keep(*buffer, queue, number, microseconds, *fields);
                self.assign(*dst, kept.into());
            }
            Inst::BufferRelease { buffer, queue, number } => {
                let (queue, number) = (self.short(queue), self.short(number));
                self.context.buffer_release(*buffer, queue, number);
            }
            Inst::BufferSend { buffer, queue, number } => {
                let (queue, number) = (self.short(queue), self.short(number));
                self.context.buffer_send(*buffer, queue, number);
            }
            Inst::Hash { dst, algorithm, base, data, max } => self.hash(dst, *algorithm, base, data, max),
            Inst::Checksum { dst, algorithm, data, payload } => {
                let mut bits = std::mem::take(&mut self.scratch.bits);
                bits.clear();
                self.append(&mut bits, data);
                let sum = self.context.checksum(*algorithm, bits.bytes(), *payload);
                self.scratch.bits = bits;
                self.give(dst, &Wide::from_u128(sum.into(), self.width(dst)));
            }
            Inst::Random { dst, lo, hi } => {
                let width = self.width(dst);
                let value = if width <= 128 {
                    let (lo, hi) = (self.scalar(lo), self.scalar(hi));
                    Wide::from_u128(self.context.random(lo, hi), width)
                } else {
                    let (lo, hi) = (self.wide(lo).to_biguint(), self.wide(hi).to_biguint());
                    Wide::from_biguint(&self.context.random_wide(&lo, &hi), width)
                };
                self.give(dst, &value);
            }
            Inst::Digest { digest, data } => {
                let values = self.numbers(data);
                self.context.digest(*digest, values);
            }
            Inst::CallExtern { function, args, results } => {
                let args = self.numbers(args);
                let values = self.context.call_extern(*function, &args);
                for (dst, value) in results.iter().zip(values) {
                    self.give(dst, &Wide::from_biguint(&value, self.width(dst)));
                }
            }
            Inst::Clone { kind, session, fields } => {
                let session = self.short(session);
                self.context.clone_packet(*kind, session, *fields);
            }
            Inst::Resubmit { fields } => self.context.resubmit(*fields),
            Inst::Recirculate { fields } => self.context.recirculate(*fields),
            Inst::Truncate { bytes } => {
                let bytes = self.short(bytes);
                self.context.truncate(bytes);
            }
            Inst::LogMessage { format, args } => {
                let args = self.numbers(args);
                self.context.log_message(*format, &args);
            }
            Inst::Assert { cond, text } => {
                if self.value(cond) == 0 {
                    self.context.assert_failed(*text);
                }
            }
            Inst::Note(_) | Inst::Locals(_) => {}
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

    pub fn numbers(&self, args: &[Arg]) -> Vec<BigUint> {
        args.iter().map(|arg| self.wide(arg).to_biguint()).collect()
    }

    fn copy(&mut self, dst: &Place, src: &Place, bytes: u32) {
        let Some(dst) = self.offset(dst) else { return };
        match self.offset(src) {
            Some(src) => {
                let src = src as usize;
                self.context.frame.all_mut().copy_within(src..src + bytes as usize, dst as usize);
            }
            None => self.context.frame.bytes_mut(dst, bytes).fill(0),
        }
    }

    /// Moves the elements of a stack by `gap` bytes.
    fn shift(&mut self, place: &Place, bytes: u32, gap: u32, push: bool) {
        let Some(offset) = self.offset(place) else { return };
        let (kept, gap) = ((bytes - gap) as usize, gap as usize);
        let stack = self.context.frame.bytes_mut(offset, bytes);
        if push {
            stack.copy_within(..kept, gap);
            stack[..gap].fill(0);
        } else {
            stack.copy_within(gap.., 0);
            stack[kept..].fill(0);
        }
    }

    /// A lookahead past the packet's end gives zero with its error.
    fn lookahead(&mut self, error: Temp, dst: &Dest) {
        let width = self.width(dst);
        if width <= 128 {
            let (code, value) = self.context.lookahead(width).map_or_else(|code| (code, 0), |value| (0, value));
            self.assign(error, code.into());
            self.give(dst, &Wide::from_u128(value, width));
            return;
        }
        let mut bytes = std::mem::take(&mut self.scratch.bytes);
        bytes.clear();
        bytes.resize(storage_size(width) as usize, 0);
        let code = self.context.lookahead_bytes(width, &mut bytes);
        self.assign(error, code.into());
        let value = if code == 0 { Wide::from_le_bytes(&bytes, width) } else { Wide::zero(width) };
        self.scratch.bytes = bytes;
        self.give(dst, &value);
    }

    fn copy_argument(&mut self, dst: &Place, offset: usize, bytes: u32) {
        let Some(dst) = self.offset(dst) else { return };
        let mut data = std::mem::take(&mut self.scratch.bytes);
        data.clear();
        data.extend_from_slice(self.context.action_data().get(offset..offset + bytes as usize).unwrap_or(&[]));
        // Zero if no entry was found that has the parameter.
        data.resize(bytes as usize, 0);
        self.context.frame.bytes_mut(dst, bytes).copy_from_slice(&data);
        self.scratch.bytes = data;
    }

    fn register_read(&mut self, dst: &Dest, register: RegisterId, index: &Operand) {
        let (width, index) = (self.width(dst), self.short(index));
        if width <= 128 {
            let value = self.context.registers.read(register, index);
            self.give(dst, &Wide::from_u128(value, width));
            return;
        }
        let mut bytes = std::mem::take(&mut self.scratch.bytes);
        bytes.clear();
        bytes.resize(storage_size(width) as usize, 0);
        self.context.registers.read_wide(register, index, &mut bytes);
        self.give(dst, &Wide::from_le_bytes(&bytes, width));
        self.scratch.bytes = bytes;
    }

    fn hash(&mut self, dst: &Dest, algorithm: HashAlgorithm, base: &Arg, data: &[Arg], max: &Arg) {
        let mut bits = std::mem::take(&mut self.scratch.bits);
        bits.clear();
        self.append(&mut bits, data);
        let hash = u128::from(self.context.hash(algorithm, bits.bytes()));
        self.scratch.bits = bits;
        let width = self.width(dst);
        if [base.width(), max.width(), width].into_iter().all(|width| width <= 128) {
            let (base, max) = (self.scalar(base), self.scalar(max));
            let rest = if max == 0 { hash } else { hash % max };
            // What is carried out of 128 bits is cut anyhow.
            self.give(dst, &Wide::from_u128(base.wrapping_add(rest), width));
        } else {
            let (base, max) = (self.wide(base).to_biguint(), self.wide(max).to_biguint());
            let rest = if max == BigUint::ZERO { hash.into() } else { BigUint::from(hash) % max };
            self.give(dst, &Wide::from_biguint(&(base + rest), width));
        }
    }
}
