//! Listens at a TCP port and starts a program for each connection.

use serde::Deserialize;
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, State};
use smoltcp::wire::IpProtocol;

use super::connection::{ACK_DELAY, Congestion, Connection, Settings};
use super::tcp_echo::Echo;
use super::tcp_sink::Sink;
use super::{check_port, check_seconds};
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::units::nanoseconds;

/// Sockets that wait for a connection at a time.
const LISTENING: usize = 32;

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Takes the bytes of `tcp_send`, and says whether they are all there.
    #[default]
    Sink,
    /// Gives back what it gets; `tcp_request` wants it.
    Echo,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TcpServe {
    pub port: u16,
    pub service: Service,
    pub congestion: Congestion,
    pub buffer: usize,
    /// Seconds that an acknowledgement may wait for a second segment; 0: each segment is acknowledged at once.
    pub ack_delay: f64,
    /// Seconds between reports.
    pub interval: f64,
    /// Seconds of silence after which a connection is given up.
    pub timeout: f64,
}

impl Default for TcpServe {
    fn default() -> Self {
        Self {
            port: super::PORT,
            service: Service::default(),
            congestion: Congestion::default(),
            buffer: super::BUFFER,
            ack_delay: ACK_DELAY,
            interval: 1.0,
            timeout: super::TIMEOUT,
        }
    }
}

impl TcpServe {
    pub(crate) fn into_app(self) -> Result<Box<dyn App>, String> {
        check_port(self.port)?;
        check_seconds("interval", self.interval)?;
        let settings = Settings::new(self.buffer, self.congestion, self.timeout)?.with_ack_delay(self.ack_delay)?;
        Ok(Box::new(Serving { command: self, settings, waiting: vec![], begun: false }))
    }
}

struct Serving {
    command: TcpServe,
    settings: Settings,
    /// Sockets without a connection, or with one that is not open yet.
    waiting: Vec<SocketHandle>,
    begun: bool,
}

impl Serving {
    /// Hands connections that are open to programs; true if there was one.
    fn accept(&mut self, context: &mut Context<'_>) -> bool {
        let state = |handle: &SocketHandle, context: &Context<'_>| context.sockets.get::<Socket>(*handle).state();
        let (waiting, open): (Vec<_>, Vec<_>) = self
            .waiting
            .drain(..)
            .partition(|handle| matches!(state(handle, context), State::Listen | State::SynReceived | State::Closed));
        self.waiting = waiting;
        for handle in &open {
            let connection = Connection::accepted(context, *handle, self.command.port, self.settings.timeout);
            let app: Box<dyn App> = match self.command.service {
                Service::Sink => Box::new(Sink::new(connection, nanoseconds(self.command.interval))),
                Service::Echo => Box::new(Echo::new(connection)),
            };
            let flow = context.shared.new_flow();
            context.start(flow, app);
        }
        !open.is_empty()
    }

    /// Keeps enough sockets listening: those whose connection came to nothing listen again.
    fn listen(&mut self, context: &mut Context<'_>) {
        let mut listening = 0;
        for handle in &self.waiting {
            let socket = context.sockets.get_mut::<Socket>(*handle);
            if socket.state() == State::Closed {
                // The port is not 0 and the socket is not open: it can listen.
                let _ = socket.listen(self.command.port);
            }
            listening += usize::from(socket.is_listening());
        }
        while listening < LISTENING && self.waiting.len() < 2 * LISTENING {
            let mut socket = self.settings.socket();
            let _ = socket.listen(self.command.port);
            self.waiting.push(context.sockets.add(socket));
            listening += 1;
        }
    }
}

impl App for Serving {
    fn name(&self) -> &'static str {
        "tcp_serve"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        let accepted = self.accept(context);
        self.listen(context);
        self.begun = true;
        if accepted { Progress::Busy } else { Progress::Idle }
    }

    fn next_wake(&self) -> Option<u64> {
        (!self.begun).then_some(0)
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        for handle in self.waiting.drain(..) {
            context.sockets.get_mut::<Socket>(handle).abort();
            context.linger(handle);
        }
    }

    fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Tcp && quote.local_port == self.command.port
    }
}
