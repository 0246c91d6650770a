//! One TCP connection of a program, from its beginning to its end.

use std::net::SocketAddrV6;

use serde::Deserialize;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::wire::{IpAddress, IpEndpoint, IpListenEndpoint, IpProtocol, Ipv6Address};

use crate::event::{Outcome, What};
use crate::flow::Context;
use crate::link::Quote;
use crate::units::{duration, nanoseconds};

/// Questions to a silent end before it counts as gone.
const KEEP_ALIVES: u64 = 4;
/// Buffers below hold no full segment, those above no window can be.
const BUFFERS: std::ops::RangeInclusive<usize> = 4096..=64 << 20;

/// How a sender finds out how fast it may send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Congestion {
    None,
    Reno,
    #[default]
    Cubic,
}

/// What a command says about its connections.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Of each direction; the window that is offered is as large.
    pub buffer: usize,
    pub congestion: Congestion,
    /// Nanoseconds of silence after which a connection is given up.
    pub timeout: u64,
    /// Nanoseconds that an acknowledgement may wait for a second segment; 0: each segment is acknowledged at once.
    pub ack_delay: u64,
}

/// Seconds that an acknowledgement may wait unless somebody says otherwise.
pub const ACK_DELAY: f64 = 0.01;
/// No longer than RFC 9293 allows (section 3.8.6.3).
const MOST_ACK_DELAY: f64 = 0.5;

impl Settings {
    pub fn new(buffer: usize, congestion: Congestion, timeout: f64) -> Result<Self, String> {
        super::check_seconds("timeout", timeout)?;
        if !BUFFERS.contains(&buffer) {
            let (least, most) = (BUFFERS.start(), BUFFERS.end());
            return Err(format!("a \"buffer\" of {buffer} bytes is impossible; it is from {least} to {most}"));
        }
        Ok(Self { buffer, congestion, timeout: nanoseconds(timeout), ack_delay: nanoseconds(ACK_DELAY) })
    }

    /// The same with another delay of acknowledgements, in seconds.
    pub fn with_ack_delay(self, ack_delay: f64) -> Result<Self, String> {
        if !(0.0..MOST_ACK_DELAY).contains(&ack_delay) {
            return Err(format!(
                "an \"ack_delay\" of {ack_delay} is impossible; it is less than {MOST_ACK_DELAY} seconds"
            ));
        }
        Ok(Self { ack_delay: nanoseconds(ack_delay), ..self })
    }

    pub fn socket(&self) -> Socket<'static> {
        let mut socket = Socket::new(SocketBuffer::new(vec![0; self.buffer]), SocketBuffer::new(vec![0; self.buffer]));
        socket.set_congestion_control(match self.congestion {
            Congestion::None => CongestionControl::None,
            Congestion::Reno => CongestionControl::Reno,
            Congestion::Cubic => CongestionControl::Cubic,
        });
        socket.set_ack_delay((self.ack_delay > 0).then(|| duration(self.ack_delay)));
        socket.set_timeout(Some(duration(self.timeout)));
        socket.set_keep_alive(Some(duration(self.timeout / KEEP_ALIVES)));
        socket
    }
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
    handle: SocketHandle,
    local_port: u16,
    timeout: u64,
    began: u64,
    connected: bool,
    /// Bytes that went through, and when some did last.
    moved: u64,
    moved_at: u64,
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
        let mut socket = settings.socket();
        let local = IpListenEndpoint { addr: Some(IpAddress::Ipv6(source)), port: context.any_port() };
        let remote = IpEndpoint::new(IpAddress::Ipv6(to.0), to.1);
        socket.connect(context.interface.context(), remote, local).ok()?;
        let handle = context.sockets.add(socket);
        Some(Self::new(handle, local.port, settings.timeout, context.now))
    }

    /// One that a listening socket has become.
    pub fn accepted(context: &Context<'_>, handle: SocketHandle, local_port: u16, timeout: u64) -> Self {
        Self::new(handle, local_port, timeout, context.now)
    }

    fn new(handle: SocketHandle, local_port: u16, timeout: u64, now: u64) -> Self {
        Self { handle, local_port, timeout, began: now, connected: false, moved: 0, moved_at: now }
    }

    pub fn socket<'a>(&self, context: &'a mut Context<'_>) -> &'a mut Socket<'static> {
        context.sockets.get_mut(self.handle)
    }

    /// Nanoseconds since it was open; before that, since it began.
    pub fn age(&self, now: u64) -> u64 {
        now - self.began
    }

    pub fn began(&self) -> u64 {
        self.began
    }

    /// Looks where the connection is after `moved` bytes went through, and tells when it is open.
    pub fn watch(&mut self, moved: u64, context: &mut Context<'_>) -> Stage {
        let socket = self.socket(context);
        let state = socket.state();
        let endpoints = socket.local_endpoint().zip(socket.remote_endpoint());
        if moved != self.moved {
            self.moved = moved;
            self.moved_at = context.now;
        }
        if let Some((local, remote)) = endpoints
            && !self.connected
            && !matches!(state, State::SynSent | State::SynReceived | State::Closed)
        {
            self.connected = true;
            self.began = context.now;
            self.moved_at = context.now;
            context.tell(What::TcpConnected { local: address(local), remote: address(remote) });
        }
        match state {
            State::SynSent | State::SynReceived | State::Listen => Stage::Connecting,
            State::FinWait2 | State::TimeWait => Stage::Finished,
            State::Closed if context.now >= self.moved_at + self.timeout => Stage::Broken(Outcome::TimedOut),
            State::Closed if !self.connected => Stage::Broken(Outcome::Refused),
            State::Closed => Stage::Broken(Outcome::Reset),
            _ => Stage::Open,
        }
    }

    /// Ends it in order, as far as this end is concerned; TCP sees to the rest.
    pub fn leave(&self, context: &mut Context<'_>) {
        self.socket(context).close();
        context.linger(self.handle);
    }

    /// Breaks it off.
    pub fn abort(&self, context: &mut Context<'_>) {
        self.socket(context).abort();
        context.linger(self.handle);
    }

    pub fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Tcp && quote.local_port == self.local_port
    }
}

pub fn address(endpoint: IpEndpoint) -> SocketAddrV6 {
    let IpAddress::Ipv6(address) = endpoint.addr;
    SocketAddrV6::new(address, endpoint.port, 0, 0)
}
