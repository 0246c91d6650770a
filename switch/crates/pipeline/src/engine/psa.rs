//! The way of one packet through the Portable Switch Architecture (PSA 1.2, section 6).

use ir::{Kept, Psa};

use super::{Engine, Held, Sink};
use crate::PSA_PORT_RECIRCULATE;
use crate::stats::DropReason;

/// `PSA_PacketPath_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    Normal = 0,
    NormalUnicast = 1,
    NormalMulticast = 2,
    CloneFromIngress = 3,
    CloneFromEgress = 4,
    Resubmit = 5,
    Recirculate = 6,
}

impl Engine<'_> {
    pub(super) fn psa_ingress(&mut self, psa: &Psa, port: u32, path: Path, now: u64, sink: &mut impl Sink) {
        let at = &psa.metadata;
        let mut path = path;
        loop {
            self.set(at.ingress_parser_port, 32, port.into());
            self.set(at.ingress_parser_path, 32, path as u64);
            self.run(psa.blocks.ingress_parser);
            // The parser says so by its error, ParserTimeout.
            self.context.ran_out_of_fuel();
            self.count_parser_error(at.ingress_parser_error);
            self.set(at.ingress_port, 32, port.into());
            self.set(at.ingress_path, 32, path as u64);
            self.set(at.ingress_timestamp, 64, now / 1000);
            self.set(at.ingress_drop, 1, 1);
            self.run(psa.blocks.ingress);
            self.run(psa.blocks.ingress_deparser);
            if !self.tell(now, sink) {
                return;
            }
            if self.get(at.ingress_clone, 1) != 0 {
                self.psa_clone_from_ingress(psa, now);
            }
            if self.get(at.ingress_drop, 1) != 0 {
                self.drop_packet(DropReason::Ingress);
                return;
            }
            if self.get(at.ingress_resubmit, 1) == 0 {
                break;
            }
            if !self.spend() {
                return;
            }
            self.traffic.stats.resubmitted += 1;
            self.go_on_as("resubmit");
            self.start_with(psa.resubmit, now);
            path = Path::Resubmit;
        }
        self.context.finish();
        let class = self.get(at.ingress_class_of_service, 8);
        self.set(at.class_of_service, 8, class);
        let group = self.get(at.multicast_group, 32);
        if group != 0 {
            self.set_path(psa, Path::NormalMulticast);
            let replicas = u16::try_from(group).map(|group| self.loaded.replication.group(group)).unwrap_or_default();
            let held = self.hold();
            self.replicate(held, &replicas, priority(class), now);
            return;
        }
        self.set_path(psa, Path::NormalUnicast);
        let port = self.get(at.chosen_port, 32) as u32;
        if port == PSA_PORT_RECIRCULATE || self.traffic.queues.is_idle(port, now) && sink.ready(port) {
            self.psa_egress(psa, port, now, sink);
        } else {
            let held = self.hold();
            self.enqueue(port, priority(class), held, now);
        }
    }

    pub(super) fn psa_egress(&mut self, psa: &Psa, port: u32, now: u64, sink: &mut impl Sink) {
        let at = &psa.metadata;
        self.set(at.egress_parser_port, 32, port.into());
        self.run(psa.blocks.egress_parser);
        self.context.ran_out_of_fuel();
        self.count_parser_error(at.egress_parser_error);
        self.set(at.egress_port, 32, port.into());
        self.set(at.egress_timestamp, 64, now / 1000);
        self.run(psa.blocks.egress);
        self.set(at.egress_deparser_port, 32, port.into());
        self.run(psa.blocks.egress_deparser);
        if !self.tell(now, sink) {
            return;
        }
        self.context.finish();
        if self.get(at.egress_clone, 1) != 0 {
            self.psa_clone_from_egress(psa, now);
        }
        if self.get(at.egress_drop, 1) != 0 {
            self.drop_packet(DropReason::Egress);
            return;
        }
        if let Some(bytes) = self.context.effects.truncate {
            self.context.packet.truncate(bytes as usize);
        }
        if port != PSA_PORT_RECIRCULATE {
            self.transmit(port, now, sink);
        } else if self.spend() {
            self.traffic.stats.recirculated += 1;
            self.go_on_as("recirculate");
            self.start_with(psa.recirculate, now);
            let held = self.hold();
            self.traffic.returning.push_back(held);
        }
    }

    /// Sends the packet as it came in, with what the deparser left for such a clone, to the session's replicas.
    fn psa_clone_from_ingress(&mut self, psa: &Psa, now: u64) {
        let session = self.get(psa.metadata.ingress_clone_session, 16) as u32;
        self.psa_clone(psa, session, psa.clone_i2e, Path::CloneFromIngress, "clone from ingress", now);
    }

    /// The same with the packet as it leaves egress.
    fn psa_clone_from_egress(&mut self, psa: &Psa, now: u64) {
        let session = self.get(psa.metadata.egress_clone_session, 16) as u32;
        self.psa_clone(psa, session, psa.clone_e2e, Path::CloneFromEgress, "clone from egress", now);
    }

    fn psa_clone(&mut self, psa: &Psa, session: u32, kept: Kept, path: Path, reason: &'static str, now: u64) {
        let Some(session) = self.clone_session(session) else { return };
        let mut frame = vec![0; self.context.frame.persistent().len()].into_boxed_slice();
        let range = kept.offset as usize..(kept.offset + kept.bytes) as usize;
        frame[range].copy_from_slice(self.context.frame.bytes(kept.offset, kept.bytes));
        for offset in [psa.metadata.egress_parser_path, psa.metadata.egress_path] {
            frame[offset as usize..][..4].copy_from_slice(&(path as u32).to_le_bytes());
        }
        frame[psa.metadata.class_of_service as usize] = session.class_of_service;
        let mut bytes: Box<[u8]> = self.context.packet.bytes().into();
        if session.truncate != 0 && bytes.len() > session.truncate as usize {
            bytes = bytes[..session.truncate as usize].into();
        }
        let copy = Held {
            frame: self.packing.pack(&frame),
            bytes,
            priority: 0,
            replica: None,
            queued: None,
            cursor: 0,
            truncate: None,
            budget: self.budget / 2,
            trace: self.context.trace.as_mut().map(|trace| Box::new(trace.copied(reason, None))),
        };
        self.budget -= self.budget / 2;
        self.replicate_clone(copy, &session, now);
    }

    /// The packet goes round, and of its memory only what is kept.
    fn start_with(&mut self, kept: Kept, now: u64) {
        let value = self.context.frame.bytes(kept.offset, kept.bytes).to_vec();
        self.context.start(now);
        self.context.frame.bytes_mut(kept.offset, kept.bytes).copy_from_slice(&value);
    }

    fn set_path(&mut self, psa: &Psa, path: Path) {
        self.set(psa.metadata.egress_parser_path, 32, path as u64);
        self.set(psa.metadata.egress_path, 32, path as u64);
    }

    fn set(&mut self, at: u32, width: u32, value: u64) {
        self.context.frame.write(at, width, value.into());
    }

    fn get(&self, at: u32, width: u32) -> u64 {
        self.context.frame.read(at, width) as u64
    }
}

/// The queue of a class of service: there are eight, and the last is the most urgent.
fn priority(class: u64) -> u8 {
    class.min(7) as u8
}
