//! A UDP stream at a constant rate, its datagrams numbered.

use serde::Deserialize;
use smoltcp::iface::SocketHandle;
use smoltcp::phy::PacketMeta;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket, UdpMetadata};
use smoltcp::wire::{IpAddress, IpEndpoint, IpProtocol, Ipv6Address};

use super::datagram::{self, Datagram};
use super::{Source, check_destination, check_port, check_seconds};
use crate::event::What;
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::units::{MILLISECOND, nanoseconds};

/// IPv6 and UDP headers.
const HEADERS: usize = 48;
/// Datagrams that may wait for the link.
const WAITING: usize = 64;
/// A sender that comes later than this goes on from now instead of making up for it.
const LATEST: u64 = 100 * MILLISECOND;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UdpSend {
    pub to: Ipv6Address,
    pub port: u16,
    /// Datagrams a second.
    pub rate: f64,
    /// Bytes of data in a datagram.
    pub size: usize,
    /// 0 goes on until stopped.
    pub count: u64,
    /// Whether the socket is connected, or says with each datagram where it goes.
    pub connected: bool,
    pub source: Source,
}

impl Default for UdpSend {
    fn default() -> Self {
        Self {
            to: Ipv6Address::UNSPECIFIED,
            port: super::PORT,
            rate: 100.0,
            size: 200,
            count: 0,
            connected: true,
            source: None,
        }
    }
}

impl UdpSend {
    pub(crate) fn into_app(self, mtu: usize) -> Result<Box<dyn App>, String> {
        check_destination(self.to)?;
        check_port(self.port)?;
        check_seconds("1/rate", 1.0 / self.rate)?;
        if !(datagram::LENGTH..=mtu - HEADERS).contains(&self.size) {
            let (least, most) = (datagram::LENGTH, mtu - HEADERS);
            return Err(format!("a \"size\" of {} is impossible; it is from {least} to {most}", self.size));
        }
        let interval = nanoseconds(1.0 / self.rate);
        Ok(Box::new(Streaming { command: self, interval, socket: None, stream: 0, sent: 0, due: 0, source: None }))
    }
}

struct Streaming {
    command: UdpSend,
    interval: u64,
    socket: Option<(SocketHandle, u16)>,
    stream: u64,
    sent: u64,
    due: u64,
    source: Source,
}

impl Streaming {
    fn open(&mut self, context: &mut Context<'_>) -> Option<()> {
        let buffer = || PacketBuffer::new(vec![PacketMetadata::EMPTY; WAITING], vec![0; WAITING * self.command.size]);
        let mut socket = Socket::new(buffer(), buffer());
        let port = context.any_port();
        socket.bind(port).ok()?;
        self.stream = context.random.u64(..);
        self.due = context.now;
        self.socket = Some((context.sockets.add(socket), port));
        Some(())
    }

    /// Sends one datagram; it counts even if nothing reaches there now.
    fn send(&mut self, handle: SocketHandle, context: &mut Context<'_>) {
        let datagram = Datagram { stream: self.stream, sequence: self.sent, sent_at: context.now };
        self.sent += 1;
        if context.now > self.due + LATEST {
            self.due = context.now;
        }
        self.due += self.interval;
        self.source = context.source_for(self.command.to, self.command.source);
        let Some(source) = self.source else { return };
        let mut bytes = vec![0; self.command.size];
        datagram.write(&mut bytes);
        let to = UdpMetadata {
            endpoint: IpEndpoint::new(IpAddress::Ipv6(self.command.to), self.command.port),
            local_address: Some(IpAddress::Ipv6(source)),
            meta: PacketMeta::default(),
        };
        // Full: lost before the link, as in any host.
        let _ = context.sockets.get_mut::<Socket>(handle).send_slice(&bytes, to);
    }

    fn finish(&self, context: &mut Context<'_>) {
        let bytes = self.sent * self.command.size as u64;
        context.tell(What::UdpSent { datagrams: self.sent, bytes });
        if let Some((handle, _)) = self.socket {
            context.sockets.remove(handle);
        }
    }

    fn all_sent(&self) -> bool {
        self.command.count > 0 && self.sent == self.command.count
    }
}

impl App for Streaming {
    fn name(&self) -> &'static str {
        "udp_send"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        let Some((handle, _)) = self.socket else {
            return if self.open(context).is_some() { Progress::Busy } else { Progress::Ended };
        };
        if !self.all_sent() && self.due <= context.now {
            self.send(handle, context);
            return Progress::Busy;
        }
        if self.all_sent() && context.sockets.get::<Socket>(handle).send_queue() == 0 {
            self.finish(context);
            return Progress::Ended;
        }
        Progress::Idle
    }

    fn next_wake(&self) -> Option<u64> {
        (!self.all_sent()).then_some(self.due)
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        self.finish(context);
    }

    fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Udp && self.socket.is_some_and(|(_, port)| port == quote.local_port)
    }

    fn udp_peer(&self, local_port: u16) -> Option<(Ipv6Address, u16)> {
        let is_ours = self.socket.is_some_and(|(_, port)| port == local_port);
        (is_ours && self.command.connected).then_some((self.command.to, self.command.port))
    }
}
