//! The ports of a running switch, and where what leaves the program goes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use ir::DigestId;
use num_bigint::BigUint;
use pipeline::{Message, Shape, Sink, Traffic};
use ports::pcap::Writer;
use ports::{Port, PortSpec, Takeover};
use tracing::{error, info, warn};

use crate::handoff::{Elsewhere, Frames, Inbox};

/// What the forwarding threads tell the service.
pub enum Uplink {
    PacketIn(Vec<u8>),
    Digest { digest: DigestId, values: Vec<BigUint> },
}

/// The queue before a port's link.
pub fn shape(spec: &PortSpec) -> Shape {
    let shape = Shape { bits_per_second: spec.rate, ..Shape::default() };
    Shape { packets: spec.queue.unwrap_or(shape.packets), ..shape }
}

/// A port as one forwarding thread has it.
pub struct OpenPort {
    pub number: u32,
    pub port: Box<dyn Port>,
    pub up: bool,
    /// Whether this thread follows the link: the first one.
    leads: bool,
    /// Whether the end is this thread's, and not one of the first.
    is_own: bool,
    /// Whether all frames come to this thread, and it hands those of other threads' flows over.
    pub steers: bool,
    /// Whether its link is up, as the port itself says, or as [`crate::carriers`] sees it where that is sooner.
    pub link: Arc<AtomicBool>,
    pub is_watched: bool,
    /// Whether an operator cut the link: it stays up and loses every frame, as a fault further along it would.
    pub cut: Arc<AtomicBool>,
    name: String,
    /// What the port could not carry, as last asked.
    lost: ports::Lost,
    /// What it had no room for, or failed to send.
    refused: u64,
    captures: Option<Arc<Mutex<Captures>>>,
    /// The ports whose links its carrier stands for.
    pub carrier_of: Vec<u32>,
}

/// Capture files of a port: what came in and what went out.
struct Captures {
    received: Writer<std::io::BufWriter<std::fs::File>>,
    sent: Writer<std::io::BufWriter<std::fs::File>>,
}

impl OpenPort {
    /// Of an opened port, whose place among all ports is `index`: an end for each thread that has an inbox.
    pub fn of(
        spec: &PortSpec,
        index: usize,
        opened: Vec<Box<dyn Port>>,
        cut: Arc<AtomicBool>,
        captures: Option<&Path>,
        inboxes: &[Inbox],
    ) -> Result<Vec<Self>> {
        let captures = captures.map(|folder| Captures::create(folder, &spec.capture_name())).transpose()?;
        let captures = captures.map(|captures| Arc::new(Mutex::new(captures)));
        let is_shared_out = opened.len() == inboxes.len();
        let mut opened = opened.into_iter();
        let end = |thread| {
            let own = opened.next();
            Self {
                number: spec.port,
                up: true,
                leads: thread == 0,
                is_own: own.is_some(),
                steers: thread == 0 && !is_shared_out,
                link: Arc::new(AtomicBool::new(true)),
                is_watched: false,
                cut: cut.clone(),
                name: spec.device.to_string(),
                lost: ports::Lost::default(),
                refused: 0,
                // What is handed to the first thread is captured there.
                captures: captures.clone().filter(|_| own.is_some()),
                port: own.unwrap_or_else(|| Box::new(Elsewhere::new(index, inboxes[0].clone()))),
                carrier_of: if thread == 0 { spec.carrier().to_vec() } else { vec![] },
            }
        };
        Ok((0..inboxes.len()).map(end).collect())
    }

    /// What another process needs to go on with this end; none of one that another thread has.
    pub fn hand_over(&mut self) -> Result<Option<Takeover>> {
        if !self.is_own {
            return Ok(None);
        }
        self.port.hand_over().map(Some).with_context(|| format!("port {}", self.number))
    }

    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Takes waiting frames; those of a cut link are gone.
    pub fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> std::io::Result<usize> {
        if self.is_cut() {
            return self.port.receive(max, &mut |_| {});
        }
        self.port.receive(max, take)
    }

    /// Sends a frame, or counts that there was no room for it; those of a cut link are gone.
    fn send(&mut self, frame: &[u8], at: u64) {
        if self.is_cut() {
            return;
        }
        match self.port.send(frame, at) {
            Ok(true) => self.capture_sent(frame, at),
            Ok(false) => self.refused += 1,
            Err(error) => {
                warn!(port = self.number, "sending failed: {error}");
                self.refused += 1;
            }
        }
    }

    /// Whether the link is up now.
    fn is_up(&self) -> bool {
        let said = self.port.is_up();
        if !self.is_watched {
            self.link.store(said, Ordering::Relaxed);
        }
        self.link.load(Ordering::Relaxed)
    }

    /// Notes whether the link is up; true when that changed.
    pub fn link_changed(&mut self) -> bool {
        let up = self.is_up();
        if !self.leads || up == self.up {
            return false;
        }
        self.up = up;
        info!(port = self.number, "link of {} is {}", self.name, if up { "up" } else { "down" });
        true
    }

    /// Asks the port what it could not carry, and says each reason when it first comes.
    fn ask_lost(&mut self) {
        let (before, now) = (self.lost, self.port.lost());
        self.lost = now;
        let reasons = [
            (
                before.too_long,
                now.too_long,
                "they are longer than its MTU lets pass: raise that, or lower that of hosts",
            ),
            (
                before.offload,
                now.offload,
                "a host left them unsegmented in a way not known here: turn that off at the host, `ethtool -K`",
            ),
            (before.overrun, now.overrun, "they came faster than they were taken, or in a form the kernel cannot give"),
            (before.refused, now.refused, "the kernel refused them"),
        ];
        for (_, _, why) in reasons.iter().filter(|(before, now, _)| *before == 0 && *now > 0) {
            warn!(port = self.number, "frames of {} are lost, and counted from here on: {why}", self.name);
        }
    }

    /// What it could not carry, and what it did not take.
    fn all_lost(&self) -> ports::Lost {
        ports::Lost { refused: self.lost.refused + self.refused, ..self.lost }
    }

    pub fn capture_received(&mut self, frame: &[u8], at: u64) {
        self.capture(|captures| captures.received.write(frame, at));
    }

    fn capture_sent(&mut self, frame: &[u8], at: u64) {
        self.capture(|captures| captures.sent.write(frame, at));
    }

    fn flush_captures(&mut self) {
        self.capture(|captures| captures.received.flush().and_then(|()| captures.sent.flush()));
    }

    /// Does something to the capture files, if there are any; no more is captured once it fails.
    fn capture(&mut self, write: impl FnOnce(&mut Captures) -> std::io::Result<()>) {
        let Some(captures) = &self.captures else { return };
        let written = write(&mut captures.lock().unwrap_or_else(PoisonError::into_inner));
        if let Err(error) = written {
            error!(port = self.number, "capture stopped: {error}");
            self.captures = None;
        }
    }
}

impl Captures {
    fn create(folder: &Path, name: &str) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let create = |direction: &str| {
            let path = folder.join(format!("{name}_{direction}.pcap"));
            Writer::create(&path).with_context(|| path.display().to_string())
        };
        Ok(Self { received: create("in")?, sent: create("out")? })
    }
}

/// All ports as one thread has them, and the way to the service.
pub struct Outputs {
    pub ports: Vec<OpenPort>,
    /// Index into `ports` by number.
    by_number: Vec<Option<usize>>,
    cpu_port: u32,
    uplink: SyncSender<Uplink>,
    pub lost: Lost,
}

/// What could not be handed on.
#[derive(Debug, Clone, Default)]
pub struct Lost {
    /// For a port that is not there.
    pub no_port: u64,
    /// The service did not keep up.
    pub uplink: u64,
    /// What each port could not carry, by its number.
    pub ports: Vec<(u32, ports::Lost)>,
}

impl Lost {
    /// Adds what another thread lost.
    pub fn add(&mut self, other: &Self) {
        self.no_port += other.no_port;
        self.uplink += other.uplink;
        for (number, theirs) in &other.ports {
            match self.ports.iter_mut().find(|(known, _)| known == number) {
                Some((_, ours)) => {
                    ours.too_long += theirs.too_long;
                    ours.offload += theirs.offload;
                    ours.overrun += theirs.overrun;
                    ours.refused += theirs.refused;
                }
                None => self.ports.push((*number, *theirs)),
            }
        }
    }
}

impl Outputs {
    pub fn new(ports: Vec<OpenPort>, cpu_port: u32, uplink: SyncSender<Uplink>) -> Self {
        let highest = ports.iter().map(|port| port.number as usize + 1).max().unwrap_or(0);
        let mut by_number = vec![None; highest];
        for (index, port) in ports.iter().enumerate() {
            by_number[port.number as usize] = Some(index);
        }
        Self { ports, by_number, cpu_port, uplink, lost: Lost::default() }
    }

    fn index(&self, port: u32) -> Option<usize> {
        self.by_number.get(port as usize).copied().flatten()
    }

    /// Sends what another thread handed over.
    pub fn send_handed(&mut self, frames: &Frames) {
        for (frame, at) in frames.iter() {
            self.ports[frames.port].send(frame, at);
        }
    }

    /// Has a port's link do what this says from now on.
    pub fn change_link(&mut self, spec: &PortSpec, traffic: &mut Traffic) {
        traffic.set_shape(spec.port, shape(spec));
        if let Some(index) = self.index(spec.port) {
            self.ports[index].port.impair(spec.impairment);
        }
    }

    /// Puts everything that was sent onto the links.
    pub fn flush(&mut self, now: u64) {
        for open in &mut self.ports {
            if let Err(error) = open.port.flush(now) {
                warn!(port = open.number, "sending failed: {error}");
                open.refused += 1;
            }
        }
    }

    /// Asks all ports what they could not carry.
    pub fn ask_lost(&mut self) {
        self.ports.iter_mut().for_each(OpenPort::ask_lost);
        self.lost.ports = self.ports.iter().map(|open| (open.number, open.all_lost())).collect();
    }

    /// Writes out what captures hold back.
    pub fn flush_captures(&mut self) {
        self.ports.iter_mut().for_each(OpenPort::flush_captures);
    }

    fn send_up(&mut self, message: Uplink) {
        match self.uplink.try_send(message) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.lost.uplink += 1,
        }
    }
}

impl Outputs {
    /// Whether packets for the port go to the controller. PSA's port of it is none that v1model has.
    fn is_cpu(&self, port: u32) -> bool {
        port == self.cpu_port || port == pipeline::PSA_PORT_CPU
    }
}

impl Sink for Outputs {
    fn ready(&self, port: u32) -> bool {
        self.index(port).is_none_or(|index| self.ports[index].port.ready())
    }

    fn loses(&self, port: u32) -> Option<&'static str> {
        match self.index(port) {
            _ if self.is_cpu(port) => None,
            None => Some("there is no such port"),
            Some(index) if self.ports[index].is_cut() => Some("its link is cut"),
            Some(index) if !self.ports[index].is_up() => Some("its link is down"),
            Some(_) => None,
        }
    }

    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64) {
        if self.is_cpu(port) {
            return self.send_up(Uplink::PacketIn(bytes.to_vec()));
        }
        let Some(index) = self.index(port) else {
            self.lost.no_port += 1;
            return;
        };
        self.ports[index].send(bytes, at);
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Digest { digest, values, .. } => self.send_up(Uplink::Digest { digest, values }),
            Message::Log { text } => info!(target: "program", "{text}"),
            Message::AssertionFailed { text } => warn!(target: "program", "assertion failed: {text}"),
        }
    }
}
