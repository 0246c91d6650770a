//! Watches a packet's run through v1model: which bits of the packet it looks at, what it finds, and of what the packet is
//! made that leaves. Every value has a [`Shadow`] that says on which bits it depends. Where a value decides something, its
//! bits become part of the key; so do those of what leaves, unless it is a copy of the packet's bits. A packet that agrees
//! in the key takes the same branches, finds the same entries and leaves as the same octets beside its own copies.

mod calls;
mod frame;
mod ops;
mod ranges;
mod registers;
mod shadow;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flow_cache::{Edit, End, Key, Octets, Range, Watched, Way};
use ir::{CounterId, FunctionId, Program, StandardMetadata, TableId};
use runtime::{Backend, Context};

use self::frame::FrameShadows;
use self::registers::Registers;
pub use self::shadow::Shadow;
use self::shadow::{Set, Sets};
use crate::Interpreter;

/// As the traffic manager reads the port: such packets are dropped.
const DROP_PORT: u32 = 511;
/// Octets that a run's output has at most.
const MOST_OUT: usize = 1024;

/// What is watched of one run.
#[derive(Default)]
pub struct Watcher {
    /// By temp of the running function.
    temps: Vec<Shadow>,
    frame: FrameShadows,
    sets: Sets,
    /// Blocks that ran: the parser, verification, ingress, egress, computation, the deparser.
    blocks: usize,
    /// Its way can't be kept.
    gave_up: bool,
    octets: Octets,
    at_least: usize,
    exact_length: bool,
    ranges: Vec<Range>,
    registers: Registers,
    found: Vec<(TableId, u32)>,
    counts: Vec<(CounterId, u64)>,
    /// Numbers of the objects that it looked into.
    read: Vec<u32>,
    /// For each bit of the output the packet's bit.
    sources: Vec<u32>,
    /// Where ingress sends it.
    port: u32,
    end: Option<End>,
    taken: usize,
    out: Vec<u8>,
}

impl Watcher {
    /// Ready for another run.
    pub fn begin(&mut self) {
        let Self { temps, frame, mut sets, .. } = std::mem::take(self);
        sets.clear();
        *self = Self { temps, frame, sets, ..Self::default() };
    }

    /// Whether another packet of the flow may take a way that can be kept, where that of the one that was watched can't: as
    /// registers or the time decide.
    pub fn others_may_be_kept(&self) -> bool {
        self.registers.are_used()
    }

    /// The way of the packet that was watched, for which others it holds, and how long; none if it is not to be kept.
    pub fn finish(&mut self) -> Option<Watched> {
        let end = self.end.filter(|_| !self.gave_up)?;
        let mut octets = std::mem::take(&mut self.octets);
        let mut too_far = false;
        let mut fix = |bit: u32| too_far |= !octets.add_bits(bit as usize, 1);
        let edit = match end {
            End::Sent(_) => Edit::new(self.taken, &self.out, &self.sources, &mut fix),
            End::DroppedInIngress | End::DroppedInEgress(_) => Edit::default(),
        };
        if too_far {
            return None;
        }
        let replay = self.registers.replay(&self.sets);
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.sort_by_key(|range| (range.of_length, range.less));
        let key = Key { octets, at_least: self.at_least, exact_length: self.exact_length, ranges };
        self.found.sort_unstable();
        let (found, counts) = (std::mem::take(&mut self.found).into(), std::mem::take(&mut self.counts).into());
        let mut read = std::mem::take(&mut self.read);
        read.sort_unstable();
        read.dedup();
        Some(Watched {
            key,
            way: Way { end, edit, found, together: Default::default(), counts, replay },
            read: read.into(),
        })
    }

    /// For a function of so many temps.
    pub(crate) fn make_room(&mut self, temps: usize) {
        self.temps.resize(self.temps.len().max(temps), Shadow::default());
    }

    fn give_up(&mut self) {
        self.gave_up = true;
    }

    /// Something is decided by the value.
    fn demand(&mut self, shadow: Shadow) {
        if shadow.is_fixed() {
            return;
        }
        let Set { octets, length, unstable, cells, .. } = self.sets.get(shadow);
        self.octets.add(octets);
        self.exact_length |= length;
        self.gave_up |= unstable;
        self.registers.fix(*cells);
    }

    fn read(&mut self, offset: u32, width: u32) -> Shadow {
        self.frame.read(offset, width, &mut self.sets)
    }

    /// Before the block of that number runs: what the architecture wrote.
    fn before_block(&mut self, program: &Program, context: &Context<'_>) {
        let std = &program.standard_metadata;
        match self.blocks {
            0 => {
                self.frame.begin(context.frame.all().len(), program.frame.persistent as usize);
                self.frame.write(std.ingress_port, 9, Shadow::default());
                self.frame.write(std.instance_type, 32, Shadow::default());
                self.frame.write(std.packet_length, 32, Shadow::LENGTH);
                self.frame.write(std.ingress_global_timestamp, 48, Shadow::TIME);
            }
            3 => self.before_egress(std),
            _ => {}
        }
    }

    fn before_egress(&mut self, std: &StandardMetadata) {
        self.frame.write(std.instance_type, 32, Shadow::default());
        self.frame.write(std.enq_timestamp, 32, Shadow::UNSTABLE);
        self.frame.write(std.egress_port, 9, Shadow::default());
        self.frame.write(std.egress_spec, 9, Shadow::default());
        self.frame.write(std.egress_global_timestamp, 48, Shadow::UNSTABLE);
        self.frame.write(std.packet_length, 32, Shadow::LENGTH);
    }

    /// After it ran: what the architecture reads.
    fn after_block(&mut self, program: &Program, context: &Context<'_>) {
        let std = &program.standard_metadata;
        let read = |offset, width| context.frame.read(offset, width) as u32;
        match self.blocks {
            0 => {
                let error = self.read(std.parser_error, 32);
                self.demand(error);
                self.gave_up |= read(std.parser_error, 32) != 0;
            }
            2 => {
                for (offset, width) in [(std.mcast_grp, 16), (std.egress_spec, 9)] {
                    let shadow = self.read(offset, width);
                    self.demand(shadow);
                }
                self.gave_up |= read(std.mcast_grp, 16) != 0;
                self.port = read(std.egress_spec, 9);
                self.end = (self.port == DROP_PORT).then_some(End::DroppedInIngress);
            }
            3 => {
                let shadow = self.read(std.egress_spec, 9);
                self.demand(shadow);
                let dropped = read(std.egress_spec, 9) == DROP_PORT;
                self.end = dropped.then_some(End::DroppedInEgress(self.port));
            }
            5 => {
                self.end = Some(End::Sent(self.port));
                self.taken = context.cursor;
                self.out.extend_from_slice(&context.out);
                self.gave_up |= self.out.len() > MOST_OUT;
            }
            _ => {}
        }
        // A loop without end: what was done is half of something.
        self.gave_up |= context.fuel == 0;
        self.blocks += 1;
    }
}

/// Runs packets by the interpreter and watches them.
pub struct Watching {
    interpreter: Arc<Interpreter>,
    watcher: Mutex<Watcher>,
}

impl Watching {
    pub fn new(interpreter: Arc<Interpreter>) -> Self {
        Self { interpreter, watcher: Mutex::default() }
    }

    pub fn watcher(&self) -> MutexGuard<'_, Watcher> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Watching {
    fn run(&self, function: FunctionId, context: &mut Context<'_>) {
        let watcher = &mut *self.watcher();
        if watcher.gave_up {
            return self.interpreter.run(function, context);
        }
        watcher.before_block(&self.interpreter.program, context);
        self.interpreter.watch(function, context, watcher);
        watcher.after_block(&self.interpreter.program, context);
    }
}
