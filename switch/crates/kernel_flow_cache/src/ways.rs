//! The ways that are in the kernel: where they stand, and which packets find them.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use flow_cache::{End, Offer};
use ir::{CounterId, TableId};
use pipeline::{DropReason, Loaded, Stats};
use ports::bpf::{Instruction, Map};
use tracing::warn;

use crate::candidate::Candidate;
use crate::memory::{Memory, SETS};
use crate::pattern::Pattern;
use crate::programs;

/// Patterns at most: each costs a look where those before it find nothing.
const MOST_PATTERNS: usize = 8;
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

/// Ways of one program.
pub struct Ways {
    ways: Vec<Way>,
    /// Places that ways have room in.
    free: Vec<usize>,
    places: usize,
    patterns: Vec<Patterned>,
    next_pattern: u64,
    /// What ways read, by the number of the set.
    sets: Vec<Box<[u32]>>,
    /// Whether a way, its pattern or what it reads found no room since housekeeping.
    is_full: bool,
    /// Whether there are other patterns than when a filter was last written.
    pub has_other_patterns: bool,
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
pub struct Way {
    place: usize,
    pattern: u64,
    key: Vec<u8>,
    set: usize,
    era: u64,
    port: u32,
    end: End,
    found: Box<[(TableId, u32)]>,
    counts: Box<[(CounterId, u64)]>,
    /// What was collected.
    counted: [u64; 2],
    /// Rounds in which no packet took it.
    idle: u32,
}

impl Ways {
    /// With room for so many.
    pub fn new(places: usize) -> Self {
        Self {
            ways: vec![],
            free: (0..places).rev().collect(),
            places,
            patterns: vec![],
            next_pattern: 0,
            sets: vec![],
            is_full: false,
            has_other_patterns: true,
        }
    }

    pub fn len(&self) -> usize {
        self.ways.len()
    }

    /// Adds what is new of what was counted to whatever counts such packets of the program.
    pub fn collect(&mut self, memory: &Memory, loaded: &Loaded, flows: &mut KernelFlows, now: u64) {
        for way in &mut self.ways {
            let packets = way.collect(memory, loaded, flows, now);
            if packets == 0 {
                continue;
            }
            way.idle = 0;
            if let Some(pattern) = self.patterns.iter_mut().find(|pattern| pattern.number == way.pattern) {
                pattern.hits += packets;
            }
        }
        flows.lost = memory.counted(memory.places())[0];
    }

    /// Takes ways out of which something was written, and if there is no room, those that nobody takes.
    pub fn take_void_out(&mut self, memory: &Memory) -> Vec<Way> {
        let is_full = std::mem::take(&mut self.is_full);
        let eras: Vec<u64> = (0..SETS).map(|set| memory.era(set).load(SeqCst)).collect();
        self.ways.iter_mut().for_each(|way| way.idle += 1);
        self.take_out(|way| eras[way.set] != way.era || (is_full && way.idle > IDLE_ROUNDS))
    }

    /// Has packets find all ways no more.
    pub fn take_all_out(&mut self) -> Vec<Way> {
        self.take_out(|_| true)
    }

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

    /// The places of ways that no packet takes any more are free, once the last of their counts are collected.
    pub fn free(&mut self, ways: Vec<Way>, memory: &Memory, loaded: &Loaded, flows: &mut KernelFlows, now: u64) {
        for mut way in ways {
            way.collect(memory, loaded, flows, now);
            self.free.push(way.place);
        }
    }

    /// Forgets what ways looked at and read; there are none.
    pub fn begin_anew(&mut self) {
        self.patterns.clear();
        self.sets.clear();
        self.has_other_patterns = true;
    }

    /// Puts a way where packets find it, if there is room and it holds.
    pub fn put(&mut self, candidate: Candidate, offer: Offer, memory: &Memory, loaded: &Loaded) -> io::Result<()> {
        let Candidate { pattern, key, out, edits } = candidate;
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
        self.has_other_patterns = true;
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

    /// A filter that looks at all patterns that there are, those that find most first.
    pub fn filter(&mut self, memory: &Memory) -> Vec<Instruction> {
        self.patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.hits));
        let patterns: Vec<_> = self.patterns.iter().map(|known| (&known.pattern, &known.map)).collect();
        programs::filter(&patterns, memory)
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
