//! Receives UDP streams and reports on each, as a flow of its own.

use std::collections::BTreeMap;
use std::net::SocketAddrV6;

use serde::Deserialize;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::wire::{IpAddress, IpEndpoint, IpProtocol};

use super::datagram::Datagram;
use super::stream::Stream;
use super::{check_port, check_seconds};
use crate::event::What;
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::units::nanoseconds;

/// Datagrams that may wait to be read, and their bytes.
const WAITING: usize = 1024;
const WAITING_BYTES: usize = 2 << 20;
/// More streams at a time are not told apart: their datagrams are ignored.
const MAX_STREAMS: usize = 256;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UdpReceive {
    pub port: u16,
    /// Seconds between reports.
    pub interval: f64,
    /// Seconds of silence after which a stream counts as ended, until it goes on.
    pub silence: f64,
}

impl Default for UdpReceive {
    fn default() -> Self {
        Self { port: super::PORT, interval: 1.0, silence: 2.0 }
    }
}

impl UdpReceive {
    pub(crate) fn into_app(self) -> Result<Box<dyn App>, String> {
        check_port(self.port)?;
        check_seconds("interval", self.interval)?;
        check_seconds("silence", self.silence)?;
        Ok(Box::new(Receiving { command: self, socket: None, streams: BTreeMap::new() }))
    }
}

struct Receiving {
    command: UdpReceive,
    socket: Option<SocketHandle>,
    /// By sender and number.
    streams: BTreeMap<(SocketAddrV6, u64), Watched>,
}

struct Watched {
    flow: u32,
    stream: Stream,
    report_at: u64,
}

impl Watched {
    fn tell(&self, context: &mut Context<'_>) {
        context.tell_of(self.flow, What::UdpReport(self.stream.report()));
    }
}

impl Receiving {
    fn open(&mut self, context: &mut Context<'_>) {
        let buffer = |packets, bytes| PacketBuffer::new(vec![PacketMetadata::EMPTY; packets], vec![0; bytes]);
        let mut socket = Socket::new(buffer(WAITING, WAITING_BYTES), buffer(0, 0));
        // The port is not 0 and the socket is new: it can be bound.
        let _ = socket.bind(self.command.port);
        self.socket = Some(context.sockets.add(socket));
    }

    fn receive(&mut self, handle: SocketHandle, context: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Ok((bytes, meta)) = context.sockets.get_mut::<Socket>(handle).recv() {
            any = true;
            let Some(datagram) = Datagram::read(bytes) else {
                continue;
            };
            let (length, from) = (bytes.len(), address(meta.endpoint));
            self.take(&datagram, length, from, context);
        }
        any
    }

    fn take(&mut self, datagram: &Datagram, length: usize, from: SocketAddrV6, context: &mut Context<'_>) {
        let key = (from, datagram.stream);
        if !self.streams.contains_key(&key) {
            if self.streams.len() == MAX_STREAMS {
                self.streams.retain(|_, watched| !watched.stream.ended);
            }
            if self.streams.len() == MAX_STREAMS {
                return;
            }
            let stream = Stream::new(from, context.now);
            let report_at = context.now + nanoseconds(self.command.interval);
            let flow = context.shared.new_flow();
            context.tell_of(flow, What::Started { app: "udp_stream" });
            self.streams.insert(key, Watched { flow, stream, report_at });
        }
        if let Some(watched) = self.streams.get_mut(&key) {
            if watched.stream.ended {
                watched.report_at = context.now + nanoseconds(self.command.interval);
            }
            watched.stream.take(datagram, length, context.now);
        }
    }

    fn report(&mut self, context: &mut Context<'_>) {
        let silence = nanoseconds(self.command.silence);
        for watched in self.streams.values_mut().filter(|watched| !watched.stream.ended) {
            watched.stream.ended = context.now >= watched.stream.arrived_at() + silence;
            if watched.stream.ended || watched.report_at <= context.now {
                watched.tell(context);
                watched.report_at = context.now + nanoseconds(self.command.interval);
            }
        }
    }
}

impl App for Receiving {
    fn name(&self) -> &'static str {
        "udp_receive"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        let Some(handle) = self.socket else {
            self.open(context);
            return Progress::Busy;
        };
        let any = self.receive(handle, context);
        self.report(context);
        if any { Progress::Busy } else { Progress::Idle }
    }

    fn next_wake(&self) -> Option<u64> {
        if self.socket.is_none() {
            return Some(0);
        }
        let silence = nanoseconds(self.command.silence);
        let streams = self.streams.values().filter(|watched| !watched.stream.ended);
        streams.map(|watched| watched.report_at.min(watched.stream.arrived_at() + silence)).min()
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        for watched in self.streams.values() {
            watched.tell(context);
        }
        if let Some(handle) = self.socket {
            context.sockets.remove(handle);
        }
    }

    fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Udp && quote.local_port == self.command.port
    }
}

fn address(endpoint: IpEndpoint) -> SocketAddrV6 {
    let IpAddress::Ipv6(address) = endpoint.addr;
    SocketAddrV6::new(address, endpoint.port, 0, 0)
}
