//! The Portable Switch Architecture: its six blocks, and the variables that they share.

mod checksum;
mod crc;
mod externs;
mod identity;

pub use checksum::Checksum;
use hir::instances::{InstanceId, InstanceKind};
use hir::{TypeId, VarId};
use ir::{FunctionId, Kept, Place, Psa, StandardMetadata};

use crate::context::{Binding, Lower, R, fail};
use crate::growth::growth;

/// The parameters of the two pipelines, in order.
const BLOCKS: [&str; 6] =
    ["ingress parser", "ingress", "ingress deparser", "egress parser", "egress", "egress deparser"];
const INGRESS_PARSER: usize = 0;
const INGRESS_DEPARSER: usize = 2;
const EGRESS_PARSER: usize = 3;
const EGRESS_DEPARSER: usize = 5;

/// What a parameter of a block stands for.
#[derive(Clone, Copy)]
enum Param {
    Packet,
    /// A variable of the list in [`VARIABLES`].
    Variable(usize),
}

use Param::{Packet, Variable};

/// The variables: the name for traces, and the block and parameter that give its type. Headers come first.
const VARIABLES: [(&str, usize, usize); 16] = [
    ("ingress.hdr", INGRESS_PARSER, 1),
    ("egress.hdr", EGRESS_PARSER, 1),
    ("ingress.meta", INGRESS_PARSER, 2),
    ("egress.meta", EGRESS_PARSER, 2),
    ("resubmit", INGRESS_PARSER, 4),
    ("recirculate", INGRESS_PARSER, 5),
    ("clone_i2e", EGRESS_PARSER, 5),
    ("clone_e2e", EGRESS_PARSER, 6),
    ("normal", EGRESS_PARSER, 4),
    ("ingress parser input", INGRESS_PARSER, 3),
    ("ingress input", 1, 2),
    ("ingress output", 1, 3),
    ("egress parser input", EGRESS_PARSER, 3),
    ("egress input", 4, 2),
    ("egress output", 4, 3),
    ("egress deparser input", EGRESS_DEPARSER, 6),
];
const HEADERS: usize = 2;
const RESUBMIT: usize = 4;
const RECIRCULATE: usize = 5;
const CLONE_I2E: usize = 6;
const CLONE_E2E: usize = 7;

/// The parameters of each block.
const BINDINGS: [&[Param]; 6] = [
    &[Packet, Variable(0), Variable(2), Variable(9), Variable(4), Variable(5)],
    &[Variable(0), Variable(2), Variable(10), Variable(11)],
    &[Packet, Variable(6), Variable(4), Variable(8), Variable(0), Variable(2), Variable(11)],
    &[Packet, Variable(1), Variable(3), Variable(12), Variable(8), Variable(6), Variable(7)],
    &[Variable(1), Variable(3), Variable(13), Variable(14)],
    &[Packet, Variable(7), Variable(5), Variable(1), Variable(3), Variable(14), Variable(15)],
];

type Variables = Vec<(Place, TypeId)>;

impl Lower<'_> {
    pub fn psa(&mut self) -> R<()> {
        let given: Vec<InstanceId> = self.instances.blocks.iter().copied().flatten().collect();
        let Ok(blocks) = <[InstanceId; 6]>::try_from(given) else {
            return fail(self.main_span(), "each pipeline of `PSA_Switch` takes a parser, a control and a deparser");
        };
        for (index, id) in blocks.into_iter().enumerate() {
            let is_parser = matches!(self.instances.get(id).kind, InstanceKind::Parser(_));
            let params = self.block_params(id);
            if is_parser != matches!(index, INGRESS_PARSER | EGRESS_PARSER) || params.len() != BINDINGS[index].len() {
                return fail(self.instances.get(id).span, format!("no {} can be made of this", BLOCKS[index]));
            }
        }
        self.check_sizes()?;
        let mut variables = Variables::new();
        for (index, (name, block, param)) in VARIABLES.into_iter().enumerate() {
            if index == HEADERS {
                self.out.frame.headers = self.out.frame.persistent;
            }
            let ty = self.hir.vars[self.block_params(blocks[block])[param]].ty;
            variables.push((self.persistent(ty, name), ty));
        }
        let mut psa = self.kept(&variables);
        self.place_metadata(&mut psa, &variables)?;
        self.place_engine_notes(&psa);
        self.make_objects();
        let mut functions = [FunctionId::default(); 6];
        for (index, id) in blocks.into_iter().enumerate() {
            self.parser_error = match index {
                INGRESS_PARSER => Some(Place::at(psa.metadata.ingress_parser_error)),
                EGRESS_PARSER => Some(Place::at(psa.metadata.egress_parser_error)),
                _ => None,
            };
            match self.psa_block(index, id, &variables) {
                Ok(function) => functions[index] = function,
                Err(error) => self.diagnostics.push(*error),
            }
        }
        psa.blocks = functions.into();
        self.out.psa = Some(psa);
        self.out.header_types = std::mem::take(&mut self.layouts.headers);
        if !self.diagnostics.has_errors() {
            let [ingress, egress] = [functions[INGRESS_DEPARSER], functions[EGRESS_DEPARSER]];
            self.out.max_growth = growth(&self.out, ingress).saturating_add(growth(&self.out, egress));
        }
        Ok(())
    }

    fn block_params(&self, id: InstanceId) -> &[VarId] {
        match self.instances.get(id).kind {
            InstanceKind::Parser(parser) => &self.hir.parsers[parser].params,
            InstanceKind::Control(control) => &self.hir.controls[control].params,
            InstanceKind::Extern(_) => &[],
        }
    }

    fn psa_block(&mut self, index: usize, id: InstanceId, variables: &Variables) -> R<FunctionId> {
        let params = self.block_params(id).to_vec();
        let kind = self.instances.get(id).kind;
        self.function(BLOCKS[index], id, |lower| {
            for (param, stands_for) in params.into_iter().zip(BINDINGS[index]) {
                let binding = match stands_for {
                    Packet => Binding::Packet,
                    Variable(number) => {
                        let (place, ty) = variables[*number];
                        let var = &lower.hir.vars[param];
                        if !lower.same_storage(ty, var.ty) {
                            let message = format!("`{}` has another type here than in the other blocks", var.name);
                            return fail(var.span, message);
                        }
                        Binding::Place(place)
                    }
                };
                lower.env.insert(param, binding);
            }
            match kind {
                InstanceKind::Parser(parser) => lower.parser_body(parser),
                InstanceKind::Control(control) => lower.control_body(control),
                InstanceKind::Extern(_) => Ok(()),
            }
        })
    }

    /// What goes with a packet to its next pass.
    fn kept(&mut self, variables: &Variables) -> Psa {
        let mut kept = |index: usize| {
            let (place, ty) = variables[index];
            Kept { offset: place.offset, bytes: self.layout(ty).size }
        };
        Psa {
            resubmit: kept(RESUBMIT),
            recirculate: kept(RECIRCULATE),
            clone_i2e: kept(CLONE_I2E),
            clone_e2e: kept(CLONE_E2E),
            ..Psa::default()
        }
    }

    /// Finds the fields of psa.p4's structures, which need the widths that ours has.
    fn place_metadata(&mut self, psa: &mut Psa, variables: &Variables) -> R<()> {
        let span = self.main_span();
        for (width, of, name, offset) in psa.metadata.fields_mut() {
            let at = VARIABLES.iter().position(|(variable, ..)| *variable == of).unwrap_or_default();
            let (place, ty) = variables[at];
            match self.field(place, ty, name) {
                Some((field, found)) if found == width => *offset = field.offset,
                _ => return fail(span, format!("`{name}` of psa.p4's {of} must be there and have {width} bits")),
            }
        }
        Ok(())
    }

    /// Where the queues note what only v1model's programs can read.
    fn place_engine_notes(&mut self, psa: &Psa) {
        let unread = self.out.frame.persistent;
        self.extend_persistent(8);
        let priority = self.out.frame.persistent;
        self.extend_persistent(8);
        self.out.standard_metadata = StandardMetadata {
            egress_rid: psa.metadata.instance,
            priority,
            ingress_port: unread,
            egress_spec: unread,
            egress_port: unread,
            instance_type: unread,
            packet_length: unread,
            enq_timestamp: unread,
            enq_qdepth: unread,
            deq_timedelta: unread,
            deq_qdepth: unread,
            ingress_global_timestamp: unread,
            egress_global_timestamp: unread,
            mcast_grp: unread,
            checksum_error: unread,
            parser_error: unread,
        };
    }
}
