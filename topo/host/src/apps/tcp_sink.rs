//! Takes the bytes of one connection and checks them.

use super::connection::{Connection, Stage};
use super::{meter::Meter, pattern};
use crate::event::{Outcome, What};
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::units::bits_per_second;

pub struct Sink {
    connection: Connection,
    meter: Meter,
    received: u64,
    intact: bool,
}

impl Sink {
    pub fn new(connection: Connection, interval: u64) -> Self {
        let meter = Meter::new(interval, connection.began());
        Self { connection, meter, received: 0, intact: true }
    }

    /// Takes what is there.
    fn read(&mut self, context: &mut Context<'_>) {
        let tcp = self.connection.tcp(context);
        while tcp.readable() > 0 {
            let offset = self.received;
            let read = |bytes: &mut [u8]| (bytes.len(), (bytes.len(), pattern::matches(offset, bytes)));
            let (length, intact) = tcp.receive_with(read);
            self.received += length as u64;
            self.intact &= intact;
        }
    }

    fn tell_result(&self, outcome: Outcome, context: &mut Context<'_>) {
        let duration_ns = self.connection.age(context.now);
        let bits_per_second = bits_per_second(self.received, duration_ns);
        let (bytes, intact) = (self.received, Some(self.intact));
        context.tell(What::TcpDone { outcome, bytes, duration_ns, bits_per_second, intact });
    }
}

impl App for Sink {
    fn name(&self) -> &'static str {
        "tcp_sink"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        let before = self.received;
        let stage = self.connection.watch(context);
        self.read(context);
        if let Some(report) = self.meter.report(self.received, context.now) {
            context.tell(report);
        }
        let outcome = match stage {
            _ if self.connection.tcp(context).is_finished() => Outcome::Finished,
            Stage::Broken(outcome) => outcome,
            _ => {
                return if self.received > before { Progress::Busy } else { Progress::Idle };
            }
        };
        self.tell_result(outcome, context);
        self.connection.leave(context);
        Progress::Ended
    }

    fn next_wake(&self) -> Option<u64> {
        Some(self.meter.next_wake())
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        self.tell_result(Outcome::Stopped, context);
        self.connection.abort(context);
    }

    fn sent(&self, quote: &Quote) -> bool {
        self.connection.sent(quote)
    }
}
