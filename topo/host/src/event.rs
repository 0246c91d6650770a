//! What a host tells.

use std::net::{Ipv6Addr, SocketAddrV6};

use serde::Serialize;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// By the caller's clock.
    pub at_ns: u64,
    /// Which flow it belongs to; none where it is the host's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    #[serde(flatten)]
    pub what: What,
}

/// Kinds of events. In JSON the kind stands under `event`, beside its fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A command was taken and has this flow now.
    Started {
        app: &'static str,
    },
    /// A flow was ended by a command.
    Stopped,
    /// A command could not be carried out.
    Refused {
        text: String,
    },

    AddressAdded {
        address: String,
    },
    /// Its lifetime is over, or a router took it back.
    AddressRemoved {
        address: String,
    },
    /// Another host has it too; this one gave it up (RFC 4862, section 5.4.5).
    AddressDuplicate {
        address: String,
    },
    RouterAdded {
        router: Ipv6Addr,
    },
    RouterRemoved {
        router: Ipv6Addr,
    },
    /// It did not answer solicitations; packets for it were lost.
    NeighbourUnreachable {
        neighbour: Ipv6Addr,
        packets: usize,
    },
    /// There is no router for packets to this destination; told once a second, the others counted.
    NoRoute {
        destination: Ipv6Addr,
        held_back: u64,
    },
    /// Packets are not longer than this from now on.
    PathMtu {
        mtu: usize,
    },
    /// An ICMPv6 error came. Of errors that repeat only one a second is told, with the number of those held back.
    IcmpError {
        error: &'static str,
        code: u8,
        from: Ipv6Addr,
        destination: Ipv6Addr,
        #[serde(skip_serializing_if = "Option::is_none")]
        mtu: Option<u32>,
        held_back: u64,
    },
    LinkUp,
    LinkDown,
    Status(Status),

    PingReply {
        sequence: u32,
        from: Ipv6Addr,
        bytes: usize,
        rtt_ns: u64,
    },
    PingLost {
        sequence: u32,
    },
    PingDone {
        sent: u32,
        received: u32,
        lost: u32,
        rtt: Option<Spread>,
    },

    /// A connection stands, at either end.
    TcpConnected {
        local: SocketAddrV6,
        remote: SocketAddrV6,
    },
    /// What went through in an interval. A sender counts what the other end has acknowledged. `longest_gap_ns` is the longest
    /// time without a byte, also one that began earlier or still lasts.
    Rate {
        bytes: u64,
        total_bytes: u64,
        interval_ns: u64,
        bits_per_second: u64,
        longest_gap_ns: u64,
    },
    TcpDone {
        outcome: Outcome,
        bytes: u64,
        duration_ns: u64,
        bits_per_second: u64,
        /// A sink says whether all bytes were those that a sender sends.
        #[serde(skip_serializing_if = "Option::is_none")]
        intact: Option<bool>,
    },
    /// In an interval; `longest_gap_ns` is the longest time without an answer, also one that still lasts.
    Requests {
        sent: u64,
        answered: u64,
        longest_gap_ns: u64,
    },
    RequestsDone {
        outcome: Outcome,
        sent: u64,
        answered: u64,
        longest_gap_ns: u64,
        longest_gap_at_ns: u64,
        rtt: Option<Spread>,
    },

    UdpSent {
        datagrams: u64,
        bytes: u64,
    },
    UdpReport(UdpReport),
}

/// Least, mean and greatest of what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub min_ns: u64,
    pub mean_ns: u64,
    pub max_ns: u64,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Finished,
    /// Nobody listens there.
    Refused,
    /// The other end broke it off.
    Reset,
    /// The other end has not answered for too long.
    TimedOut,
    /// This host has no address that reaches there.
    NoAddress,
    Stopped,
}

/// What a receiver has seen of one stream since it began.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UdpReport {
    pub from: SocketAddrV6,
    pub received: u64,
    pub bytes: u64,
    /// Up to the highest sequence number that arrived.
    pub expected: u64,
    pub lost: u64,
    pub duplicates: u64,
    /// Arrived after one with a higher sequence number (RFC 4737).
    pub reordered: u64,
    /// RFC 3550, section 6.4.1.
    pub jitter_ns: u64,
    /// The longest time without an arrival, and when it began.
    pub longest_gap_ns: u64,
    pub longest_gap_at_ns: u64,
    /// The stream has fallen silent.
    pub ended: bool,
}

/// A host's own state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    pub mac: String,
    pub mtu: usize,
    pub addresses: Vec<String>,
    pub routers: Vec<Ipv6Addr>,
    pub neighbours: Vec<NeighbourStatus>,
    pub flows: Vec<FlowStatus>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NeighbourStatus {
    pub address: Ipv6Addr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    pub state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowStatus {
    pub flow: u32,
    pub app: &'static str,
}
