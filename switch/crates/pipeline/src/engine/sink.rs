//! Where packets and messages go.

use ir::DigestId;
use num_bigint::BigUint;

/// Where packets and messages go.
pub trait Sink {
    /// Whether the port takes a packet now; while it does not, packets stand in its queue.
    fn ready(&self, port: u32) -> bool {
        let _ = port;
        true
    }
    /// Why a packet for the port would be lost now, for a trace to tell.
    fn loses(&self, port: u32) -> Option<&'static str> {
        let _ = port;
        None
    }
    /// A packet leaves; its last bit is on the wire at `at`.
    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64);
    /// Something for the control plane.
    fn message(&mut self, message: Message);
}

/// What a program tells the control plane.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    Digest { digest: DigestId, values: Vec<BigUint>, at: u64 },
    Log { text: String },
    AssertionFailed { text: String },
}

/// A sink whose ports are all ready.
pub(super) struct Unhindered<'s, S>(pub(super) &'s mut S);

impl<S: Sink> Sink for Unhindered<'_, S> {
    fn loses(&self, port: u32) -> Option<&'static str> {
        self.0.loses(port)
    }

    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64) {
        self.0.transmit(port, bytes, at);
    }

    fn message(&mut self, message: Message) {
        self.0.message(message);
    }
}
