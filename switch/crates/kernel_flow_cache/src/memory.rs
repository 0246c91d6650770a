//! What the programs in the kernel share with this process.
//!
//! ```text
//!   state      | paused | an era for each set of objects ... |   written here, read for each packet
//!   ways       | where a way ends, what it changes |  x places   written here before a pattern's map knows the place
//!   counts     | packets, octets |  x places x processors        written by the processor that ran the packet
//!   scratch    | what is decided for the packet, room for its octets |  of each processor
//! ```

use std::io;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

use ports::bpf::{Map, Mapping};

/// Sets of objects that ways read: each has a bit in a word.
pub const SETS: usize = 64;
/// Where eight octets may change: before what checksums cover. Without CAP_PERFMON, a program changes a packet only at places
/// that are written in it; with these, each octet can be reached from within the shortest packet that has it.
pub const EDITS: [usize; 10] = [0, 6, 8, 14, 16, 24, 26, 32, 40, 46];
/// Octets of a packet that a pattern may look at together.
pub const MOST_SPAN: usize = 256;

/// Offsets in `state`.
pub const PAUSED: u32 = 0;
pub const ERAS: u32 = 8;

/// Offsets in a way, and of an edit in it. Which of the edits it has, bits say.
pub const OUT: i16 = 0;
pub const WHICH: i16 = 4;
pub const REACH: i16 = 8;
pub const FIRST_EDIT: i16 = 16;
pub const EDIT: i16 = 16;
pub const KEEP: i16 = 0;
pub const SET: i16 = 8;
const WAY: usize = FIRST_EDIT as usize + EDITS.len() * EDIT as usize;

/// Offsets in `scratch`. The length is that of the packet for which something was decided.
pub const DECIDED: i16 = 0;
pub const LENGTH: i16 = 8;
pub const OCTETS: i16 = 16;

/// Packets and octets.
const COUNTS: usize = 16;

/// Why packets are not forwarded in the kernel for now; each has a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Pause {
    /// There is no program, or another one takes its place.
    Program = 1,
    /// Somebody watches packets.
    Watched = 2,
    /// A port's link is cut.
    Cut = 4,
    /// A port has a rate: packets wait for it in the switch.
    Shaped = 8,
    /// The switch stops.
    Stopping = 16,
}

/// Eight octets of a packet that change: which bits stay, and the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// In [`EDITS`].
    pub number: usize,
    pub keep: [u8; 8],
    pub set: [u8; 8],
}

pub struct Memory {
    pub state: Map,
    pub ways: Map,
    pub counts: Map,
    pub scratch: Map,
    shared_state: Mapping,
    shared_ways: Mapping,
    shared_counts: Mapping,
    places: usize,
    processors: usize,
}

impl Memory {
    /// For so many ways.
    pub fn new(places: usize) -> io::Result<Self> {
        let processors = processors()?;
        // One more place counts what could not be forwarded.
        let counted = (places + 1) * processors;
        let state = Map::array(8 * (1 + SETS as u32), 1)?;
        let ways = Map::array(WAY as u32, places as u32)?;
        let counts = Map::array(COUNTS as u32, counted as u32)?;
        let scratch = Map::per_cpu_array((OCTETS as usize + MOST_SPAN) as u32, 1)?;
        let (shared_state, shared_ways, shared_counts) = (state.memory()?, ways.memory()?, counts.memory()?);
        let memory =
            Self { state, ways, counts, scratch, shared_state, shared_ways, shared_counts, places, processors };
        memory.pause(Pause::Program);
        Ok(memory)
    }

    /// Places for ways; one behind the last counts what could not be forwarded.
    pub fn places(&self) -> usize {
        self.places
    }

    fn state(&self, offset: u32) -> &AtomicU64 {
        self.shared_state.word(offset as usize)
    }

    /// From now on no packet is forwarded in the kernel, until this is taken back.
    pub fn pause(&self, why: Pause) {
        self.state(PAUSED).fetch_or(why as u64, SeqCst);
    }

    pub fn resume(&self, why: Pause) {
        self.state(PAUSED).fetch_and(!(why as u64), SeqCst);
    }

    /// Ways of these sets of objects are void from now on.
    pub fn end_eras(&self, sets: u64) {
        for set in (0..SETS).filter(|set| sets >> set & 1 == 1) {
            self.era(set).fetch_add(1, SeqCst);
        }
    }

    pub fn era(&self, set: usize) -> &AtomicU64 {
        self.state(ERAS + 8 * set as u32)
    }

    /// Puts a way where none is found: out by an interface, or dropped without one.
    pub fn put(&self, place: usize, out: Option<u32>, edits: &[Edit]) {
        let start = place * WAY;
        let put = |offset: i16, word: [u8; 8]| {
            self.shared_ways.word(start + offset as usize).store(u64::from_ne_bytes(word), Relaxed);
        };
        let halves = |low: u32, high: u32| {
            let mut word = [0; 8];
            word[..4].copy_from_slice(&low.to_ne_bytes());
            word[4..].copy_from_slice(&high.to_ne_bytes());
            word
        };
        let reach = edits.iter().map(|edit| EDITS[edit.number] + 8).max().unwrap_or(0);
        let which = edits.iter().fold(0, |which, edit| which | 1 << edit.number);
        put(OUT, halves(out.unwrap_or(0), which));
        put(REACH, halves(reach as u32, 0));
        for edit in edits {
            let offset = FIRST_EDIT + edit.number as i16 * EDIT;
            put(offset + KEEP, edit.keep);
            put(offset + SET, edit.set);
        }
        // Before a map knows the place.
        fence(SeqCst);
    }

    /// Packets and octets that were counted in a place.
    pub fn counted(&self, place: usize) -> [u64; 2] {
        (0..self.processors).fold([0; 2], |sum, processor| {
            let at = COUNTS * (processor * (self.places + 1) + place);
            let read = |offset| self.shared_counts.word(at + offset).load(Relaxed);
            [sum[0] + read(0), sum[1] + read(8)]
        })
    }
}

/// One more than the highest number of a processor that there may be.
fn processors() -> io::Result<usize> {
    let path = "/sys/devices/system/cpu/possible";
    let text = std::fs::read_to_string(path)?;
    let last = text.trim().rsplit([',', '-']).next().and_then(|last| last.parse::<usize>().ok());
    last.map(|last| last + 1).ok_or_else(|| io::Error::other(format!("{path} says '{}'", text.trim())))
}
