//! One TCP connection of a program, from its beginning to its end.

use std::net::SocketAddrV6;

use smoltcp::wire::{IpProtocol, Ipv6Address};

use crate::event::{Outcome, What};
use crate::flow::Context;
use crate::link::Quote;
use crate::tcp::{self, Congestion, ConnectionHandle, End, Settings, State};
use crate::units::nanoseconds;

/// Buffers below hold no full segment, those above no window can be.
const BUFFERS: std::ops::RangeInclusive<usize> = 4096..=64 << 20;
/// Ports that are tried before a connection is given up.
const PORTS: usize = 64;
/// Seconds that an acknowledgement may wait unless somebody says otherwise.
pub const ACK_DELAY: f64 = 0.01;
/// No longer than RFC 9293 allows (section 3.8.6.3).
const MOST_ACK_DELAY: f64 = 0.5;

/// What a command says about its connections.
pub fn settings(buffer: usize, congestion: Congestion, timeout: f64, ack_delay: f64) -> Result<Settings, String> {
    super::check_seconds("timeout", timeout)?;
    if !BUFFERS.contains(&buffer) {
        let (least, most) = (BUFFERS.start(), BUFFERS.end());
        return Err(format!("a \"buffer\" of {buffer} bytes is impossible; it is from {least} to {most}"));
    }
    if !(0.0..MOST_ACK_DELAY).contains(&ack_delay) {
        return Err(format!("an \"ack_delay\" of {ack_delay} is impossible; it is less than {MOST_ACK_DELAY} seconds"));
    }
    Ok(Settings { buffer, congestion, timeout: nanoseconds(timeout), ack_delay: nanoseconds(ack_delay) })
}

/// Where a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Connecting,
    Open,
    /// The other end has acknowledged everything up to the end.
    Finished,
    Broken(Outcome),
}

pub struct Connection {
    handle: ConnectionHandle,
    local_port: u16,
    began: u64,
    connected: bool,
}

impl Connection {
    /// Begins a connection; none if the host has no address that reaches there.
    pub fn connect(
        context: &mut Context<'_>,
        settings: Settings,
        to: (Ipv6Address, u16),
        source: Option<Ipv6Address>,
    ) -> Option<Self> {
        let source = context.source_for(to.0, source)?;
        let remote = SocketAddrV6::new(to.0, to.1, 0, 0);
        (0..PORTS).find_map(|_| {
            let local = SocketAddrV6::new(source, context.any_port(), 0, 0);
            let handle = context.tcp.connect(local, remote, settings, context.now)?;
            Some(Self::new(handle, local.port(), context.now))
        })
    }

    /// One that a listener has taken.
    pub fn accepted(context: &Context<'_>, handle: ConnectionHandle, local_port: u16) -> Self {
        Self::new(handle, local_port, context.now)
    }

    fn new(handle: ConnectionHandle, local_port: u16, now: u64) -> Self {
        Self { handle, local_port, began: now, connected: false }
    }

    pub fn tcp<'a>(&self, context: &'a mut Context<'_>) -> &'a mut tcp::Connection {
        context.tcp.get(self.handle)
    }

    /// Nanoseconds since it was open; before that, since it began.
    pub fn age(&self, now: u64) -> u64 {
        now - self.began
    }

    pub fn began(&self) -> u64 {
        self.began
    }

    /// Looks where the connection is, and tells when it is open.
    pub fn watch(&mut self, context: &mut Context<'_>) -> Stage {
        let tcp = self.tcp(context);
        let (state, local, remote) = (tcp.state(), tcp.local(), tcp.remote());
        if tcp.is_open() && !self.connected {
            self.connected = true;
            self.began = context.now;
            context.tell(What::TcpConnected { local, remote });
        }
        match state {
            State::SynSent | State::SynReceived => Stage::Connecting,
            State::FinWait2 | State::TimeWait => Stage::Finished,
            State::Closed(End::Done) => Stage::Finished,
            State::Closed(End::Refused) => Stage::Broken(Outcome::Refused),
            State::Closed(End::Reset) => Stage::Broken(Outcome::Reset),
            State::Closed(End::TimedOut) => Stage::Broken(Outcome::TimedOut),
            State::Established | State::FinWait1 | State::CloseWait | State::Closing | State::LastAck => Stage::Open,
        }
    }

    /// Ends it in order, as far as this end is concerned; TCP sees to the rest.
    pub fn leave(&self, context: &mut Context<'_>) {
        self.tcp(context).close();
        context.tcp.leave(self.handle, context.now);
    }

    /// Breaks it off.
    pub fn abort(&self, context: &mut Context<'_>) {
        self.tcp(context).abort();
        context.tcp.leave(self.handle, context.now);
    }

    pub fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Tcp && quote.local_port == self.local_port
    }
}
