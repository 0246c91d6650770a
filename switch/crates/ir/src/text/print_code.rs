//! Writes functions, blocks and instructions.

use std::fmt::{self, Display, Formatter};

use super::names::Word;
use super::print::{NameText, Names, RefText, list, reference};
use crate::*;

pub(super) struct FunctionText<'a> {
    pub names: &'a Names<'a>,
    pub function: &'a Function,
}

impl Display for FunctionText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { names, function } = self;
        writeln!(f, "function {} {{", NameText(&function.name))?;
        let mut unused = vec![true; function.temps.len()];
        for (_, block) in function.blocks.iter() {
            for inst in &block.insts {
                inst.defs(|temp| {
                    if let Some(unused) = unused.get_mut(temp.index()) {
                        *unused = false;
                    }
                });
            }
        }
        if unused.contains(&true) {
            write!(f, "unused")?;
            for (i, width) in function.temps.iter().enumerate().filter(|(i, _)| unused[*i]) {
                write!(f, " %{i}:{width}")?;
            }
            writeln!(f)?;
        }
        for (id, block) in function.blocks.iter() {
            writeln!(f, "b{}:", id.index())?;
            for inst in &block.insts {
                writeln!(f, "    {}", InstText { names, function, inst })?;
            }
            writeln!(f, "    {}", block.end)?;
        }
        writeln!(f, "}}")
    }
}

/// Writes one instruction, with the text of a note or message as a comment.
pub struct InstText<'a> {
    pub names: &'a Names<'a>,
    pub function: &'a Function,
    pub inst: &'a Inst,
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Temp(temp) => write!(f, "%{}", temp.index()),
            Operand::Imm(value) if *value < 10_000 => write!(f, "{value}"),
            Operand::Imm(value) => write!(f, "{value:#x}"),
        }
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Terminator::Jump(to) => write!(f, "jump b{}", to.index()),
            Terminator::Branch { cond, then, otherwise } => {
                write!(f, "branch {cond}, b{}, b{}", then.index(), otherwise.index())
            }
            Terminator::Switch { value, width, cases, default } => {
                write!(f, "switch {value}:{width} {{ ")?;
                for (case, to) in cases {
                    write!(f, "{}: b{}, ", Operand::Imm(*case), to.index())?;
                }
                write!(f, "default: b{} }}", default.index())
            }
            Terminator::Return => f.write_str("return"),
        }
    }
}

impl InstText<'_> {
    fn def(&self, f: &mut Formatter<'_>, temp: Temp) -> fmt::Result {
        // A temp without width is the verifier's to report; it still has to be shown.
        let width = self.function.temps.get(temp.index()).copied().unwrap_or(0);
        write!(f, "%{}:{width}", temp.index())
    }

    fn assign(&self, f: &mut Formatter<'_>, temp: Temp) -> fmt::Result {
        self.def(f, temp)?;
        f.write_str(" = ")
    }

    fn dest(&self, f: &mut Formatter<'_>, dest: &Dest) -> fmt::Result {
        match dest {
            Dest::Temp(temp) => self.assign(f, *temp),
            Dest::Frame(place, width) => {
                self.place(f, place, Some(*width))?;
                write!(f, ":{width} = ")
            }
        }
    }

    fn place(&self, f: &mut Formatter<'_>, place: &Place, width: Option<u32>) -> fmt::Result {
        self.base(f, place, self.names.variable(place.offset, width))
    }

    /// A place that is a header, or something else that has no width.
    fn header(&self, f: &mut Formatter<'_>, place: &Place) -> fmt::Result {
        self.base(f, place, self.names.header(place.offset).or_else(|| self.names.variable(place.offset, None)))
    }

    fn base(&self, f: &mut Formatter<'_>, place: &Place, name: Option<&str>) -> fmt::Result {
        match name {
            Some(name) => write!(f, "{}", NameText(name))?,
            None => write!(f, "@{}", place.offset)?,
        }
        match &place.index {
            Some(Index { index, stride, count }) => write!(f, " + {index} * {stride} below {count}"),
            None => Ok(()),
        }
    }

    fn arg(&self, f: &mut Formatter<'_>, arg: &Arg) -> fmt::Result {
        match arg {
            Arg::Scalar(operand, width) => write!(f, "{operand}:{width}"),
            Arg::Const(value, width) => write!(f, "const {value:#x}:{width}"),
            Arg::Frame(place, width) => {
                self.place(f, place, Some(*width))?;
                write!(f, ":{width}")
            }
            Arg::Varbit(place, width) => {
                f.write_str("varbit ")?;
                self.place(f, place, Some(*width))?;
                write!(f, ":{width}")
            }
        }
    }

    fn args(&self, f: &mut Formatter<'_>, args: &[Arg]) -> fmt::Result {
        list(f, args, |f, arg| self.arg(f, arg))
    }

    fn fields(&self, f: &mut Formatter<'_>, fields: Option<FieldListId>) -> fmt::Result {
        fields.map_or(Ok(()), |fields| write!(f, " fields #{}", fields.index()))
    }

    fn wide(&self, f: &mut Formatter<'_>, op: &WideOp) -> fmt::Result {
        match op {
            WideOp::ResizeU => f.write_str("wide resize_u "),
            WideOp::ResizeS => f.write_str("wide resize_s "),
            WideOp::Unary(op) => write!(f, "wide {} ", op.word()),
            WideOp::Binary(op) => write!(f, "wide {} ", op.word()),
            WideOp::Compare(op) => write!(f, "wide {} ", op.word()),
            WideOp::Slice { hi, lo } => write!(f, "wide slice [{hi}:{lo}] "),
            WideOp::Insert { hi, lo } => write!(f, "wide insert [{hi}:{lo}] "),
            WideOp::Concat => f.write_str("wide concat "),
        }
    }

    fn string(&self, id: StringId) -> &str {
        if id.index() < self.names.program.strings.len() { &self.names.program.strings[id] } else { "?" }
    }
}

impl Display for InstText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let program = self.names.program;
        match self.inst {
            Inst::Unary { dst, op, a } => {
                self.assign(f, *dst)?;
                write!(f, "{} {a}", op.word())
            }
            Inst::Binary { dst, op, a, b } => {
                self.assign(f, *dst)?;
                write!(f, "{} {a}, {b}", op.word())
            }
            Inst::Compare { dst, op, width, a, b } => {
                self.assign(f, *dst)?;
                write!(f, "{}:{width} {a}, {b}", op.word())
            }
            Inst::Resize { dst, signed, from, a } => {
                self.assign(f, *dst)?;
                write!(f, "resize_{}:{from} {a}", if *signed { "s" } else { "u" })
            }
            Inst::Slice { dst, a, hi, lo } => {
                self.assign(f, *dst)?;
                write!(f, "slice [{hi}:{lo}] {a}")
            }
            Inst::Insert { dst, a, value, hi, lo } => {
                self.assign(f, *dst)?;
                write!(f, "insert [{hi}:{lo}] {a}, {value}")
            }
            Inst::Concat { dst, a, b, b_width } => {
                self.assign(f, *dst)?;
                write!(f, "concat {a}, {b}:{b_width}")
            }
            Inst::Select { dst, cond, a, b } => {
                self.assign(f, *dst)?;
                write!(f, "select {cond}, {a}, {b}")
            }
            Inst::Load { dst, place } => {
                self.assign(f, *dst)?;
                f.write_str("load ")?;
                self.place(f, place, self.function.temps.get(dst.index()).map(|width| u32::from(*width)))
            }
            Inst::Store { place, width, src } => {
                f.write_str("store ")?;
                self.place(f, place, Some(*width))?;
                write!(f, ":{width}, {src}")
            }
            Inst::Copy { dst, src, bytes } => {
                f.write_str("copy ")?;
                self.header(f, dst)?;
                f.write_str(", ")?;
                self.header(f, src)?;
                write!(f, ", {bytes}")
            }
            Inst::Zero { place, bytes } => {
                f.write_str("zero ")?;
                self.header(f, place)?;
                write!(f, ", {bytes}")
            }
            Inst::Wide { op, dst, args } => {
                self.dest(f, dst)?;
                self.wide(f, op)?;
                self.args(f, args)
            }
            Inst::StackShift { place, stride, count, by, push } => {
                f.write_str(if *push { "push_front " } else { "pop_front " })?;
                self.header(f, place)?;
                write!(f, ", {stride}, {count}, {by}")
            }
            Inst::Extract { error, header, place, varbit_bits, peek } => {
                self.assign(f, *error)?;
                let name = RefText(reference(&program.header_types, *header, |header| &header.name));
                write!(f, "{} {name} ", if *peek { "peek" } else { "extract" })?;
                self.header(f, place)?;
                varbit_bits.as_ref().map_or(Ok(()), |bits| write!(f, " varbit {bits}"))
            }
            Inst::Lookahead { error, dst } => {
                self.def(f, *error)?;
                f.write_str(", ")?;
                self.dest(f, dst)?;
                f.write_str("lookahead")
            }
            Inst::Advance { error, bits } => {
                self.assign(f, *error)?;
                write!(f, "advance {bits}")
            }
            Inst::PacketLength { dst } => {
                self.assign(f, *dst)?;
                f.write_str("packet_length")
            }
            Inst::InValueSet { dst, set, args } => {
                self.assign(f, *dst)?;
                write!(f, "in_value_set {} ", RefText(reference(&program.value_sets, *set, |set| &set.name)))?;
                self.args(f, args)
            }
            Inst::Fuel { dst } => {
                self.assign(f, *dst)?;
                f.write_str("fuel")
            }
            Inst::Emit { header, place } => {
                write!(f, "emit {} ", RefText(reference(&program.header_types, *header, |header| &header.name)))?;
                self.header(f, place)
            }
            Inst::Lookup { table, keys, selector, hit, action } => {
                self.def(f, *hit)?;
                f.write_str(", ")?;
                self.assign(f, *action)?;
                write!(f, "lookup {} ", RefText(reference(&program.tables, *table, |table| &table.name)))?;
                self.args(f, keys)?;
                if !selector.is_empty() {
                    f.write_str(" selector ")?;
                    self.args(f, selector)?;
                }
                Ok(())
            }
            Inst::LoadArg { dst, offset } => {
                self.assign(f, *dst)?;
                write!(f, "load_arg {offset}")
            }
            Inst::CopyArg { dst, offset, bytes } => {
                f.write_str("copy_arg ")?;
                self.header(f, dst)?;
                write!(f, ", {offset}, {bytes}")
            }
            Inst::Count { counter, index } => {
                let name = RefText(reference(&program.counters, *counter, |counter| &counter.name));
                write!(f, "count {name}, {index}")
            }
            Inst::Meter { dst, meter, index, before } => {
                self.assign(f, *dst)?;
                write!(f, "meter {}, {index}", RefText(reference(&program.meters, *meter, |meter| &meter.name)))?;
                colour_before(f, before)
            }
            Inst::DirectMeter { dst, table, before } => {
                self.assign(f, *dst)?;
                write!(f, "direct_meter {}", RefText(reference(&program.tables, *table, |table| &table.name)))?;
                colour_before(f, before)
            }
            Inst::RegisterRead { dst, register, index } => {
                self.dest(f, dst)?;
                let name = RefText(reference(&program.registers, *register, |register| &register.name));
                write!(f, "register_read {name}, {index}")
            }
            Inst::RegisterWrite { register, index, value } => {
                let name = RefText(reference(&program.registers, *register, |register| &register.name));
                write!(f, "register_write {name}, {index}, ")?;
                self.arg(f, value)
            }
            Inst::BufferKeep { dst, buffer, queue, number, microseconds, fields } => {
                self.assign(f, *dst)?;
                let name = RefText(reference(&program.buffers, *buffer, |buffer| &buffer.name));
                write!(f, "buffer_keep {name}, {queue}, {number}, {microseconds}")?;
                self.fields(f, Some(*fields))
            }
            Inst::BufferRelease { buffer, queue, number } => {
                let name = RefText(reference(&program.buffers, *buffer, |buffer| &buffer.name));
                write!(f, "buffer_release {name}, {queue}, {number}")
            }
            Inst::BufferSend { buffer, queue, number } => {
                let name = RefText(reference(&program.buffers, *buffer, |buffer| &buffer.name));
                write!(f, "buffer_send {name}, {queue}, {number}")
            }
            Inst::Hash { dst, algorithm, base, data, max } => {
                self.dest(f, dst)?;
                write!(f, "hash {} ", algorithm.word())?;
                self.arg(f, base)?;
                f.write_str(", ")?;
                self.args(f, data)?;
                f.write_str(", ")?;
                self.arg(f, max)
            }
            Inst::Checksum { dst, algorithm, data, payload } => {
                self.dest(f, dst)?;
                write!(f, "checksum {} ", algorithm.word())?;
                self.args(f, data)?;
                f.write_str(if *payload { " payload" } else { "" })
            }
            Inst::Random { dst, lo, hi } => {
                self.dest(f, dst)?;
                f.write_str("random ")?;
                self.arg(f, lo)?;
                f.write_str(", ")?;
                self.arg(f, hi)
            }
            Inst::Digest { digest, data } => {
                write!(f, "digest {} ", RefText(reference(&program.digests, *digest, |digest| &digest.name)))?;
                self.args(f, data)
            }
            Inst::CallExtern { function, args, results } => {
                write!(f, "call_extern #{} ", function.index())?;
                self.args(f, args)?;
                for dst in results {
                    let Dest::Frame(place, width) = dst else { continue };
                    f.write_str(" -> ")?;
                    self.place(f, place, Some(*width))?;
                    write!(f, ":{width}")?;
                }
                Ok(())
            }
            Inst::Clone { kind, session, fields } => {
                let direction = match kind {
                    CloneKind::IngressToEgress => "i2e",
                    CloneKind::EgressToEgress => "e2e",
                };
                write!(f, "clone_{direction} {session}")?;
                self.fields(f, *fields)
            }
            Inst::Resubmit { fields } => {
                f.write_str("resubmit")?;
                self.fields(f, *fields)
            }
            Inst::Recirculate { fields } => {
                f.write_str("recirculate")?;
                self.fields(f, *fields)
            }
            Inst::Truncate { bytes } => write!(f, "truncate {bytes}"),
            Inst::LogMessage { format, args } => {
                write!(f, "log_message #{} ", format.index())?;
                self.args(f, args)?;
                write!(f, " // {:?}", self.string(*format))
            }
            Inst::Assert { cond, text } => {
                write!(f, "assert {cond}, #{} // {:?}", text.index(), self.string(*text))
            }
            Inst::Note(id) => {
                write!(f, "note #{}", id.index())?;
                if id.index() >= program.notes.len() {
                    return Ok(());
                }
                let note = &program.notes[*id];
                write!(f, " // {} {:?} at {}:{}", note.kind.word(), note.text, NameText(&note.file), note.line)
            }
            Inst::Locals(None) => f.write_str("locals"),
            Inst::Locals(Some(id)) => {
                write!(f, "locals #{} //", id.index())?;
                program.locals_from(Some(*id)).try_for_each(|local| write!(f, " {}", local.name))
            }
        }
    }
}

fn colour_before(f: &mut Formatter<'_>, before: &Option<Operand>) -> fmt::Result {
    before.iter().try_for_each(|before| write!(f, " before {before}"))
}
