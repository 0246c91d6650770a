//! What the service needs of the switch it serves.

use std::sync::Arc;

use control::{Checks, Loaded};
use proto::p4::config::v1::P4Info;

/// A switch: compiles programs, takes packets from the control plane, has a clock.
pub trait Target: Send + Sync + 'static {
    /// Loads a program: its text, or p4c's BMv2 JSON. Packets don't see it before it is committed. The error is the compiler's own text.
    fn load(&self, text: &str) -> Result<Arc<dyn Program>, String>;

    /// Takes a packet in by the CPU port. The error says why it can't.
    fn packet_out(&self, packet: Vec<u8>) -> Result<(), String>;

    /// Begins to trace packets. The error says why it can't.
    fn watch(&self, request: trace::Request) -> Result<trace::Watch, String> {
        let _ = request;
        Err("this switch traces no packets".into())
    }

    /// What it checks of the entries that controllers write.
    fn checks(&self) -> Checks {
        Checks::default()
    }

    /// Nanoseconds on the clock that the data plane uses.
    fn now(&self) -> u64;

    /// Nanoseconds since 1970, for the timestamps of notifications.
    fn since_epoch(&self) -> u64;
}

/// A program that was loaded.
pub trait Program: Loaded {
    /// As the program's text gives it; BMv2 JSON does not.
    fn p4info(&self) -> Option<&P4Info>;

    /// Makes it the program that packets run through.
    fn commit(self: Arc<Self>);
}
