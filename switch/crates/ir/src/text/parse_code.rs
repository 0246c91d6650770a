//! Reads functions, blocks and instructions.

use super::lex::Token;
use super::names::Word;
use super::parser::{Parser, Result};
use crate::*;

/// What stands left of `=`.
enum Target {
    Nothing,
    One(Dest),
    /// A temp, and another or a place.
    Two(Temp, Dest),
}

impl Parser {
    pub(super) fn function(&mut self) -> Result<()> {
        let mut function = Function { name: self.name()?, ..Function::default() };
        self.mark("{")?;
        if self.take_word("unused") {
            while let Some(Token::Temp(_)) = self.peek(0) {
                self.def(&mut function)?;
            }
        }
        while !self.take_mark("}") {
            let label = self.label()?;
            if label.index() != function.blocks.len() {
                return self.error(format!("this block should be b{}", function.blocks.len()));
            }
            self.mark(":")?;
            let mut insts = Vec::new();
            let end = loop {
                if let Some(end) = self.terminator()? {
                    break end;
                }
                insts.push(self.inst(&mut function)?);
            };
            function.blocks.push(Block { insts, end });
        }
        self.program.functions.push(function);
        Ok(())
    }

    fn label(&mut self) -> Result<BlockId> {
        let word = self.any_word("a block")?;
        match word.strip_prefix('b').and_then(|number| number.parse::<u32>().ok()) {
            Some(number) => Ok(BlockId::new(number as usize)),
            None => self.error(format!("`{word}` is no block; b0, b1 and so on are")),
        }
    }

    fn terminator(&mut self) -> Result<Option<Terminator>> {
        // A variable may be called `return`, then a width follows.
        if matches!(self.peek(1), Some(Token::Mark(":" | "+"))) {
            return Ok(None);
        }
        let end = if self.take_word("jump") {
            Terminator::Jump(self.label()?)
        } else if self.take_word("branch") {
            let cond = self.operand()?;
            self.mark(",")?;
            let then = self.label()?;
            self.mark(",")?;
            Terminator::Branch { cond, then, otherwise: self.label()? }
        } else if self.take_word("switch") {
            let value = self.operand()?;
            self.mark(":")?;
            let width = self.int()?;
            self.mark("{")?;
            let mut cases = Vec::new();
            while !self.take_word("default") {
                let case = self.int()?;
                self.mark(":")?;
                cases.push((case, self.label()?));
                self.mark(",")?;
            }
            self.mark(":")?;
            let default = self.label()?;
            self.mark("}")?;
            Terminator::Switch { value, width, cases, default }
        } else if self.take_word("return") {
            Terminator::Return
        } else {
            return Ok(None);
        };
        Ok(Some(end))
    }

    fn operand(&mut self) -> Result<Operand> {
        match self.peek(0) {
            Some(Token::Temp(number)) => {
                let temp = Temp::new(*number);
                self.skip();
                Ok(Operand::Temp(temp))
            }
            _ => Ok(Operand::Imm(self.int()?)),
        }
    }

    fn after_comma(&mut self) -> Result<Operand> {
        self.mark(",")?;
        self.operand()
    }

    fn colour_before(&mut self) -> Result<Option<Operand>> {
        if self.take_word("before") { self.operand().map(Some) } else { Ok(None) }
    }

    fn int_after(&mut self, mark: &str) -> Result<u32> {
        self.mark(mark)?;
        self.int()
    }

    fn place(&mut self) -> Result<Place> {
        let offset = self.offset()?;
        if !self.take_mark("+") {
            return Ok(Place::at(offset));
        }
        let index = self.operand()?;
        let stride = self.int_after("*")?;
        self.word("below")?;
        Ok(Place { offset, index: Some(Index { index, stride, count: self.int()? }) })
    }

    fn arg(&mut self) -> Result<Arg> {
        if self.take_word("const") {
            let value = self.big()?;
            return Ok(Arg::Const(value, self.int_after(":")?));
        }
        if self.take_word("varbit") {
            let place = self.place()?;
            return Ok(Arg::Varbit(place, self.int_after(":")?));
        }
        if matches!(self.peek(0), Some(Token::Temp(_) | Token::Int(_))) {
            let operand = self.operand()?;
            return Ok(Arg::Scalar(operand, self.int_after(":")?));
        }
        let place = self.place()?;
        Ok(Arg::Frame(place, self.int_after(":")?))
    }

    fn args(&mut self) -> Result<Vec<Arg>> {
        self.list(Self::arg)
    }

    fn bits(&mut self) -> Result<(u32, u32)> {
        let hi = self.int_after("[")?;
        let lo = self.int_after(":")?;
        self.mark("]")?;
        Ok((hi, lo))
    }

    fn def(&mut self, function: &mut Function) -> Result<Temp> {
        let Some(Token::Temp(number)) = self.peek(0) else {
            return self.error("expected a temp");
        };
        let number = *number;
        self.skip();
        let width: u8 = {
            self.mark(":")?;
            self.int()?
        };
        // A bound keeps a slip of the pen from eating the memory.
        if number > 1 << 24 {
            return self.error(format!("%{number} is too high a number for a temp"));
        }
        if function.temps.len() <= number {
            function.temps.resize(number + 1, 1);
        }
        function.temps[number] = width;
        Ok(Temp::new(number))
    }

    fn dest(&mut self, function: &mut Function) -> Result<Dest> {
        if let Some(Token::Temp(_)) = self.peek(0) {
            return Ok(Dest::Temp(self.def(function)?));
        }
        let place = self.place()?;
        Ok(Dest::Frame(place, self.int_after(":")?))
    }

    fn target(&mut self, function: &mut Function) -> Result<Target> {
        let starts = match self.peek(0) {
            Some(Token::Temp(_) | Token::Mark("@")) => true,
            Some(Token::Word(_) | Token::Quoted(_)) => matches!(self.peek(1), Some(Token::Mark(":" | "+"))),
            _ => false,
        };
        if !starts {
            return Ok(Target::Nothing);
        }
        let first = self.dest(function)?;
        let target = match first {
            Dest::Temp(first) if self.take_mark(",") => Target::Two(first, self.dest(function)?),
            _ => Target::One(first),
        };
        self.mark("=")?;
        Ok(target)
    }

    fn inst(&mut self, function: &mut Function) -> Result<Inst> {
        let target = self.target(function)?;
        let word = self.any_word("an instruction")?;
        match target {
            Target::Nothing => self.effect(&word),
            Target::Two(error, dst) if word == "lookahead" => Ok(Inst::Lookahead { error, dst }),
            Target::Two(hit, Dest::Temp(action)) if word == "lookup" => {
                let table = self.table_name()?;
                let keys = self.args()?;
                let selector = if self.take_word("selector") { self.args()? } else { Vec::new() };
                Ok(Inst::Lookup { table, keys, selector, hit, action })
            }
            Target::Two(..) => self.error(format!("`{word}` has not two results")),
            Target::One(dst) => match self.any_dest(&word, dst)? {
                Some(inst) => Ok(inst),
                None => match dst {
                    Dest::Temp(dst) => self.value(&word, dst),
                    Dest::Frame(..) => self.error(format!("`{word}` gives no result to a place")),
                },
            },
        }
    }

    fn table_name(&mut self) -> Result<TableId> {
        self.reference("table", |p| &p.tables, |table| &table.name)
    }

    fn header_name(&mut self) -> Result<HeaderTypeId> {
        self.reference("header type", |p| &p.header_types, |header| &header.name)
    }

    fn register_name(&mut self) -> Result<RegisterId> {
        self.reference("register", |p| &p.registers, |register| &register.name)
    }

    fn buffer_name(&mut self) -> Result<BufferId> {
        self.reference("buffer", |p| &p.buffers, |buffer| &buffer.name)
    }

    /// Instructions whose result goes to a temp or a place.
    fn any_dest(&mut self, word: &str, dst: Dest) -> Result<Option<Inst>> {
        let inst = match word {
            "wide" => {
                let op = self.wide_op()?;
                Inst::Wide { op, dst, args: self.args()? }
            }
            "register_read" => {
                let register = self.register_name()?;
                Inst::RegisterRead { dst, register, index: self.after_comma()? }
            }
            "hash" => {
                let algorithm = self.kind("hash algorithm")?;
                let base = self.arg()?;
                self.mark(",")?;
                let data = self.args()?;
                self.mark(",")?;
                Inst::Hash { dst, algorithm, base, data, max: self.arg()? }
            }
            "checksum" => {
                let algorithm = self.kind("hash algorithm")?;
                let data = self.args()?;
                Inst::Checksum { dst, algorithm, data, payload: self.take_word("payload") }
            }
            "random" => {
                let lo = self.arg()?;
                self.mark(",")?;
                Inst::Random { dst, lo, hi: self.arg()? }
            }
            _ => return Ok(None),
        };
        Ok(Some(inst))
    }

    fn wide_op(&mut self) -> Result<WideOp> {
        let word = self.any_word("an operation")?;
        if let Some(op) = UnaryOp::from_word(&word) {
            return Ok(WideOp::Unary(op));
        }
        if let Some(op) = BinaryOp::from_word(&word) {
            return Ok(WideOp::Binary(op));
        }
        if let Some(op) = CompareOp::from_word(&word) {
            return Ok(WideOp::Compare(op));
        }
        match word.as_str() {
            "resize_u" => Ok(WideOp::ResizeU),
            "resize_s" => Ok(WideOp::ResizeS),
            "concat" => Ok(WideOp::Concat),
            "slice" => self.bits().map(|(hi, lo)| WideOp::Slice { hi, lo }),
            "insert" => self.bits().map(|(hi, lo)| WideOp::Insert { hi, lo }),
            _ => self.error(format!("`{word}` is no operation")),
        }
    }

    /// Instructions whose result goes to a temp.
    fn value(&mut self, word: &str, dst: Temp) -> Result<Inst> {
        if let Some(op) = UnaryOp::from_word(word) {
            return Ok(Inst::Unary { dst, op, a: self.operand()? });
        }
        if let Some(op) = BinaryOp::from_word(word) {
            return Ok(Inst::Binary { dst, op, a: self.operand()?, b: self.after_comma()? });
        }
        if let Some(op) = CompareOp::from_word(word) {
            let width = self.int_after(":")?;
            return Ok(Inst::Compare { dst, op, width, a: self.operand()?, b: self.after_comma()? });
        }
        Ok(match word {
            "resize_u" | "resize_s" => {
                let from = self.int_after(":")?;
                Inst::Resize { dst, signed: word == "resize_s", from, a: self.operand()? }
            }
            "slice" => {
                let (hi, lo) = self.bits()?;
                Inst::Slice { dst, a: self.operand()?, hi, lo }
            }
            "insert" => {
                let (hi, lo) = self.bits()?;
                Inst::Insert { dst, a: self.operand()?, value: self.after_comma()?, hi, lo }
            }
            "concat" => {
                let (a, b) = (self.operand()?, self.after_comma()?);
                Inst::Concat { dst, a, b, b_width: self.int_after(":")? }
            }
            "select" => Inst::Select { dst, cond: self.operand()?, a: self.after_comma()?, b: self.after_comma()? },
            "load" => Inst::Load { dst, place: self.place()? },
            "extract" | "peek" => {
                let header = self.header_name()?;
                let place = self.place()?;
                let varbit_bits = if self.take_word("varbit") { Some(self.operand()?) } else { None };
                Inst::Extract { error: dst, header, place, varbit_bits, peek: word == "peek" }
            }
            "advance" => Inst::Advance { error: dst, bits: self.operand()? },
            "packet_length" => Inst::PacketLength { dst },
            "fuel" => Inst::Fuel { dst },
            "in_value_set" => {
                let set = self.reference("value set", |p| &p.value_sets, |set| &set.name)?;
                Inst::InValueSet { dst, set, args: self.args()? }
            }
            "load_arg" => Inst::LoadArg { dst, offset: self.int()? },
            "meter" => {
                let meter = self.reference("meter", |p| &p.meters, |meter| &meter.name)?;
                Inst::Meter { dst, meter, index: self.after_comma()?, before: self.colour_before()? }
            }
            "buffer_keep" => {
                let buffer = self.buffer_name()?;
                let (queue, number, microseconds) = (self.after_comma()?, self.after_comma()?, self.after_comma()?);
                let Some(fields) = self.fields()? else {
                    return self.error("`buffer_keep` needs fields");
                };
                Inst::BufferKeep { dst, buffer, queue, number, microseconds, fields }
            }
            "direct_meter" => {
                let table = self.table_name()?;
                Inst::DirectMeter { dst, table, before: self.colour_before()? }
            }
            _ => return self.error(format!("`{word}` is no instruction with a result")),
        })
    }

    fn fields(&mut self) -> Result<Option<FieldListId>> {
        if !self.take_word("fields") {
            return Ok(None);
        }
        self.reference("field list", |p| &p.field_lists, |_| "").map(Some)
    }

    /// Instructions without a result.
    fn effect(&mut self, word: &str) -> Result<Inst> {
        Ok(match word {
            "store" => {
                let place = self.place()?;
                let width = self.int_after(":")?;
                Inst::Store { place, width, src: self.after_comma()? }
            }
            "copy" => {
                let dst = self.place()?;
                self.mark(",")?;
                Inst::Copy { dst, src: self.place()?, bytes: self.int_after(",")? }
            }
            "zero" => Inst::Zero { place: self.place()?, bytes: self.int_after(",")? },
            "push_front" | "pop_front" => Inst::StackShift {
                place: self.place()?,
                stride: self.int_after(",")?,
                count: self.int_after(",")?,
                by: self.int_after(",")?,
                push: word == "push_front",
            },
            "emit" => Inst::Emit { header: self.header_name()?, place: self.place()? },
            "copy_arg" => {
                Inst::CopyArg { dst: self.place()?, offset: self.int_after(",")?, bytes: self.int_after(",")? }
            }
            "count" => {
                let counter = self.reference("counter", |p| &p.counters, |counter| &counter.name)?;
                Inst::Count { counter, index: self.after_comma()? }
            }
            "register_write" => {
                let (register, index) = (self.register_name()?, self.after_comma()?);
                self.mark(",")?;
                Inst::RegisterWrite { register, index, value: self.arg()? }
            }
            "buffer_release" => {
                let buffer = self.buffer_name()?;
                Inst::BufferRelease { buffer, queue: self.after_comma()?, number: self.after_comma()? }
            }
            "buffer_send" => {
                let buffer = self.buffer_name()?;
                Inst::BufferSend { buffer, queue: self.after_comma()?, number: self.after_comma()? }
            }
            "digest" => {
                let digest = self.reference("digest", |p| &p.digests, |digest| &digest.name)?;
                Inst::Digest { digest, data: self.args()? }
            }
            "call_extern" => {
                let function = self.reference("extern", |p| &p.externs, |called| &called.name)?;
                let args = self.args()?;
                let mut results = Vec::new();
                while self.take_mark("->") {
                    let place = self.place()?;
                    results.push(Dest::Frame(place, self.int_after(":")?));
                }
                Inst::CallExtern { function, args, results }
            }
            "clone_i2e" | "clone_e2e" => {
                let kind = if word == "clone_i2e" { CloneKind::IngressToEgress } else { CloneKind::EgressToEgress };
                Inst::Clone { kind, session: self.operand()?, fields: self.fields()? }
            }
            "resubmit" => Inst::Resubmit { fields: self.fields()? },
            "recirculate" => Inst::Recirculate { fields: self.fields()? },
            "truncate" => Inst::Truncate { bytes: self.operand()? },
            "log_message" => Inst::LogMessage { format: self.string()?, args: self.args()? },
            "assert" => {
                let cond = self.operand()?;
                self.mark(",")?;
                Inst::Assert { cond, text: self.string()? }
            }
            "locals" if self.is_number() => {
                Inst::Locals(Some(self.reference("local", |p| &p.locals, |local| &local.name)?))
            }
            "locals" => Inst::Locals(None),
            "note" => Inst::Note(self.reference("note", |p| &p.notes, |note| &note.text)?),
            _ => return self.error(format!("`{word}` is no instruction without a result")),
        })
    }

    fn string(&mut self) -> Result<StringId> {
        self.reference("string", |p| &p.strings, |string| string)
    }
}
