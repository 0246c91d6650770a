//! The way of one packet through the blocks of v1model.

use ir::{FieldListId, StandardMetadata};
use runtime::{Backend, Context, FrameMemory, Stop};

use super::{Engine, Held, Sink};
use crate::DROP_PORT;
use crate::meta::{Instance, Metadata};
use crate::queue::Queues;
use crate::stats::DropReason;

/// How many of the blocks have run, in their order, behind some of them.
const PARSED: usize = 1;
const INGRESS_DONE: usize = 3;
const EGRESS_DONE: usize = 4;
const ALL: usize = 6;

impl Engine<'_> {
    pub(super) fn ingress(&mut self, now: u64, sink: &mut impl Sink) {
        let std = &self.loaded.program.standard_metadata;
        loop {
            let (mut ran, mut port) = self.run_on(0, now, sink);
            if ran == PARSED {
                // The parser says so by its error, ParserTimeout.
                self.context.ran_out_of_fuel();
                self.count_parser_error(std.parser_error);
            }
            while ran < INGRESS_DONE {
                (ran, port) = self.run_on(ran, now, sink);
            }
            if ran > INGRESS_DONE {
                return self.egress_ran(ran, port, now, sink);
            }
            if !self.tell(now, sink) {
                return;
            }
            self.keep_copies();
            if let Some((session, fields)) = self.context.effects.clone_i2e.take() {
                self.clone_from_ingress(session, fields, now);
            }
            let Some(fields) = self.context.effects.resubmit.take() else { break };
            if !self.spend() {
                return;
            }
            self.traffic.stats.resubmitted += 1;
            self.go_on_as("resubmit");
            let port = self.context.frame.ingress_port(std) as u32;
            let kept = self.kept(fields);
            self.context.start(now);
            self.set_arrival(port, Instance::Resubmitted, now);
            self.restore(fields, &kept);
        }
        let frame = &mut self.context.frame;
        let group = frame.mcast_grp(std) as u16;
        let port = frame.egress_spec(std) as u32;
        if group != 0 {
            frame.set_instance_type(std, Instance::Replicated as u64);
            let replicas = self.loaded.replication.group(group);
            let held = self.hold();
            self.replicate(held, &replicas, 0, now);
        } else if port == DROP_PORT {
            self.drop_packet(DropReason::Ingress);
        } else if self.traffic.queues.is_idle(port, now) && sink.ready(port) {
            pass_queue(frame, std, now);
            self.egress(port, now, sink);
        } else {
            frame.set_instance_type(std, Instance::Normal as u64);
            let held = self.hold();
            self.enqueue(port, held.priority, held, now);
        }
    }

    pub(super) fn egress(&mut self, port: u32, now: u64, sink: &mut impl Sink) {
        enter_egress(&mut self.context, &self.loaded.program.standard_metadata, port, now);
        let (ran, _) = self.run_on(INGRESS_DONE, now, sink);
        self.egress_ran(ran, port, now, sink);
    }

    /// Goes on behind egress, of whose blocks some have run.
    fn egress_ran(&mut self, mut ran: usize, port: u32, now: u64, sink: &mut impl Sink) {
        if ran == EGRESS_DONE {
            if let Some((session, fields)) = self.context.effects.clone_e2e.take() {
                self.clone_from_egress(session, fields, now);
            }
            if is_dropped(&self.context.frame, &self.loaded.program.standard_metadata) {
                if self.tell(now, sink) {
                    self.drop_packet(DropReason::Egress);
                }
                return;
            }
        }
        while ran < ALL {
            (ran, _) = self.run_on(ran, now, sink);
        }
        if !self.tell(now, sink) {
            return;
        }
        self.context.finish();
        if let Some(bytes) = self.context.effects.truncate {
            self.context.packet.truncate(bytes as usize);
        }
        if let Some(fields) = self.context.effects.recirculate.take() {
            if self.spend() {
                self.recirculate(fields, now);
            }
            return;
        }
        self.transmit(port, now, sink);
    }

    /// Runs blocks, `ran` of which have run before, until there is something to do in between. Answers how many have run then,
    /// and where the packet goes if ingress was among them and egress too. Those of a traced packet run one by one.
    fn run_on(&mut self, ran: usize, now: u64, sink: &impl Sink) -> (usize, u32) {
        let blocks = self.loaded.program.blocks.in_order();
        let (std, queues) = (&self.loaded.program.standard_metadata, &self.traffic.queues);
        let mut port = 0;
        let mut asked = |context: &mut Context<'_>, behind: usize| match ran + behind {
            PARSED => context.frame.read(std.parser_error, 32) != 0,
            INGRESS_DONE => match goes_straight_on(context, std, queues, now, sink) {
                Some(to) => {
                    port = to;
                    false
                }
                None => true,
            },
            EGRESS_DONE => context.effects.clone_e2e.is_some() || is_dropped(&context.frame, std),
            _ => false,
        };
        let behind = [PARSED, INGRESS_DONE, EGRESS_DONE].iter().fold(0, |bits, place| bits | 1 << (place - 1)) >> ran;
        let mut stop = Stop { behind, asked: &mut asked };
        let behind = match self.context.trace {
            None => self.backend.run_some(&blocks[ran..], &mut self.context, &mut stop),
            Some(_) => self.loaded.tracer().run_some(&blocks[ran..], &mut self.context, &mut stop),
        };
        self.context.registers.end_turn();
        (ran + behind, port)
    }

    /// The packet that left the deparser becomes a new one.
    fn recirculate(&mut self, fields: Option<FieldListId>, now: u64) {
        self.traffic.stats.recirculated += 1;
        self.go_on_as("recirculate");
        let port = self.context.frame.ingress_port(&self.loaded.program.standard_metadata) as u32;
        let kept = self.kept(fields);
        self.context.start(now);
        self.set_arrival(port, Instance::Recirculated, now);
        self.restore(fields, &kept);
        let held = self.hold();
        self.traffic.returning.push_back(held);
    }

    pub(super) fn set_arrival(&mut self, port: u32, instance: Instance, now: u64) {
        let std = &self.loaded.program.standard_metadata;
        let length = self.context.packet.len() as u64;
        let frame = &mut self.context.frame;
        frame.set_ingress_port(std, u64::from(port));
        frame.set_instance_type(std, instance as u64);
        frame.set_packet_length(std, length);
        frame.set_ingress_global_timestamp(std, now / 1000);
    }
}

/// Where a packet leaves that ingress has nothing to say of, no copy is made of and its port takes now: it enters egress.
#[inline]
fn goes_straight_on(
    context: &mut Context<'_>,
    std: &StandardMetadata,
    queues: &Queues<Held>,
    now: u64,
    sink: &impl Sink,
) -> Option<u32> {
    let port = context.frame.egress_spec(std) as u32;
    let effects = &context.effects;
    let asks = effects.has_to_tell() || effects.copies_behind_ingress() || context.fuel == 0;
    if asks || context.frame.mcast_grp(std) != 0 || port == DROP_PORT || !queues.is_idle(port, now) || !sink.ready(port)
    {
        return None;
    }
    pass_queue(&mut context.frame, std, now);
    enter_egress(context, std, port, now);
    Some(port)
}

/// The port's queue is empty, and the packet does not wait in it.
#[inline]
fn pass_queue(frame: &mut FrameMemory, std: &StandardMetadata, now: u64) {
    frame.set_instance_type(std, Instance::Normal as u64);
    frame.set_enq_timestamp(std, now / 1000);
}

#[inline]
fn enter_egress(context: &mut Context<'_>, std: &StandardMetadata, port: u32, now: u64) {
    let length = context.packet.len() as u64;
    let frame = &mut context.frame;
    frame.set_egress_port(std, u64::from(port));
    frame.set_egress_spec(std, 0);
    frame.set_egress_global_timestamp(std, now / 1000);
    frame.set_packet_length(std, length);
}

#[inline]
fn is_dropped(frame: &FrameMemory, std: &StandardMetadata) -> bool {
    frame.egress_spec(std) as u32 == DROP_PORT
}
