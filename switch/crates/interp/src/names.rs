//! What traces call places in the frame.

use std::ops::Range;

use ir::*;

use crate::run::Run;

impl Run<'_, '_> {
    /// Whether a place means nothing outside the block that runs.
    pub fn is_local(&self, offset: u32) -> bool {
        offset >= self.program.frame.persistent
    }

    /// The name of the variable of `width` bits at `offset`.
    pub fn variable_name(&self, offset: u32, width: u32) -> Option<String> {
        if self.is_local(offset) {
            return self.local_name(offset, width);
        }
        self.names.as_ref()?.variable(offset, Some(width)).map(str::to_owned)
    }

    /// The name of a header; of one that has none, that of its type.
    pub fn header_name(&self, header: HeaderTypeId, place: &Place) -> String {
        let named = |offset| match self.is_local(offset) {
            true => self.local_name(offset, 1)?.strip_suffix(".$valid").map(str::to_owned),
            false => self.names.as_ref()?.header(offset).map(str::to_owned),
        };
        self.offset(place).and_then(named).unwrap_or_else(|| self.program.header_types[header].name.clone())
    }

    /// The variables in a range, each with its whole name.
    pub fn variables(&self, range: Range<u32>) -> Vec<Symbol> {
        if self.is_local(range.start) {
            let parts = self.program.locals_from(self.locals).flat_map(Local::symbols);
            return parts.filter(|symbol| range.contains(&symbol.offset)).collect();
        }
        let symbols = &self.program.frame.symbols;
        let behind = &symbols[symbols.partition_point(|symbol| symbol.offset < range.start)..];
        behind.iter().take_while(|symbol| range.contains(&symbol.offset)).cloned().collect()
    }

    fn local_name(&self, offset: u32, width: u32) -> Option<String> {
        let is_meant = |symbol: &Symbol| symbol.offset == offset && symbol.kind.has_width(width);
        self.program.locals_from(self.locals).flat_map(Local::symbols).find(is_meant).map(|symbol| symbol.name)
    }
}
