//! What the engine counts.

mod ports;

pub use self::ports::{PortStats, Ports};

/// Why the switch, not the program, let go of a packet, or that the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// `mark_to_drop` in ingress.
    Ingress,
    /// `mark_to_drop` in egress.
    Egress,
    QueueFull,
    /// It went round or was copied too often, or a loop of the program took too many turns.
    Budget,
    /// A multicast group without members, or one that is not there.
    NoReplica,
    Assertion,
    /// It was in a packet buffer when another program took the place of its own.
    Replaced,
    /// The switch itself failed on it, which is a defect; the log says where.
    Fault,
}

impl DropReason {
    pub const ALL: [Self; 8] = [
        Self::Ingress,
        Self::Egress,
        Self::QueueFull,
        Self::Budget,
        Self::NoReplica,
        Self::Assertion,
        Self::Replaced,
        Self::Fault,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ingress => "ingress",
            Self::Egress => "egress",
            Self::QueueFull => "queue_full",
            Self::Budget => "budget",
            Self::NoReplica => "no_replica",
            Self::Assertion => "assertion",
            Self::Replaced => "replaced",
            Self::Fault => "fault",
        }
    }

    /// For people.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Ingress => "the program marked it in ingress",
            Self::Egress => "the program marked it in egress",
            Self::QueueFull => "the port's queue is full",
            Self::Budget => "it went round or was copied too often",
            Self::NoReplica => "its multicast group or clone session has no ports that are up",
            Self::Assertion => "an assertion of the program failed",
            Self::Replaced => "it was in a packet buffer when the program was replaced",
            Self::Fault => "the switch failed on it; its log says where",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    pub ports: Ports,
    drops: [u64; DropReason::ALL.len()],
    pub parser_errors: u64,
    pub clones: u64,
    pub resubmitted: u64,
    pub recirculated: u64,
}

impl Stats {
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.drops[reason as usize]
    }

    /// Adds what another thread counted.
    pub fn add(&mut self, other: &Self) {
        for (port, theirs) in other.ports.iter() {
            let ours = self.ports.of(port);
            ours.received_packets += theirs.received_packets;
            ours.received_bytes += theirs.received_bytes;
            ours.sent_packets += theirs.sent_packets;
            ours.sent_bytes += theirs.sent_bytes;
        }
        self.drops.iter_mut().zip(&other.drops).for_each(|(ours, theirs)| *ours += theirs);
        self.parser_errors += other.parser_errors;
        self.clones += other.clones;
        self.resubmitted += other.resubmitted;
        self.recirculated += other.recirculated;
    }

    /// Packets received, by all ports.
    pub fn received_packets(&self) -> u64 {
        self.ports.iter().map(|(_, port)| port.received_packets).sum()
    }

    pub(crate) fn drop_packet(&mut self, reason: DropReason) {
        self.drop_packets(reason, 1);
    }

    pub fn drop_packets(&mut self, reason: DropReason, packets: u64) {
        self.drops[reason as usize] += packets;
    }

    #[inline]
    pub(crate) fn received(&mut self, port: u32, bytes: usize) {
        let stats = self.ports.of(port);
        stats.received_packets += 1;
        stats.received_bytes += bytes as u64;
    }

    #[inline]
    pub(crate) fn sent(&mut self, port: u32, bytes: usize) {
        let stats = self.ports.of(port);
        stats.sent_packets += 1;
        stats.sent_bytes += bytes as u64;
    }
}
