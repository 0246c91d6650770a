//! Rules of everything but code.

use num_bigint::BigUint;

use super::VerifyError;
use crate::*;

/// Widths of the fields of standard metadata, in the order of [`StandardMetadata`].
const METADATA_WIDTHS: [u32; 16] = [9, 9, 9, 32, 32, 32, 19, 32, 19, 48, 48, 16, 16, 1, 32, 3];

/// What a parser can raise without being told to.
const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

pub fn verify(program: &Program, errors: &mut Vec<VerifyError>) {
    let mut rules = Rules { program, errors, at: String::new() };
    rules.frame();
    for (_, header) in program.header_types.iter() {
        rules.header(header);
    }
    for (_, action) in program.actions.iter() {
        rules.action(action);
    }
    for (_, table) in program.tables.iter() {
        rules.table(table);
    }
    rules.others();
}

struct Rules<'a> {
    program: &'a Program,
    errors: &'a mut Vec<VerifyError>,
    at: String,
}

impl Rules<'_> {
    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.errors.push(VerifyError { at: self.at.clone(), message: message() });
        }
    }

    fn value(&mut self, value: &BigUint, width: u32, what: &str) {
        self.require(value.bits() <= u64::from(width), || format!("{what} {value:#x} does not fit {width} bits"));
    }

    fn frame(&mut self) {
        let frame = &self.program.frame;
        self.at = "frame".to_owned();
        self.require(frame.persistent <= frame.size, || "the persistent part is larger than the frame".to_owned());
        self.require(frame.headers <= frame.persistent, || "headers end behind the persistent part".to_owned());
        for symbol in &frame.symbols {
            let inside = u64::from(symbol.offset) + u64::from(symbol.kind.size()) <= u64::from(frame.size);
            self.require(inside, || format!("{} lies outside the frame", symbol.name));
        }
        for (id, local) in self.program.locals.iter() {
            let end = |part: &Symbol| u64::from(local.offset) + u64::from(part.offset) + u64::from(part.kind.size());
            let inside = local.parts.iter().all(|part| end(part) <= u64::from(frame.size));
            self.require(inside, || format!("{} lies outside the frame", local.name));
            let after = local.outer.is_none_or(|outer| outer < id);
            self.require(after, || format!("{} should stand after the variable outside of it", local.name));
        }
        for pair in frame.symbols.windows(2) {
            let ascending = pair[0].offset <= pair[1].offset;
            self.require(ascending, || format!("{} should stand after {}", pair[0].name, pair[1].name));
        }
        self.at = "standard metadata".to_owned();
        for (offset, width) in self.program.standard_metadata.offsets().into_iter().zip(METADATA_WIDTHS) {
            self.persistent(offset, storage_size(width));
            let aligned = offset.is_multiple_of(storage_align(width));
            self.require(aligned, || format!("offset {offset} is not aligned for {width} bits"));
        }
    }

    fn persistent(&mut self, offset: u32, bytes: u32) {
        let inside = u64::from(offset) + u64::from(bytes) <= u64::from(self.program.frame.persistent);
        self.require(inside, || format!("{bytes} bytes at offset {offset} lie outside the persistent part"));
    }

    fn header(&mut self, header: &HeaderType) {
        self.at = format!("header type {}", header.name);
        let mut end = 1;
        for field in &header.fields {
            let name = &field.name;
            self.require(field.width > 0, || format!("{name} has no bits"));
            let (size, align) = field_storage(field);
            self.require(field.offset >= end, || format!("{name} overlaps what stands before it"));
            self.require(field.offset.is_multiple_of(align), || format!("{name} is not aligned to {align} bytes"));
            end = field.offset.saturating_add(size);
        }
        self.require(end <= header.size, || format!("its fields take {end} bytes, but its size is {}", header.size));
        let varbits = header.fields.iter().filter(|field| field.varbit).count();
        self.require(varbits <= 1, || "it has more than one varbit".to_owned());
    }

    fn action(&mut self, action: &Action) {
        self.at = format!("action {}", action.name);
        let mut end = 0;
        for param in &action.params {
            let name = &param.name;
            self.require(param.width > 0, || format!("{name} has no bits"));
            self.require(param.offset >= end, || format!("{name} overlaps what stands before it"));
            let align = storage_align(param.width);
            self.require(param.offset.is_multiple_of(align), || format!("{name} is not aligned to {align} bytes"));
            end = param.offset.saturating_add(storage_size(param.width));
        }
    }

    fn table(&mut self, table: &Table) {
        self.at = format!("table {}", table.name);
        self.keys(&table.keys);
        for action in &table.actions {
            let found = self.program.actions.is_valid(action.action);
            self.require(found, || format!("there is no {:?}", action.action));
        }
        if let Some(default) = &table.default_action {
            self.call(table, default.action, &default.args);
        }
        if let Some(call) = &table.empty_group {
            self.call(table, call.action, &call.args);
        }
        for entry in &table.entries {
            let (found, wanted) = (entry.keys.len(), table.keys.len());
            self.require(found == wanted, || format!("an entry has {found} keys instead of {wanted}"));
            for (key, value) in table.keys.iter().zip(&entry.keys) {
                self.key_match(key, value);
            }
            self.call(table, entry.action, &entry.args);
        }
        if let Some(profile) = table.profile {
            self.require(self.program.profiles.is_valid(profile), || format!("there is no {profile:?}"));
        }
        for width in &table.selector_widths {
            self.require(*width > 0, || "an input of the selector has no bits".to_owned());
        }
    }

    fn keys(&mut self, keys: &[Key]) {
        for key in keys {
            self.require(key.width > 0, || format!("key {} has no bits", key.name));
        }
        let prefixes = keys.iter().filter(|key| key.kind == MatchKind::Lpm).count();
        self.require(prefixes <= 1, || "more than one key is matched by prefix".to_owned());
    }

    fn key_match(&mut self, key: &Key, value: &Match) {
        let what = format!("key {}:", key.name);
        match (key.kind, value) {
            (MatchKind::Exact, Match::Exact(value)) => self.value(value, key.width, &what),
            (MatchKind::Lpm, Match::Lpm { value, prefix }) => {
                self.value(value, key.width, &what);
                self.require(*prefix <= key.width, || format!("{what} prefix {prefix} exceeds {} bits", key.width));
            }
            (MatchKind::Ternary, Match::Ternary { value: a, mask: b })
            | (MatchKind::Range, Match::Range { low: a, high: b }) => {
                self.value(a, key.width, &what);
                self.value(b, key.width, &what);
            }
            (MatchKind::Optional, Match::Optional(value)) => {
                if let Some(value) = value {
                    self.value(value, key.width, &what);
                }
            }
            (kind, value) => self.require(false, || format!("{what} {value:?} is no match of kind {kind:?}")),
        }
    }

    /// A call of one of the table's actions.
    fn call(&mut self, table: &Table, action: usize, args: &[BigUint]) {
        let Some(handle) = table.actions.get(action).map(|action| action.action) else {
            return self.require(false, || format!("it has no action {action}"));
        };
        if !self.program.actions.is_valid(handle) {
            return;
        }
        let action = &self.program.actions[handle];
        let (found, wanted) = (args.len(), action.params.len());
        self.require(found == wanted, || format!("{} is given {found} arguments instead of {wanted}", action.name));
        for (param, value) in action.params.iter().zip(args) {
            self.value(value, param.width, &format!("argument {} of {}:", param.name, action.name));
        }
    }

    fn others(&mut self) {
        let program = self.program;
        for (_, profile) in program.profiles.iter() {
            self.at = format!("action profile {}", profile.name);
            let width = profile.selector.as_ref().map_or(1, |selector| selector.output_width);
            self.require(width > 0, || "the selector's hash has no bits".to_owned());
        }
        for (_, register) in program.registers.iter() {
            self.at = format!("register {}", register.name);
            self.require(register.width > 0, || "its cells have no bits".to_owned());
            let fits = register.initial.bits() <= u64::from(register.width);
            self.require(fits, || format!("{:#x} does not fit its cells", register.initial));
        }
        for (_, set) in program.value_sets.iter() {
            self.at = format!("value set {}", set.name);
            self.keys(&set.keys);
        }
        for (_, digest) in program.digests.iter() {
            self.at = format!("digest {}", digest.name);
            self.require(!digest.widths.contains(&0), || "a member has no bits".to_owned());
        }
        for (id, fields) in program.field_lists.iter() {
            self.at = format!("field list #{}", id.index());
            for (offset, bytes) in &fields.places {
                self.persistent(*offset, *bytes);
            }
        }
        self.at = "errors".to_owned();
        let first = program.errors.first().map(String::as_str);
        self.require(first == Some("NoError"), || "the first error has to be NoError".to_owned());
        for core in CORE_ERRORS {
            self.require(program.errors.iter().any(|error| error == core), || format!("{core} is missing"));
        }
        self.at = "blocks".to_owned();
        let b = &program.blocks;
        for function in [b.parser, b.verify_checksum, b.ingress, b.egress, b.compute_checksum, b.deparser] {
            self.require(program.functions.is_valid(function), || format!("there is no {function:?}"));
        }
        if let Some(psa) = &program.psa {
            self.at = "psa".to_owned();
            for function in psa.blocks.list() {
                self.require(program.functions.is_valid(function), || format!("there is no {function:?}"));
            }
            let misplaced = psa.misplaced(program.frame.persistent);
            self.require(misplaced.is_none(), || format!("{} is misplaced", misplaced.unwrap_or_default()));
        }
    }
}

/// Size and alignment of a header's field in the frame.
pub fn field_storage(field: &HeaderField) -> (u32, u32) {
    if field.varbit {
        (4 + field.width.div_ceil(8), 4)
    } else {
        (storage_size(field.width), storage_align(field.width))
    }
}
