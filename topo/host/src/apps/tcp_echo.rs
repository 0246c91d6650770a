//! Gives the bytes of one connection back.

use smoltcp::socket::tcp::RecvError;

use super::connection::{Connection, Stage};
use crate::event::{Outcome, What};
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::units::bits_per_second;

pub struct Echo {
    connection: Connection,
    given_back: u64,
    begun: bool,
}

impl Echo {
    pub fn new(connection: Connection) -> Self {
        Self { connection, given_back: 0, begun: false }
    }

    /// Moves bytes from one direction to the other; true when no more will come.
    fn give_back(&mut self, context: &mut Context<'_>) -> bool {
        let socket = self.connection.socket(context);
        let mut bytes = [0; 4096];
        loop {
            let room = (socket.send_capacity() - socket.send_queue()).min(bytes.len());
            match socket.recv_slice(&mut bytes[..room]) {
                Ok(0) => return false,
                // There is room for them; what the other end no longer wants is lost with the connection.
                Ok(length) => self.given_back += socket.send_slice(&bytes[..length]).unwrap_or(0) as u64,
                Err(RecvError::Finished) => return true,
                Err(RecvError::InvalidState) => return false,
            }
        }
    }

    fn tell_result(&self, outcome: Outcome, context: &mut Context<'_>) {
        let (bytes, duration_ns) = (self.given_back, self.connection.age(context.now));
        let bits_per_second = bits_per_second(bytes, duration_ns);
        context.tell(What::TcpDone { outcome, bytes, duration_ns, bits_per_second, intact: None });
    }
}

impl App for Echo {
    fn name(&self) -> &'static str {
        "tcp_echo"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        if !self.begun {
            // Answers are small and wanted at once.
            self.connection.socket(context).set_nagle_enabled(false);
            self.begun = true;
        }
        let before = self.given_back;
        let stage = self.connection.watch(self.given_back, context);
        let finished = self.give_back(context);
        let outcome = match stage {
            Stage::Broken(outcome) => outcome,
            _ if finished => Outcome::Finished,
            _ => {
                return if self.given_back > before { Progress::Busy } else { Progress::Idle };
            }
        };
        self.tell_result(outcome, context);
        self.connection.leave(context);
        Progress::Ended
    }

    fn next_wake(&self) -> Option<u64> {
        None
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        self.tell_result(Outcome::Stopped, context);
        self.connection.abort(context);
    }

    fn sent(&self, quote: &Quote) -> bool {
        self.connection.sent(quote)
    }
}
