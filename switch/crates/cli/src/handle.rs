//! What others hold of the forwarding threads.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kernel_flow_cache::{KernelFlowCache, KernelFlows, Pause};
use pipeline::{FlowStats, Stats};
use ports::PortSpec;

use crate::forward::ROUNDS;
use crate::outputs::Lost;

/// Messages that may wait, which but for a few are packets from controllers.
const DOWNLINK: usize = 1024;

/// The counters as last published.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    pub stats: Stats,
    pub flows: FlowStats,
    /// Those that were forwarded in the kernel; `stats` has them, too.
    pub kernel: KernelFlows,
    pub lost: Lost,
    /// Packets waiting, and whether the link is up, by port.
    pub ports: Vec<(u32, usize, bool)>,
    /// Packets that each thread ran.
    pub threads: Vec<u64>,
    /// Of the packet buffers, which all threads share.
    pub buffers: Vec<runtime::BufferState>,
}

/// What the service and operators tell the first thread.
pub enum Downlink {
    PacketOut(Vec<u8>),
    /// A port's link becomes this one.
    Link(PortSpec),
}

pub struct Handle {
    downlink: SyncSender<Downlink>,
    stop: AtomicBool,
    seats: Vec<Seat>,
    /// Whether each port's link is cut.
    cuts: Vec<(u32, Arc<AtomicBool>)>,
    /// Whether a carrier came or went since the first thread kept house.
    carriers_changed: AtomicBool,
    /// What forwards in the kernel, if that was asked for.
    kernel: OnceLock<Arc<KernelFlowCache>>,
    /// Ports to which a rate was given while the switch runs: their packets wait in its queues. Locked while a link changes.
    shaped: Mutex<BTreeSet<u32>>,
    /// How many threads that stop did their part of each round.
    settled: [AtomicUsize; ROUNDS],
}

/// One thread's part.
struct Seat {
    wake: Arc<OwnedFd>,
    /// How often the thread kept house.
    turns: AtomicU64,
    counters: Mutex<Counters>,
}

impl Handle {
    /// For ports whose links are cut by these, threads that are woken by those, and what is told the first thread.
    pub fn new(
        cuts: Vec<(u32, Arc<AtomicBool>)>,
        wakes: impl Iterator<Item = Arc<OwnedFd>>,
    ) -> (Arc<Self>, Receiver<Downlink>) {
        let (sender, downlink) = sync_channel(DOWNLINK);
        let seats = wakes.map(|wake| Seat { wake, turns: AtomicU64::new(0), counters: Mutex::default() }).collect();
        let handle = Self {
            downlink: sender,
            stop: AtomicBool::new(false),
            seats,
            cuts,
            carriers_changed: AtomicBool::new(false),
            kernel: OnceLock::new(),
            shaped: Mutex::default(),
            settled: Default::default(),
        };
        (Arc::new(handle), downlink)
    }

    /// Hands a packet to the program by the CPU port.
    pub fn packet_out(&self, packet: Vec<u8>) -> Result<(), String> {
        self.send_down(Downlink::PacketOut(packet))
    }

    /// Has a port's link do what this says from now on.
    pub fn change_link(&self, spec: PortSpec) -> Result<(), String> {
        let mut shaped = self.shaped.lock().unwrap_or_else(PoisonError::into_inner);
        if spec.rate.is_some() {
            shaped.insert(spec.port);
        } else {
            shaped.remove(&spec.port);
        }
        self.pause_while(!shaped.is_empty(), Pause::Shaped, || self.send_down(Downlink::Link(spec)))
    }

    /// From now on this forwards in the kernel. Once.
    pub fn set_kernel(&self, kernel: Arc<KernelFlowCache>) {
        assert!(self.kernel.set(kernel).is_ok(), "something forwards in the kernel already");
    }

    /// What forwards in the kernel.
    pub fn kernel(&self) -> Option<&Arc<KernelFlowCache>> {
        self.kernel.get()
    }

    /// Makes a change before which nothing is forwarded in the kernel any more, for this reason; or behind which the reason
    /// is none.
    pub fn pause_while<T>(&self, is_reason: bool, why: Pause, change: impl FnOnce() -> T) -> T {
        match self.kernel() {
            None => change(),
            Some(kernel) if is_reason => kernel.pause(why, change),
            Some(kernel) => kernel.resume(why, change),
        }
    }

    fn send_down(&self, message: Downlink) -> Result<(), String> {
        match self.downlink.try_send(message) {
            Ok(()) => {
                self.wake();
                Ok(())
            }
            Err(TrySendError::Full(_)) => Err(format!("{DOWNLINK} packets of controllers wait already")),
            Err(TrySendError::Disconnected(_)) => Err("the switch stops".into()),
        }
    }

    /// Makes the threads look again at everything.
    pub fn wake(&self) {
        self.seats.iter().for_each(|seat| wake(&seat.wake));
    }

    /// Has the first thread look at the links now.
    pub fn carriers_changed(&self) {
        self.carriers_changed.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether there is a change that the first thread has not looked at; it looks now.
    pub fn take_carriers_changed(&self) -> bool {
        self.carriers_changed.load(Ordering::Relaxed) && self.carriers_changed.swap(false, Ordering::Acquire)
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    /// A thread that stops has nothing left to do in this round. True for everybody.
    pub fn settled(&self, round: usize) -> bool {
        self.settled[round].fetch_add(1, Ordering::AcqRel);
        true
    }

    pub fn all_settled(&self, round: usize) -> bool {
        self.settled[round].load(Ordering::Acquire) >= self.seats.len()
    }

    /// Cuts a port's link or mends it; false if there is no such port.
    pub fn cut(&self, port: u32, cut: bool) -> bool {
        let _change = self.shaped.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, link)) = self.cuts.iter().find(|(number, _)| *number == port) else { return false };
        let is_cut = |(number, link): &(u32, Arc<AtomicBool>)| *number != port && link.load(Ordering::Relaxed);
        let is_any_cut = cut || self.cuts.iter().any(is_cut);
        self.pause_while(is_any_cut, Pause::Cut, || link.store(cut, Ordering::Relaxed));
        true
    }

    /// Grows at least twenty times a second while all threads forward, or wait for packets.
    pub fn turns(&self) -> u64 {
        self.seats.iter().map(|seat| seat.turns.load(Ordering::Relaxed)).min().unwrap_or(0)
    }

    /// A thread kept house, and counted so much by itself.
    pub fn publish(&self, seat: usize, counters: Counters) {
        let seat = &self.seats[seat];
        seat.turns.fetch_add(1, Ordering::Relaxed);
        *seat.counters.lock().unwrap_or_else(PoisonError::into_inner) = counters;
    }

    /// Those of all threads together.
    pub fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        for seat in &self.seats {
            sum.add(&seat.counters.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if let Some(kernel) = self.kernel() {
            sum.kernel = kernel.flows();
            sum.stats.add(&sum.kernel.stats);
        }
        sum
    }
}

impl Counters {
    /// The links and packet buffers are as the first one saw them.
    fn add(&mut self, other: &Self) {
        self.stats.add(&other.stats);
        self.flows.add(&other.flows);
        self.lost.add(&other.lost);
        self.threads.extend(&other.threads);
        if self.buffers.is_empty() {
            self.buffers.clone_from(&other.buffers);
        }
        for (number, depth, up) in &other.ports {
            match self.ports.iter_mut().find(|(known, ..)| known == number) {
                Some((_, sum, _)) => *sum += depth,
                None => self.ports.push((*number, *depth, *up)),
            }
        }
    }
}

/// Ends a thread's sleep, or the next one that it begins.
pub fn wake(fd: &OwnedFd) {
    // Full means that it was woken and has not looked yet.
    let _ = rustix::io::write(fd, &1u64.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_counted_adds_up() {
        let counted = |depth, up, packets| Counters {
            ports: vec![(1, depth, up), (2, 0, up)],
            threads: vec![packets],
            flows: FlowStats { hits: packets, kept: 2, ..FlowStats::default() },
            lost: Lost {
                no_port: 1,
                ports: vec![(2, ports::Lost { overrun: 3, ..Default::default() })],
                ..Lost::default()
            },
            ..Counters::default()
        };
        let mut sum = Counters::default();
        sum.add(&counted(5, true, 7));
        sum.add(&counted(2, false, 8));
        assert_eq!((sum.ports, sum.threads), (vec![(1, 7, true), (2, 0, true)], vec![7, 8]));
        assert_eq!((sum.flows.hits, sum.flows.kept), (15, 4));
        assert_eq!((sum.lost.no_port, sum.lost.ports[0].1.overrun), (2, 6));
    }
}
