//! Sends bytes through a TCP connection as fast as it takes them, or as fast as wanted.

use serde::Deserialize;
use smoltcp::wire::Ipv6Address;

use super::connection::{ACK_DELAY, Connection, Stage, settings};
use super::{Source, check_destination, check_port, check_seconds, meter::Meter, pattern};
use crate::event::{Outcome, What};
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::tcp::{Congestion, Settings};
use crate::units::{SECOND, bits_per_second, nanoseconds};

/// A paced sender writes no less than this at a time, if that much is left.
const PIECE: u64 = 1400;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TcpSend {
    pub to: Ipv6Address,
    pub port: u16,
    /// How much to send; or for how long, in seconds. Without either it goes on until stopped.
    pub bytes: Option<u64>,
    pub seconds: Option<f64>,
    /// Bits per second; as fast as it goes unless given.
    pub pace: Option<u64>,
    pub congestion: Congestion,
    pub buffer: usize,
    /// Seconds between reports.
    pub interval: f64,
    /// Seconds of silence after which the connection is given up.
    pub timeout: f64,
    pub source: Source,
}

impl Default for TcpSend {
    fn default() -> Self {
        Self {
            to: Ipv6Address::UNSPECIFIED,
            port: super::PORT,
            bytes: None,
            seconds: None,
            pace: None,
            congestion: Congestion::default(),
            buffer: super::BUFFER,
            interval: 1.0,
            timeout: super::TIMEOUT,
            source: None,
        }
    }
}

impl TcpSend {
    pub(crate) fn into_app(self) -> Result<Box<dyn App>, String> {
        check_destination(self.to)?;
        check_port(self.port)?;
        check_seconds("interval", self.interval)?;
        if let Some(seconds) = self.seconds {
            check_seconds("seconds", seconds)?;
        }
        if self.pace == Some(0) {
            return Err("a \"pace\" of 0 sends nothing; give bits per second".into());
        }
        let settings = settings(self.buffer, self.congestion, self.timeout, ACK_DELAY)?;
        let (connection, meter, due) = (None, None, Some(0));
        Ok(Box::new(Sending { command: self, settings, connection, meter, written: 0, acknowledged: 0, due }))
    }
}

struct Sending {
    command: TcpSend,
    settings: Settings,
    connection: Option<Connection>,
    meter: Option<Meter>,
    written: u64,
    acknowledged: u64,
    /// When more may be written, or it is over.
    due: Option<u64>,
}

impl Sending {
    /// Bytes that may be written up to now, and whether these are all.
    fn allowance(&self, age: u64) -> (u64, bool) {
        let time = self.command.seconds.map_or(u64::MAX, nanoseconds);
        let total = if age >= time { self.written } else { self.command.bytes.unwrap_or(u64::MAX) };
        let paced = self.command.pace.map_or(u64::MAX, |pace| {
            let bytes = u128::from(pace) * u128::from(age) / u128::from(8 * SECOND);
            u64::try_from(bytes).unwrap_or(u64::MAX) / PIECE * PIECE + PIECE
        });
        (total.min(paced), total <= self.written)
    }

    /// When the pace allows the next piece; the buffer may be full before.
    fn next_piece(&self, began: u64, has_room: bool) -> Option<u64> {
        let pace = self.command.pace.filter(|_| has_room)?;
        let bits = u128::from(self.written / PIECE * PIECE) * 8 * u128::from(SECOND);
        u64::try_from(bits.div_ceil(u128::from(pace))).ok().map(|time| began.saturating_add(time))
    }

    fn write(&mut self, context: &mut Context<'_>) -> Progress {
        let Some(connection) = &self.connection else {
            return Progress::Idle;
        };
        let (allowance, all) = self.allowance(connection.age(context.now));
        let tcp = connection.tcp(context);
        if all {
            let closing = tcp.may_send();
            tcp.close();
            self.due = None;
            return if closing { Progress::Busy } else { Progress::Idle };
        }
        let before = self.written;
        while tcp.room() > 0 && self.written < allowance {
            let most = usize::try_from(allowance - self.written).unwrap_or(usize::MAX);
            let offset = self.written;
            let write = |buffer: &mut [u8]| {
                let length = buffer.len().min(most);
                pattern::fill(offset, &mut buffer[..length]);
                length
            };
            self.written += tcp.send_with(write) as u64;
        }
        let piece = self.next_piece(connection.began(), tcp.room() > 0);
        let end = self.command.seconds.map(|seconds| connection.began() + nanoseconds(seconds));
        self.due = [piece, end].into_iter().flatten().min();
        if self.written > before { Progress::Busy } else { Progress::Idle }
    }

    fn tell_result(&self, outcome: Outcome, context: &mut Context<'_>) {
        let duration_ns = self.connection.as_ref().map_or(0, |connection| connection.age(context.now));
        let bytes = self.acknowledged;
        let bits_per_second = bits_per_second(bytes, duration_ns);
        context.tell(What::TcpDone { outcome, bytes, duration_ns, bits_per_second, intact: None });
    }
}

impl App for Sending {
    fn name(&self) -> &'static str {
        "tcp_send"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        if self.connection.is_none() {
            let to = (self.command.to, self.command.port);
            self.connection = Connection::connect(context, self.settings, to, self.command.source);
            let Some(_) = &self.connection else {
                self.tell_result(Outcome::NoAddress, context);
                return Progress::Ended;
            };
            self.due = None;
            return Progress::Busy;
        }
        let Some(connection) = &mut self.connection else {
            return Progress::Idle;
        };
        self.acknowledged = self.written - connection.tcp(context).unacknowledged() as u64;
        let stage = connection.watch(context);
        if stage == Stage::Open {
            let interval = nanoseconds(self.command.interval);
            let meter = self.meter.get_or_insert_with(|| Meter::new(interval, context.now));
            if let Some(report) = meter.report(self.acknowledged, context.now) {
                context.tell(report);
            }
        }
        let outcome = match stage {
            Stage::Connecting => return Progress::Idle,
            Stage::Open => return self.write(context),
            Stage::Finished => Outcome::Finished,
            Stage::Broken(outcome) => outcome,
        };
        self.tell_result(outcome, context);
        if let Some(connection) = &self.connection {
            connection.leave(context);
        }
        Progress::Ended
    }

    fn next_wake(&self) -> Option<u64> {
        let report = self.meter.as_ref().map(Meter::next_wake);
        [report, self.due].into_iter().flatten().min()
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        self.tell_result(Outcome::Stopped, context);
        if let Some(connection) = &self.connection {
            connection.abort(context);
        }
    }

    fn sent(&self, quote: &Quote) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.sent(quote))
    }
}
