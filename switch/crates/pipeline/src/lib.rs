//! The v1model architecture around a program: parser, checksums, ingress, queues, egress, deparser, and the ways by
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
//! [`Engine`] runs packets and knows neither threads nor sockets nor clocks: packets and time come as arguments, what
//! leaves goes to a [`Sink`].

mod engine;
mod gate;
mod loaded;
mod meta;
mod queue;
mod replication;
mod specialiser;
mod stats;
mod switch;

pub use engine::{Engine, Message, Sink, Traffic};
pub use gate::Gate;
pub use jit::{Stage, StageKind, Stages};
pub use loaded::{BackendKind, Loaded};
pub use queue::Shape;
pub use replication::{Choices, CloneSession, Replica, Replication};
pub use specialiser::{LOOK, Specialiser};
pub use stats::{DropReason, PortStats, Stats};
pub use switch::Switch;

/// The port whose packets are dropped.
pub const DROP_PORT: u32 = 511;
