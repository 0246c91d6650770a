//! Writes everything but code.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

use num_bigint::BigUint;

use super::names::{Word, metadata_offsets};
use super::print_code::FunctionText;
use crate::*;

/// Which names mean exactly one thing, and what.
pub struct Names<'a> {
    pub(super) program: &'a Program,
    /// How many symbols have the name.
    symbols: HashMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    pub fn new(program: &'a Program) -> Self {
        let mut symbols = HashMap::new();
        for symbol in &program.frame.symbols {
            *symbols.entry(symbol.name.as_str()).or_default() += 1;
        }
        Self { program, symbols }
    }

    /// The name of the variable of `width` bits at `offset`, or of any variable there if none has that width.
    pub fn variable(&self, offset: u32, width: Option<u32>) -> Option<&'a str> {
        let here = || {
            let symbols = &self.program.frame.symbols;
            let first = symbols.partition_point(|symbol| symbol.offset < offset);
            symbols[first..]
                .iter()
                .take_while(|symbol| symbol.offset == offset)
                .filter(|symbol| self.symbols[symbol.name.as_str()] == 1)
        };
        let fits = |symbol: &&Symbol| width.is_some_and(|width| symbol.kind.has_width(width));
        here().find(fits).or_else(|| here().next()).map(|symbol| symbol.name.as_str())
    }

    /// The name of the header whose validity stands at `offset`.
    pub fn header(&self, offset: u32) -> Option<&'a str> {
        let name = self.variable(offset, Some(1))?.strip_suffix(".$valid")?;
        (!self.symbols.contains_key(name)).then_some(name)
    }
}

/// A name, in quotes unless it is a plain word.
pub(super) struct NameText<'a>(pub &'a str);

impl Display for NameText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$.[]".contains(c))
            // Words that may stand where a place may.
            && !["const", "varbit"].contains(&name);
        if plain {
            return f.write_str(name);
        }
        f.write_str("\"")?;
        for c in name.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                _ => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// A reference to an item of an arena: its name if no other has it, else its number.
pub(super) fn reference<'a, H: Handle, T>(
    arena: &'a Arena<H, T>,
    handle: H,
    name: impl Fn(&'a T) -> &'a str,
) -> Result<NameText<'a>, usize> {
    let number = handle.index();
    if number >= arena.len() {
        return Err(number);
    }
    let wanted = name(&arena[handle]);
    let unique = arena.iter().filter(|(_, item)| name(item) == wanted).count() == 1;
    if unique { Ok(NameText(wanted)) } else { Err(number) }
}

/// Writes a [`reference`].
pub(super) struct RefText<'a>(pub Result<NameText<'a>, usize>);

impl Display for RefText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(name) => name.fmt(f),
            Err(number) => write!(f, "#{number}"),
        }
    }
}

/// A line for each, and the brace that ends them.
fn symbols_text(f: &mut Formatter<'_>, symbols: &[Symbol]) -> fmt::Result {
    for symbol in symbols {
        write!(f, "    {} {}: ", symbol.offset, NameText(&symbol.name))?;
        match symbol.kind {
            SymbolKind::Bits(width) => writeln!(f, "bits {width}")?,
            SymbolKind::Varbit(width) => writeln!(f, "varbit {width}")?,
            SymbolKind::Bool => writeln!(f, "bool")?,
            SymbolKind::Error => writeln!(f, "error")?,
        }
    }
    writeln!(f, "}}")
}

/// Items with commas between.
pub(super) fn list<T>(
    f: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("(")?;
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    f.write_str(")")
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = Names::new(self);
        self.frame_text(f)?;
        write!(f, "metadata {{")?;
        for (name, offset) in metadata_offsets(&self.standard_metadata) {
            if offset != 0 {
                write!(f, " {name} {offset}")?;
            }
        }
        write!(f, " }}\nerrors ")?;
        list(f, &self.errors, |f, error| write!(f, "{}", NameText(error)))?;
        writeln!(f, "\ngrowth {}", self.max_growth)?;
        for (_, header) in self.header_types.iter() {
            header_text(f, header)?;
        }
        for (_, action) in self.actions.iter() {
            write!(f, "action {} ", NameText(&action.name))?;
            list(f, &action.params, |f, p| write!(f, "{}: {} @ {}", NameText(&p.name), p.width, p.offset))?;
            writeln!(f)?;
        }
        self.objects_text(f)?;
        for (_, function) in self.functions.iter() {
            writeln!(f, "{}", FunctionText { names: &names, function })?;
        }
        write!(f, "blocks")?;
        let b = &self.blocks;
        for function in [b.parser, b.verify_checksum, b.ingress, b.egress, b.compute_checksum, b.deparser] {
            write!(f, " {}", RefText(reference(&self.functions, function, |function| &function.name)))?;
        }
        writeln!(f)?;
        let Some(psa) = &self.psa else { return Ok(()) };
        write!(f, "psa")?;
        for function in psa.blocks.list() {
            write!(f, " {}", RefText(reference(&self.functions, function, |function| &function.name)))?;
        }
        for kept in [psa.resubmit, psa.recirculate, psa.clone_i2e, psa.clone_e2e] {
            write!(f, " {} {}", kept.offset, kept.bytes)?;
        }
        for (_, _, _, offset) in psa.metadata.fields() {
            write!(f, " {offset}")?;
        }
        writeln!(f)
    }
}

impl Program {
    fn frame_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Frame { size, persistent, headers, .. } = &self.frame;
        writeln!(f, "frame {size} persistent {persistent} headers {headers} {{")?;
        symbols_text(f, &self.frame.symbols)
    }

    fn objects_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (_, profile) in self.profiles.iter() {
            write!(f, "profile {} size {}", NameText(&profile.name), profile.size)?;
            if let Some(selector) = &profile.selector {
                write!(f, " selector {} {}", selector.algorithm.word(), selector.output_width)?;
            }
            writeln!(f)?;
        }
        for (_, table) in self.tables.iter() {
            self.table_text(f, table)?;
        }
        for (_, counter) in self.counters.iter() {
            writeln!(f, "counter {} size {} {}", NameText(&counter.name), counter.size, counter.unit.word())?;
        }
        for (_, meter) in self.meters.iter() {
            writeln!(f, "meter {} size {} {}", NameText(&meter.name), meter.size, meter.unit.word())?;
        }
        for (_, register) in self.registers.iter() {
            let name = NameText(&register.name);
            write!(f, "register {name} size {} width {}", register.size, register.width)?;
            if register.initial != BigUint::ZERO {
                write!(f, " initial {:#x}", register.initial)?;
            }
            writeln!(f)?;
        }
        for (_, buffer) in self.buffers.iter() {
            let (name, queues) = (NameText(&buffer.name), buffer.queues);
            writeln!(f, "buffer {name} size {queues} octets {} {}", buffer.octets, buffer.octets_of_queue)?;
        }
        for (_, set) in self.value_sets.iter() {
            writeln!(f, "value_set {} size {} {{", NameText(&set.name), set.size)?;
            for key in &set.keys {
                key_text(f, key)?;
            }
            writeln!(f, "}}")?;
        }
        for (_, digest) in self.digests.iter() {
            write!(f, "digest {} ", NameText(&digest.name))?;
            list(f, &digest.widths, |f, width| write!(f, "{width}"))?;
            writeln!(f)?;
        }
        for (_, called) in self.externs.iter() {
            write!(f, "extern {} ", NameText(&called.name))?;
            list(f, &called.results, |f, width| write!(f, "{width}"))?;
            if let Some(object) = &called.object {
                write!(f, " of {} {} ", NameText(&object.name), NameText(&object.kind))?;
                list(f, &object.args, |f, value| write!(f, "{value}"))?;
            }
            writeln!(f)?;
        }
        for (_, fields) in self.field_lists.iter() {
            write!(f, "field_list ")?;
            if let Some(number) = fields.number {
                write!(f, "{number} ")?;
            }
            write!(f, "{{")?;
            for (offset, bytes) in &fields.places {
                write!(f, " {offset} {bytes}")?;
            }
            writeln!(f, " }}")?;
        }
        for (_, string) in self.strings.iter() {
            writeln!(f, "string {}", NameText(string))?;
        }
        for (_, note) in self.notes.iter() {
            let (text, file) = (NameText(&note.text), NameText(&note.file));
            writeln!(f, "note {} {text} {file} {}", note.kind.word(), note.line)?;
        }
        for (_, local) in self.locals.iter() {
            write!(f, "local {} ", NameText(&local.name))?;
            if let Some(outer) = local.outer {
                write!(f, "in #{} ", outer.index())?;
            }
            writeln!(f, "@ {} {{", local.offset)?;
            symbols_text(f, &local.parts)?;
        }
        Ok(())
    }

    fn table_text(&self, f: &mut Formatter<'_>, table: &Table) -> fmt::Result {
        write!(f, "table {} size {}", NameText(&table.name), table.size)?;
        for (flag, word) in [(table.const_entries, " const_entries"), (table.idle_timeout, " idle_timeout")] {
            f.write_str(if flag { word } else { "" })?;
        }
        writeln!(f, " {{")?;
        for key in &table.keys {
            key_text(f, key)?;
        }
        for action in &table.actions {
            let name = RefText(reference(&self.actions, action.action, |action| &action.name));
            let default_only = if action.default_only { " default_only" } else { "" };
            let table_only = if action.table_only { " table_only" } else { "" };
            writeln!(f, "    action {name}{default_only}{table_only}")?;
        }
        if let Some(default) = &table.default_action {
            write!(f, "    default {} ", default.action)?;
            list(f, &default.args, |f, arg| write!(f, "{arg}"))?;
            writeln!(f, "{}", if default.is_const { " const" } else { "" })?;
        }
        for entry in &table.entries {
            write!(f, "    entry {}", if entry.is_const { "const " } else { "" })?;
            list(f, &entry.keys, match_text)?;
            write!(f, " priority {} -> {} ", entry.priority, entry.action)?;
            list(f, &entry.args, |f, arg| write!(f, "{arg}"))?;
            writeln!(f)?;
        }
        if let Some(profile) = table.profile {
            writeln!(f, "    profile {}", RefText(reference(&self.profiles, profile, |profile| &profile.name)))?;
        }
        if let Some(call) = &table.empty_group {
            write!(f, "    empty_group {} ", call.action)?;
            list(f, &call.args, |f, arg| write!(f, "{arg}"))?;
            writeln!(f)?;
        }
        if let Some(counter) = &table.direct_counter {
            writeln!(f, "    counter {} {}", NameText(&counter.name), counter.unit.word())?;
        }
        if let Some(meter) = &table.direct_meter {
            writeln!(f, "    meter {} {}", NameText(&meter.name), meter.unit.word())?;
        }
        if !table.selector_widths.is_empty() {
            write!(f, "    selector ")?;
            list(f, &table.selector_widths, |f, width| write!(f, "{width}"))?;
            writeln!(f)?;
        }
        writeln!(f, "}}")
    }
}

fn header_text(f: &mut Formatter<'_>, header: &HeaderType) -> fmt::Result {
    writeln!(f, "header {} size {} {{", NameText(&header.name), header.size)?;
    for field in &header.fields {
        let varbit = if field.varbit { "varbit " } else { "" };
        writeln!(f, "    {} {}: {varbit}{}", field.offset, NameText(&field.name), field.width)?;
    }
    writeln!(f, "}}")
}

fn key_text(f: &mut Formatter<'_>, key: &Key) -> fmt::Result {
    writeln!(f, "    key {}: {} {}", NameText(&key.name), key.width, key.kind.word())
}

fn match_text(f: &mut Formatter<'_>, key: &Match) -> fmt::Result {
    match key {
        Match::Exact(value) => write!(f, "{value:#x}"),
        Match::Lpm { value, prefix } => write!(f, "{value:#x}/{prefix}"),
        Match::Ternary { value, mask } => write!(f, "{value:#x} &&& {mask:#x}"),
        Match::Range { low, high } => write!(f, "{low:#x}..{high:#x}"),
        Match::Optional(Some(value)) => write!(f, "optional {value:#x}"),
        Match::Optional(None) => write!(f, "*"),
    }
}
