//! Listens at a TCP port and starts a program for each connection.

use serde::Deserialize;
use smoltcp::wire::IpProtocol;

use super::connection::{ACK_DELAY, Connection, settings};
use super::tcp_echo::Echo;
use super::tcp_sink::Sink;
use super::{check_port, check_seconds};
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::tcp::{Congestion, ListenerHandle, Settings};
use crate::units::nanoseconds;

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
        let settings = settings(self.buffer, self.congestion, self.timeout, self.ack_delay)?;
        Ok(Box::new(Serving { command: self, settings, listener: None }))
    }
}

struct Serving {
    command: TcpServe,
    settings: Settings,
    listener: Option<ListenerHandle>,
}

impl App for Serving {
    fn name(&self) -> &'static str {
        "tcp_serve"
    }

    /// Hands connections that are open to programs.
    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        let listener = *self.listener.get_or_insert_with(|| context.tcp.listen(self.command.port, self.settings));
        let mut progress = Progress::Idle;
        while let Some(handle) = context.tcp.accept(listener) {
            progress = Progress::Busy;
            let connection = Connection::accepted(context, handle, self.command.port);
            let app: Box<dyn App> = match self.command.service {
                Service::Sink => Box::new(Sink::new(connection, nanoseconds(self.command.interval))),
                Service::Echo => Box::new(Echo::new(connection)),
            };
            let flow = context.shared.new_flow();
            context.start(flow, app);
        }
        progress
    }

    fn next_wake(&self) -> Option<u64> {
        self.listener.is_none().then_some(0)
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        if let Some(listener) = self.listener {
            context.tcp.close_listener(listener, context.now);
        }
    }

    fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Tcp && quote.local_port == self.command.port
    }
}
