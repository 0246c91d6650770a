//! The whole program: what the six blocks share, and the function of each.

use ir::{CompareOp, FunctionId, Inst, Operand, Place, StandardMetadata, Terminator};

use lower::value::FALSE;
use lower::{Builder, cleanup, growth};

use crate::context::{Objects, Translation};
use crate::error::{Error, Result, Within, fail};
use crate::layout::Layout;
use crate::model::{Document, Pipeline};

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

/// Turns a document into the flat form.
pub fn translate(document: &Document) -> Result<ir::Program> {
    if let [major, ..] = document.meta.version.as_slice()
        && *major != 2
    {
        return fail(format!("version {major} of the format is not supported; version 2 is"));
    }
    if let Some(instance) = document.extern_instances.first() {
        let (name, kind) = (&instance.name, &instance.kind);
        return fail(format!("extern {name} of type {kind} is not supported: v1model programs have none"));
    }
    let (parser, deparser) = match (document.parsers.as_slice(), document.deparsers.as_slice()) {
        ([parser], [deparser]) => (parser, deparser),
        _ => return fail("one parser and one deparser are supported, as v1model programs have them"),
    };
    let pipeline = |name: &str| -> Result<&Pipeline> {
        let found = document.pipelines.iter().find(|pipeline| pipeline.name == name);
        found.ok_or_else(|| Error::new(format!("there is no pipeline {name}; v1model programs have it")))
    };
    let (ingress, egress) = (pipeline("ingress")?, pipeline("egress")?);
    let mut layout = Layout::new(document)?;
    let mut standard_metadata = standard_metadata(document, &mut layout)?;
    let (errors, no_error) = errors(document)?;
    // Where the program reads the parser's error by the document's numbers.
    let shown_error = Place::at(standard_metadata.parser_error);
    if no_error != 0 {
        standard_metadata.parser_error = layout.reserve(32);
    }
    let mut out = ir::Program { standard_metadata, errors, ..ir::Program::default() };
    out.frame.symbols = std::mem::take(&mut layout.symbols);
    (out.frame.headers, out.frame.persistent, out.frame.size) = (layout.headers_end, layout.end, layout.end);
    let mut translation = Translation {
        document,
        out,
        layout,
        objects: Objects::default(),
        b: Builder::new(String::new(), 0),
        end: ir::BlockId::default(),
        in_parser: false,
        arguments: Vec::new(),
    };
    translation.objects()?;
    let t = &mut translation;
    t.in_parser = true;
    let parser = t.function("parser", |t| t.parser(parser))?;
    t.in_parser = false;
    let verify_checksum = t.function("verify_checksum", |t| {
        if no_error != 0 {
            t.show_error(shown_error, no_error);
        }
        t.checksums(false)
    })?;
    let ingress = t.function("ingress", |t| t.pipeline(ingress))?;
    let egress = t.function("egress", |t| t.pipeline(egress))?;
    let compute_checksum = t.function("compute_checksum", |t| t.checksums(true))?;
    let deparser = t.function("deparser", |t| {
        t.primitives(&deparser.primitives)?;
        deparser.order.iter().try_for_each(|header| t.emit(header))
    })?;
    let mut out = translation.out;
    out.blocks = ir::Blocks { parser, verify_checksum, ingress, egress, compute_checksum, deparser };
    out.header_types = translation.layout.types;
    out.max_growth = growth(&out, deparser);
    Ok(out)
}

impl Translation<'_> {
    fn function(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<FunctionId> {
        self.b = Builder::new(name.to_owned(), self.out.frame.persistent);
        self.end = self.b.block();
        body(self).within(|| name.to_owned())?;
        self.b.jump(self.end);
        self.b.enter(self.end);
        self.b.end(Terminator::Return);
        if self.b.is_full() {
            return fail(format!("{name} is too large"));
        }
        let (function, end) = std::mem::replace(&mut self.b, Builder::new(String::new(), 0)).finish();
        self.out.frame.size = self.out.frame.size.max(end);
        Ok(self.out.functions.push(cleanup(function)))
    }

    /// Stores the parser's error by the document's numbers.
    fn show_error(&mut self, shown: Place, no_error: u32) {
        let error = self.b.load(Place::at(self.out.standard_metadata.parser_error), 32);
        let is_none = self.b.compare(CompareOp::Eq, 32, error, FALSE);
        let number = self.b.select(32, is_none, Operand::Imm(no_error.into()), error);
        self.b.store(shown, 32, number);
    }

    fn emit(&mut self, header: &str) -> Result<()> {
        let header = self.header(header)?.clone();
        self.whole_bytes(header.ty.id)?;
        self.b.push(Inst::Emit { header: header.ty.id, place: Place::at(header.offset) });
        Ok(())
    }
}

/// The errors by number, those of the core library among them; and the document's number of `NoError`, which has 0 here.
fn errors(document: &Document) -> Result<(Vec<String>, u32)> {
    let most = document.errors.iter().map(|(_, number)| *number).max().unwrap_or(0);
    if most > u32::from(u16::MAX) {
        return fail(format!("an error has the number {most}; up to {} are supported", u16::MAX));
    }
    let mut errors: Vec<String> = (0..=most).map(|number| format!("error {number}")).collect();
    for (name, number) in &document.errors {
        errors[*number as usize].clone_from(name);
    }
    // Some older compilers count from 1.
    let no_error = document.errors.iter().find(|(name, _)| name == "NoError").map_or(0, |(_, number)| *number);
    if document.errors.iter().all(|(_, number)| *number != 0) {
        errors.swap(0, no_error as usize);
    }
    if document.errors.is_empty() {
        errors.clear();
    }
    for core in CORE_ERRORS {
        if !errors.iter().any(|error| error == core) {
            errors.push(core.to_owned());
        }
    }
    if errors[0] != "NoError" {
        return fail("the error with number 0 must be NoError");
    }
    Ok((errors, no_error))
}

/// The fields of standard metadata, found by their names or the names' aliases.
fn standard_metadata(document: &Document, layout: &mut Layout) -> Result<StandardMetadata> {
    if !layout.headers.contains_key("standard_metadata") {
        return fail("there is no standard_metadata: only programs for v1model (simple_switch) are supported");
    }
    let mut at = |old_header: &str, name: &str, width: u32| {
        let alias = format!("{old_header}.{name}");
        let aliased = document.field_aliases.iter().find(|(known, _)| *known == alias).map(|(_, field)| field.clone());
        let candidates = [
            aliased,
            Some(("standard_metadata".to_owned(), name.to_owned())),
            Some((old_header.to_owned(), name.to_owned())),
        ];
        for (header, field) in candidates.into_iter().flatten() {
            let Some(header) = layout.headers.get(&header) else { continue };
            let Some(field) = header.ty.fields.iter().find(|known| known.name == field) else { continue };
            if field.width != width {
                return fail(format!("{name} has {} bits instead of v1model's {width}", field.width));
            }
            return Ok(header.offset + field.offset);
        }
        // The program never looks at it.
        Ok(layout.reserve(width))
    };
    let standard = "standard_metadata";
    let (queueing, intrinsic) = ("queueing_metadata", "intrinsic_metadata");
    Ok(StandardMetadata {
        ingress_port: at(standard, "ingress_port", 9)?,
        egress_spec: at(standard, "egress_spec", 9)?,
        egress_port: at(standard, "egress_port", 9)?,
        instance_type: at(standard, "instance_type", 32)?,
        packet_length: at(standard, "packet_length", 32)?,
        enq_timestamp: at(queueing, "enq_timestamp", 32)?,
        enq_qdepth: at(queueing, "enq_qdepth", 19)?,
        deq_timedelta: at(queueing, "deq_timedelta", 32)?,
        deq_qdepth: at(queueing, "deq_qdepth", 19)?,
        ingress_global_timestamp: at(intrinsic, "ingress_global_timestamp", 48)?,
        egress_global_timestamp: at(intrinsic, "egress_global_timestamp", 48)?,
        mcast_grp: at(intrinsic, "mcast_grp", 16)?,
        egress_rid: at(intrinsic, "egress_rid", 16)?,
        checksum_error: at(standard, "checksum_error", 1)?,
        parser_error: at(standard, "parser_error", 32)?,
        priority: at(intrinsic, "priority", 3)?,
    })
}
