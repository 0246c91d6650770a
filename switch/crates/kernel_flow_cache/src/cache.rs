//! Housekeeping of the ways in the kernel, beside whoever forwards, writes, reads and stops.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flow_cache::Offer;
use pipeline::{Loaded, Switch};
use ports::KernelEnd;
use ports::bpf::{Kind, Link, Program, remove_filter};
use runtime::Reader;
use rustix::thread::{MembarrierCommand, membarrier};
use tracing::{debug, warn};

use crate::candidate::{Candidate, Port};
use crate::memory::{Memory, Pause};
use crate::programs;
use crate::ways::{KernelFlows, Ways};

/// Offers that may wait.
const OFFERS: usize = 4096;

/// Ways in the kernel, for the ports that are its interfaces.
pub struct KernelFlowCache {
    memory: Arc<Memory>,
    offers: SyncSender<Offered>,
    /// As last collected.
    hits: AtomicU64,
    /// Held for a round of housekeeping, which waits for packets in between.
    round: Mutex<()>,
    state: Mutex<State>,
}

struct Offered {
    loaded: Arc<Loaded>,
    offer: Offer,
}

struct State {
    offered: Receiver<Offered>,
    ports: HashMap<u32, Port>,
    sockets: Vec<OwnedFd>,
    links: Vec<Link>,
    /// Whose ways these are.
    loaded: Option<Arc<Loaded>>,
    /// Pinned since before the ways were last found to hold: the slots of entries that they found are those entries'.
    reader: Option<Reader>,
    ways: Ways,
    flows: KernelFlows,
}

impl KernelFlowCache {
    /// Puts the programs on the interfaces of these ports, with room for so many ways.
    pub fn open(ends: Vec<(u32, KernelEnd)>, ways: usize) -> io::Result<Self> {
        if std::fs::read_to_string("/sys/kernel/realtime").is_ok_and(|realtime| realtime.trim() == "1") {
            let why = "with PREEMPT_RT, packets of one processor may come between a filter and the program at TC";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        wait_for_packets()?;
        let memory = Arc::new(Memory::new(ways)?);
        let program = Program::load(Kind::Tc, "wayname_forward", &programs::forward(&memory))?;
        let (mut ports, mut links, mut sockets) = (HashMap::new(), vec![], vec![]);
        for (number, KernelEnd { interface, longest, socket }) in ends {
            if ports.insert(number, Port { interface, longest }).is_none() {
                links.push(program.attach_tc_ingress(interface)?);
            }
            sockets.push(socket);
        }
        let (offers, offered) = sync_channel(OFFERS);
        let mut state = State {
            offered,
            ports,
            sockets,
            links,
            loaded: None,
            reader: None,
            ways: Ways::new(ways),
            flows: KernelFlows::default(),
        };
        state.refresh_filters(&memory)?;
        Ok(Self { memory, offers, hits: AtomicU64::new(0), round: Mutex::default(), state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A way of the program that is taken often, and the tables that its packets miss. Housekeeping takes it up.
    pub fn offer(&self, loaded: &Arc<Loaded>, offer: Offer) {
        // Where too many wait, it is offered again.
        let _ = self.offers.try_send(Offered { loaded: loaded.clone(), offer });
    }

    /// From before this change on no packet is forwarded in the kernel, until somebody takes that back.
    pub fn pause<T>(&self, why: Pause, change: impl FnOnce() -> T) -> T {
        let _state = self.lock();
        self.memory.pause(why);
        change()
    }

    /// Takes a reason back behind this change.
    pub fn resume<T>(&self, why: Pause, change: impl FnOnce() -> T) -> T {
        let _state = self.lock();
        let changed = change();
        self.memory.resume(why);
        changed
    }

    /// Adds what was counted in the kernel to counters, idle times and ports.
    pub fn collect(&self, now: u64) {
        self.lock().collect(&self.memory, now);
    }

    /// Packets that took ways in the kernel, as housekeeping last saw it. Waits for nobody.
    pub fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }

    /// What became of packets in the kernel, as last collected.
    pub fn flows(&self) -> KernelFlows {
        self.lock().flows.clone()
    }

    /// To be called many times a second, by a thread that may wait: takes void ways out and offered ones in, and follows
    /// the program that runs.
    pub fn keep_house(&self, switch: &Switch, is_watched: impl FnOnce() -> bool, now: u64) {
        let _round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        if !is_watched() {
            self.memory.resume(Pause::Watched);
        }
        let loaded = switch.loaded();
        let is_same = state.loaded.as_ref().map(Arc::as_ptr) == loaded.as_ref().map(Arc::as_ptr);
        if is_same && loaded.is_some() {
            // While nobody can load another one.
            self.memory.resume(Pause::Program);
        }
        state.collect(&self.memory, now);
        self.hits.store(state.flows.hits, Relaxed);
        // Before it is asked which ways hold.
        let reader = state.loaded.as_ref().map(pinned);
        let leaving = if is_same { state.ways.take_void_out(&self.memory) } else { state.ways.take_all_out() };
        let before = std::mem::replace(&mut state.reader, reader);
        if !leaving.is_empty() {
            drop(state);
            // A packet may be on one of them still. Its counts come, and then nobody knows its place any more.
            if let Err(error) = wait_for_packets() {
                // Their places stay empty.
                return warn!("places of ways in the kernel cannot be used again: {error}");
            }
            state = self.lock();
            let State { loaded: Some(loaded), ways, flows, .. } = &mut *state else { return };
            ways.free(leaving, &self.memory, loaded, flows, now);
        }
        drop(before);
        if !is_same {
            state.follow(loaded, &self.memory);
        }
        state.take_offers(&self.memory);
        if let Err(error) = state.refresh_filters(&self.memory) {
            warn!("a filter for ways in the kernel: {error}");
        }
    }

    /// Forwards nothing in the kernel from now on, and collects what was counted there.
    pub fn close(&self, now: u64) {
        let _round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        self.memory.pause(Pause::Stopping);
        if let Err(error) = wait_for_packets() {
            warn!("the last packets in the kernel may not be counted: {error}");
        }
        state.collect(&self.memory, now);
        for socket in &state.sockets {
            if let Err(error) = remove_filter(socket) {
                warn!("a filter stays on a port's socket: {error}");
            }
        }
        state.sockets.clear();
        state.links.clear();
    }
}

/// Waits until programs in the kernel have ended with all packets that they met before: a program runs in one critical
/// section of RCU, and this waits for all of them. It takes some milliseconds.
fn wait_for_packets() -> io::Result<()> {
    membarrier(MembarrierCommand::Global).map_err(|error| {
        io::Error::other(format!(
            "the kernel cannot wait for packets that are under way (membarrier(2), nohz_full): {error}"
        ))
    })
}

fn pinned(loaded: &Arc<Loaded>) -> Reader {
    let mut reader = loaded.device.reader();
    reader.pin();
    reader
}

impl State {
    fn collect(&mut self, memory: &Memory, now: u64) {
        if let Some(loaded) = &self.loaded {
            self.ways.collect(memory, loaded, &mut self.flows, now);
        }
    }

    /// Begins anew with another program; there are no ways.
    fn follow(&mut self, loaded: Option<Arc<Loaded>>, memory: &Arc<Memory>) {
        self.ways.begin_anew();
        self.reader = loaded.as_ref().map(pinned);
        if let Some(loaded) = &loaded {
            let memory = memory.clone();
            loaded.device.writes().tell(move |sets| memory.end_eras(sets));
        }
        self.loaded = loaded;
    }

    fn take_offers(&mut self, memory: &Memory) {
        while let Ok(Offered { loaded, offer }) = self.offered.try_recv() {
            if !self.loaded.as_ref().is_some_and(|followed| Arc::ptr_eq(followed, &loaded)) {
                continue;
            }
            match Candidate::of(&offer, &self.ports) {
                Err(why) => debug!(port = offer.port, "a way is not for the kernel: {why}"),
                Ok(candidate) => {
                    if let Err(error) = self.ways.put(candidate, offer, memory, &loaded) {
                        warn!("a way for the kernel: {error}");
                    }
                }
            }
        }
        self.flows.ways = self.ways.len() as u64;
    }

    /// Has the filters look at all patterns that there are.
    fn refresh_filters(&mut self, memory: &Memory) -> io::Result<()> {
        if !self.ways.has_other_patterns {
            return Ok(());
        }
        let filter = Program::load(Kind::SocketFilter, "wayname_filter", &self.ways.filter(memory))?;
        self.sockets.iter().try_for_each(|socket| filter.filter(socket))?;
        self.ways.has_other_patterns = false;
        Ok(())
    }
}
