//! Instructions that compiled code leaves to a helper: rare ones, and those whose work is a call anyhow.

use ir::eval::{Wide, mask, wide};
use ir::{Arg, Dest, Function, HashAlgorithm, Inst, Operand, Place, Temp, storage_size};
use num_bigint::BigUint;
use runtime::{BitString, Context, GREEN};

/// An instruction and the slots that hold its temps: first those it reads, then those it assigns.
#[derive(Debug)]
pub(crate) struct SlowCall {
    inst: Inst,
    inputs: Vec<Temp>,
    outputs: Vec<Temp>,
    /// Widths of the outputs.
    widths: Vec<u32>,
}

impl SlowCall {
    pub fn new(inst: &Inst, function: &Function) -> Self {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        inst.uses(|temp| inputs.push(temp));
        inputs.sort();
        inputs.dedup();
        inst.defs(|temp| outputs.push(temp));
        let widths = outputs.iter().map(|temp| u32::from(function.temps[ir::Handle::index(*temp)])).collect();
        Self { inst: inst.clone(), inputs, outputs, widths }
    }

    pub fn inputs(&self) -> &[Temp] {
        &self.inputs
    }

    pub fn outputs(&self) -> &[Temp] {
        &self.outputs
    }

    pub fn slots(&self) -> usize {
        self.inputs.len() + self.outputs.len()
    }

    /// Runs the instruction with the values in `slots`.
    pub fn run(&self, context: &mut Context<'_>, slots: &mut [u128]) {
        let (inputs, outputs) = slots.split_at_mut(self.inputs.len());
        // A panic must not leave anything undefined in them.
        outputs.fill(0);
        Run { call: self, context, inputs, outputs }.run();
    }
}

/// Compiled code holds the addresses of the calls, so they must not move.
#[allow(clippy::vec_box, reason = "the vector grows after addresses were taken")]
pub(crate) type SlowCalls = Vec<Box<SlowCall>>;

struct Run<'a, 'd> {
    call: &'a SlowCall,
    context: &'a mut Context<'d>,
    inputs: &'a [u128],
    outputs: &'a mut [u128],
}

impl Run<'_, '_> {
    fn run(&mut self) {
        let call = self.call;
        match &call.inst {
            Inst::Wide { op, dst, args } => {
                let args: Vec<_> = args.iter().map(|arg| self.wide(arg)).collect();
                let result = wide(*op, self.width(dst), &args);
                self.give_wide(dst, &result);
            }
            Inst::StackShift { place, stride, count, by, push } => self.shift_stack(place, *stride, *count, *by, *push),
            Inst::Extract { header, place, varbit_bits, peek, .. } => {
                let bits = varbit_bits.map(|bits| self.value(bits) as u32);
                // An element that is not there was refused by the program before.
                if let Some(offset) = self.offset(place) {
                    self.outputs[0] = self.context.extract(*header, offset, bits, *peek).into();
                }
            }
            Inst::Emit { header, place } => {
                if let Some(offset) = self.offset(place) {
                    self.context.emit(*header, offset);
                }
            }
            Inst::InValueSet { set, args, .. } => {
                let mut key = BitString::new();
                for arg in args {
                    let width = arg.width();
                    key.push(0, width.next_multiple_of(8) - width);
                    self.append(&mut key, arg);
                }
                self.outputs[0] = self.context.in_value_set(*set, key.bytes()).into();
            }
            Inst::Meter { meter, index, before, .. } => {
                let index = u64::try_from(self.value(*index)).unwrap_or(u64::MAX);
                let before = before.map_or(GREEN, |before| self.value(before) as u32);
                let colour = self.context.meter(*meter, index, before);
                self.give_scalar(0, colour.into());
            }
            Inst::DirectMeter { table, before, .. } => {
                let before = before.map_or(GREEN, |before| self.value(before) as u32);
                let colour = self.context.direct_meter(*table, before);
                self.give_scalar(0, colour.into());
            }
            Inst::RegisterWrite { register, index, value } => {
                let index = self.value(*index) as u32;
                let value = self.wide(value);
                let mut bytes = vec![0; storage_size(value.width()) as usize];
                value.write_le_bytes(&mut bytes);
                self.context.registers.write_wide(*register, index, &bytes);
            }
            Inst::BufferKeep { buffer, queue, number, microseconds, fields, .. } => {
                let [queue, number, microseconds] = [queue, number, microseconds].map(|it| self.value(*it) as u32);
                let kept = self.context.buffer_keep(*buffer, queue, number, microseconds, *fields);
                self.give_scalar(0, kept.into());
            }
            Inst::BufferRelease { buffer, queue, number } => {
                let (queue, number) = (self.value(*queue) as u32, self.value(*number) as u32);
                self.context.buffer_release(*buffer, queue, number);
            }
            Inst::BufferSend { buffer, queue, number } => {
                let (queue, number) = (self.value(*queue) as u32, self.value(*number) as u32);
                self.context.buffer_send(*buffer, queue, number);
            }
            Inst::Hash { dst, algorithm, base, data, max } => self.hash(dst, *algorithm, base, data, max),
            Inst::Checksum { dst, algorithm, data, payload } => {
                let data = self.bits(data);
                let sum = self.context.checksum(*algorithm, data.bytes(), *payload);
                self.give_wide(dst, &Wide::from_u128(sum.into(), self.width(dst)));
            }
            Inst::Random { dst, lo, hi } => {
                let (lo, hi) = (self.wide(lo), self.wide(hi));
                let value = if self.width(dst) <= 128 {
                    let value = self.context.random(lo.low_u128(), hi.low_u128());
                    Wide::from_u128(value, self.width(dst))
                } else {
                    let value = self.context.random_wide(&lo.to_biguint(), &hi.to_biguint());
                    Wide::from_biguint(&value, self.width(dst))
                };
                self.give_wide(dst, &value);
            }
            Inst::Digest { digest, data } => {
                let data = data.iter().map(|arg| self.wide(arg).to_biguint()).collect();
                self.context.digest(*digest, data);
            }
            Inst::CallExtern { function, args, results } => {
                let args: Vec<_> = args.iter().map(|arg| self.wide(arg).to_biguint()).collect();
                let values = self.context.call_extern(*function, &args);
                for (dst, value) in results.iter().zip(values) {
                    self.give_wide(dst, &Wide::from_biguint(&value, self.width(dst)));
                }
            }
            Inst::Clone { kind, session, fields } => {
                let session = self.value(*session) as u32;
                self.context.clone_packet(*kind, session, *fields);
            }
            Inst::Resubmit { fields } => self.context.resubmit(*fields),
            Inst::Recirculate { fields } => self.context.recirculate(*fields),
            Inst::Truncate { bytes } => {
                let bytes = self.value(*bytes) as u32;
                self.context.truncate(bytes);
            }
            Inst::LogMessage { format, args } => {
                let args: Vec<_> = args.iter().map(|arg| self.wide(arg).to_biguint()).collect();
                self.context.log_message(*format, &args);
            }
            // Called only when the condition is 0.
            Inst::Assert { text, .. } => self.context.assert_failed(*text),
            inst => unreachable!("{inst:?} has code of its own"),
        }
    }

    fn value(&self, operand: Operand) -> u128 {
        match operand {
            Operand::Imm(value) => value,
            Operand::Temp(temp) => self.inputs[self.call.inputs.binary_search(&temp).expect("all inputs have slots")],
        }
    }

    /// The offset of a place in the frame, unless its index is out of range.
    fn offset(&self, place: &Place) -> Option<u32> {
        let Some(index) = place.index else { return Some(place.offset) };
        let number = self.value(index.index);
        (number < index.count.into()).then(|| place.offset + number as u32 * index.stride)
    }

    fn wide(&self, arg: &Arg) -> Wide {
        match arg {
            Arg::Scalar(operand, width) => Wide::from_u128(self.value(*operand), *width),
            Arg::Const(number, width) => Wide::from_biguint(number, *width),
            Arg::Frame(place, width) => self.offset(place).map_or(Wide::zero(*width), |offset| {
                Wide::from_le_bytes(self.context.frame.bytes(offset, storage_size(*width)), *width)
            }),
            Arg::Varbit(place, most) => {
                let (bytes, bits) = self.varbit(place, *most);
                Wide::from_wire_bits(bytes, bits)
            }
        }
    }

    /// The bytes of a varbit and its length in bits.
    fn varbit(&self, place: &Place, most: u32) -> (&[u8], u32) {
        let Some(offset) = self.offset(place) else { return (&[], 0) };
        let bits = (self.context.frame.read(offset, 32) as u32).min(most);
        (self.context.frame.bytes(offset + 4, bits.div_ceil(8)), bits)
    }

    fn append(&self, bits: &mut BitString, arg: &Arg) {
        match arg {
            Arg::Scalar(operand, width) => bits.push(self.value(*operand), *width),
            Arg::Varbit(place, most) => {
                let (bytes, len) = self.varbit(place, *most);
                bits.push_wire(bytes, len as usize);
            }
            Arg::Const(..) | Arg::Frame(..) => {
                let mut bytes = vec![0; arg.width().div_ceil(8) as usize];
                self.wide(arg).write_le_bytes(&mut bytes);
                bits.push_le(&bytes, arg.width());
            }
        }
    }

    fn bits(&self, args: &[Arg]) -> BitString {
        let mut bits = BitString::new();
        args.iter().for_each(|arg| self.append(&mut bits, arg));
        bits
    }

    fn width(&self, dst: &Dest) -> u32 {
        match dst {
            // Instructions with a `Dest` assign one temp at most, but for a lookahead, which has code of its own.
            Dest::Temp(_) => self.call.widths[0],
            Dest::Frame(_, width) => *width,
        }
    }

    fn give_scalar(&mut self, output: usize, value: u128) {
        self.outputs[output] = value & mask(self.call.widths[output]);
    }

    fn give_wide(&mut self, dst: &Dest, value: &Wide) {
        match dst {
            Dest::Temp(_) => self.give_scalar(0, value.low_u128()),
            Dest::Frame(place, width) => {
                if let Some(offset) = self.offset(place) {
                    value.write_le_bytes(self.context.frame.bytes_mut(offset, storage_size(*width)));
                }
            }
        }
    }

    fn hash(&mut self, dst: &Dest, algorithm: HashAlgorithm, base: &Arg, data: &[Arg], max: &Arg) {
        let data = self.bits(data);
        let hash = BigUint::from(self.context.hash(algorithm, data.bytes()));
        let (base, max) = (self.wide(base).to_biguint(), self.wide(max).to_biguint());
        let rest = if max == BigUint::ZERO { hash } else { hash % max };
        self.give_wide(dst, &Wide::from_biguint(&(base + rest), self.width(dst)));
    }

    fn shift_stack(&mut self, place: &Place, stride: u32, count: u32, by: u32, push: bool) {
        let Some(offset) = self.offset(place) else { return };
        let (bytes, freed) = (stride * count, stride * by.min(count));
        let kept = (bytes - freed) as usize;
        let stack = self.context.frame.bytes_mut(offset, bytes);
        if push {
            stack.copy_within(..kept, freed as usize);
            stack[..freed as usize].fill(0);
        } else {
            stack.copy_within(freed as usize.., 0);
            stack[kept..].fill(0);
        }
    }
}
