//! What an instruction reads and writes.

use crate::Program;
use crate::frame::{Place, storage_size};
use crate::handle::*;
use crate::inst::*;

impl Arg {
    /// Bits; of a varbit, the most it can hold.
    pub fn width(&self) -> u32 {
        match self {
            Arg::Scalar(_, width) | Arg::Frame(_, width) | Arg::Const(_, width) | Arg::Varbit(_, width) => *width,
        }
    }
}

impl Inst {
    /// Whether it only tells traces something.
    pub fn is_note(&self) -> bool {
        matches!(self, Inst::Note(_) | Inst::Locals(_))
    }

    /// Calls `visit` with every temp that the instruction assigns.
    pub fn defs(&self, mut visit: impl FnMut(Temp)) {
        match self {
            Inst::Unary { dst, .. }
            | Inst::Binary { dst, .. }
            | Inst::Compare { dst, .. }
            | Inst::Resize { dst, .. }
            | Inst::Slice { dst, .. }
            | Inst::Insert { dst, .. }
            | Inst::Concat { dst, .. }
            | Inst::Select { dst, .. }
            | Inst::Load { dst, .. }
            | Inst::PacketLength { dst }
            | Inst::InValueSet { dst, .. }
            | Inst::Fuel { dst }
            | Inst::LoadArg { dst, .. }
            | Inst::Meter { dst, .. }
            | Inst::DirectMeter { dst, .. }
            | Inst::BufferKeep { dst, .. } => visit(*dst),
            Inst::Extract { error, .. } | Inst::Advance { error, .. } => visit(*error),
            Inst::Lookup { hit, action, .. } => {
                visit(*hit);
                visit(*action);
            }
            Inst::Lookahead { error, dst } => {
                visit(*error);
                dest_def(dst, visit);
            }
            Inst::Wide { dst, .. }
            | Inst::RegisterRead { dst, .. }
            | Inst::Hash { dst, .. }
            | Inst::Checksum { dst, .. }
            | Inst::Random { dst, .. } => dest_def(dst, visit),
            Inst::Store { .. }
            | Inst::Copy { .. }
            | Inst::Zero { .. }
            | Inst::StackShift { .. }
            | Inst::Emit { .. }
            | Inst::CopyArg { .. }
            | Inst::Count { .. }
            | Inst::RegisterWrite { .. }
            | Inst::BufferRelease { .. }
            | Inst::BufferSend { .. }
            | Inst::Digest { .. }
            | Inst::CallExtern { .. }
            | Inst::Clone { .. }
            | Inst::Resubmit { .. }
            | Inst::Recirculate { .. }
            | Inst::Truncate { .. }
            | Inst::LogMessage { .. }
            | Inst::Assert { .. }
            | Inst::Note(_)
            | Inst::Locals(_) => {}
        }
    }

    /// Calls `visit` with every temp that the instruction reads, each as often as it does; those inside places too.
    pub fn uses(&self, mut visit: impl FnMut(Temp)) {
        let f = &mut visit;
        match self {
            Inst::Unary { a, .. } | Inst::Resize { a, .. } | Inst::Slice { a, .. } => operand(a, f),
            Inst::Binary { a, b, .. } | Inst::Compare { a, b, .. } | Inst::Concat { a, b, .. } => {
                operand(a, f);
                operand(b, f);
            }
            Inst::Insert { a, value, .. } => {
                operand(a, f);
                operand(value, f);
            }
            Inst::Select { cond, a, b, .. } => {
                operand(cond, f);
                operand(a, f);
                operand(b, f);
            }
            Inst::Load { place: at, .. }
            | Inst::Zero { place: at, .. }
            | Inst::StackShift { place: at, .. }
            | Inst::Emit { place: at, .. }
            | Inst::CopyArg { dst: at, .. } => place(at, f),
            Inst::Store { place: at, src, .. } => {
                place(at, f);
                operand(src, f);
            }
            Inst::Copy { dst, src, .. } => {
                place(dst, f);
                place(src, f);
            }
            Inst::Wide { dst, args, .. } => {
                dest_use(dst, f);
                arguments(args, f);
            }
            Inst::Extract { place: at, varbit_bits, .. } => {
                place(at, f);
                if let Some(bits) = varbit_bits {
                    operand(bits, f);
                }
            }
            Inst::Lookahead { dst, .. } => dest_use(dst, f),
            Inst::Advance { bits: a, .. }
            | Inst::Count { index: a, .. }
            | Inst::Clone { session: a, .. }
            | Inst::Truncate { bytes: a }
            | Inst::Assert { cond: a, .. } => operand(a, f),
            Inst::InValueSet { args, .. } | Inst::Digest { data: args, .. } | Inst::LogMessage { args, .. } => {
                arguments(args, f);
            }
            Inst::Lookup { keys, selector, .. } => {
                arguments(keys, f);
                arguments(selector, f);
            }
            Inst::CallExtern { args, results, .. } => {
                arguments(args, f);
                results.iter().for_each(|dst| dest_use(dst, f));
            }
            Inst::Meter { index, before, .. } => {
                operand(index, f);
                before.iter().for_each(|before| operand(before, f));
            }
            Inst::DirectMeter { before, .. } => before.iter().for_each(|before| operand(before, f)),
            Inst::RegisterRead { dst, index, .. } => {
                dest_use(dst, f);
                operand(index, f);
            }
            Inst::RegisterWrite { index, value, .. } => {
                operand(index, f);
                argument(value, f);
            }
            Inst::BufferKeep { queue, number, microseconds, .. } => {
                operand(queue, f);
                operand(number, f);
                operand(microseconds, f);
            }
            Inst::BufferRelease { queue, number, .. } | Inst::BufferSend { queue, number, .. } => {
                operand(queue, f);
                operand(number, f);
            }
            Inst::Hash { dst, base, data, max, .. } => {
                dest_use(dst, f);
                argument(base, f);
                arguments(data, f);
                argument(max, f);
            }
            Inst::Checksum { dst, data, .. } => {
                dest_use(dst, f);
                arguments(data, f);
            }
            Inst::Random { dst, lo, hi } => {
                dest_use(dst, f);
                argument(lo, f);
                argument(hi, f);
            }
            Inst::PacketLength { .. }
            | Inst::Fuel { .. }
            | Inst::LoadArg { .. }
            | Inst::Resubmit { .. }
            | Inst::Recirculate { .. }
            | Inst::Note(_)
            | Inst::Locals(_) => {}
        }
    }

    /// The places that traces name: what the instruction writes, or the header that it emits.
    pub fn told_places(&self) -> impl Iterator<Item = &Place> {
        let (one, many): (_, &[Dest]) = match self {
            Inst::Store { place, .. }
            | Inst::Zero { place, .. }
            | Inst::StackShift { place, .. }
            | Inst::Extract { place, .. }
            | Inst::Emit { place, .. }
            | Inst::Copy { dst: place, .. }
            | Inst::CopyArg { dst: place, .. } => (Some(place), &[]),
            Inst::Wide { dst, .. }
            | Inst::Lookahead { dst, .. }
            | Inst::RegisterRead { dst, .. }
            | Inst::Hash { dst, .. }
            | Inst::Checksum { dst, .. }
            | Inst::Random { dst, .. } => (None, std::slice::from_ref(dst)),
            Inst::CallExtern { results, .. } => (None, results),
            _ => (None, &[]),
        };
        one.into_iter().chain(many.iter().filter_map(|dst| match dst {
            Dest::Frame(place, _) => Some(place),
            Dest::Temp(_) => None,
        }))
    }

    /// Calls `visit` with every place of the frame that the instruction writes, and how many bytes from there on.
    pub fn writes(&self, program: &Program, mut visit: impl FnMut(&Place, u32)) {
        let mut result = |dst: &Dest| {
            if let Dest::Frame(place, width) = dst {
                visit(place, storage_size(*width));
            }
        };
        match self {
            Inst::Wide { dst, .. }
            | Inst::Lookahead { dst, .. }
            | Inst::RegisterRead { dst, .. }
            | Inst::Hash { dst, .. }
            | Inst::Checksum { dst, .. }
            | Inst::Random { dst, .. } => result(dst),
            Inst::CallExtern { results, .. } => results.iter().for_each(result),
            Inst::Store { place, width, .. } => visit(place, storage_size(*width)),
            Inst::Zero { place, bytes }
            | Inst::Copy { dst: place, bytes, .. }
            | Inst::CopyArg { dst: place, bytes, .. } => visit(place, *bytes),
            Inst::StackShift { place, stride, count, .. } => visit(place, stride * count),
            Inst::Extract { header, place, .. } => visit(place, program.header_types[*header].size),
            _ => {}
        }
    }
}

impl Terminator {
    /// Calls `visit` with the temp that decides, if there is one.
    pub fn uses(&self, mut visit: impl FnMut(Temp)) {
        match self {
            Terminator::Branch { cond: a, .. } | Terminator::Switch { value: a, .. } => operand(a, &mut visit),
            Terminator::Jump(_) | Terminator::Return => {}
        }
    }

    /// The blocks that may come next; one may come twice.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + '_ {
        let (cases, rest): (&[_], [Option<BlockId>; 2]) = match self {
            Terminator::Jump(to) => (&[], [Some(*to), None]),
            Terminator::Branch { then, otherwise, .. } => (&[], [Some(*then), Some(*otherwise)]),
            Terminator::Switch { cases, default, .. } => (cases, [Some(*default), None]),
            Terminator::Return => (&[], [None, None]),
        };
        cases.iter().map(|(_, to)| *to).chain(rest.into_iter().flatten())
    }
}

fn operand(operand: &Operand, f: &mut impl FnMut(Temp)) {
    if let Operand::Temp(temp) = operand {
        f(*temp);
    }
}

fn place(place: &Place, f: &mut impl FnMut(Temp)) {
    if let Some(index) = &place.index {
        operand(&index.index, f);
    }
}

fn argument(arg: &Arg, f: &mut impl FnMut(Temp)) {
    match arg {
        Arg::Scalar(value, _) => operand(value, f),
        Arg::Frame(at, _) | Arg::Varbit(at, _) => place(at, f),
        Arg::Const(..) => {}
    }
}

fn arguments(args: &[Arg], f: &mut impl FnMut(Temp)) {
    for arg in args {
        argument(arg, f);
    }
}

fn dest_def(dest: &Dest, mut visit: impl FnMut(Temp)) {
    if let Dest::Temp(temp) = dest {
        visit(*temp);
    }
}

fn dest_use(dest: &Dest, f: &mut impl FnMut(Temp)) {
    if let Dest::Frame(at, _) = dest {
        place(at, f);
    }
}
