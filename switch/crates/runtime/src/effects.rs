//! What a run of a block asks the pipeline to do afterwards.

use ir::{BufferId, DigestId, FieldListId, StringId};
use num_bigint::BigUint;

/// A copy of the packet that is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub buffer: BufferId,
    pub queue: u32,
    pub number: u32,
    /// Nanoseconds.
    pub deadline: u64,
    pub fields: FieldListId,
}

/// Requests left by one packet; the pipeline clears them between packets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Session and kept fields of the last `clone` from ingress.
    pub clone_i2e: Option<(u32, Option<FieldListId>)>,
    /// Session and kept fields of the last `clone` from egress.
    pub clone_e2e: Option<(u32, Option<FieldListId>)>,
    pub resubmit: Option<Option<FieldListId>>,
    pub recirculate: Option<Option<FieldListId>>,
    /// Copies for which there is room.
    pub keep: Vec<Keep>,
    /// Bytes the packet is cut to when it leaves.
    pub truncate: Option<u32>,
    /// Messages for the control plane, members in the order of the digest's widths.
    pub digests: Vec<(DigestId, Vec<BigUint>)>,
    /// Formatted `log_msg` lines.
    pub log: Vec<String>,
    /// The text of an `assert` or `assume` that did not hold.
    pub assertion_failed: Option<StringId>,
    /// A backend failed in the middle of the packet, which must be dropped.
    pub fault: bool,
}

impl Effects {
    /// Whether the control plane is told something, or the packet given up.
    #[inline]
    pub fn has_to_tell(&self) -> bool {
        let Self { digests, log, assertion_failed, fault, .. } = self;
        !digests.is_empty() || !log.is_empty() || assertion_failed.is_some() || *fault
    }

    /// Whether copies are made of a packet that leaves ingress, or it goes round.
    #[inline]
    pub fn copies_behind_ingress(&self) -> bool {
        self.clone_i2e.is_some() || self.resubmit.is_some() || !self.keep.is_empty()
    }

    /// Forgets everything but keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.clone_i2e = None;
        self.clone_e2e = None;
        self.resubmit = None;
        self.recirculate = None;
        self.keep.clear();
        self.truncate = None;
        self.digests.clear();
        self.log.clear();
        self.assertion_failed = None;
        self.fault = false;
    }
}
