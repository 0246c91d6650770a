//! Packets between two blocks, beside the context that runs one at a time.

use ir::FieldListId;
use runtime::Recorder;

use super::Engine;
use crate::meta::Metadata;

/// A packet between two blocks. A thousand may wait for each port, so it takes no more memory than it needs.
#[derive(Debug)]
pub(super) struct Held {
    /// The persistent part of its frame, packed.
    pub(super) frame: Box<[u8]>,
    pub(super) bytes: Box<[u8]>,
    pub(super) priority: u8,
    /// What is in its metadata when it is taken up again: its instance of a group, when it was put in the queue, in
    /// microseconds, and behind how many.
    pub(super) replica: Option<u16>,
    pub(super) queued: Option<(u64, usize)>,
    pub(super) cursor: usize,
    /// Cut to this many bytes when it leaves.
    pub(super) truncate: Option<u32>,
    pub(super) budget: u32,
    pub(super) trace: Option<Box<Recorder>>,
}

impl Held {
    pub(super) fn copy(&mut self, budget: u32, reason: &'static str, port: Option<u32>) -> Self {
        Self {
            trace: self.trace.as_mut().map(|trace| Box::new(trace.copied(reason, port))),
            frame: self.frame.clone(),
            bytes: self.bytes.clone(),
            budget,
            ..*self
        }
    }
}

impl Engine<'_> {
    /// The values of a field list.
    pub(super) fn kept(&self, fields: Option<FieldListId>) -> Vec<u8> {
        let Some(fields) = fields else { return vec![] };
        let places = &self.loaded.program.field_lists[fields].places;
        places.iter().flat_map(|(offset, bytes)| self.context.frame.bytes(*offset, *bytes)).copied().collect()
    }

    pub(super) fn restore(&mut self, fields: Option<FieldListId>, mut kept: &[u8]) {
        let Some(fields) = fields else { return };
        for (offset, bytes) in &self.loaded.program.field_lists[fields].places {
            let (value, rest) = kept.split_at(*bytes as usize);
            self.context.frame.bytes_mut(*offset, *bytes).copy_from_slice(value);
            kept = rest;
        }
    }

    /// Keeps the packet beside the context, whose buffer serves the next one.
    pub(super) fn hold(&mut self) -> Held {
        Held {
            frame: self.packing.pack(self.context.frame.persistent()),
            bytes: self.context.packet.bytes().into(),
            priority: self.context.frame.priority(&self.loaded.program.standard_metadata) as u8,
            replica: None,
            queued: None,
            cursor: self.context.cursor,
            truncate: self.context.effects.truncate,
            budget: self.budget,
            trace: self.context.trace.take(),
        }
    }

    /// Puts a packet into the context.
    pub(super) fn resume(&mut self, held: Held, now: u64) {
        self.context.packet.refill(self.headroom, &held.bytes);
        self.context.start(now);
        let (frame, std) = (&mut self.context.frame, &self.loaded.program.standard_metadata);
        self.packing.unpack(&held.frame, frame.persistent_mut());
        if let Some(instance) = held.replica {
            frame.set_egress_rid(std, u64::from(instance));
        }
        if let Some((at, depth)) = held.queued {
            frame.set_enq_timestamp(std, at);
            frame.set_enq_qdepth(std, depth as u64);
        }
        self.context.cursor = held.cursor;
        self.context.effects.truncate = held.truncate;
        self.context.trace = held.trace;
        self.budget = held.budget;
    }
}
