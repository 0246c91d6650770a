//! A forwarding thread: bursts of packets from the ports through the program and out again.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use pipeline::{Engine, Loaded, Switch, Traffic};
use runtime::{Packet, Random, Seed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use trace::Watches;
use tracing::warn;

use crate::clock::Clock;
use crate::handle::{Counters, Downlink, Handle};
use crate::handoff::{Handed, Inbox, Steering};
use crate::outputs::{OpenPort, Outputs};

/// Packets taken from a port before the next one has its turn.
const BURST: usize = 64;
/// How often links are looked at and counters published, and the longest sleep.
const HOUSEKEEPING: u64 = 50_000_000;
/// The shortest sleep, when a port holds packets back.
const SHORT: u64 = 50_000;

/// What is on its way between threads when they stop: handed over, run, sent.
pub const ROUNDS: usize = 3;
/// How long it may take, when links take no more.
const SETTLES: u64 = 200_000_000;

/// What all forwarding threads have in common.
#[derive(Clone)]
pub struct Common {
    pub switch: Arc<Switch>,
    /// Who wants to see packets.
    pub watches: Arc<Watches>,
    pub clock: Clock,
    pub cpu_port: u32,
    /// Ways of packets that each thread keeps.
    pub flow_cache: usize,
    /// How long after the last frame a thread looks at its ports before it sleeps, in nanoseconds.
    pub busy_poll: u64,
    pub handle: Arc<Handle>,
    /// By thread.
    pub inboxes: Vec<Inbox>,
}

/// Everything a forwarding thread owns.
pub struct Forwarder {
    common: Common,
    /// Its number: 0 is the first.
    seat: usize,
    /// Gives each program its random numbers.
    random: Random,
    outputs: Outputs,
    traffic: Traffic,
    /// From controllers and operators: that goes to the first thread.
    downlink: Option<Receiver<Downlink>>,
    /// From other threads.
    inbox: Receiver<Handed>,
    steering: Steering,
    burst: Burst,
    next_housekeeping: u64,
    /// Until then it does not sleep.
    awake_until: u64,
    /// As last asked for.
    hits_in_kernel: u64,
}

/// Packets of one burst, in memory that is used again.
#[derive(Default)]
struct Burst {
    packets: Vec<Packet>,
    len: usize,
}

impl Burst {
    fn push(&mut self, headroom: usize, frame: &[u8]) {
        if self.packets.len() == self.len {
            self.packets.push(Packet::default());
        }
        self.packets[self.len].refill(headroom, frame);
        self.len += 1;
    }

    fn packets(&mut self) -> &mut [Packet] {
        &mut self.packets[..self.len]
    }
}

impl Forwarder {
    pub fn new(
        common: Common,
        seat: usize,
        outputs: Outputs,
        traffic: Traffic,
        seed: Seed,
        downlink: Option<Receiver<Downlink>>,
        inbox: Receiver<Handed>,
    ) -> Self {
        let steering = Steering::new(common.inboxes.clone());
        Self {
            common,
            seat,
            random: Random::new(seed),
            outputs,
            traffic,
            downlink,
            inbox,
            steering,
            burst: Burst::default(),
            next_housekeeping: 0,
            awake_until: 0,
            hits_in_kernel: 0,
        }
    }

    /// Forwards until stopped; then nothing that was received waits here any more. Its ports are for who goes on.
    pub fn run(mut self) -> Vec<OpenPort> {
        while !self.common.handle.stopping() {
            match self.common.switch.loaded() {
                Some(loaded) => self.forward(&loaded),
                None => self.discard(),
            }
        }
        self.outputs.flush(self.common.clock.now());
        self.outputs.flush_captures();
        self.outputs.ports
    }

    /// Runs packets through one program until another takes its place.
    fn forward(&mut self, loaded: &Arc<Loaded>) {
        let mut traffic = std::mem::take(&mut self.traffic);
        let mut engine = Engine::new(loaded, &mut traffic, self.random.fork());
        match self.common.handle.kernel() {
            _ if self.common.flow_cache == 0 => {}
            None => engine.keep_flows(self.common.flow_cache),
            Some(kernel) => {
                let (kernel, loaded) = (kernel.clone(), loaded.clone());
                let offer = move |offer| kernel.offer(&loaded, offer);
                engine.keep_and_offer_flows(self.common.flow_cache, offer);
            }
        }
        if self.seat == 0 {
            for open in &self.outputs.ports {
                set_port_up(loaded, open.number, open.up);
            }
        }
        while !self.common.handle.stopping() && self.common.switch.runs(loaded) {
            let now = self.common.clock.now();
            let mut busy = false;
            for index in 0..self.outputs.ports.len() {
                busy |= self.take_burst(index, engine.headroom(), now);
                self.run_burst(index, &mut engine, now);
                self.steering.hand_over();
            }
            busy |= self.take_handed(&mut engine, now);
            busy |= self.take_downlink(loaded, &mut engine, now);
            engine.poll(now, &mut self.outputs);
            self.outputs.flush(now);
            let changed = self.seat == 0 && self.common.handle.take_carriers_changed();
            if now >= self.next_housekeeping || changed {
                engine.credit_flows(self.new_hits_in_kernel());
                self.keep_house(now, engine.traffic(), Some(loaded));
            }
            if busy {
                self.awake_until = now + self.common.busy_poll;
                continue;
            }
            // Writers must not wait for a thread that has nothing to do, whether it sleeps or not.
            engine.idle();
            if now < self.awake_until {
                std::hint::spin_loop();
            } else {
                self.wait(engine.next_departure());
            }
        }
        if self.common.handle.stopping() {
            self.settle(loaded, &mut engine);
        }
        engine.flush(&mut self.outputs);
        engine.drop_kept();
        drop(engine);
        self.traffic = traffic;
    }

    /// Brings what is on its way between threads, in queues and in batches onto the links, as far as they take it soon. All
    /// threads do so at once, in rounds: what was received is handed over, then it is run, then it is sent.
    fn settle(&mut self, loaded: &Loaded, engine: &mut Engine<'_>) {
        let clock = self.common.clock;
        let end = clock.now() + SETTLES;
        for round in 0..ROUNDS {
            let mut is_counted = false;
            while clock.now() < end {
                let now = clock.now();
                let mut busy = self.take_handed(engine, now) | self.take_downlink(loaded, engine, now);
                self.steering.hand_over();
                engine.poll(now, &mut self.outputs);
                self.outputs.flush(now);
                let ports = &self.outputs.ports;
                busy |= !self.steering.is_empty() || engine.next_departure().is_some();
                busy |= ports.iter().any(|open| open.port.next_wakeup().is_some());
                is_counted = is_counted || (!busy && self.common.handle.settled(round));
                if is_counted && self.common.handle.all_settled(round) {
                    break;
                }
                std::thread::sleep(Duration::from_nanos(SHORT));
            }
        }
    }

    /// Runs what [`Self::take_burst`] took from a port.
    fn run_burst(&mut self, index: usize, engine: &mut Engine<'_>, now: u64) {
        let port = self.outputs.ports[index].number;
        let watched = self.common.watches.any();
        for packet in self.burst.packets() {
            if watched && let Some(recorder) = self.common.watches.choose(port, packet.bytes(), now) {
                engine.trace_next(recorder);
            }
            engine.receive_packet(port, packet, now, &mut self.outputs);
        }
    }

    /// Runs and sends what other threads handed over.
    fn take_handed(&mut self, engine: &mut Engine<'_>, now: u64) -> bool {
        let mut busy = false;
        // As many batches as other threads may hand over while these are worked on.
        for _ in 0..self.common.inboxes.len() {
            let Ok(handed) = self.inbox.try_recv() else { break };
            busy = true;
            match handed {
                Handed::Received(frames) => {
                    self.burst.len = 0;
                    frames.iter().for_each(|(frame, _)| self.burst.push(engine.headroom(), frame));
                    self.run_burst(frames.port, engine, now);
                }
                Handed::ToSend(frames) => self.outputs.send_handed(&frames),
            }
        }
        busy
    }

    fn take_downlink(&mut self, loaded: &Loaded, engine: &mut Engine<'_>, now: u64) -> bool {
        let mut busy = false;
        let watched = self.common.watches.any();
        let port = self.common.cpu_port;
        for message in self.downlink.iter().flat_map(Receiver::try_iter).take(BURST) {
            let packet = match message {
                Downlink::PacketOut(packet) => packet,
                Downlink::Link(spec) => {
                    self.outputs.change_link(&spec, engine.traffic());
                    continue;
                }
            };
            if watched && let Some(recorder) = self.common.watches.choose(port, &packet, now) {
                engine.trace_next(recorder);
            }
            engine.receive(loaded.cpu_port(port), &packet, now, &mut self.outputs);
            busy = true;
        }
        busy
    }

    /// Without a program packets are taken and forgotten.
    fn discard(&mut self) {
        let now = self.common.clock.now();
        for index in 0..self.outputs.ports.len() {
            self.take_burst(index, 0, now);
            self.steering.hand_over();
        }
        while let Ok(handed) = self.inbox.try_recv() {
            if let Handed::ToSend(frames) = handed {
                self.outputs.send_handed(&frames);
            }
        }
        for message in self.downlink.iter().flat_map(Receiver::try_iter) {
            if let Downlink::Link(spec) = message {
                self.outputs.change_link(&spec, &mut self.traffic);
            }
        }
        let traffic = std::mem::take(&mut self.traffic);
        self.keep_house(now, &traffic, None);
        self.traffic = traffic;
        self.wait(None);
    }

    /// Receives from one port, behind so much headroom; false if nothing was there. Frames of other threads' flows are
    /// put aside for them.
    fn take_burst(&mut self, index: usize, headroom: usize, now: u64) -> bool {
        let Self { outputs, burst, steering, .. } = self;
        burst.len = 0;
        let open = &mut outputs.ports[index];
        // What another thread has no room for waits at the port.
        if !steering.is_empty() {
            return false;
        }
        let steers = open.steers;
        let taken = open.receive(BURST, &mut |frame| {
            if !steers || !steering.take(index, frame) {
                burst.push(headroom, frame);
            }
        });
        if let Err(error) = taken {
            warn!(port = open.number, "receiving failed: {error}");
        }
        for packet in burst.packets() {
            open.capture_received(packet.bytes(), now);
        }
        steering.waiting().for_each(|frame| open.capture_received(frame, now));
        burst.len > 0 || !steering.is_empty()
    }

    /// This thread's part of the packets that the kernel forwarded since it was asked last.
    fn new_hits_in_kernel(&mut self) -> u64 {
        let hits = self.common.handle.kernel().map_or(0, |kernel| kernel.hits());
        let new = hits - std::mem::replace(&mut self.hits_in_kernel, hits);
        new / self.common.inboxes.len() as u64
    }

    fn keep_house(&mut self, now: u64, traffic: &Traffic, loaded: Option<&Loaded>) {
        self.next_housekeeping = now + HOUSEKEEPING;
        for open in &mut self.outputs.ports {
            if open.link_changed()
                && let Some(loaded) = loaded
            {
                set_port_up(loaded, open.number, open.up);
            }
        }
        self.outputs.flush_captures();
        self.outputs.ask_lost();
        let ports = self.outputs.ports.iter().map(|open| (open.number, traffic.depth(open.number), open.up)).collect();
        let (stats, lost) = (traffic.stats.clone(), self.outputs.lost.clone());
        let threads = vec![stats.received_packets()];
        let buffers = loaded.map(|loaded| loaded.device.buffers()).unwrap_or_default();
        let flows = traffic.flows;
        let counters = Counters { stats, flows, lost, ports, threads, buffers, ..Counters::default() };
        self.common.handle.publish(self.seat, counters);
    }

    /// Sleeps until a packet comes, someone wakes the thread, or something is due.
    fn wait(&mut self, next_departure: Option<u64>) {
        let now = self.common.clock.now();
        let wakeups = self.outputs.ports.iter().filter_map(|open| open.port.next_wakeup());
        // A thread whose inbox is full does not say when it has room.
        let handing = (!self.steering.is_empty()).then_some(0);
        let due = wakeups.chain(next_departure).chain(handing).map(|at| at.max(now + SHORT)).min();
        let until = due.unwrap_or(u64::MAX).min(self.next_housekeeping.max(now));
        let sleep = until - now;
        let timeout = Timespec { tv_sec: (sleep / 1_000_000_000) as i64, tv_nsec: (sleep % 1_000_000_000) as i64 };
        let wake = &self.common.inboxes[self.seat].wake;
        let mut fds = vec![PollFd::new(wake, PollFlags::IN)];
        // Ports with frames that nobody can take now would only end the sleep at once.
        let port_fds = self.outputs.ports.iter().filter(|_| handing.is_none()).filter_map(|open| open.port.fd());
        fds.extend(port_fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        // Interrupted or not: the loop looks at everything again.
        let _ = poll(&mut fds, Some(&timeout));
        if fds[0].revents().contains(PollFlags::IN) {
            let _ = rustix::io::read(wake, &mut [0u8; 8]);
        }
    }
}

fn set_port_up(loaded: &Loaded, port: u32, up: bool) {
    loaded.device.set_port_up(port, up);
    loaded.replication.set_port_up(port, up);
}
