//! The forwarding thread: bursts of packets from the ports through the program and out again.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use pipeline::{Engine, Loaded, Stats, Switch, Traffic};
use runtime::{Packet, Random};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use trace::Watches;
use tracing::warn;

use crate::clock::Clock;
use crate::outputs::{Lost, Outputs};

/// Packets taken from a port before the next one has its turn.
const BURST: usize = 64;
/// Packets from controllers that may wait.
const PACKETS_OUT: usize = 1024;
/// How often links are looked at and counters published, and the longest sleep.
const HOUSEKEEPING: u64 = 50_000_000;
/// The shortest sleep, when a port holds packets back.
const SHORT: u64 = 50_000;

/// The counters as last published.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    pub stats: Stats,
    pub lost: Lost,
    /// Packets waiting, and whether the link is up, by port.
    pub ports: Vec<(u32, usize, bool)>,
}

/// What others hold of the forwarding thread.
pub struct Handle {
    packets: SyncSender<Vec<u8>>,
    wake: OwnedFd,
    stop: AtomicBool,
    /// How often the thread kept house.
    turns: AtomicU64,
    counters: Mutex<Counters>,
    /// Whether each port's link is cut.
    cuts: Vec<(u32, Arc<AtomicBool>)>,
    /// Whether a carrier came or went since the thread kept house.
    carriers_changed: AtomicBool,
}

impl Handle {
    /// Hands a packet to the program by the CPU port.
    pub fn packet_out(&self, packet: Vec<u8>) -> Result<(), String> {
        match self.packets.try_send(packet) {
            Ok(()) => {
                self.wake();
                Ok(())
            }
            Err(TrySendError::Full(_)) => Err(format!("{PACKETS_OUT} packets of controllers wait already")),
            Err(TrySendError::Disconnected(_)) => Err("the switch stops".into()),
        }
    }

    /// Makes the thread look again at everything.
    pub fn wake(&self) {
        // Full means that it was woken and has not looked yet.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Has the thread look at the links now.
    pub fn carriers_changed(&self) {
        self.carriers_changed.store(true, Ordering::Release);
        self.wake();
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    /// Cuts a port's link or mends it; false if there is no such port.
    pub fn cut(&self, port: u32, cut: bool) -> bool {
        let link = self.cuts.iter().find(|(number, _)| *number == port);
        link.inspect(|(_, link)| link.store(cut, Ordering::Relaxed)).is_some()
    }

    /// Grows at least twenty times a second while the thread forwards, or waits for packets.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    pub fn counters(&self) -> Counters {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Everything the forwarding thread owns.
pub struct Forwarder {
    pub switch: Arc<Switch>,
    /// Who wants to see packets.
    watches: Arc<Watches>,
    pub clock: Clock,
    /// Gives each program its random numbers.
    random: Random,
    pub cpu_port: u32,
    outputs: Outputs,
    traffic: Traffic,
    handle: Arc<Handle>,
    packets: Receiver<Vec<u8>>,
    burst: Burst,
    next_housekeeping: u64,
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
        switch: Arc<Switch>,
        watches: Arc<Watches>,
        clock: Clock,
        outputs: Outputs,
        traffic: Traffic,
        cpu_port: u32,
        random: Random,
    ) -> Result<(Self, Arc<Handle>)> {
        let (sender, packets) = sync_channel(PACKETS_OUT);
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).context("eventfd")?;
        let cuts = outputs.ports.iter().map(|open| (open.number, open.cut.clone())).collect();
        let (stop, turns, counters) = (AtomicBool::new(false), AtomicU64::new(0), Mutex::default());
        let handle = Arc::new(Handle {
            packets: sender,
            wake,
            stop,
            turns,
            counters,
            cuts,
            carriers_changed: AtomicBool::new(false),
        });
        let forwarder = Self {
            switch,
            watches,
            clock,
            random,
            cpu_port,
            outputs,
            traffic,
            handle: handle.clone(),
            packets,
            burst: Burst::default(),
            next_housekeeping: 0,
        };
        Ok((forwarder, handle))
    }

    /// Forwards until stopped.
    pub fn run(mut self) {
        while !self.handle.stopping() {
            match self.switch.loaded() {
                Some(loaded) => self.forward(&loaded),
                None => self.discard(),
            }
        }
        self.outputs.flush(self.clock.now());
        self.outputs.flush_captures();
    }

    /// Runs packets through one program until another takes its place.
    fn forward(&mut self, loaded: &Arc<Loaded>) {
        let mut traffic = std::mem::take(&mut self.traffic);
        let mut engine = Engine::new(loaded, &mut traffic, self.random.fork());
        for open in &self.outputs.ports {
            set_port_up(loaded, open.number, open.up);
        }
        while !self.handle.stopping() && self.switch.runs(loaded) {
            let now = self.clock.now();
            let mut busy = false;
            for index in 0..self.outputs.ports.len() {
                busy |= self.take_burst(index, engine.headroom(), now);
                let port = self.outputs.ports[index].number;
                let watched = self.watches.any();
                for packet in self.burst.packets() {
                    if watched && let Some(recorder) = self.watches.choose(port, packet.bytes(), now) {
                        engine.trace_next(recorder);
                    }
                    engine.receive_packet(port, packet, now, &mut self.outputs);
                }
            }
            let watched = self.watches.any();
            for packet in self.packets.try_iter().take(BURST) {
                if watched && let Some(recorder) = self.watches.choose(self.cpu_port, &packet, now) {
                    engine.trace_next(recorder);
                }
                engine.receive(loaded.cpu_port(self.cpu_port), &packet, now, &mut self.outputs);
                busy = true;
            }
            engine.poll(now, &mut self.outputs);
            self.outputs.flush(now);
            if now >= self.next_housekeeping || self.handle.carriers_changed.load(Ordering::Relaxed) {
                self.keep_house(now, engine.traffic(), Some(loaded));
            }
            if !busy {
                engine.idle();
                self.wait(engine.traffic().next_departure());
            }
        }
        engine.flush(&mut self.outputs);
        drop(engine);
        self.traffic = traffic;
    }

    /// Without a program packets are taken and forgotten.
    fn discard(&mut self) {
        let now = self.clock.now();
        for index in 0..self.outputs.ports.len() {
            self.take_burst(index, 0, now);
        }
        while self.packets.try_recv().is_ok() {}
        let traffic = std::mem::take(&mut self.traffic);
        self.keep_house(now, &traffic, None);
        self.traffic = traffic;
        self.wait(None);
    }

    /// Receives from one port, behind so much headroom; false if nothing was there.
    fn take_burst(&mut self, index: usize, headroom: usize, now: u64) -> bool {
        let Self { outputs, burst, .. } = self;
        burst.len = 0;
        let open = &mut outputs.ports[index];
        if let Err(error) = open.receive(BURST, &mut |frame| burst.push(headroom, frame)) {
            warn!(port = open.number, "receiving failed: {error}");
        }
        for packet in burst.packets() {
            open.capture_received(packet.bytes(), now);
        }
        burst.len > 0
    }

    fn keep_house(&mut self, now: u64, traffic: &Traffic, loaded: Option<&Loaded>) {
        self.next_housekeeping = now + HOUSEKEEPING;
        self.handle.turns.fetch_add(1, Ordering::Relaxed);
        // Before the links are looked at: what changes from here on is for the next time.
        self.handle.carriers_changed.store(false, Ordering::Release);
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
        let counters = Counters { stats: traffic.stats.clone(), lost: self.outputs.lost.clone(), ports };
        *self.handle.counters.lock().unwrap_or_else(PoisonError::into_inner) = counters;
    }

    /// Sleeps until a packet comes, someone wakes the thread, or something is due.
    fn wait(&mut self, next_departure: Option<u64>) {
        let now = self.clock.now();
        let wakeups = self.outputs.ports.iter().filter_map(|open| open.port.next_wakeup());
        let due = wakeups.chain(next_departure).map(|at| at.max(now + SHORT)).min();
        let until = due.unwrap_or(u64::MAX).min(self.next_housekeeping.max(now));
        let sleep = until - now;
        let timeout = Timespec { tv_sec: (sleep / 1_000_000_000) as i64, tv_nsec: (sleep % 1_000_000_000) as i64 };
        let mut fds = vec![PollFd::new(&self.handle.wake, PollFlags::IN)];
        let port_fds = self.outputs.ports.iter().filter_map(|open| open.port.fd());
        fds.extend(port_fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        // Interrupted or not: the loop looks at everything again.
        let _ = poll(&mut fds, Some(&timeout));
        if fds[0].revents().contains(PollFlags::IN) {
            let _ = rustix::io::read(&self.handle.wake, &mut [0u8; 8]);
        }
    }
}

fn set_port_up(loaded: &Loaded, port: u32, up: bool) {
    loaded.device.set_port_up(port, up);
    loaded.replication.set_port_up(port, up);
}
