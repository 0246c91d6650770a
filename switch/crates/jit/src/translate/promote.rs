//! Which variables of the frame live in registers instead.
//!
//! Locals mean nothing outside their block of the architecture, so one that is only loaded and stored as a whole need
//! not be in memory at all.

use std::collections::BTreeMap;

use ir::flow::Flow;
use ir::{Arg, Dest, Frame, Function, Handle, HeaderType, Inst, Place, Program, storage_size};

/// A promoted local.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Local {
    pub offset: u32,
    pub width: u32,
    /// Whether it may be read before it is written; then it starts with what the frame holds.
    pub read_first: bool,
}

/// The locals of a function to promote, by ascending offset.
pub(crate) fn promote(program: &Program, function: &Function, flow: &Flow) -> Vec<Local> {
    let mut uses = Uses { frame: &program.frame, scalars: BTreeMap::new(), others: Vec::new() };
    for block in &flow.order {
        for inst in &function.blocks[*block].insts {
            uses.inst(program, function, inst);
        }
    }
    let mut locals = uses.exclusive();
    mark_read_first(function, flow, &mut locals);
    locals
}

struct Uses<'a> {
    frame: &'a Frame,
    /// Widths of locals loaded and stored as a whole by offset; `None` for more than one width.
    scalars: BTreeMap<u32, Option<u32>>,
    /// Offsets and ends of what is touched otherwise.
    others: Vec<(u32, u32)>,
}

impl Uses<'_> {
    fn inst(&mut self, program: &Program, function: &Function, inst: &Inst) {
        match inst {
            Inst::Load { dst, place } => self.scalar(place, function.temps[dst.index()].into()),
            Inst::Store { place, width, .. } => self.scalar(place, *width),
            Inst::Copy { dst, src, bytes } => {
                self.other(dst, *bytes);
                self.other(src, *bytes);
            }
            Inst::Zero { place, bytes } | Inst::CopyArg { dst: place, bytes, .. } => self.other(place, *bytes),
            Inst::StackShift { place, stride, count, .. } => self.other(place, stride * count),
            Inst::Extract { header, place, .. } | Inst::Emit { header, place } => {
                let HeaderType { size, .. } = program.header_types[*header];
                self.other(place, size);
            }
            Inst::Wide { dst, args, .. } => {
                self.dest(dst);
                self.args(args);
            }
            Inst::Lookahead { dst, .. } | Inst::RegisterRead { dst, .. } => self.dest(dst),
            Inst::InValueSet { args, .. } | Inst::Digest { data: args, .. } | Inst::LogMessage { args, .. } => {
                self.args(args);
            }
            Inst::Lookup { keys, selector, .. } => {
                self.args(keys);
                self.args(selector);
            }
            Inst::CallExtern { args, results, .. } => {
                self.args(args);
                results.iter().for_each(|dst| self.dest(dst));
            }
            Inst::RegisterWrite { value, .. } => self.arg(value),
            Inst::Hash { dst, base, data, max, .. } => {
                self.dest(dst);
                self.arg(base);
                self.args(data);
                self.arg(max);
            }
            Inst::Checksum { dst, data, .. } => {
                self.dest(dst);
                self.args(data);
            }
            Inst::Random { dst, lo, hi } => {
                self.dest(dst);
                self.arg(lo);
                self.arg(hi);
            }
            Inst::Unary { .. }
            | Inst::Binary { .. }
            | Inst::Compare { .. }
            | Inst::Resize { .. }
            | Inst::Slice { .. }
            | Inst::Insert { .. }
            | Inst::Concat { .. }
            | Inst::Select { .. }
            | Inst::Advance { .. }
            | Inst::PacketLength { .. }
            | Inst::Fuel { .. }
            | Inst::LoadArg { .. }
            | Inst::Count { .. }
            | Inst::Meter { .. }
            | Inst::DirectMeter { .. }
            | Inst::BufferKeep { .. }
            | Inst::BufferRelease { .. }
            | Inst::BufferSend { .. }
            | Inst::Clone { .. }
            | Inst::Resubmit { .. }
            | Inst::Recirculate { .. }
            | Inst::Truncate { .. }
            | Inst::Assert { .. }
            | Inst::Note(_)
            | Inst::Locals(_) => {}
        }
    }

    fn scalar(&mut self, place: &Place, width: u32) {
        if place.index.is_some() || place.offset < self.frame.persistent {
            return self.other(place, storage_size(width));
        }
        let known = self.scalars.entry(place.offset).or_insert(Some(width));
        if *known != Some(width) {
            *known = None;
        }
    }

    fn other(&mut self, place: &Place, bytes: u32) {
        let span = place.index.map_or(0, |index| index.stride * index.count.saturating_sub(1));
        self.others.push((place.offset, place.offset + span + bytes));
    }

    fn dest(&mut self, dest: &Dest) {
        if let Dest::Frame(place, width) = dest {
            self.other(place, storage_size(*width));
        }
    }

    fn args(&mut self, args: &[Arg]) {
        args.iter().for_each(|arg| self.arg(arg));
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Frame(place, width) => self.other(place, storage_size(*width)),
            Arg::Varbit(place, width) => self.other(place, 4 + width.div_ceil(8)),
            Arg::Scalar(..) | Arg::Const(..) => {}
        }
    }

    /// Scalars of one width that overlap nothing else.
    fn exclusive(mut self) -> Vec<Local> {
        // A place that is used in two widths takes part as if it were touched otherwise.
        for (offset, width) in &self.scalars {
            if width.is_none() {
                self.others.push((*offset, offset + 16));
            }
        }
        self.others.sort();
        let mut locals = Vec::new();
        // The end of all that starts before the end of the scalar at hand, and how far `others` was followed.
        let (mut end, mut next) = (0, 0);
        let mut scalars = self.scalars.into_iter().peekable();
        while let Some((offset, width)) = scalars.next() {
            let size = storage_size(width.unwrap_or(128));
            while let Some((_, stop)) = self.others.get(next).filter(|other| other.0 < offset + size) {
                end = end.max(*stop);
                next += 1;
            }
            let alone = end <= offset && scalars.peek().is_none_or(|(after, _)| *after >= offset + size);
            if let (true, Some(width)) = (alone, width) {
                locals.push(Local { offset, width, read_first: false });
            }
            end = end.max(offset + size);
        }
        locals
    }
}

/// Finds the locals that some way through the function reads before it writes them.
fn mark_read_first(function: &Function, flow: &Flow, locals: &mut [Local]) {
    let number = |place: &Place| locals.binary_search_by_key(&place.offset, |local| local.offset).ok();
    let count = locals.len();
    let mut written_before: Vec<Option<Vec<bool>>> = vec![None; function.blocks.len()];
    let mut read_first = vec![false; count];
    if let Some(entry) = flow.order.first() {
        written_before[entry.index()] = Some(vec![false; count]);
    }
    // A local is surely written where it is on all ways; the sets only shrink, so this ends.
    let mut changed = true;
    while changed {
        changed = false;
        for id in &flow.order {
            let Some(mut written) = written_before[id.index()].clone() else { continue };
            let block = &function.blocks[*id];
            for inst in &block.insts {
                match inst {
                    Inst::Load { place, .. } => {
                        if let Some(i) = number(place).filter(|i| !written[*i]) {
                            read_first[i] = true;
                        }
                    }
                    Inst::Store { place, .. } => {
                        if let Some(i) = number(place) {
                            written[i] = true;
                        }
                    }
                    _ => {}
                }
            }
            for next in block.end.successors() {
                match &mut written_before[next.index()] {
                    Some(known) => {
                        for (known, written) in known.iter_mut().zip(&written) {
                            changed |= *known && !written;
                            *known &= *written;
                        }
                    }
                    unknown => {
                        *unknown = Some(written.clone());
                        changed = true;
                    }
                }
            }
        }
    }
    for (local, read_first) in locals.iter_mut().zip(read_first) {
        local.read_first = read_first;
    }
}
