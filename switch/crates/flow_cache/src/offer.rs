//! A way that is taken often, for whoever can have packets take it with less work: a program in the kernel.

use crate::{Key, Way};

/// A way, and a packet that took it.
#[derive(Debug, Clone)]
pub struct Offer {
    pub port: u32,
    /// The packet's first octets, as it came in.
    pub octets: Vec<u8>,
    pub key: Key,
    pub way: Way,
    /// The objects that the way's run looked into, and their versions then: it holds while they are these.
    pub read: Box<[u32]>,
    pub versions: Box<[u64]>,
}
