//! Requests at an interval over one TCP connection, and how long the answers stay away.

use std::collections::VecDeque;

use serde::Deserialize;
use smoltcp::wire::Ipv6Address;

use super::connection::{ACK_DELAY, Connection, Stage, settings};
use super::spread::Collected;
use super::{Source, check_destination, check_port, check_seconds, pattern};
use crate::event::{Outcome, What};
use crate::flow::{App, Context, Progress};
use crate::link::Quote;
use crate::tcp::{Congestion, Settings};
use crate::units::nanoseconds;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TcpRequest {
    pub to: Ipv6Address,
    pub port: u16,
    /// 0 goes on until stopped.
    pub count: u64,
    /// Seconds between requests.
    pub interval: f64,
    /// Bytes of a request, and of its answer.
    pub size: usize,
    /// Seconds between reports.
    pub report: f64,
    /// Seconds of silence after which the connection is given up.
    pub timeout: f64,
    pub source: Source,
}

impl Default for TcpRequest {
    fn default() -> Self {
        Self {
            to: Ipv6Address::UNSPECIFIED,
            port: super::PORT,
            count: 0,
            interval: 0.01,
            size: 64,
            report: 1.0,
            timeout: super::TIMEOUT,
            source: None,
        }
    }
}

impl TcpRequest {
    pub(crate) fn into_app(self) -> Result<Box<dyn App>, String> {
        check_destination(self.to)?;
        check_port(self.port)?;
        check_seconds("interval", self.interval)?;
        check_seconds("report", self.report)?;
        let settings = settings(super::BUFFER, Congestion::default(), self.timeout, ACK_DELAY)?;
        if !(1..=settings.buffer).contains(&self.size) {
            return Err(format!("a \"size\" of {} is impossible; it is from 1 to {}", self.size, settings.buffer));
        }
        Ok(Box::new(Requesting {
            command: self,
            settings,
            connection: None,
            due: Some(0),
            sent: 0,
            sent_at: VecDeque::new(),
            received: 0,
            answered: 0,
            arrived_at: 0,
            longest_gap: (0, 0),
            report: Report::default(),
            rtt: Collected::default(),
        }))
    }
}

struct Requesting {
    command: TcpRequest,
    settings: Settings,
    connection: Option<Connection>,
    /// When the next request is sent.
    due: Option<u64>,
    sent: u64,
    /// When requests without an answer were sent.
    sent_at: VecDeque<u64>,
    /// Bytes of answers.
    received: u64,
    answered: u64,
    arrived_at: u64,
    /// The longest time between two answers, and when it began.
    longest_gap: (u64, u64),
    report: Report,
    rtt: Collected,
}

/// What the last report said, and what has happened since.
#[derive(Default)]
struct Report {
    due: Option<u64>,
    sent: u64,
    answered: u64,
    longest_gap: u64,
}

impl Requesting {
    fn read(&mut self, context: &mut Context<'_>) {
        let Some(connection) = &self.connection else {
            return;
        };
        let tcp = connection.tcp(context);
        while tcp.readable() > 0 {
            self.received += tcp.receive_with(|bytes| (bytes.len(), bytes.len() as u64));
        }
        while self.answered < self.received / self.command.size as u64 {
            self.answered += 1;
            self.arrived(context.now);
        }
    }

    fn arrived(&mut self, now: u64) {
        let gap = now - self.arrived_at;
        // Before the first answer the connection was set up: no gap.
        if self.answered > 1 {
            self.report.longest_gap = self.report.longest_gap.max(gap);
            if gap > self.longest_gap.0 {
                self.longest_gap = (gap, self.arrived_at);
            }
        }
        self.arrived_at = now;
        if let Some(sent_at) = self.sent_at.pop_front() {
            self.rtt.add(now - sent_at);
        }
    }

    fn write(&mut self, context: &mut Context<'_>) -> Progress {
        let Some(connection) = &self.connection else {
            return Progress::Idle;
        };
        let now = context.now;
        let tcp = connection.tcp(context);
        let all = self.command.count > 0 && self.sent == self.command.count;
        if all {
            self.due = None;
            let done = self.sent_at.is_empty() && tcp.may_send();
            if done {
                tcp.close();
            }
            return if done { Progress::Busy } else { Progress::Idle };
        }
        if self.due.is_some_and(|due| due > now) {
            return Progress::Idle;
        }
        if tcp.room() < self.command.size {
            // The next acknowledgement makes room.
            self.due = None;
            return Progress::Idle;
        }
        let mut request = vec![0; self.command.size];
        pattern::fill(0, &mut request);
        tcp.send(&request);
        self.sent += 1;
        self.sent_at.push_back(now);
        self.due = Some(now + nanoseconds(self.command.interval));
        Progress::Busy
    }

    fn tell_report(&mut self, context: &mut Context<'_>) {
        let interval = nanoseconds(self.command.report);
        let due = *self.report.due.get_or_insert(context.now + interval);
        if due > context.now {
            return;
        }
        let (sent, answered) = (self.sent - self.report.sent, self.answered - self.report.answered);
        let lasting = if self.sent_at.is_empty() { 0 } else { context.now - self.arrived_at };
        let longest_gap_ns = self.report.longest_gap.max(lasting);
        context.tell(What::Requests { sent, answered, longest_gap_ns });
        self.report =
            Report { due: Some(context.now + interval), sent: self.sent, answered: self.answered, longest_gap: 0 };
    }

    fn tell_result(&self, outcome: Outcome, context: &mut Context<'_>) {
        let (longest_gap_ns, longest_gap_at_ns) = self.longest_gap;
        let (sent, answered, rtt) = (self.sent, self.answered, self.rtt.spread());
        context.tell(What::RequestsDone { outcome, sent, answered, longest_gap_ns, longest_gap_at_ns, rtt });
    }
}

impl App for Requesting {
    fn name(&self) -> &'static str {
        "tcp_request"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        if self.connection.is_none() {
            let to = (self.command.to, self.command.port);
            self.connection = Connection::connect(context, self.settings, to, self.command.source);
            let Some(connection) = &self.connection else {
                self.tell_result(Outcome::NoAddress, context);
                return Progress::Ended;
            };
            connection.tcp(context).send_small_at_once();
            self.due = None;
            self.arrived_at = context.now;
            return Progress::Busy;
        }
        self.read(context);
        let Some(connection) = &mut self.connection else {
            return Progress::Idle;
        };
        let outcome = match connection.watch(context) {
            Stage::Connecting => return Progress::Idle,
            Stage::Open => {
                self.tell_report(context);
                return self.write(context);
            }
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
        [self.due, self.report.due].into_iter().flatten().min()
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
