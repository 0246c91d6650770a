//! v1model: its six blocks, and the variables that they share.

mod externs;
mod fields;
mod packet_buffer;

use hir::instances::{InstanceId, InstanceKind};
use hir::{TypeId, VarId};
use ir::{FunctionId, Place, StandardMetadata};
use syntax::source::Span;

use crate::context::{Binding, Block, Lower, R, Shared, fail, offset};
use crate::growth::growth;
use crate::layout::Shape;

/// The parameters of `V1Switch`, in order.
const BLOCKS: [&str; 6] = ["parser", "verify_checksum", "ingress", "egress", "compute_checksum", "deparser"];
const PARSER: usize = 0;
const INGRESS: usize = 2;
const EGRESS: usize = 3;
const DEPARSER: usize = 5;

impl Lower<'_> {
    pub fn v1model(&mut self) -> R<()> {
        let blocks = self.v1model_blocks()?;
        self.make_objects();
        self.v1model_functions(blocks);
        Ok(())
    }

    /// Lays out what all blocks share, and answers which instance each block is.
    fn v1model_blocks(&mut self) -> R<[InstanceId; 6]> {
        let span = self.main_span();
        let given: Vec<InstanceId> = self.instances.blocks.iter().copied().flatten().collect();
        let Ok(blocks) = <[InstanceId; 6]>::try_from(given) else {
            return fail(span, "`V1Switch` takes a parser, four controls and a deparser");
        };
        let hir = self.hir;
        let InstanceKind::Control(ingress) = self.instances.get(blocks[INGRESS]).kind else {
            return fail(span, "the third block of `V1Switch` must be a control");
        };
        let [headers, metadata, standard] = hir.controls[ingress].params[..] else {
            return fail(
                hir.controls[ingress].span,
                "an ingress control takes headers, metadata and standard metadata",
            );
        };
        self.check_sizes()?;
        let mut place = |var: VarId| {
            let var = &hir.vars[var];
            (self.persistent(var.ty, &var.name), var.ty)
        };
        let [headers, metadata, standard] = [headers, metadata, standard].map(&mut place);
        self.out.frame.headers = metadata.0.offset;
        self.shared = Some(Shared { headers, metadata, standard });
        self.parser_error = self.standard_field("parser_error").map(|(place, _)| place);
        self.out.standard_metadata = match self.standard_offsets(standard) {
            Some(offsets) => offsets,
            None => return fail(span, "the third parameter of an ingress control must be `standard_metadata_t`"),
        };
        Ok(blocks)
    }

    fn v1model_functions(&mut self, blocks: [InstanceId; 6]) {
        self.annotated_field_lists();
        let mut functions = [FunctionId::default(); 6];
        for (index, id) in blocks.into_iter().enumerate() {
            let digests = self.objects.unnamed_digests.len();
            match self.v1model_function_of(index, id) {
                Ok(function) => functions[index] = function,
                Err(error) => self.diagnostics.push(*error),
            }
            self.number_digests(digests);
        }
        let [parser, verify_checksum, ingress, egress, compute_checksum, deparser] = functions;
        self.out.blocks = ir::Blocks { parser, verify_checksum, ingress, egress, compute_checksum, deparser };
        if !self.diagnostics.has_errors() {
            self.out.header_types = std::mem::take(&mut self.layouts.headers);
            self.out.max_growth = growth(&self.out, deparser);
        }
    }

    fn v1model_function_of(&mut self, index: usize, id: InstanceId) -> R<FunctionId> {
        let instance = self.instances.get(id);
        let span = instance.span;
        match (index, instance.kind) {
            (PARSER, InstanceKind::Parser(parser)) => {
                let params = &self.hir.parsers[parser].params;
                self.function(BLOCKS[index], id, |lower| {
                    lower.bind_block(index, params, span)?;
                    lower.parser_body(parser)
                })
            }
            (1.., InstanceKind::Control(control)) => {
                let params = &self.hir.controls[control].params;
                self.block = match index {
                    INGRESS => Block::Ingress,
                    EGRESS => Block::Egress,
                    _ => Block::Other,
                };
                self.function(BLOCKS[index], id, |lower| {
                    lower.bind_block(index, params, span)?;
                    lower.control_body(control)
                })
            }
            _ => fail(span, format!("a {} cannot be made of this", BLOCKS[index])),
        }
    }

    /// Binds a block's parameters to the variables that all blocks share.
    fn bind_block(&mut self, index: usize, params: &[VarId], span: Span) -> R<()> {
        let Some(Shared { headers, metadata, standard }) = self.shared else { return Ok(()) };
        let expected: &[Option<(Place, TypeId)>] = match index {
            PARSER => &[None, Some(headers), Some(metadata), Some(standard)],
            INGRESS | EGRESS => &[Some(headers), Some(metadata), Some(standard)],
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

    fn standard_offsets(&mut self, (place, ty): (Place, TypeId)) -> Option<StandardMetadata> {
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
