//! Gives the bytes of one connection back.

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
        let tcp = self.connection.tcp(context);
        while tcp.readable() > 0 && tcp.room() > 0 {
            let room = tcp.room();
            let bytes = tcp.receive_with(|bytes| {
                let length = bytes.len().min(room);
                (length, bytes[..length].to_vec())
            });
            self.given_back += tcp.send(&bytes) as u64;
        }
        tcp.is_finished()
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
            self.connection.tcp(context).send_small_at_once();
            self.begun = true;
        }
        let before = self.given_back;
        let stage = self.connection.watch(context);
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
