//! The whole program: what the six blocks share, and the function of each.

use std::collections::{BTreeMap, HashMap};

use hir::instances::{InstanceId, InstanceKind, Instances};
use hir::{TypeId, VarId};
use ir::{FunctionId, Place, StandardMetadata, Symbol, SymbolKind};
use syntax::diag::Diagnostics;
use syntax::source::{SourceMap, Span};

use crate::build::Builder;
use crate::cleanup::cleanup;
use crate::context::{Binding, Body, Lower, R, Shared, fail, offset};
use crate::effects::written_vars;
use crate::growth::growth;
use crate::layout::{Layouts, LeafKind, Shape};
use crate::objects::Objects;

/// The parameters of `V1Switch`, in order.
const BLOCKS: [&str; 6] = ["parser", "verify_checksum", "ingress", "egress", "compute_checksum", "deparser"];
const PARSER: usize = 0;
const INGRESS: usize = 2;
const DEPARSER: usize = 5;

/// Bytes that one variable may take.
const MAX_VARIABLE: u32 = 1 << 20;

/// Turns a checked v1model program into its flat form.
pub fn lower(hir: &hir::Program, instances: &Instances, sources: &SourceMap) -> Result<ir::Program, Diagnostics> {
    let mut found = Diagnostics::new();
    match start(hir, instances, sources) {
        Ok((mut lower, blocks)) => {
            lower.run(blocks);
            if !lower.diagnostics.has_errors() {
                return Ok(lower.out);
            }
            found.append(lower.diagnostics);
        }
        Err(error) => found.push(*error),
    }
    Err(found)
}

/// Checks the architecture and lays out what all blocks share.
fn start<'p>(
    hir: &'p hir::Program,
    instances: &'p Instances,
    sources: &'p SourceMap,
) -> R<(Lower<'p>, [InstanceId; 6])> {
    let span = hir.main.map_or(Span::default(), |main| hir.vars[main].span);
    if instances.package != "V1Switch" {
        let message = format!("`main` is a `{}`; only v1model's `V1Switch` can be loaded", instances.package);
        return fail(span, message);
    }
    let given: Vec<InstanceId> = instances.blocks.iter().copied().flatten().collect();
    let Ok(blocks) = <[InstanceId; 6]>::try_from(given) else {
        return fail(span, "`V1Switch` takes a parser, four controls and a deparser");
    };
    let InstanceKind::Control(ingress) = instances.get(blocks[INGRESS]).kind else {
        return fail(span, "the third block of `V1Switch` must be a control");
    };
    let [headers, metadata, standard] = hir.controls[ingress].params[..] else {
        return fail(hir.controls[ingress].span, "an ingress control takes headers, metadata and standard metadata");
    };
    let mut layouts = Layouts::default();
    for (_, var) in hir.vars.iter() {
        if layouts.get(&hir.types, var.ty).size > MAX_VARIABLE {
            return fail(var.span, format!("`{}` takes more memory than a variable may: 1 MiB", var.name));
        }
    }
    let mut frame = ir::Frame::default();
    let mut end = 0u32;
    let mut place = |var: VarId| {
        let ty = hir.vars[var].ty;
        let at = Place::at(end.next_multiple_of(8));
        end = at.offset.saturating_add(layouts.get(&hir.types, ty).size).next_multiple_of(8);
        let mut leaves = Vec::new();
        layouts.leaves(&hir.types, ty, &hir.vars[var].name, at.offset, &mut leaves);
        frame.symbols.extend(leaves.into_iter().map(|leaf| {
            let kind = match leaf.kind {
                LeafKind::Scalar(_, kind) => kind,
                LeafKind::Varbit(max) => SymbolKind::Varbit(max),
                LeafKind::Valid => SymbolKind::Bool,
                LeafKind::Next => SymbolKind::Bits(32),
            };
            Symbol { name: leaf.name, offset: leaf.offset, kind }
        }));
        ((at, ty), end)
    };
    let (headers, headers_end) = place(headers);
    let (metadata, _) = place(metadata);
    let (standard, persistent) = place(standard);
    frame.headers = headers_end;
    frame.persistent = persistent;
    frame.size = persistent;
    let mut errors = hir.errors.clone();
    if let Some(none) = errors.iter().position(|error| error == "NoError") {
        errors.swap(0, none);
    }
    let out = ir::Program { frame, errors, ..ir::Program::default() };
    let mut lower = Lower {
        hir,
        instances,
        sources,
        out,
        layouts,
        diagnostics: Diagnostics::new(),
        objects: Objects::default(),
        written: written_vars(hir),
        shared: Shared { headers, metadata, standard },
        field_lists: BTreeMap::new(),
        b: Builder::new(String::new(), persistent),
        env: HashMap::new(),
        fresh_vars: 0,
        instance: blocks[INGRESS],
        body: Body::default(),
        exit: ir::BlockId::default(),
        reject: None,
        active: Vec::new(),
        running: None,
    };
    lower.out.standard_metadata = match lower.standard_offsets() {
        Some(offsets) => offsets,
        None => return fail(span, "the third parameter of an ingress control must be `standard_metadata_t`"),
    };
    Ok((lower, blocks))
}

impl Lower<'_> {
    fn run(&mut self, blocks: [InstanceId; 6]) {
        self.make_objects();
        self.annotated_field_lists();
        let mut functions = [FunctionId::default(); 6];
        for (index, id) in blocks.into_iter().enumerate() {
            let digests = self.objects.unnamed_digests.len();
            match self.function(index, id) {
                Ok(function) => functions[index] = function,
                Err(error) => self.diagnostics.push(*error),
            }
            self.number_digests(digests);
        }
        let [parser, verify_checksum, ingress, egress, compute_checksum, deparser] = functions;
        self.out.blocks = ir::Blocks { parser, verify_checksum, ingress, egress, compute_checksum, deparser };
        self.out.header_types = std::mem::take(&mut self.layouts.headers);
        if !self.diagnostics.has_errors() {
            self.out.max_growth = growth(&self.out, deparser);
        }
    }

    fn function(&mut self, index: usize, id: InstanceId) -> R<FunctionId> {
        self.b = Builder::new(BLOCKS[index].to_string(), self.out.frame.persistent);
        self.env.clear();
        self.instance = id;
        let done = self.b.block();
        self.body = Body { ret: done, ..Body::default() };
        self.exit = done;
        self.reject = (index == PARSER).then_some(done);
        let instance = self.instances.get(id);
        match (index, instance.kind) {
            (PARSER, InstanceKind::Parser(parser)) => {
                self.bind_block(index, &self.hir.parsers[parser].params, instance.span)?;
                self.parser_body(parser)?;
            }
            (1.., InstanceKind::Control(control)) => {
                self.bind_block(index, &self.hir.controls[control].params, instance.span)?;
                self.control_body(control)?;
            }
            _ => return fail(instance.span, format!("a {} cannot be made of this", BLOCKS[index])),
        }
        self.b.jump(done);
        self.b.enter(done);
        self.b.end(ir::Terminator::Return);
        let builder = std::mem::replace(&mut self.b, Builder::new(String::new(), 0));
        let (function, end) = builder.finish();
        self.out.frame.size = self.out.frame.size.max(end);
        Ok(self.out.functions.push(cleanup(function)))
    }

    /// Binds a block's parameters to the variables that all blocks share.
    fn bind_block(&mut self, index: usize, params: &[VarId], span: Span) -> R<()> {
        let Shared { headers, metadata, standard } = self.shared;
        let expected: &[Option<(Place, TypeId)>] = match index {
            PARSER => &[None, Some(headers), Some(metadata), Some(standard)],
            2 | 3 => &[Some(headers), Some(metadata), Some(standard)],
            DEPARSER => &[None, Some(headers)],
            _ => &[Some(headers), Some(metadata)],
        };
        if params.len() != expected.len() {
            let message = format!("a {} takes {} parameters, not {}", BLOCKS[index], expected.len(), params.len());
            return fail(span, message);
        }
        for (&param, expected) in params.iter().zip(expected) {
            let binding = match expected {
                None => Binding::Packet,
                Some((place, ty)) if self.same_storage(*ty, self.hir.vars[param].ty) => Binding::Place(*place),
                Some(_) => {
                    let var = &self.hir.vars[param];
                    let message = format!("`{}` has another type here than in the ingress control", var.name);
                    return fail(var.span, message);
                }
            };
            self.env.insert(param, binding);
        }
        Ok(())
    }

    fn standard_offsets(&mut self) -> Option<StandardMetadata> {
        let (place, ty) = self.shared.standard;
        let layout = self.layout(ty);
        let Shape::Struct(members) = &layout.shape else { return None };
        let at = |name: &str| {
            let member = members.iter().find(|member| member.name == name)?;
            Some(offset(place, member.offset).offset)
        };
        Some(StandardMetadata {
            ingress_port: at("ingress_port")?,
            egress_spec: at("egress_spec")?,
            egress_port: at("egress_port")?,
            instance_type: at("instance_type")?,
            packet_length: at("packet_length")?,
            enq_timestamp: at("enq_timestamp")?,
            enq_qdepth: at("enq_qdepth")?,
            deq_timedelta: at("deq_timedelta")?,
            deq_qdepth: at("deq_qdepth")?,
            ingress_global_timestamp: at("ingress_global_timestamp")?,
            egress_global_timestamp: at("egress_global_timestamp")?,
            mcast_grp: at("mcast_grp")?,
            egress_rid: at("egress_rid")?,
            checksum_error: at("checksum_error")?,
            parser_error: at("parser_error")?,
            priority: at("priority")?,
        })
    }
}
