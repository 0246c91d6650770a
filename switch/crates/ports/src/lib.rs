//! Where packets enter and leave a switch.
//!
//! A [`Port`] is one end of a link: a wire to another process ([`wire`]), a capture file ([`pcap`]), a TAP device
//! ([`tap`]) or a network interface, through AF_PACKET ([`interface`]) or AF_XDP ([`xdp`]). None of them blocks; each
//! says by its file descriptor when packets wait. [`impair`] puts delay and loss on any of them. [`spec`] reads what an
//! operator writes: `1@veth0`, `2@wire:/tmp/a?delay=10ms&loss=1%`. [`bpf`] has the kernel run programs on frames.

pub mod bpf;
mod carrier;
mod device;
pub mod flow;
pub mod impair;
pub mod interface;
pub mod linux_end;
mod memory;
pub mod namespace;
mod offload;
pub mod pcap;
pub mod spec;
mod takeover;
pub mod tap;
pub mod wire;
pub mod xdp;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

pub use carrier::{Carrier, ShownCarrier};
pub use flow::Flows;
pub use impair::Impairment;
pub use spec::{PortSpec, open, open_ends, take_over};
pub use takeover::Takeover;

/// The longest frame that a port takes or gives: a jumbo frame and what a pipeline may put around it.
pub const MAX_FRAME: usize = 16 * 1024;

/// Frames that a port could not carry, since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// To go out, and longer than the link's MTU lets pass.
    pub too_long: u64,
    /// Came with segmentation left to be done of a kind that is not known here.
    pub offload: u64,
    /// Came while the memory for frames was full, or in a form that the kernel could not give us.
    pub overrun: u64,
    /// Refused by the kernel.
    pub refused: u64,
}

/// Where the kernel itself may forward what comes to a port.
pub struct KernelEnd {
    /// The interface's number.
    pub interface: u32,
    /// The longest frame that may leave by it.
    pub longest: usize,
    /// Gets what comes, but for what a filter on it keeps away.
    pub socket: OwnedFd,
}

/// One end of a link. No call waits.
pub trait Port: Send {
    /// Gives at most `max` waiting frames to `take`; answers how many there were. Segments of a frame that a host left
    /// to its card come together, and may make more.
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize>;

    /// Takes a frame, perhaps only into a batch that [`Port::flush`] sends. False when it has no room: the frame was
    /// not taken.
    fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool>;

    /// Puts what was taken onto the link, as far as its time has come.
    fn flush(&mut self, now: u64) -> io::Result<()>;

    /// Whether the next frame would be taken.
    fn ready(&self) -> bool {
        true
    }

    /// When [`Port::flush`] has something to do that it could not do before.
    fn next_wakeup(&self) -> Option<u64> {
        None
    }

    /// Readable when frames wait; none where frames never come by themselves.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// Has an impaired link behave like this from now on; no other port has one.
    fn impair(&mut self, _impairment: Impairment) {}

    /// Whether the link is up as far as this end knows.
    fn is_up(&self) -> bool {
        true
    }

    /// Knows of a carrier sooner than [`Port::is_up`], for a thread that may wait; none where that is soon enough.
    fn carrier(&self) -> io::Result<Option<Carrier>> {
        Ok(None)
    }

    fn lost(&mut self) -> Lost {
        Lost::default()
    }

    /// Gives another process what goes on with this end, which neither receives nor sends from now on. What was sent must
    /// have been flushed.
    fn hand_over(&mut self) -> io::Result<Takeover> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Where the kernel may forward in place of whoever receives here; none where it cannot.
    fn kernel_end(&self) -> io::Result<Option<KernelEnd>> {
        Ok(None)
    }

    /// What shows the other end a carrier, for a thread that may wait; none where there is nobody to show it to.
    fn shown_carrier(&self) -> io::Result<Option<ShownCarrier>> {
        Ok(None)
    }
}
