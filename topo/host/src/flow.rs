//! What a program inside the host is, and what it may touch.

use smoltcp::iface::SocketSet;
use smoltcp::wire::Ipv6Address;

use crate::event::{Event, What};
use crate::link::{EchoReply, Link, Quote};
use crate::tcp::Tcp;

/// A program with one flow, or a server with a flow for each that comes to it.
pub trait App: Send + Sync {
    fn name(&self) -> &'static str;

    /// Does what can be done now. Called again until no program is busy.
    fn poll(&mut self, context: &mut Context<'_>) -> Progress;

    /// When there is something to do even if no packet comes.
    fn next_wake(&self) -> Option<u64>;

    /// Ends at once and gives its sockets back; tells its result if it has one.
    fn stop(&mut self, context: &mut Context<'_>);

    /// An answer to an echo request with this flow's identifier.
    fn echo_reply(&mut self, _reply: &EchoReply, _context: &mut Context<'_>) {}

    /// Whether a packet that an error quotes is this program's.
    fn sent(&self, quote: &Quote) -> bool;

    /// Whether a UDP socket at this port is connected, and to whom: address and port.
    fn udp_peer(&self, _local_port: u16) -> Option<(Ipv6Address, u16)> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing to do before the next packet or the next wake.
    Idle,
    /// Something was done; there may be more.
    Busy,
    Ended,
}

/// The host as a program sees it.
pub struct Context<'a> {
    pub now: u64,
    pub flow: u32,
    pub link: &'a mut Link,
    /// Of UDP.
    pub sockets: &'a mut SocketSet<'static>,
    pub tcp: &'a mut Tcp,
    pub random: &'a mut fastrand::Rng,
    pub shared: &'a mut Shared,
}

/// What programs leave for the host to deal with.
#[derive(Default)]
pub struct Shared {
    pub events: Vec<Event>,
    pub last_flow: u32,
    /// Programs that servers started, by flow.
    pub started: Vec<(u32, Box<dyn App>)>,
}

impl Shared {
    pub fn new_flow(&mut self) -> u32 {
        self.last_flow += 1;
        self.last_flow
    }
}

impl Context<'_> {
    /// Tells something about this flow.
    pub fn tell(&mut self, what: What) {
        self.tell_of(self.flow, what);
    }

    pub fn tell_of(&mut self, flow: u32, what: What) {
        self.shared.events.push(Event { at_ns: self.now, flow: Some(flow), what });
    }

    pub fn source_for(&self, destination: Ipv6Address, wanted: Option<Ipv6Address>) -> Option<Ipv6Address> {
        self.link.source_for(destination, wanted, self.now)
    }

    /// A port that nobody listens at (RFC 6335, section 6).
    pub fn any_port(&mut self) -> u16 {
        self.random.u16(49152..)
    }

    /// Starts a program with a flow of its own.
    pub fn start(&mut self, flow: u32, app: Box<dyn App>) {
        self.shared.started.push((flow, app));
    }
}
