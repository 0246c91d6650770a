//! The ways that are in the kernel.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, fence};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flow_cache::{End, Offer};
use ir::{CounterId, TableId};
use pipeline::{DropReason, Loaded, Stats, Switch};
use ports::KernelEnd;
use ports::bpf::{Kind, Link, Map, Program, remove_filter};
use runtime::{DEFAULT, Reader};
use rustix::thread::{MembarrierCommand, membarrier};
use tracing::{debug, warn};

use crate::candidate::{Candidate, Port};
use crate::memory::{Memory, Pause, SETS};
use crate::pattern::Pattern;
use crate::programs;

/// Patterns at most: each costs a look where those before it find nothing.
const MOST_PATTERNS: usize = 8;
/// Offers that may wait.
const OFFERS: usize = 4096;
/// A way may be pushed out by others once it was not taken for so many rounds of housekeeping.
const IDLE_ROUNDS: u32 = 20;

/// What became of packets in the kernel.
#[derive(Debug, Clone, Default)]
pub struct KernelFlows {
    pub stats: Stats,
    /// Packets that took a way in the kernel.
    pub hits: u64,
    /// Packets whose way was known and which could not be changed there, for want of memory.
    pub lost: u64,
    /// Ways that are there.
    pub ways: u64,
}

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
    missed: Box<[TableId]>,
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
    patterns: Vec<Patterned>,
    next_pattern: u64,
    /// What ways read, by the number of the set.
    sets: Vec<Box<[u32]>>,
    ways: Vec<Way>,
    /// Places that ways have room in.
    free: Vec<usize>,
    places: usize,
    /// Whether the filters look at other patterns than there are.
    is_stale: bool,
    /// Whether a way, its pattern or what it reads found no room since housekeeping.
    is_full: bool,
    flows: KernelFlows,
}

/// A pattern and the keys that ways have in it.
struct Patterned {
    number: u64,
    pattern: Pattern,
    map: Map,
    keys: HashSet<Vec<u8>>,
    hits: u64,
}

/// One way, in its place.
struct Way {
    place: usize,
    pattern: u64,
    key: Vec<u8>,
    set: usize,
    era: u64,
    port: u32,
    end: End,
    found: Box<[(TableId, u32)]>,
    missed: Box<[TableId]>,
    counts: Box<[(CounterId, u64)]>,
    /// What was collected.
    counted: [u64; 2],
    /// Rounds in which no packet took it.
    idle: u32,
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
            patterns: vec![],
            next_pattern: 0,
            sets: vec![],
            ways: vec![],
            free: (0..ways).rev().collect(),
            places: ways,
            is_stale: true,
            is_full: false,
            flows: KernelFlows::default(),
        };
        state.refresh_filters(&memory)?;
        Ok(Self { memory, offers, hits: AtomicU64::new(0), round: Mutex::default(), state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A way of the program that is taken often, and the tables that its packets miss. Housekeeping takes it up.
    pub fn offer(&self, loaded: &Arc<Loaded>, offer: Offer, missed: Box<[TableId]>) {
        // Where too many wait, it is offered again.
        let _ = self.offers.try_send(Offered { loaded: loaded.clone(), offer, missed });
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
        let is_same = match (&state.loaded, &loaded) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        if is_same && loaded.is_some() {
            // While nobody can load another one.
            self.memory.resume(Pause::Program);
        }
        state.collect(&self.memory, now);
        self.hits.store(state.flows.hits, Relaxed);
        // Before it is asked which ways hold.
        let reader = state.loaded.as_ref().map(|loaded| {
            let mut reader = loaded.device.reader();
            reader.pin();
            reader
        });
        let leaving = if is_same { state.take_void_out(&self.memory) } else { state.take_out(|_| true) };
        let before = std::mem::replace(&mut state.reader, reader);
        if !leaving.is_empty() {
            drop(state);
            // A packet may be on one of them still. Its counts come, and then nobody knows its place any more.
            if let Err(error) = wait_for_packets() {
                // Their places stay empty.
                return warn!("places of ways in the kernel cannot be used again: {error}");
            }
            state = self.lock();
            state.free(&self.memory, leaving, now);
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

impl State {
    fn collect(&mut self, memory: &Memory, now: u64) {
        let Self { loaded: Some(loaded), ways, flows, patterns, .. } = self else { return };
        for way in ways {
            let packets = way.collect(memory, loaded, flows, now);
            if packets == 0 {
                continue;
            }
            way.idle = 0;
            if let Some(pattern) = patterns.iter_mut().find(|pattern| pattern.number == way.pattern) {
                pattern.hits += packets;
            }
        }
        flows.lost = memory.counted(memory.places())[0];
    }

    /// Takes ways out of which something was written, and if there is no room, those that nobody takes.
    fn take_void_out(&mut self, memory: &Memory) -> Vec<Way> {
        let is_full = std::mem::take(&mut self.is_full);
        let eras: Vec<u64> = (0..SETS).map(|set| memory.era(set).load(SeqCst)).collect();
        self.ways.iter_mut().for_each(|way| way.idle += 1);
        self.take_out(|way| eras[way.set] != way.era || (is_full && way.idle > IDLE_ROUNDS))
    }

    /// Has packets find these ways no more.
    fn take_out(&mut self, which: impl Fn(&Way) -> bool) -> Vec<Way> {
        let out: Vec<Way> = self.ways.extract_if(.., |way| which(way)).collect();
        for way in &out {
            let Some(pattern) = self.patterns.iter_mut().find(|pattern| pattern.number == way.pattern) else {
                continue;
            };
            pattern.keys.remove(&way.key);
            if let Err(error) = pattern.map.remove(&way.key) {
                warn!("a way in the kernel: {error}");
            }
        }
        out
    }

    /// The places of ways that no packet takes any more are free.
    fn free(&mut self, memory: &Memory, ways: Vec<Way>, now: u64) {
        let Self { loaded: Some(loaded), flows, free, .. } = self else { return };
        for mut way in ways {
            way.collect(memory, loaded, flows, now);
            free.push(way.place);
        }
    }

    /// Begins anew with another program; there are no ways.
    fn follow(&mut self, loaded: Option<Arc<Loaded>>, memory: &Arc<Memory>) {
        self.patterns.clear();
        self.sets.clear();
        self.is_stale = true;
        self.reader = loaded.as_ref().map(|loaded| {
            let memory = memory.clone();
            loaded.device.writes().tell(move |sets| memory.end_eras(sets));
            let mut reader = loaded.device.reader();
            reader.pin();
            reader
        });
        self.loaded = loaded;
    }

    fn take_offers(&mut self, memory: &Memory) {
        while let Ok(offered) = self.offered.try_recv() {
            let is_same = self.loaded.as_ref().is_some_and(|loaded| Arc::ptr_eq(loaded, &offered.loaded));
            if is_same && let Err(error) = self.take(offered, memory) {
                warn!("a way for the kernel: {error}");
            }
        }
        self.flows.ways = self.ways.len() as u64;
    }

    /// Puts a way into the kernel, if it is one for it and holds.
    fn take(&mut self, offered: Offered, memory: &Memory) -> io::Result<()> {
        let Offered { loaded, offer, missed } = offered;
        let Candidate { pattern, key, out, edits } = match Candidate::of(&offer, &self.ports) {
            Ok(candidate) => candidate,
            Err(why) => {
                debug!(port = offer.port, "a way is not for the kernel: {why}");
                return Ok(());
            }
        };
        let Some(pattern) = self.pattern(pattern)? else { return Ok(()) };
        if self.patterns[pattern].keys.contains(&key) {
            return Ok(());
        }
        let writes = loaded.device.writes();
        let Some(set) = self.set(&offer.read, |set| writes.concern(&offer.read, 1 << set)) else { return Ok(()) };
        // A write that began before this era has made a version another; one that begins later ends the era.
        let era = memory.era(set).load(SeqCst);
        fence(SeqCst);
        if !writes.are_still(&offer.read, &offer.versions) {
            return Ok(());
        }
        let Some(place) = self.free.pop() else {
            self.is_full = true;
            return Ok(());
        };
        memory.put(place, out.map(|port| port.interface), &edits);
        let longest = out.map_or(usize::MAX, |port| port.longest);
        let patterned = &mut self.patterns[pattern];
        if let Err(error) = patterned.map.put(&key, &programs::found(place, set, era, longest)) {
            self.free.push(place);
            return Err(error);
        }
        patterned.keys.insert(key.clone());
        self.ways.push(Way {
            place,
            pattern: patterned.number,
            key,
            set,
            era,
            port: offer.port,
            end: offer.way.end,
            found: offer.way.found,
            missed,
            counts: offer.way.counts,
            counted: memory.counted(place),
            idle: 0,
        });
        Ok(())
    }

    /// The place of a pattern among those that are known; it may be a new one. None if there are too many.
    fn pattern(&mut self, pattern: Pattern) -> io::Result<Option<usize>> {
        if let Some(known) = self.patterns.iter().position(|known| known.pattern == pattern) {
            return Ok(Some(known));
        }
        if self.patterns.len() == MOST_PATTERNS {
            self.patterns.retain(|known| !known.keys.is_empty());
        }
        if self.patterns.len() == MOST_PATTERNS {
            self.is_full = true;
            return Ok(None);
        }
        let map = Map::hash(pattern.key_len() as u32, programs::FOUND as u32, self.places as u32)?;
        let number = self.next_pattern;
        self.next_pattern += 1;
        self.patterns.push(Patterned { number, pattern, map, keys: HashSet::new(), hits: 0 });
        self.is_stale = true;
        Ok(Some(self.patterns.len() - 1))
    }

    /// The number of a set of objects; a new one is told to `concern`. None if there are too many.
    fn set(&mut self, read: &[u32], concern: impl FnOnce(usize)) -> Option<usize> {
        if let Some(known) = self.sets.iter().position(|known| **known == *read) {
            return Some(known);
        }
        let is_free = |set: &usize| !self.ways.iter().any(|way| way.set == *set);
        let free = if self.sets.len() < SETS { Some(self.sets.len()) } else { (0..SETS).find(is_free) };
        self.is_full |= free.is_none();
        let set = free?;
        self.sets.resize_with(self.sets.len().max(set + 1), Box::default);
        self.sets[set] = read.into();
        concern(set);
        Some(set)
    }

    /// Has the filters look at all patterns that there are, those that find most first.
    fn refresh_filters(&mut self, memory: &Memory) -> io::Result<()> {
        if !self.is_stale {
            return Ok(());
        }
        self.patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.hits));
        let patterns: Vec<_> = self.patterns.iter().map(|known| (&known.pattern, &known.map)).collect();
        let filter = Program::load(Kind::SocketFilter, "wayname_filter", &programs::filter(&patterns, memory))?;
        self.sockets.iter().try_for_each(|socket| filter.filter(socket))?;
        self.is_stale = false;
        Ok(())
    }
}

impl Way {
    /// Adds what is new of what was counted to whatever counts such packets; answers how many they are.
    fn collect(&mut self, memory: &Memory, loaded: &Loaded, flows: &mut KernelFlows, now: u64) -> u64 {
        let counted = memory.counted(self.place);
        let [packets, bytes] = [0, 1].map(|at| counted[at] - self.counted[at]);
        self.counted = counted;
        if packets == 0 && bytes == 0 {
            return 0;
        }
        let device = &loaded.device;
        for (table, slot) in &self.found {
            device.count_found(*table, *slot, packets, bytes, now);
        }
        for table in &self.missed {
            device.count_found(*table, DEFAULT, packets, bytes, now);
        }
        for (counter, index) in &self.counts {
            device.count_cell(*counter, *index, packets, bytes);
        }
        flows.hits += packets;
        let port = flows.stats.ports.of(self.port);
        port.received_packets += packets;
        port.received_bytes += bytes;
        match self.end {
            End::DroppedInIngress => flows.stats.drop_packets(DropReason::Ingress, packets),
            End::DroppedInEgress(_) => flows.stats.drop_packets(DropReason::Egress, packets),
            End::Sent(port) => {
                let port = flows.stats.ports.of(port);
                port.sent_packets += packets;
                port.sent_bytes += bytes;
            }
        }
        packets
    }
}
