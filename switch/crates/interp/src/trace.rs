//! Tells a traced run's steps.

use ir::eval::Wide;
use ir::*;
use runtime::EntryAction;
use runtime::trace::{Entry, Event, Location, Matched, Named, Number};

use crate::run::Run;

/// As the traffic manager reads the port: such packets are dropped.
const DROP_PORT: u128 = 511;
const PORT_WIDTH: u32 = 9;

/// Whether [`Run::changed`] tells what the instruction does.
pub fn changes_many(inst: &Inst) -> bool {
    matches!(inst, Inst::Copy { .. } | Inst::Zero { .. } | Inst::CopyArg { .. } | Inst::StackShift { .. })
}

impl Run<'_, '_> {
    pub fn event(&mut self, event: Event) {
        if let Some(trace) = &mut self.context.trace {
            trace.event(event);
        }
    }

    /// The variable of `width` bits at `offset` was given a value, and had another one `before`, or the same.
    pub fn assigned(&mut self, offset: u32, width: u32, before: u128) {
        let value = self.context.frame.read(offset, width);
        let worth_telling = match self.variable_name(offset, width) {
            // All headers are made invalid where a parser begins.
            Some(name) => value != before || !(name.ends_with(".$valid") || name.ends_with(".$next")),
            None => value != 0,
        };
        if worth_telling {
            self.stored(offset, width);
        }
    }

    /// The variable of `width` bits at `offset` has a new value.
    pub fn stored(&mut self, offset: u32, width: u32) {
        let name = self.variable_name(offset, width);
        if name.is_none() && self.is_local(offset) {
            // What the compiler keeps for itself is nobody's variable.
            return;
        }
        let value = number(&self.variable(offset, width));
        self.event(Event::Store { place: name.unwrap_or_else(|| format!("@{offset}")), value });
        self.marked(offset);
    }

    /// Notes which statement drops the packet, if it is the port that has a new value.
    fn marked(&mut self, offset: u32) {
        let port = self.program.standard_metadata.egress_spec;
        if offset == port {
            let dropped = self.context.frame.read(port, PORT_WIDTH) == DROP_PORT;
            if let Some(trace) = &mut self.context.trace {
                trace.mark(dropped);
            }
        }
    }

    /// Keeps the frame as it is, for `changed`.
    pub fn remember(&mut self) {
        self.before.clear();
        self.before.extend_from_slice(self.context.frame.all());
    }

    /// Variables in a range may have new values; those that are as they were are not worth a word.
    pub fn changed(&mut self, offset: u32, bytes: u32) {
        for symbol in self.variables(offset..offset + bytes) {
            let at = symbol.offset as usize..(symbol.offset + symbol.kind.size()) as usize;
            if self.before[at.clone()] == self.context.frame.all()[at] {
                continue;
            }
            let value = match symbol.kind {
                SymbolKind::Bits(width) => self.variable(symbol.offset, width),
                SymbolKind::Bool => self.variable(symbol.offset, 1),
                SymbolKind::Error => self.variable(symbol.offset, 32),
                SymbolKind::Varbit(most) => self.wide(&Arg::Varbit(Place::at(symbol.offset), most)),
            };
            self.event(Event::Store { place: symbol.name, value: number(&value) });
            self.marked(symbol.offset);
        }
    }

    /// What an undecoded instruction did.
    pub fn called(&mut self, inst: &Inst) {
        match inst {
            Inst::Copy { dst, bytes, .. } | Inst::Zero { place: dst, bytes } | Inst::CopyArg { dst, bytes, .. } => {
                self.place_changed(dst, *bytes);
            }
            Inst::StackShift { place, stride, count, .. } => self.place_changed(place, stride * count),
            Inst::Wide { dst, .. } => self.destination_changed(dst),
            Inst::Extract { error, header, place, peek, .. } => {
                let (error, peek) = (self.error_name(*error), *peek);
                let fields = if error.is_none() { self.fields(*header, place) } else { Vec::new() };
                self.event(Event::Extract { header: self.header_name(*header, place), peek, fields, error });
            }
            Inst::Lookahead { error, dst } => {
                let error = self.error_name(*error);
                match error {
                    Some(error) => self.event(Event::Advance { bits: 0, error: Some(error) }),
                    None => self.destination_changed(dst),
                }
            }
            Inst::Advance { error, bits } => {
                let (bits, error) = (self.short(bits), self.error_name(*error));
                self.event(Event::Advance { bits, error });
            }
            Inst::Emit { header, place } => {
                let valid = self.offset(place).is_some_and(|offset| self.context.frame.read(offset, 1) != 0);
                let fields = if valid { self.fields(*header, place) } else { Vec::new() };
                self.event(Event::Emit { header: self.header_name(*header, place), valid, fields });
            }
            Inst::Lookup { table, keys, selector, hit, action } => {
                self.looked_up(&self.program.tables[*table], keys, selector, *hit, *action);
            }
            Inst::Note(note) => self.noted(&self.program.notes[*note]),
            Inst::Locals(innermost) => self.locals = *innermost,
            _ => self.extern_called(inst),
        }
    }

    fn extern_called(&mut self, inst: &Inst) {
        let program = self.program;
        match inst {
            Inst::InValueSet { dst, set, args } => {
                self.extern_event("in_value_set", Some(&program.value_sets[*set].name), args, Some(*dst));
            }
            Inst::Count { counter, index } => {
                let index = [Arg::Scalar(*index, 128)];
                self.extern_event("counter.count", Some(&program.counters[*counter].name), &index, None);
            }
            Inst::Meter { dst, meter, index, .. } => {
                let index = [Arg::Scalar(*index, 128)];
                self.extern_event("meter.execute", Some(&program.meters[*meter].name), &index, Some(*dst));
            }
            Inst::DirectMeter { dst, table, .. } => {
                self.extern_event("direct_meter.read", Some(&program.tables[*table].name), &[], Some(*dst));
            }
            Inst::RegisterRead { dst, register, index } => {
                let index = [Arg::Scalar(*index, 32)];
                let name = Some(program.registers[*register].name.as_str());
                self.extern_to("register.read", name, &index, dst);
            }
            Inst::RegisterWrite { register, index, value } => {
                let args = [Arg::Scalar(*index, 32), value.clone()];
                self.extern_event("register.write", Some(&program.registers[*register].name), &args, None);
            }
            Inst::BufferKeep { dst, buffer, queue, number, microseconds, .. } => {
                let args = [*queue, *number, *microseconds].map(|operand| Arg::Scalar(operand, 32));
                let name = Some(program.buffers[*buffer].name.as_str());
                self.extern_event("packet_buffer.keep", name, &args, Some(*dst));
            }
            Inst::BufferRelease { buffer, queue, number } => {
                let args = [*queue, *number].map(|operand| Arg::Scalar(operand, 32));
                let name = Some(program.buffers[*buffer].name.as_str());
                self.extern_event("packet_buffer.release", name, &args, None);
            }
            Inst::BufferSend { buffer, queue, number } => {
                let args = [*queue, *number].map(|operand| Arg::Scalar(operand, 32));
                let name = Some(program.buffers[*buffer].name.as_str());
                self.extern_event("packet_buffer.send", name, &args, None);
            }
            Inst::Hash { dst, data, .. } => self.extern_to("hash", None, data, dst),
            Inst::Checksum { dst, data, .. } => self.extern_to("checksum", None, data, dst),
            Inst::Random { dst, lo, hi } => self.extern_to("random", None, &[lo.clone(), hi.clone()], dst),
            Inst::Digest { digest, data } => {
                self.extern_event("digest", Some(&program.digests[*digest].name), data, None);
            }
            Inst::CallExtern { function, args, results } => {
                let called = &program.externs[*function];
                let name = called.object.as_ref().map_or(&called.name, |object| &object.name);
                self.extern_event("extern", Some(name), args, None);
                results.iter().for_each(|dst| self.destination_changed(dst));
            }
            Inst::Clone { kind, session, .. } => {
                let name = match kind {
                    CloneKind::IngressToEgress => "clone.i2e",
                    CloneKind::EgressToEgress => "clone.e2e",
                };
                self.extern_event(name, None, &[Arg::Scalar(*session, 32)], None);
            }
            Inst::Resubmit { .. } => self.extern_event("resubmit", None, &[], None),
            Inst::Recirculate { .. } => self.extern_event("recirculate", None, &[], None),
            Inst::Truncate { bytes } => self.extern_event("truncate", None, &[Arg::Scalar(*bytes, 32)], None),
            Inst::LogMessage { .. } => {
                if let Some(text) = self.context.effects.log.last().cloned() {
                    self.event(Event::Log { text });
                }
            }
            Inst::Assert { cond, text } if self.value(cond) == 0 => {
                self.event(Event::AssertFailed { text: program.strings[*text].clone() });
            }
            // The rest computes without leaving anything to see.
            _ => {}
        }
    }

    fn extern_event(&mut self, name: &'static str, object: Option<&str>, args: &[Arg], result: Option<Temp>) {
        let args = args.iter().map(|arg| number(&self.wide(arg))).collect();
        let result = result.map(|temp| Number::from(self.temps[temp.index()]));
        self.event(Event::Call { name: name.into(), object: object.map(str::to_owned), args, result });
    }

    /// A call whose result goes to a temp, or to a variable, which is told apart.
    fn extern_to(&mut self, name: &'static str, object: Option<&str>, args: &[Arg], dst: &Dest) {
        match dst {
            Dest::Temp(temp) => self.extern_event(name, object, args, Some(*temp)),
            Dest::Frame(..) => {
                self.extern_event(name, object, args, None);
                self.destination_changed(dst);
            }
        }
    }

    fn place_changed(&mut self, place: &Place, bytes: u32) {
        if let Some(offset) = self.offset(place) {
            self.changed(offset, bytes);
        }
    }

    fn destination_changed(&mut self, dst: &Dest) {
        if let Dest::Frame(place, width) = dst
            && let Some(offset) = self.offset(place)
        {
            self.stored(offset, *width);
        }
    }

    fn error_name(&self, error: Temp) -> Option<String> {
        match self.temps[error.index()] as usize {
            0 => None,
            error => Some(self.program.errors.get(error).cloned().unwrap_or_else(|| format!("error {error}"))),
        }
    }

    fn fields(&self, header: HeaderTypeId, place: &Place) -> Vec<Named> {
        let Some(start) = self.offset(place) else { return Vec::new() };
        let field = |field: &HeaderField| {
            let offset = start + field.offset;
            let value = if field.varbit {
                self.wide(&Arg::Varbit(Place::at(offset), field.width))
            } else {
                self.variable(offset, field.width)
            };
            Named { name: field.name.clone(), value: number(&value) }
        };
        self.program.header_types[header].fields.iter().map(field).collect()
    }

    fn looked_up(&mut self, table: &Table, keys: &[Arg], selector: &[Arg], hit: Temp, action: Temp) {
        let named = |key: &Key, arg: &Arg| Named { name: key.name.clone(), value: number(&self.wide(arg)) };
        let keys = table.keys.iter().zip(keys).map(|(key, arg)| named(key, arg)).collect();
        let selector = selector.iter().map(|arg| number(&self.wide(arg))).collect();
        let hit = self.temps[hit.index()] != 0;
        let action = table.actions.get(self.temps[action.index()] as usize);
        let action = action.map(|action| &self.program.actions[action.action]);
        let data = self.context.action_data();
        let argument = |param: &ActionParam| {
            let bytes = data.get(param.offset as usize..).unwrap_or(&[]);
            Named { name: param.name.clone(), value: number(&Wide::from_le_bytes(bytes, param.width)) }
        };
        let args = action.map_or_else(Vec::new, |action| action.params.iter().map(argument).collect());
        let entry = self.hit_entry(table);
        let (table, action) = (table.name.clone(), action.map(|action| action.name.clone()));
        self.event(Event::Lookup { table, keys, selector, hit, entry, action, args });
    }

    fn hit_entry(&self, table: &Table) -> Option<Entry> {
        let entry = self.context.hit_entry()?;
        let matched = |(key, given): (&Key, &Match)| Matched { name: key.name.clone(), text: match_text(given) };
        let (member, group) = match entry.action {
            EntryAction::Member(id) => (Some(id), None),
            EntryAction::Group(id) => (self.context.chosen_member(), Some(id)),
            EntryAction::Action(_) | EntryAction::OneShot(_) => (None, None),
        };
        let keys = table.keys.iter().zip(&entry.keys).map(matched).collect();
        Some(Entry { keys, priority: entry.priority, is_const: entry.is_const, member, group })
    }

    fn noted(&mut self, note: &Note) {
        let (text, at) = (note.text.clone(), Location { file: note.file.clone(), line: note.line });
        self.event(match note.kind {
            NoteKind::ParserState => Event::State { name: text, at },
            NoteKind::Statement => Event::Statement { text, at },
            NoteKind::Condition => Event::Condition { text, at, outcome: None },
            NoteKind::Holds => Event::Condition { text, at, outcome: Some(true) },
            NoteKind::Fails => Event::Condition { text, at, outcome: Some(false) },
            NoteKind::Table => Event::Table { name: text, at },
            NoteKind::Action => Event::Action { name: text, at },
            NoteKind::ActionEnd => Event::ActionEnd,
        });
    }
}

fn number(value: &Wide) -> Number {
    Number(value.to_biguint())
}

/// As cases write a match.
fn match_text(given: &Match) -> String {
    match given {
        Match::Exact(value) | Match::Optional(Some(value)) => format!("{value:#x}"),
        Match::Lpm { value, prefix } => format!("{value:#x}/{prefix}"),
        Match::Ternary { value, mask } => format!("{value:#x}&&&{mask:#x}"),
        Match::Range { low, high } => format!("{low:#x}..{high:#x}"),
        Match::Optional(None) => "*".to_owned(),
    }
}
