//! Packets whose way is known from others of their flow: they take it without a run of the program.
//!
//! The way of a packet that is worth learning is found by the interpreter, which watches its run. It is taken as long as
//! nothing is written that the run looked into, which is asked for each packet. A write that begins later comes later than
//! this packet's lookups would have, too.

use std::mem;
use std::sync::Arc;

use flow_cache::{End, Flows, Keeping, Kept, Look, Offer, Replay, Settings, Values, Watched, Way};
use interp::Watching;
use runtime::RegisterAccess;

use super::{Engine, Sink};
use crate::loaded::{Learned, Loaded};
use crate::meta::Instance;
use crate::stats::DropReason;

/// What became of looks at the ways that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowStats {
    /// Packets that took a way that was known.
    pub hits: u64,
    /// Packets that were looked up and found none.
    pub misses: u64,
    /// Packets that were not looked up, since that finds too little.
    pub passed: u64,
    /// Ways that were learned.
    pub learned: u64,
    /// Ways that were found out and can't be kept.
    pub kept_out: u64,
    /// Ways that were found void, since something was written that they depend on.
    pub forgotten: u64,
    /// Ways that are kept now and hold.
    pub kept: u64,
    /// Engines that learn ways more rarely now, since those learned last brought less than they cost.
    pub backed_off: u64,
}

impl FlowStats {
    /// Adds what another thread counted.
    pub fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.passed += other.passed;
        self.learned += other.learned;
        self.kept_out += other.kept_out;
        self.forgotten += other.forgotten;
        self.kept += other.kept;
        self.backed_off += other.backed_off;
    }
}

/// The ways of one engine's packets.
pub(super) struct KnownFlows {
    flows: Flows,
    watching: Arc<Watching>,
    /// What the way of a packet asked of registers and the time.
    values: Values,
    /// Of all that the control plane writes, before a packet is watched.
    versions: Vec<u64>,
    /// Whether the interpreter runs each packet all the same.
    checked: bool,
    /// Takes ways that are taken often.
    offers: Option<Box<Offers>>,
}

/// Who is offered a way.
type Offers = dyn Fn(Offer) + Send;

impl KnownFlows {
    /// For so many ways; none for programs of other architectures than v1model.
    fn new(loaded: &Loaded, settings: Settings, checked: bool) -> Option<Box<Self>> {
        let watching = Arc::new(Watching::new(loaded.tracer().clone()));
        let (flows, values) = (Flows::new(settings), Values::default());
        let known = Self { flows, watching, values, versions: Vec::new(), checked, offers: None };
        loaded.program.psa.is_none().then(|| Box::new(known))
    }

    /// Ways of which each is learned at once.
    pub fn at_once(loaded: &Loaded, learned: Learned) -> Option<Box<Self>> {
        let settings = Settings { ways: 1024, after: 1, always: true, offer: false };
        Self::new(loaded, settings, learned == Learned::Checked)
    }
}

impl Engine<'_> {
    /// Keeps so many ways of packets, for those that take the same. Programs for PSA have none.
    pub fn keep_flows(&mut self, ways: usize) {
        self.known = KnownFlows::new(self.loaded, Settings::new(ways), false);
    }

    /// The same, and ways that are taken often are offered.
    pub fn keep_and_offer_flows(&mut self, ways: usize, offers: impl Fn(Offer) + Send + 'static) {
        self.known = KnownFlows::new(self.loaded, Settings { offer: true, ..Settings::new(ways) }, false);
        if let Some(known) = &mut self.known {
            known.offers = Some(Box::new(offers));
        }
    }

    /// So many packets took ways that were offered, without coming here: that pays for other ways.
    pub fn credit_flows(&mut self, hits: u64) {
        if let Some(known) = &mut self.known {
            known.flows.credit(hits);
        }
    }

    /// Brings what is counted of ways up to date: that of writes is found out when somebody asks.
    pub(super) fn count_ways(&mut self) {
        let stats = &mut self.traffic.flows;
        let Some(KnownFlows { flows, .. }) = self.known.as_deref_mut() else { return };
        stats.forgotten += flows.find_void(self.loaded.device.writes());
        stats.kept = flows.ways() as u64;
        stats.backed_off = flows.is_backed_off().into();
    }

    /// They go with their engine.
    pub(super) fn drop_ways(&mut self) {
        self.count_ways();
        (self.traffic.flows.kept, self.traffic.flows.backed_off) = (0, 0);
    }

    /// Runs the packet that just came if its way is known, or is to be learned now; false if it is still to be run.
    #[inline]
    pub(super) fn take_known_way(&mut self, port: u32, now: u64, sink: &mut impl Sink) -> bool {
        let Some(known) = &mut self.known else { return false };
        if self.context.trace.is_some() {
            return false;
        }
        if !known.flows.opens() {
            self.traffic.flows.passed += 1;
            return false;
        }
        self.look_way_up(port, now, sink)
    }

    // Apart from the way of packets that are not looked up, which it would make longer.
    #[inline(never)]
    fn look_way_up(&mut self, port: u32, now: u64, sink: &mut impl Sink) -> bool {
        let Some(mut known) = self.known.take() else { return false };
        let done = self.by_known(&mut known, port, now, sink);
        self.known = Some(known);
        done
    }

    fn by_known(&mut self, known: &mut KnownFlows, port: u32, now: u64, sink: &mut impl Sink) -> bool {
        // Before it is asked whether a way holds: slots of entries stay theirs from here on.
        self.context.start_known(now);
        let writes = self.loaded.device.writes();
        if known.checked {
            writes.note(&mut known.versions);
        }
        let (registers, values) = (&mut self.context.registers, &mut known.values);
        let look =
            known.flows.look(port, self.context.packet.bytes(), writes, |replay| holds(replay, now, registers, values));
        match look {
            Look::Unknown => {
                self.context.registers.end_turn();
                self.traffic.flows.misses += 1;
                false
            }
            Look::Learn => {
                self.context.registers.end_turn();
                self.traffic.flows.misses += 1;
                self.learn(known, port, now, sink);
                true
            }
            Look::Known(way, _) if known.checked => {
                self.context.registers.end_turn();
                let way = way.way();
                self.traffic.flows.hits += 1;
                self.check(known, &way, port, now, sink)
            }
            Look::Known(way, offer) => {
                let taken = self.take(way, &known.values, now, sink);
                self.traffic.flows.hits += u64::from(taken);
                if let (Some(offer), Some(offers)) = (offer, &known.offers) {
                    offers(*offer);
                }
                taken
            }
        }
    }

    /// Whether the way goes on from ingress to egress at once: the packet need not wait for its port.
    fn is_clear(&self, end: End, now: u64, sink: &impl Sink) -> bool {
        match end {
            End::DroppedInIngress => true,
            End::DroppedInEgress(port) | End::Sent(port) => self.traffic.queues.is_idle(port, now) && sink.ready(port),
        }
    }

    /// Takes a way; false if the packet has to wait for its port. `values` are those by which the way holds.
    #[inline(always)]
    fn take(&mut self, way: &Kept, values: &Values, now: u64, sink: &mut impl Sink) -> bool {
        let is_clear = self.is_clear(way.end, now, sink);
        if is_clear && !way.replay.is_empty() {
            way.replay.write(&mut self.context.registers, values);
        }
        self.context.registers.end_turn();
        if !is_clear {
            return false;
        }
        if way.notes {
            self.note(way);
        }
        match way.end {
            End::DroppedInIngress => self.drop_packet(DropReason::Ingress),
            End::DroppedInEgress(_) => self.drop_packet(DropReason::Egress),
            End::Sent(port) => {
                way.apply(&mut self.context.packet, &mut self.context.out, self.headroom);
                self.transmit(port, now, sink);
            }
        }
        true
    }

    /// Counts a packet of the way.
    #[inline(always)]
    fn note(&mut self, way: &Kept) {
        for (table, slot) in way.found() {
            self.context.note_found(table, slot);
        }
        for together in way.together.iter().flatten() {
            self.context.note_found_together(together);
        }
        for (counter, index) in way.counts() {
            self.context.count(counter, index);
        }
    }

    /// Runs the packet and keeps its way if it can be kept.
    fn learn(&mut self, known: &mut KnownFlows, port: u32, now: u64, sink: &mut impl Sink) {
        let before = self.context.packet.bytes().to_vec();
        let writes = self.loaded.device.writes();
        writes.note(&mut known.versions);
        let keeping = match self.watch(known, port, now, sink) {
            Some(mut watched) => {
                let mut found = mem::take(&mut watched.way.found).into_vec();
                watched.way.together = self.context.found_together(&mut found);
                watched.way.found = found.into();
                known.flows.keep(port, &before, watched, &known.versions, writes)
            }
            None if known.watching.watcher().others_may_be_kept() => known.flows.leave_out(port, &before),
            None => known.flows.keep_out(port, &before),
        };
        let stats = &mut self.traffic.flows;
        match keeping {
            Keeping::Kept => stats.learned += 1,
            Keeping::KeptOut => stats.kept_out += 1,
            Keeping::Void => {}
        }
    }

    /// Runs the packet by the interpreter, which watches it.
    fn watch(&mut self, known: &KnownFlows, port: u32, now: u64, sink: &mut impl Sink) -> Option<Watched> {
        known.watching.watcher().begin();
        let plain = mem::replace(&mut self.backend, known.watching.clone());
        self.context.start(now);
        self.set_arrival(port, Instance::Normal, now);
        self.ingress(now, sink);
        self.backend = plain;
        known.watching.watcher().finish()
    }

    /// Runs the packet, and panics if it takes another way; true, or false if it has to wait for its port, as the way then
    /// is not watched to its end.
    fn check(&mut self, known: &KnownFlows, way: &Way, port: u32, now: u64, sink: &mut impl Sink) -> bool {
        if !self.is_clear(way.end, now, sink) {
            return false;
        }
        let before = self.context.packet.bytes().to_vec();
        let written = way.replay.written(&known.values);
        let watched = self.watch(known, port, now, sink);
        let objects: Vec<u32> = (0..known.versions.len() as u32).collect();
        if !self.loaded.device.writes().are_still(&objects, &known.versions) {
            // The run may have found something else.
            return true;
        }
        match watched {
            Some(Watched { way: taken, .. }) => {
                let same = (taken.end, &taken.found, &taken.counts) == (way.end, &way.found, &way.counts);
                assert!(same, "packet {before:02x?} of port {port}: known is {way:?}, taken was {taken:?}");
            }
            // Registers or the time may have decided earlier what this run can't be kept for.
            None if !way.replay.is_empty() => {}
            None => panic!("packet {before:02x?} of port {port} has a known way that can't be kept: {way:?}"),
        }
        for (register, index, words) in written {
            let stands = self.context.registers.is(register, index, &words);
            assert!(
                stands,
                "packet {before:02x?} of port {port}: {words:x?} is not in cell {index} of {register:?}, {way:?}"
            );
        }
        self.context.registers.end_turn();
        if let End::Sent(_) = way.end {
            let (sent, expected) = (self.context.packet.bytes(), way.edit.applied(&before));
            assert!(
                sent == expected,
                "packet {before:02x?} of port {port}: known is {expected:02x?}, sent {sent:02x?}"
            );
        }
        true
    }
}

/// Whether registers and the time are as a way asks.
// Apart from the way of packets that ask for nothing, which it would make longer.
#[inline(never)]
fn holds(replay: &Replay, now: u64, registers: &mut RegisterAccess<'_>, values: &mut Values) -> bool {
    replay.holds(arrival_time(now), registers, values)
}

/// As the program sees it: microseconds, of 48 bits.
fn arrival_time(now: u64) -> u64 {
    (now / 1000) & ((1 << 48) - 1)
}
