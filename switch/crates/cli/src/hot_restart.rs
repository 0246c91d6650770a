//! A running switch starts the next one, of the program that is installed now, which takes over what it has open: no
//! packet is lost and none is forwarded twice.
//!
//! ```text
//!   SIGHUP -> running switch                              next switch
//!               holds writes
//!               Begin, Listener..., State        ->       compiles, writes all entries
//!               (forwards on)                    <-       Ready
//!               ends its streams, stops forwarding
//!               Port..., Cells                   ->       forwards
//!               ends                             <-       Taken
//! ```
//!
//! Descriptors go through a Unix socket, which is the next one's standard input (SCM_RIGHTS, unix(7)). What comes to the
//! ports between the two waits in the kernel. Until it is ready the next one may fail: the running one goes on.

mod channel;
mod predecessor;
mod successor;

use serde::{Deserialize, Serialize};

pub use predecessor::Predecessor;
pub use successor::Restarts;

/// Of what they say to each other.
const VERSION: u32 = 1;
/// Set for the next switch.
const VARIABLE: &str = "WAYNAME_SWITCH_HOT_RESTART";

#[derive(Serialize, Deserialize)]
struct Begin {
    version: u32,
    /// When the program's clock said nothing, by the machine's monotonic clock and since 1970.
    clock: (u64, u64),
    listeners: usize,
}

/// An end of a port, with its descriptors beside it.
#[derive(Serialize, Deserialize)]
struct PortEnd {
    port: u32,
    cut: bool,
    numbers: Vec<u64>,
}
