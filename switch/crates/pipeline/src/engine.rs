//! The way of one packet through v1model, and what all architectures share: queues, replicas, traces.

mod copies;
mod flows;
mod held;
mod psa;
mod sink;
mod tell;
mod v1model;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use ir::FunctionId;
use runtime::{Backend, Context, Event, Packet, Recorder, Seed};

pub use self::flows::FlowStats;
use self::flows::KnownFlows;
use self::held::Held;
use self::psa::Path;
use self::sink::Unhindered;
pub use self::sink::{Message, Sink};
use crate::PSA_PORT_RECIRCULATE;
use crate::loaded::Loaded;
use crate::meta::{Instance, Metadata};
use crate::packed_frame::Packing;
use crate::queue::{Departure, Queues, Shape};
use crate::stats::{DropReason, Stats};

/// How often one received packet may be copied or go round, all its copies together: a loop in a program ends.
const BUDGET: u32 = 1024;

/// The state of a switch that outlives packets but not the process: queues and counts.
#[derive(Debug, Default)]
pub struct Traffic {
    queues: Queues<Held>,
    /// Recirculated packets that wait for the parser.
    returning: VecDeque<Held>,
    pub stats: Stats,
    pub flows: FlowStats,
}

impl Traffic {
    pub fn set_shape(&mut self, port: u32, shape: Shape) {
        self.queues.set_shape(port, shape);
    }

    pub fn shape(&self, port: u32) -> Shape {
        self.queues.shape(port)
    }

    /// Packets that wait for a port.
    pub fn depth(&self, port: u32) -> usize {
        self.queues.depth(port)
    }

    /// When [`Engine::poll`] has something to do, if no port holds it back.
    pub fn next_departure(&self) -> Option<u64> {
        self.queues.next_departure()
    }

    /// Whether a packet waits for the parser or for its port.
    #[inline]
    fn waits(&self) -> bool {
        !self.returning.is_empty() || self.queues.waits()
    }
}

/// Runs packets through one loaded program.
pub struct Engine<'a> {
    loaded: &'a Loaded,
    traffic: &'a mut Traffic,
    context: Context<'a>,
    /// What runs packets that are not traced.
    backend: Arc<dyn Backend>,
    /// Ways of packets, if they are kept.
    known: Option<Box<KnownFlows>>,
    /// What is left of the running packet's budget.
    budget: u32,
    headroom: usize,
    packing: Packing,
    /// For the packet that is received next.
    recorder: Option<Box<Recorder>>,
    /// Behind the gate, since packets are on their way.
    inside: bool,
}

impl<'a> Engine<'a> {
    /// With `seed` the program's random numbers begin.
    pub fn new(loaded: &'a Loaded, traffic: &'a mut Traffic, seed: impl Into<Seed>) -> Self {
        let headroom = loaded.program.max_growth as usize;
        let packing = Packing::new(&loaded.program.frame);
        let context = Context::new(&loaded.device, seed);
        let backend = loaded.backend.clone();
        let known = loaded.learned.and_then(|learned| KnownFlows::at_once(loaded, learned));
        Self { loaded, traffic, context, backend, known, budget: 0, headroom, packing, recorder: None, inside: false }
    }

    pub fn traffic(&mut self) -> &mut Traffic {
        self.count_ways();
        self.traffic
    }

    /// Notes what the packet meets that is received next, and its copies: the interpreter runs them, on the same state.
    pub fn trace_next(&mut self, recorder: Recorder) {
        self.recorder = Some(Box::new(recorder));
    }

    /// Says that no packet waits to be received, so that the tables may reclaim what was deleted.
    pub fn idle(&mut self) {
        self.context.idle();
        if self.traffic.next_departure().is_none() {
            self.leave();
        }
    }

    /// When [`Engine::poll`] has something to do, if no port holds it back.
    pub fn next_departure(&self) -> Option<u64> {
        self.traffic.next_departure().into_iter().chain(self.loaded.device.next_kept()).min()
    }

    /// To be called between packets: lets a batch pass that no packet may see half of. Those that wait for their ports
    /// have seen the tables as they were, so they leave first.
    fn pass_gate(&mut self, sink: &mut impl Sink) {
        if self.inside && self.loaded.gate.is_closed() {
            self.flush_queues(sink);
            self.context.idle();
            self.leave();
        }
        if !self.inside {
            self.loaded.gate.enter();
            self.inside = true;
        }
    }

    fn leave(&mut self) {
        if mem::take(&mut self.inside) {
            self.loaded.gate.leave();
        }
    }

    /// What a packet needs in front of it for the headers that it may gain.
    pub fn headroom(&self) -> usize {
        self.headroom
    }

    /// A packet enters at a port; everything that it causes now happens.
    pub fn receive(&mut self, port: u32, bytes: &[u8], now: u64, sink: &mut impl Sink) {
        self.context.packet.refill(self.headroom, bytes);
        self.enter(port, now, sink);
    }

    /// The same without a copy: the packet's memory is taken, and that of an earlier packet given for it.
    pub fn receive_packet(&mut self, port: u32, packet: &mut Packet, now: u64, sink: &mut impl Sink) {
        mem::swap(&mut self.context.packet, packet);
        self.enter(port, now, sink);
    }

    fn enter(&mut self, port: u32, now: u64, sink: &mut impl Sink) {
        self.pass_gate(sink);
        let bytes = self.context.packet.len();
        if self.recorder.is_some() {
            self.context.trace = self.recorder.take();
        }
        self.traffic.stats.received(port, bytes);
        self.trace(|| Event::Received { port, bytes });
        self.budget = BUDGET;
        if self.take_known_way(port, now, sink) {
            // Mostly there is none.
            if self.has_waiting(now) {
                self.send_due(now, sink);
            }
            return;
        }
        self.context.start(now);
        match &self.loaded.program.psa {
            None => {
                self.set_arrival(port, Instance::Normal, now);
                self.ingress(now, sink);
            }
            Some(psa) => self.psa_ingress(psa, port, Path::Normal, now, sink),
        }
        self.end_trace();
        self.send_due(now, sink);
    }

    /// The packet is dropped or sent; what goes round has its recorder with it.
    #[inline]
    fn end_trace(&mut self) {
        if self.context.trace.is_some() {
            self.context.trace = None;
        }
    }

    /// Lets the packets go whose time has come.
    pub fn poll(&mut self, now: u64, sink: &mut impl Sink) {
        if self.has_waiting(now) {
            self.pass_gate(sink);
            self.send_due(now, sink);
        }
    }

    /// Whether a packet waits: for the parser, for its port, or as a copy whose time has come.
    #[inline]
    fn has_waiting(&self, now: u64) -> bool {
        self.traffic.waits() || self.loaded.device.next_kept().is_some_and(|at| at <= now)
    }

    fn send_due(&mut self, now: u64, sink: &mut impl Sink) {
        loop {
            if let Some(held) = self.traffic.returning.pop_front() {
                self.resume(held, now);
                match &self.loaded.program.psa {
                    None => self.ingress(now, sink),
                    Some(psa) => self.psa_ingress(psa, PSA_PORT_RECIRCULATE, Path::Recirculate, now, sink),
                }
            } else if let Some(departure) = self.traffic.queues.pop(now, |port| sink.ready(port)) {
                let Departure { port, item, since, at, depth } = departure;
                self.resume(item, at);
                let at_std = &self.loaded.program.standard_metadata;
                self.context.frame.set_deq_timedelta(at_std, (at - since) / 1000);
                self.context.frame.set_deq_qdepth(at_std, depth as u64);
                match &self.loaded.program.psa {
                    None => self.egress(port, at, sink),
                    Some(psa) => self.psa_egress(psa, port, at, sink),
                }
            } else if let Some(kept) = self.loaded.device.pop_kept(now) {
                self.start_kept(kept, now);
                if self.spend() {
                    self.ingress(now, sink);
                }
            } else {
                return;
            }
            self.end_trace();
        }
    }

    /// Drops the copies in packet buffers: their program goes.
    pub fn drop_kept(&mut self) {
        while self.loaded.device.pop_kept(u64::MAX).is_some() {
            self.traffic.stats.drop_packet(DropReason::Replaced);
        }
    }

    /// Lets every queued packet go at the time its link would take it: nothing may wait for another program.
    pub fn flush(&mut self, sink: &mut impl Sink) {
        if self.traffic.next_departure().is_some() {
            self.pass_gate(sink);
            self.flush_queues(sink);
        }
    }

    fn flush_queues(&mut self, sink: &mut impl Sink) {
        while let Some(next) = self.traffic.queues.next_departure() {
            self.send_due(next, &mut Unhindered(sink));
        }
    }

    #[inline(always)]
    fn transmit(&mut self, port: u32, now: u64, sink: &mut impl Sink) {
        let bytes = self.context.packet.len();
        let at = self.traffic.queues.transmit(port, bytes, now);
        self.traffic.stats.sent(port, bytes);
        self.trace(|| Event::Sent { port, bytes, lost: sink.loses(port).map(Into::into) });
        sink.transmit(port, self.context.packet.bytes(), at);
    }

    /// Takes one turn off the budget, or drops the packet.
    fn spend(&mut self) -> bool {
        if self.budget == 0 {
            self.drop_packet(DropReason::Budget);
            return false;
        }
        self.budget -= 1;
        true
    }

    fn drop_packet(&mut self, reason: DropReason) {
        self.traffic.stats.drop_packet(reason);
        if let Some(trace) = &mut self.context.trace {
            note_drop(trace, reason);
        }
    }

    fn drop_held(&mut self, held: Held, reason: DropReason) {
        self.traffic.stats.drop_packet(reason);
        if let Some(mut trace) = held.trace {
            note_drop(&mut trace, reason);
        }
    }

    fn run(&mut self, function: FunctionId) {
        match self.context.trace {
            None => self.backend.run(function, &mut self.context),
            Some(_) => self.loaded.tracer().run(function, &mut self.context),
        }
        self.context.registers.end_turn();
    }

    /// Counts and tells the error that a parser left at `at`.
    fn count_parser_error(&mut self, at: u32) {
        let error = self.context.frame.read(at, 32) as usize;
        if error == 0 {
            return;
        }
        self.traffic.stats.parser_errors += 1;
        let names = &self.loaded.program.errors;
        self.trace(|| Event::ParserError { error: names.get(error).map_or_else(|| error.to_string(), Clone::clone) });
    }

    /// The packet goes round, as another one for its trace.
    fn go_on_as(&mut self, reason: &'static str) {
        if let Some(trace) = &mut self.context.trace {
            **trace = trace.copied(reason, None);
        }
    }

    fn trace(&mut self, event: impl FnOnce() -> Event) {
        if let Some(trace) = &mut self.context.trace {
            trace.event(event());
        }
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        self.drop_ways();
        self.leave();
    }
}

fn note_drop(trace: &mut Recorder, reason: DropReason) {
    let by = match reason {
        DropReason::Ingress | DropReason::Egress => trace.marked(),
        _ => None,
    };
    trace.event(Event::Dropped { reason: reason.name().into(), why: reason.explanation().into(), by });
}
