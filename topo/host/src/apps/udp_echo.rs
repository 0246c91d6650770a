//! Gives datagrams back to whoever sent them, from a socket that is connected to nobody.

use serde::Deserialize;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket, UdpMetadata};
use smoltcp::wire::IpProtocol;

use super::check_port;
use crate::flow::{App, Context, Progress};
use crate::link::Quote;

/// Datagrams that may wait either way, and their bytes.
const WAITING: usize = 256;
const WAITING_BYTES: usize = 1 << 19;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UdpEcho {
    pub port: u16,
}

impl Default for UdpEcho {
    fn default() -> Self {
        Self { port: super::PORT }
    }
}

impl UdpEcho {
    pub(crate) fn into_app(self) -> Result<Box<dyn App>, String> {
        check_port(self.port)?;
        Ok(Box::new(Echoing { port: self.port, socket: None }))
    }
}

struct Echoing {
    port: u16,
    socket: Option<SocketHandle>,
}

impl Echoing {
    fn open(&mut self, context: &mut Context<'_>) {
        let buffer = || PacketBuffer::new(vec![PacketMetadata::EMPTY; WAITING], vec![0; WAITING_BYTES]);
        let mut socket = Socket::new(buffer(), buffer());
        // The port is not 0 and the socket is new: it can be bound.
        let _ = socket.bind(self.port);
        self.socket = Some(context.sockets.add(socket));
    }
}

impl App for Echoing {
    fn name(&self) -> &'static str {
        "udp_echo"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        let Some(handle) = self.socket else {
            self.open(context);
            return Progress::Busy;
        };
        let socket = context.sockets.get_mut::<Socket>(handle);
        let mut progress = Progress::Idle;
        while let Ok((bytes, from)) = socket.recv() {
            progress = Progress::Busy;
            let (bytes, local_address) = (bytes.to_vec(), from.local_address);
            // Full: lost before the link, as in any host.
            let _ = socket.send_slice(&bytes, UdpMetadata { local_address, ..from.endpoint.into() });
        }
        progress
    }

    fn next_wake(&self) -> Option<u64> {
        self.socket.is_none().then_some(0)
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        if let Some(handle) = self.socket {
            context.sockets.remove(handle);
        }
    }

    fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Udp && quote.local_port == self.port
    }
}
