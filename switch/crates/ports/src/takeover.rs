//! What another process needs to go on where a port's end stopped (hot restart).
//!
//! The kernel keeps a socket's queues and the memory that it shares as long as one process has a descriptor of it. So
//! the next process takes the same socket and not a second one: each frame is there once, and none while nobody reads.

use std::io;
use std::os::fd::OwnedFd;

use crate::PortSpec;
use crate::impair::Impairment;
use crate::spec::Device;

/// An end of a port between two processes.
#[derive(Debug, Default)]
pub struct Takeover {
    pub descriptors: Vec<OwnedFd>,
    /// Where it stopped; what they mean, its kind of port knows.
    pub numbers: Vec<u64>,
}

impl Takeover {
    /// The descriptors and numbers, if they are as many as that.
    pub(crate) fn expect<const D: usize, const N: usize>(self) -> io::Result<([OwnedFd; D], [u64; N])> {
        let wrong =
            || io::Error::new(io::ErrorKind::InvalidData, "the process before handed over another kind of port");
        let descriptors = self.descriptors.try_into().map_err(|_| wrong())?;
        Ok((descriptors, self.numbers.try_into().map_err(|_| wrong())?))
    }
}

impl PortSpec {
    /// Why another process cannot take the port over, if so.
    pub fn stays(&self) -> Option<&'static str> {
        match &self.device {
            Device::Xdp(_) => Some("memory that AF_XDP shares with the kernel is one process's"),
            Device::Pcap { .. } => Some("a capture file begins anew"),
            _ if self.impairment != Impairment::default() => Some("frames that delay= holds would be lost"),
            Device::Interface(_) | Device::Tap(..) | Device::Wire(_) => None,
        }
    }
}
