//! Reads everything but code.

use std::str::FromStr;

use num_bigint::BigUint;

use super::names::metadata_offset;
use super::parser::{ParseError, Parser, Result};
use crate::*;

impl FromStr for Program {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser::new(text)?;
        while !parser.at_end() {
            parser.item()?;
        }
        Ok(parser.program)
    }
}

impl Parser {
    fn item(&mut self) -> Result<()> {
        let word = self.any_word("an item (frame, header, table, function, ...)")?;
        match word.as_str() {
            "frame" => self.frame(),
            "metadata" => self.body(|p| {
                let field = p.any_word("a field of standard metadata")?;
                let offset = p.int()?;
                match metadata_offset(&mut p.program.standard_metadata, &field) {
                    Some(place) => *place = offset,
                    None => return p.error(format!("standard metadata has no field `{field}`")),
                }
                Ok(())
            }),
            "errors" => {
                self.program.errors = self.list(Self::name)?;
                Ok(())
            }
            "growth" => {
                self.program.max_growth = self.int()?;
                Ok(())
            }
            "header" => self.header(),
            "action" => {
                let name = self.name()?;
                let params = self.list(|p| {
                    let name = p.name()?;
                    p.mark(":")?;
                    let width = p.int()?;
                    p.mark("@")?;
                    Ok(ActionParam { name, width, offset: p.int()? })
                })?;
                self.program.actions.push(Action { name, params });
                Ok(())
            }
            "table" => self.table(),
            "function" => self.function(),
            "psa" => {
                let mut functions = [FunctionId::default(); 6];
                for function in &mut functions {
                    *function = self.reference("function", |p| &p.functions, |function| &function.name)?;
                }
                let mut psa = Psa { blocks: functions.into(), ..Psa::default() };
                for kept in [&mut psa.resubmit, &mut psa.recirculate, &mut psa.clone_i2e, &mut psa.clone_e2e] {
                    *kept = Kept { offset: self.int()?, bytes: self.int()? };
                }
                for (_, _, _, offset) in psa.metadata.fields_mut() {
                    *offset = self.int()?;
                }
                self.program.psa = Some(psa);
                Ok(())
            }
            "blocks" => {
                let mut functions = [FunctionId::default(); 6];
                for function in &mut functions {
                    *function = self.reference("function", |p| &p.functions, |function| &function.name)?;
                }
                let [parser, verify_checksum, ingress, egress, compute_checksum, deparser] = functions;
                self.program.blocks = Blocks { parser, verify_checksum, ingress, egress, compute_checksum, deparser };
                Ok(())
            }
            _ => self.object(&word),
        }
    }

    fn object(&mut self, word: &str) -> Result<()> {
        match word {
            "profile" => {
                let (name, size) = self.name_and_size()?;
                let selector = if self.take_word("selector") {
                    Some(Selector { algorithm: self.kind("hash algorithm")?, output_width: self.int()? })
                } else {
                    None
                };
                self.program.profiles.push(Profile { name, size, selector });
            }
            "counter" => {
                let (name, size) = self.name_and_size()?;
                let unit = self.kind("unit")?;
                self.program.counters.push(Counter { name, size, unit });
            }
            "meter" => {
                let (name, size) = self.name_and_size()?;
                let unit = self.kind("unit")?;
                self.program.meters.push(Meter { name, size, unit });
            }
            "register" => {
                let (name, size) = self.name_and_size()?;
                self.word("width")?;
                let width = self.int()?;
                let initial = if self.take_word("initial") { self.big()? } else { BigUint::ZERO };
                self.program.registers.push(Register { name, size, width, initial });
            }
            "buffer" => {
                let (name, queues) = self.name_and_size()?;
                self.word("octets")?;
                let (octets, octets_of_queue) = (self.int()?, self.int()?);
                self.program.buffers.push(Buffer { name, queues, octets, octets_of_queue });
            }
            "value_set" => {
                let (name, size) = self.name_and_size()?;
                let mut keys = Vec::new();
                self.body(|p| {
                    p.word("key")?;
                    keys.push(p.key()?);
                    Ok(())
                })?;
                self.program.value_sets.push(ValueSet { name, size, keys });
            }
            "digest" => {
                let name = self.name()?;
                let widths = self.list(Self::int)?;
                self.program.digests.push(Digest { name, widths });
            }
            "extern" => {
                let (name, results) = (self.name()?, self.list(Self::int)?);
                let object = if self.take_word("of") {
                    Some(ExternObject { name: self.name()?, kind: self.name()?, args: self.list(Self::big)? })
                } else {
                    None
                };
                self.program.externs.push(Extern { name, object, results });
            }
            "field_list" => {
                let number = if self.is_mark("{") { None } else { Some(self.int()?) };
                let mut places = Vec::new();
                self.body(|p| {
                    places.push((p.int()?, p.int()?));
                    Ok(())
                })?;
                self.program.field_lists.push(FieldList { number, places });
            }
            "string" => {
                let string = self.name()?;
                self.program.strings.push(string);
            }
            "note" => {
                let kind = self.kind("kind of note")?;
                let note = Note { kind, text: self.name()?, file: self.name()?, line: self.int()? };
                self.program.notes.push(note);
            }
            "local" => {
                let name = self.name()?;
                let outer = if self.take_word("in") {
                    Some(self.reference("local", |p| &p.locals, |local| &local.name)?)
                } else {
                    None
                };
                self.mark("@")?;
                let offset = self.int()?;
                let mut parts = Vec::new();
                self.body(|p| {
                    parts.push(p.symbol()?);
                    Ok(())
                })?;
                self.program.locals.push(Local { outer, name, offset, parts: parts.into() });
            }
            _ => return self.error(format!("`{word}` is no item (frame, header, table, function, ...)")),
        }
        Ok(())
    }

    fn name_and_size(&mut self) -> Result<(String, u64)> {
        let name = self.name()?;
        self.word("size")?;
        Ok((name, self.int()?))
    }

    fn frame(&mut self) -> Result<()> {
        self.program.frame.size = self.int()?;
        self.word("persistent")?;
        self.program.frame.persistent = self.int()?;
        if self.take_word("headers") {
            self.program.frame.headers = self.int()?;
        }
        self.body(|p| {
            let symbol = p.symbol()?;
            p.name_offset(&symbol.name, symbol.offset);
            p.program.frame.symbols.push(symbol);
            Ok(())
        })
    }

    fn symbol(&mut self) -> Result<Symbol> {
        let offset = self.int()?;
        let name = self.name()?;
        self.mark(":")?;
        let kind = match self.any_word("a type")?.as_str() {
            "bits" => SymbolKind::Bits(self.int()?),
            "varbit" => SymbolKind::Varbit(self.int()?),
            "bool" => SymbolKind::Bool,
            "error" => SymbolKind::Error,
            other => return self.error(format!("`{other}` is no type: bits, varbit, bool, error")),
        };
        Ok(Symbol { name, offset, kind })
    }

    fn header(&mut self) -> Result<()> {
        let name = self.name()?;
        self.word("size")?;
        let size = self.int()?;
        let mut fields = Vec::new();
        self.body(|p| {
            let offset = p.int()?;
            let name = p.name()?;
            p.mark(":")?;
            let varbit = p.take_word("varbit");
            fields.push(HeaderField { name, offset, width: p.int()?, varbit });
            Ok(())
        })?;
        self.program.header_types.push(HeaderType { name, fields, size });
        Ok(())
    }

    fn key(&mut self) -> Result<Key> {
        let name = self.name()?;
        self.mark(":")?;
        Ok(Key { name, width: self.int()?, kind: self.kind("match kind")? })
    }

    fn table(&mut self) -> Result<()> {
        let (name, size) = self.name_and_size()?;
        let mut table = Table { name, size, ..Table::default() };
        table.const_entries = self.take_word("const_entries");
        table.idle_timeout = self.take_word("idle_timeout");
        self.body(|p| p.table_part(&mut table))?;
        self.program.tables.push(table);
        Ok(())
    }

    fn table_part(&mut self, table: &mut Table) -> Result<()> {
        match self.any_word("a part of a table")?.as_str() {
            "key" => table.keys.push(self.key()?),
            "action" => {
                let action = self.reference("action", |p| &p.actions, |action| &action.name)?;
                let default_only = self.take_word("default_only");
                let table_only = self.take_word("table_only");
                table.actions.push(TableAction { action, default_only, table_only });
            }
            "profile" => {
                table.profile = Some(self.reference("profile", |p| &p.profiles, |profile| &profile.name)?);
            }
            "selector" => table.selector_widths = self.list(Self::int)?,
            "default" => {
                let (action, args) = (self.int()?, self.list(Self::big)?);
                let is_const = self.take_word("const");
                table.default_action = Some(DefaultAction { action, args, is_const });
            }
            "empty_group" => {
                let (action, args) = (self.int()?, self.list(Self::big)?);
                table.empty_group = Some(ActionOfTable { action, args });
            }
            "entry" => {
                let is_const = self.take_word("const");
                let keys = self.list(Self::key_match)?;
                self.word("priority")?;
                let priority = self.int()?;
                self.mark("->")?;
                let (action, args) = (self.int()?, self.list(Self::big)?);
                table.entries.push(ConstEntry { keys, priority, action, args, is_const });
            }
            "counter" => {
                table.direct_counter = Some(DirectCounter { name: self.name()?, unit: self.kind("unit")? });
            }
            "meter" => {
                table.direct_meter = Some(DirectMeter { name: self.name()?, unit: self.kind("unit")? });
            }
            other => return self.error(format!("`{other}` is no part of a table")),
        }
        Ok(())
    }

    fn key_match(&mut self) -> Result<Match> {
        if self.take_mark("*") {
            return Ok(Match::Optional(None));
        }
        if self.take_word("optional") {
            return Ok(Match::Optional(Some(self.big()?)));
        }
        let value = self.big()?;
        if self.take_mark("/") {
            Ok(Match::Lpm { value, prefix: self.int()? })
        } else if self.take_mark("&&&") {
            Ok(Match::Ternary { value, mask: self.big()? })
        } else if self.take_mark("..") {
            Ok(Match::Range { low: value, high: self.big()? })
        } else {
            Ok(Match::Exact(value))
        }
    }
}
