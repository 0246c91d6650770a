//! ICMPv6 echo requests at an interval, and what came back.

use std::collections::BTreeMap;

use serde::Deserialize;
use smoltcp::wire::{IpProtocol, Ipv6Address};

use super::spread::Collected;
use crate::event::What;
use crate::flow::{App, Context, Progress};
use crate::link::{EchoReply, Quote};
use crate::units::nanoseconds;

/// IPv6 and ICMPv6 headers.
const HEADERS: usize = 48;

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ping {
    pub to: Ipv6Address,
    /// 0 goes on until stopped.
    pub count: u32,
    /// Seconds between requests.
    pub interval: f64,
    /// Bytes of data in a request.
    pub size: usize,
    /// Seconds after which a reply counts as lost.
    pub timeout: f64,
    /// One of the host's addresses; the best one unless given.
    pub source: Option<Ipv6Address>,
}

impl Default for Ping {
    fn default() -> Self {
        Self { to: Ipv6Address::UNSPECIFIED, count: 4, interval: 1.0, size: 56, timeout: 1.0, source: None }
    }
}

impl Ping {
    pub(crate) fn into_app(self, mtu: usize) -> Result<Box<dyn App>, String> {
        super::check_destination(self.to)?;
        super::check_seconds("interval", self.interval)?;
        super::check_seconds("timeout", self.timeout)?;
        if self.size + HEADERS > mtu {
            return Err(format!(
                "a size of {} does not fit the MTU of {mtu}; give at most {}",
                self.size,
                mtu - HEADERS
            ));
        }
        Ok(Box::new(Pinging {
            due: 0,
            sent: 0,
            lost: 0,
            outstanding: BTreeMap::new(),
            rtt: Collected::default(),
            data: (0..self.size).map(|index| index as u8).collect(),
            command: self,
        }))
    }
}

struct Pinging {
    command: Ping,
    data: Vec<u8>,
    /// When the next request is sent; 0 before the first.
    due: u64,
    sent: u32,
    lost: u32,
    /// When requests without a reply were sent.
    outstanding: BTreeMap<u32, u64>,
    rtt: Collected,
}

impl Pinging {
    fn all_sent(&self) -> bool {
        self.command.count > 0 && self.sent == self.command.count
    }

    fn expiry(&self, sent_at: u64) -> u64 {
        sent_at + nanoseconds(self.command.timeout)
    }

    fn send(&mut self, context: &mut Context<'_>) {
        // Without an address that reaches there the request counts as sent, and as lost.
        if let Some(source) = context.source_for(self.command.to, self.command.source) {
            let (ident, sequence) = (context.flow as u16, self.sent as u16);
            context.link.send_echo(source, self.command.to, ident, sequence, &self.data, context.now);
        }
        self.outstanding.insert(self.sent, context.now);
        self.sent += 1;
        // A late call delays the rest: requests never come in a burst.
        self.due = context.now + nanoseconds(self.command.interval);
    }

    fn count_lost(&mut self, context: &mut Context<'_>) {
        while let Some((&sequence, &sent_at)) = self.outstanding.first_key_value() {
            if self.expiry(sent_at) > context.now {
                break;
            }
            self.outstanding.remove(&sequence);
            self.lost += 1;
            context.tell(What::PingLost { sequence });
        }
    }

    fn tell_result(&self, context: &mut Context<'_>) {
        let received = self.rtt.count() as u32;
        let rtt = self.rtt.spread();
        context.tell(What::PingDone { sent: self.sent, received, lost: self.lost, rtt });
    }
}

impl App for Pinging {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Progress {
        self.count_lost(context);
        if !self.all_sent() && self.due <= context.now {
            self.send(context);
            return Progress::Busy;
        }
        if self.all_sent() && self.outstanding.is_empty() {
            self.tell_result(context);
            return Progress::Ended;
        }
        Progress::Idle
    }

    fn next_wake(&self) -> Option<u64> {
        let expiry = self.outstanding.values().next().map(|sent_at| self.expiry(*sent_at));
        let due = (!self.all_sent()).then_some(self.due);
        [expiry, due].into_iter().flatten().min()
    }

    fn stop(&mut self, context: &mut Context<'_>) {
        self.tell_result(context);
    }

    fn echo_reply(&mut self, reply: &EchoReply, context: &mut Context<'_>) {
        // The wire has the low 16 bits of the sequence number.
        let find = |(sequence, _): &(&u32, &u64)| **sequence as u16 == reply.sequence;
        let Some((sequence, sent_at)) = self.outstanding.iter().find(find).map(|(s, at)| (*s, *at)) else {
            return;
        };
        self.outstanding.remove(&sequence);
        let rtt_ns = context.now - sent_at;
        self.rtt.add(rtt_ns);
        context.tell(What::PingReply { sequence, from: reply.from, bytes: reply.bytes, rtt_ns });
    }

    fn sent(&self, quote: &Quote) -> bool {
        quote.protocol == IpProtocol::Icmpv6 && quote.destination == self.command.to
    }
}
