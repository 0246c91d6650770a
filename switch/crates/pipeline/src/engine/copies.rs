//! Copies of a packet: clones, those of packet buffers, replicas of groups.

use std::mem;

use ir::FieldListId;
use runtime::effects::Keep;
use runtime::{Event, KeptPacket};

use super::{Engine, Held};
use crate::meta::{Instance, Metadata};
use crate::replication::Replica;
use crate::stats::DropReason;

impl Engine<'_> {
    /// Copies the packet as it came in, parses it again and sends it to the session's replicas.
    pub(super) fn clone_from_ingress(&mut self, session: u32, fields: Option<FieldListId>, now: u64) {
        let Some(session) = self.clone_session(session) else { return };
        let program = &self.loaded.program;
        let std = &program.standard_metadata;
        let port = self.context.frame.ingress_port(std) as u32;
        let kept = self.kept(fields);
        let truncate = self.context.effects.truncate;
        let mut original = self.hold();
        let effects = mem::take(&mut self.context.effects);
        let share = original.budget / 2;
        self.resume(original.copy(share, "clone from ingress", None), now);
        self.context.start(now);
        self.set_arrival(port, Instance::IngressClone, now);
        self.run(program.blocks.parser);
        self.restore(fields, &kept);
        self.context.frame.set_instance_type(std, Instance::IngressClone as u64);
        if session.truncate != 0 {
            self.context.packet.truncate((session.truncate as usize).max(self.context.cursor));
            self.context.effects.truncate = Some(session.truncate);
        }
        let copy = self.hold();
        self.replicate_clone(copy, &session, now);
        let budget = original.budget - original.budget / 2;
        self.resume(original, now);
        self.budget = budget;
        self.context.effects = effects;
        self.context.effects.truncate = truncate;
    }

    /// Copies the packet as it stands after egress, its metadata reset, and sends it to the session's replicas.
    pub(super) fn clone_from_egress(&mut self, session: u32, fields: Option<FieldListId>, now: u64) {
        let Some(session) = self.clone_session(session) else { return };
        let program = &self.loaded.program;
        let std = &program.standard_metadata;
        let kept = self.kept(fields);
        let persistent = self.context.frame.persistent().to_vec();
        let port = self.context.frame.ingress_port(std);
        let arrival = self.context.frame.ingress_global_timestamp(std);
        self.context.frame.persistent_mut()[program.frame.headers as usize..].fill(0);
        self.context.frame.set_ingress_port(std, port);
        self.context.frame.set_ingress_global_timestamp(std, arrival);
        self.context.frame.set_instance_type(std, Instance::EgressClone as u64);
        self.restore(fields, &kept);
        self.context.frame.set_instance_type(std, Instance::EgressClone as u64);
        let copy = Held {
            frame: self.packing.pack(self.context.frame.persistent()),
            bytes: self.context.packet.bytes().into(),
            priority: self.context.frame.priority(&program.standard_metadata) as u8,
            replica: None,
            queued: None,
            cursor: self.context.cursor,
            truncate: (session.truncate != 0).then_some(session.truncate),
            budget: self.budget / 2,
            trace: self.context.trace.as_mut().map(|trace| Box::new(trace.copied("clone from egress", None))),
        };
        self.budget -= self.budget / 2;
        self.replicate_clone(copy, &session, now);
        self.context.frame.persistent_mut().copy_from_slice(&persistent);
    }

    /// The packet buffers' copies of the packet as it came in.
    #[inline]
    pub(super) fn keep_copies(&mut self) {
        if self.context.effects.keep.is_empty() {
            return;
        }
        for Keep { buffer, queue, number, deadline, fields } in mem::take(&mut self.context.effects.keep) {
            let port = self.context.frame.ingress_port(&self.loaded.program.standard_metadata) as u32;
            let (bytes, values) = (self.context.packet.bytes().into(), self.kept(Some(fields)).into());
            let packet = KeptPacket { port, bytes, fields, values, budget: self.budget };
            self.loaded.device.keep(buffer, queue, number, deadline, packet);
        }
    }

    /// Puts a copy out of a packet buffer into the context.
    pub(super) fn start_kept(&mut self, kept: KeptPacket, now: u64) {
        self.context.packet.refill(self.headroom, &kept.bytes);
        self.context.start(now);
        self.budget = kept.budget;
        self.set_arrival(kept.port, Instance::Kept, now);
        self.restore(Some(kept.fields), &kept.values);
    }

    pub(super) fn clone_session(&mut self, session: u32) -> Option<crate::CloneSession> {
        let found = u16::try_from(session).ok().and_then(|id| self.loaded.replication.session(id));
        if found.is_none() {
            self.trace(|| Event::NoCloneSession { session });
        }
        found
    }

    pub(super) fn replicate_clone(&mut self, copy: Held, session: &crate::CloneSession, now: u64) {
        let replicas = self.loaded.replication.session_copies(session);
        self.traffic.stats.clones += replicas.len() as u64;
        self.replicate(copy, &replicas, session.class_of_service, now);
    }

    /// Puts a copy for each replica in its port's queue.
    pub(super) fn replicate(&mut self, mut held: Held, replicas: &[Replica], class_of_service: u8, now: u64) {
        let Some((last, others)) = replicas.split_last() else {
            self.drop_held(held, DropReason::NoReplica);
            return;
        };
        let share = held.budget / replicas.len() as u32;
        if share == 0 {
            self.drop_held(held, DropReason::Budget);
            return;
        }
        for replica in others {
            let copy = held.copy(share, "replica", Some(replica.port));
            self.enqueue_replica(copy, replica, class_of_service, now);
        }
        let trace = held.trace.as_mut().map(|trace| Box::new(trace.copied("replica", Some(last.port))));
        let copy = Held { budget: share, trace, ..held };
        self.enqueue_replica(copy, last, class_of_service, now);
    }

    fn enqueue_replica(&mut self, mut copy: Held, replica: &Replica, class: u8, now: u64) {
        copy.replica = Some(replica.instance);
        self.enqueue(replica.port, class.max(copy.priority), copy, now);
    }

    pub(super) fn enqueue(&mut self, port: u32, priority: u8, mut held: Held, now: u64) {
        held.queued = Some((now / 1000, self.traffic.queues.depth(port)));
        if let Err(held) = self.traffic.queues.push(port, priority, held, now) {
            self.drop_held(held, DropReason::QueueFull);
        }
    }
}
