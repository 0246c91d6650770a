//! Rules of single instructions: handles, widths, immediates, places.

use super::VerifyError;
use super::objects::field_storage;
use crate::eval::fits;
use crate::text::{InstText, Names};
use crate::*;

pub struct Checker<'a> {
    pub program: &'a Program,
    pub names: &'a Names<'a>,
    pub function: &'a Function,
    pub errors: &'a mut Vec<VerifyError>,
    /// The instruction looked at; the number after the last is the terminator.
    pub at: Option<(BlockId, usize)>,
}

impl Checker<'_> {
    pub fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if holds {
            return;
        }
        let mut at = format!("function {}", self.function.name);
        if let Some((block, i)) = self.at {
            let text = match self.function.blocks[block].insts.get(i) {
                Some(inst) => InstText { names: self.names, function: self.function, inst }.to_string(),
                None => self.function.blocks[block].end.to_string(),
            };
            at += &format!(", block b{}, instruction {i}: {text}", block.index());
        }
        self.errors.push(VerifyError { at, message: message() });
    }

    fn handle<H: Handle + std::fmt::Debug, T>(&mut self, arena: &Arena<H, T>, handle: H) -> bool {
        let found = arena.is_valid(handle);
        self.require(found, || format!("there is no {handle:?}"));
        found
    }

    /// The width of a temp, if there is such a temp.
    pub fn width(&self, temp: Temp) -> Option<u32> {
        self.function.temps.get(temp.index()).map(|width| u32::from(*width))
    }

    /// The width of the temp that an instruction assigns; 0 is reported here and means that nothing more can be said.
    fn dst(&mut self, temp: Temp) -> u32 {
        let width = self.width(temp);
        self.require(width.is_some(), || format!("%{} has no width", temp.index()));
        width.unwrap_or(0)
    }

    fn dst_of(&mut self, temp: Temp, wanted: u32) {
        let width = self.dst(temp);
        let number = temp.index();
        self.require(width == wanted || width == 0, || format!("%{number} has {width} bits instead of {wanted}"));
    }

    fn operand(&mut self, operand: &Operand, wanted: u32) {
        match operand {
            Operand::Temp(temp) => self.dst_of(*temp, wanted),
            Operand::Imm(value) => {
                self.require(wanted == 0 || fits(*value, wanted), || format!("{value:#x} does not fit {wanted} bits"));
            }
        }
    }

    fn any_operand(&mut self, operand: &Operand) {
        if let Operand::Temp(temp) = operand {
            self.dst(*temp);
        }
    }

    fn scalar_width(&mut self, width: u32) {
        self.require((1..=128).contains(&width), || format!("a scalar has 1 to 128 bits, not {width}"));
    }

    fn equal(&mut self, found: u32, wanted: u32, what: &str) {
        let holds = found == wanted || found == 0 || wanted == 0;
        self.require(holds, || format!("{what} has {found} bits instead of {wanted}"));
    }

    fn bit_range(&mut self, hi: u32, lo: u32, width: u32) {
        let holds = lo <= hi && (hi < width || width == 0);
        self.require(holds, || format!("[{hi}:{lo}] is no part of {width} bits"));
    }

    fn place(&mut self, place: &Place, bytes: u32, align: u32) {
        let mut end = u64::from(place.offset) + u64::from(bytes);
        if let Some(Index { index, stride, count }) = &place.index {
            self.any_operand(index);
            self.require(*count > 0, || "the stack has no elements".to_owned());
            let aligned = stride.is_multiple_of(align);
            self.require(aligned, || format!("the stride is not a multiple of {align}"));
            end += u64::from(*stride) * u64::from(count.saturating_sub(1));
        }
        let aligned = place.offset.is_multiple_of(align);
        self.require(aligned, || format!("offset {} is not a multiple of {align}", place.offset));
        let size = self.program.frame.size;
        self.require(end <= u64::from(size), || format!("the place ends at {end}, the frame at {size}"));
    }

    fn variable(&mut self, place: &Place, width: u32) {
        self.require(width > 0, || "a variable of no bits".to_owned());
        self.place(place, storage_size(width), storage_align(width));
    }

    fn header(&mut self, header: HeaderTypeId, place: &Place) -> Option<&HeaderType> {
        if !self.handle(&self.program.header_types, header) {
            return None;
        }
        let header = &self.program.header_types[header];
        let align = header.fields.iter().map(|field| field_storage(field).1).max().unwrap_or(1);
        self.place(place, header.size, align);
        Some(header)
    }

    /// Checks an argument and gives its width.
    fn arg(&mut self, arg: &Arg) -> u32 {
        let width = arg.width();
        match arg {
            Arg::Scalar(operand, _) => {
                self.scalar_width(width);
                self.operand(operand, width);
            }
            Arg::Frame(place, _) => self.variable(place, width),
            Arg::Const(value, _) => {
                let holds = value.bits() <= u64::from(width);
                self.require(holds, || format!("{value:#x} does not fit {width} bits"));
            }
            Arg::Varbit(place, _) => self.place(place, 4 + width.div_ceil(8), 4),
        }
        width
    }

    /// The same for an argument that may not be a varbit.
    fn fixed_arg(&mut self, arg: &Arg) -> u32 {
        self.require(!matches!(arg, Arg::Varbit(..)), || "a varbit can't stand here".to_owned());
        self.arg(arg)
    }

    fn args_of(&mut self, args: &[Arg], wanted: &[u32], what: &str) {
        let (found, number) = (args.len(), wanted.len());
        self.require(found == number, || format!("{found} {what} instead of {number}"));
        for (arg, wanted) in args.iter().zip(wanted) {
            let width = self.fixed_arg(arg);
            self.equal(width, *wanted, "an argument");
        }
    }

    fn dest(&mut self, dest: &Dest) -> u32 {
        match dest {
            Dest::Temp(temp) => self.dst(*temp),
            Dest::Frame(place, width) => {
                self.variable(place, *width);
                *width
            }
        }
    }

    fn fields(&mut self, fields: Option<FieldListId>) {
        if let Some(fields) = fields {
            self.handle(&self.program.field_lists, fields);
        }
    }

    pub fn inst(&mut self, inst: &Inst) {
        let program = self.program;
        match inst {
            Inst::Unary { dst, a, .. } => {
                let width = self.dst(*dst);
                self.operand(a, width);
            }
            Inst::Binary { dst, op, a, b } => {
                let width = self.dst(*dst);
                self.operand(a, width);
                match op {
                    BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar => self.any_operand(b),
                    _ => self.operand(b, width),
                }
            }
            Inst::Compare { dst, width, a, b, .. } => {
                self.dst_of(*dst, 1);
                self.scalar_width(*width);
                self.operand(a, *width);
                self.operand(b, *width);
            }
            Inst::Resize { dst, from, a, .. } => {
                self.dst(*dst);
                self.scalar_width(*from);
                self.operand(a, *from);
            }
            Inst::Slice { dst, a, hi, lo } => {
                let width = match a {
                    Operand::Temp(temp) => self.dst(*temp),
                    Operand::Imm(_) => 128,
                };
                self.bit_range(*hi, *lo, width);
                self.dst_of(*dst, bits_of(*hi, *lo));
            }
            Inst::Insert { dst, a, value, hi, lo } => {
                let width = self.dst(*dst);
                self.operand(a, width);
                self.bit_range(*hi, *lo, width);
                self.operand(value, bits_of(*hi, *lo));
            }
            Inst::Concat { dst, a, b, b_width } => {
                let width = self.dst(*dst);
                self.scalar_width(*b_width);
                self.operand(b, *b_width);
                self.require(*b_width < width || width == 0, || "no bit of `a` is left".to_owned());
                self.operand(a, width.saturating_sub(*b_width));
            }
            Inst::Select { dst, cond, a, b } => {
                let width = self.dst(*dst);
                self.operand(cond, 1);
                self.operand(a, width);
                self.operand(b, width);
            }
            Inst::Load { dst, place } => {
                let width = self.dst(*dst);
                if width > 0 {
                    self.variable(place, width);
                }
            }
            Inst::Store { place, width, src } => {
                self.scalar_width(*width);
                self.variable(place, *width);
                self.operand(src, *width);
            }
            Inst::Copy { dst, src, bytes } => {
                self.place(dst, *bytes, 1);
                self.place(src, *bytes, 1);
            }
            Inst::Zero { place, bytes } => self.place(place, *bytes, 1),
            Inst::Wide { op, dst, args } => self.wide(*op, dst, args),
            Inst::StackShift { place, stride, count, .. } => self.place(place, stride.saturating_mul(*count), 1),
            Inst::Extract { .. } | Inst::Emit { .. } => self.header_inst(inst),
            Inst::Lookahead { error, dst } => {
                self.dst_of(*error, 32);
                self.dest(dst);
            }
            Inst::Advance { error, bits } => {
                self.dst_of(*error, 32);
                self.operand(bits, 32);
            }
            Inst::PacketLength { dst } => self.dst_of(*dst, 32),
            Inst::InValueSet { dst, set, args } => {
                self.dst_of(*dst, 1);
                if self.handle(&program.value_sets, *set) {
                    let widths: Vec<_> = program.value_sets[*set].keys.iter().map(|key| key.width).collect();
                    self.args_of(args, &widths, "keys");
                }
            }
            Inst::Fuel { dst } => self.dst_of(*dst, 1),
            Inst::Lookup { table, keys, selector, hit, action } => {
                self.dst_of(*hit, 1);
                self.dst_of(*action, 32);
                if self.handle(&program.tables, *table) {
                    let table = &program.tables[*table];
                    let widths: Vec<_> = table.keys.iter().map(|key| key.width).collect();
                    self.args_of(keys, &widths, "keys");
                    self.args_of(selector, &table.selector_widths, "inputs of the selector");
                }
            }
            // Offsets of parameters are checked against the table of the lookup before.
            Inst::LoadArg { dst, .. } => {
                self.dst(*dst);
            }
            Inst::CopyArg { dst, bytes, .. } => self.place(dst, *bytes, 8),
            _ => self.extern_call(inst),
        }
    }

    fn header_inst(&mut self, inst: &Inst) {
        let (Inst::Extract { header, place, .. } | Inst::Emit { header, place }) = inst else { return };
        let (fixed, varbit) = match self.header(*header, place) {
            Some(header) => (header.fixed_bits(), header.fields.iter().any(|field| field.varbit)),
            None => return,
        };
        // With a varbit, the length at run time decides.
        let holds = varbit || fixed.is_multiple_of(8);
        self.require(holds, || format!("a header of {fixed} bits is not whole bytes"));
        if let Inst::Extract { error, varbit_bits, .. } = inst {
            self.dst_of(*error, 32);
            let what = if varbit { "the length of the varbit is missing" } else { "the header has no varbit" };
            self.require(varbit == varbit_bits.is_some(), || what.to_owned());
            if let Some(bits) = varbit_bits {
                self.operand(bits, 32);
            }
        }
    }

    fn wide(&mut self, op: WideOp, dst: &Dest, args: &[Arg]) {
        let width = self.dest(dst);
        let number = match op {
            WideOp::ResizeU | WideOp::ResizeS | WideOp::Unary(_) | WideOp::Slice { .. } => 1..=1,
            WideOp::Binary(_) | WideOp::Compare(_) | WideOp::Insert { .. } => 2..=2,
            WideOp::Concat => 2..=usize::MAX,
        };
        let found = args.len();
        self.require(number.contains(&found), || format!("{found} arguments instead of {}", number.start()));
        if !number.contains(&found) {
            return;
        }
        let varbits = args.iter().filter(|arg| matches!(arg, Arg::Varbit(..))).count();
        let equality = matches!(op, WideOp::Compare(CompareOp::Eq | CompareOp::Ne));
        self.require(varbits == 0 || (equality && varbits == 2), || "a varbit can't stand here".to_owned());
        let widths: Vec<u32> = args.iter().map(|arg| self.arg(arg)).collect();
        match op {
            WideOp::ResizeU | WideOp::ResizeS => {}
            WideOp::Unary(_) => self.equal(widths[0], width, "the operand"),
            WideOp::Binary(op) => {
                self.equal(widths[0], width, "the left operand");
                if !matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar) {
                    self.equal(widths[1], width, "the right operand");
                }
            }
            WideOp::Compare(_) => {
                self.equal(width, 1, "the result");
                if varbits == 0 {
                    self.equal(widths[1], widths[0], "the right operand");
                }
            }
            WideOp::Slice { hi, lo } => {
                self.bit_range(hi, lo, widths[0]);
                self.equal(width, bits_of(hi, lo), "the result");
            }
            WideOp::Insert { hi, lo } => {
                self.equal(widths[0], width, "the left operand");
                self.bit_range(hi, lo, width);
                self.equal(widths[1], bits_of(hi, lo), "the right operand");
            }
            WideOp::Concat => self.equal(
                widths.iter().fold(0, |sum: u32, part| sum.saturating_add(*part)),
                width,
                "all parts together",
            ),
        }
    }

    fn extern_call(&mut self, inst: &Inst) {
        let program = self.program;
        match inst {
            Inst::Count { counter, index } => {
                self.handle(&program.counters, *counter);
                self.any_operand(index);
            }
            Inst::Meter { dst, meter, index, before } => {
                self.dst(*dst);
                self.handle(&program.meters, *meter);
                self.any_operand(index);
                before.iter().for_each(|before| self.any_operand(before));
            }
            Inst::DirectMeter { dst, table, before } => {
                self.dst(*dst);
                self.handle(&program.tables, *table);
                before.iter().for_each(|before| self.any_operand(before));
            }
            Inst::RegisterRead { dst, register, index } => {
                let width = self.dest(dst);
                self.operand(index, 32);
                if self.handle(&program.registers, *register) {
                    self.equal(width, program.registers[*register].width, "the result");
                }
            }
            Inst::RegisterWrite { register, index, value } => {
                let width = self.fixed_arg(value);
                self.operand(index, 32);
                if self.handle(&program.registers, *register) {
                    self.equal(width, program.registers[*register].width, "the value");
                }
            }
            Inst::BufferKeep { dst, buffer, queue, number, microseconds, fields } => {
                self.dst_of(*dst, 1);
                self.handle(&program.buffers, *buffer);
                for operand in [queue, number, microseconds] {
                    self.operand(operand, 32);
                }
                self.fields(Some(*fields));
            }
            Inst::BufferRelease { buffer, queue, number } | Inst::BufferSend { buffer, queue, number } => {
                self.handle(&program.buffers, *buffer);
                self.operand(queue, 32);
                self.operand(number, 32);
            }
            Inst::Hash { dst, base, data, max, .. } => {
                self.dest(dst);
                self.fixed_arg(base);
                self.fixed_arg(max);
                for arg in data {
                    self.arg(arg);
                }
            }
            Inst::Checksum { dst, data, .. } => {
                self.dest(dst);
                for arg in data {
                    self.arg(arg);
                }
            }
            Inst::Random { dst, lo, hi } => {
                let width = self.dest(dst);
                for bound in [lo, hi] {
                    let found = self.fixed_arg(bound);
                    self.equal(found, width, "a bound");
                }
            }
            Inst::CallExtern { function, args, results } => {
                if !self.handle(&program.externs, *function) {
                    return;
                }
                for arg in args {
                    self.arg(arg);
                }
                let wanted = &program.externs[*function].results;
                let found = results.len();
                self.require(found == wanted.len(), || format!("{found} results instead of {}", wanted.len()));
                for (dst, wanted) in results.iter().zip(wanted) {
                    let width = self.dest(dst);
                    self.equal(width, *wanted, "a result");
                    self.require(matches!(dst, Dest::Frame(..)), || "a result must stand in the frame".to_owned());
                }
            }
            Inst::Digest { digest, data } => {
                if !self.handle(&program.digests, *digest) {
                    return;
                }
                let widths = &program.digests[*digest].widths;
                let (found, wanted) = (data.len(), widths.len());
                self.require(found == wanted, || format!("{found} members instead of {wanted}"));
                for (arg, wanted) in data.iter().zip(widths) {
                    let width = self.arg(arg);
                    self.equal(width, *wanted, "a member");
                }
            }
            Inst::Clone { session, fields, .. } => {
                self.operand(session, 32);
                self.fields(*fields);
            }
            Inst::Resubmit { fields } | Inst::Recirculate { fields } => self.fields(*fields),
            Inst::Truncate { bytes } => self.operand(bytes, 32),
            Inst::LogMessage { format, args } => {
                self.handle(&program.strings, *format);
                for arg in args {
                    self.arg(arg);
                }
            }
            Inst::Assert { cond, text } => {
                self.operand(cond, 1);
                self.handle(&program.strings, *text);
            }
            Inst::Note(note) => {
                self.handle(&program.notes, *note);
            }
            Inst::Locals(Some(local)) => {
                self.handle(&program.locals, *local);
            }
            _ => {}
        }
    }

    pub fn terminator(&mut self, end: &Terminator) {
        for target in end.successors() {
            let blocks = self.function.blocks.len();
            self.require(target.index() < blocks, || format!("there is no block b{}", target.index()));
        }
        match end {
            Terminator::Branch { cond, .. } => self.operand(cond, 1),
            Terminator::Switch { value, width, cases, .. } => {
                self.scalar_width(*width);
                self.operand(value, *width);
                let mut values: Vec<u128> = cases.iter().map(|(value, _)| *value).collect();
                values.sort_unstable();
                let differ = values.windows(2).all(|pair| pair[0] != pair[1]);
                self.require(differ, || "two cases are equal".to_owned());
                let fit = values.iter().all(|value| fits(*value, *width));
                self.require(fit, || format!("a case does not fit {width} bits"));
            }
            Terminator::Jump(_) | Terminator::Return => {}
        }
    }
}

/// Bits of the slice `[hi:lo]`; 0 if there is none.
fn bits_of(hi: u32, lo: u32) -> u32 {
    hi.saturating_add(1).saturating_sub(lo)
}
