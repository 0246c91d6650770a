//! The architecture around a program. v1model's: parser, checksums, ingress, queues, egress, deparser, and the ways by
//! which a packet is copied or goes round again.
//!
//! ```text
//!   receive -> parser -> verify -> ingress -+-> unicast ----> queue of the port -> egress -> checksum -> deparser -+-> transmit
//!      ^                              |     +-> multicast -->       "                |                             |
//!      |                              +-------> clone ------>       "   <-- clone ---+                             |
//!      +------------ resubmit --------+                                                                            |
//!      +------------------------------------------- recirculate ---------------------------------------------------+
//! ```
//!
//! PSA's ends ingress with a deparser and begins egress with a parser, and has the same queues between them.
//!
//! [`Engine`] runs packets and knows neither threads nor sockets nor clocks: packets and time come as arguments, what
//! leaves goes to a [`Sink`].

mod engine;
mod gate;
mod loaded;
mod meta;
mod packed_frame;
mod queue;
mod replication;
mod specialiser;
mod stats;
mod switch;

pub use engine::{Engine, FlowStats, Message, Sink, Traffic};
pub use gate::Gate;
pub use jit::{Stage, StageKind, Stages};
pub use loaded::{BackendKind, Loaded};
pub use queue::Shape;
pub use replication::{Choices, CloneSession, Replica, Replication};
pub use specialiser::{LOOK, Specialiser};
pub use stats::{DropReason, PortStats, Ports, Stats};
pub use switch::Switch;

/// Ways that a flow cache keeps where nobody says otherwise.
pub const DEFAULT_WAYS: usize = 16_384;

/// v1model's port whose packets are dropped.
pub const DROP_PORT: u32 = 511;

/// PSA's port of the controller (`PSA_PORT_CPU`); v1model's is the operator's choice.
pub const PSA_PORT_CPU: u32 = 0xffff_fffd;

/// PSA's port from which packets go back to ingress (`PSA_PORT_RECIRCULATE`).
pub const PSA_PORT_RECIRCULATE: u32 = 0xffff_fffa;
