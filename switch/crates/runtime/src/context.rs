//! One packet's run through the program.

mod lookup;

use ir::*;
use num_bigint::BigUint;
use tables::{Reader, Recent};

use crate::device::Device;
use crate::effects::{Effects, Keep};
use crate::frame::FrameMemory;
use crate::hash::hash;
use crate::meter::GREEN;
use crate::packet::Packet;
use crate::plugin::Call;
use crate::random::{Random, Seed};
use crate::register_access::RegisterAccess;
use crate::special::Runner;
use crate::table::DEFAULT;
use crate::trace::Recorder;
use crate::uncounted::{ENTRIES, Hits, Together, Uncounted, UncountedCells};

/// Turns of loops that one packet may take: enough for a header per byte of the longest packet.
const FUEL: u32 = 1 << 16;
/// Packets after which tables are told that what was found before is no longer looked at, and how often it was.
const BURST: u32 = 64;
/// Bursts after which default entries are told how many packets found no other: most tables of a large program are
/// empty. Fewer packets than would overflow the bytes in [`Context::missed`].
const BURSTS: u32 = 32;
/// A packet in [`Context::missed`].
pub const PACKET: u64 = 1 << 32;

/// Everything a backend needs to run one packet. One context serves many packets, one after the other.
pub struct Context<'d> {
    pub device: &'d Device,
    pub frame: FrameMemory,
    pub packet: Packet,
    /// Bytes of the packet taken off by the parser.
    pub cursor: usize,
    /// Headers written by the deparser.
    pub out: Vec<u8>,
    pub effects: Effects,
    pub registers: RegisterAccess<'d>,
    /// Nanoseconds.
    pub now: u64,
    /// Loop turns left, and one more: none are left when it is 1, and at 0 one more was asked for.
    pub fuel: u32,
    /// Present while the packet is traced.
    pub trace: Option<Box<Recorder>>,
    reader: Reader,
    /// Packets since the reader was pinned.
    since_pin: u32,
    /// By table.
    recent: Vec<Recent>,
    uncounted: Uncounted,
    uncounted_cells: UncountedCells,
    /// By table: what found no entry and the counter of the default entry does not have yet, packets above bit 32, bytes
    /// below. Compiled code adds to them where it sees that a table is empty.
    pub missed: Vec<u64>,
    /// What packets of known ways found.
    together: Together,
    /// Bursts since they were handed over.
    bursts: u32,
    /// The table of the last lookup, and the slot of what it found: an entry, or the default one.
    entry: Option<(TableId, u32)>,
    /// The slot of the member that it chose from a group.
    chosen: Option<u32>,
    /// The data of the action that the last lookup found: a copy, so that it stays as it is while the packet runs.
    data: Vec<u64>,
    data_len: usize,
    random: Random,
    /// Once it ran code that was compiled for what the tables hold.
    pub(crate) runner: Option<Box<Runner<'d>>>,
}

impl<'d> Context<'d> {
    /// A context for packets of one thread. With `seed` the program's random numbers begin.
    pub fn new(device: &'d Device, seed: impl Into<Seed>) -> Self {
        let program = device.program();
        Self {
            device,
            frame: FrameMemory::new(&program.frame),
            packet: Packet::default(),
            cursor: 0,
            out: Vec::new(),
            effects: Effects::default(),
            registers: RegisterAccess::new(device),
            now: 0,
            fuel: FUEL,
            trace: None,
            reader: Reader::new(&device.epochs),
            since_pin: 0,
            recent: vec![Recent::default(); device.tables.len()],
            uncounted: Uncounted::new(device.tables.len()),
            uncounted_cells: UncountedCells::default(),
            missed: vec![0; device.tables.len()],
            together: Together::default(),
            bursts: 0,
            entry: None,
            chosen: None,
            data: vec![0; device.data_words],
            data_len: 0,
            random: Random::new(seed.into()),
            runner: None,
        }
    }

    /// Makes the context ready for another packet, whose bytes are in `packet`: zeroes the persistent frame, the
    /// cursor and the output, clears the effects, refills the fuel.
    #[inline]
    pub fn start(&mut self, now: u64) {
        self.frame.zero_persistent();
        self.cursor = 0;
        self.out.clear();
        self.effects.clear();
        self.fuel = FUEL;
        self.entry = None;
        self.data_len = 0;
        self.begin_turn(now);
    }

    /// Makes the context ready for a packet whose way is known: for [`Self::note_found`] and [`Self::count`].
    #[inline]
    pub fn start_known(&mut self, now: u64) {
        self.begin_turn(now);
    }

    /// By table, what entries were hit by the low bits of their slots, and a bit for each place that has hits: compiled code
    /// counts there what it finds itself.
    pub fn uncounted(&mut self) -> (&mut [[Hits; ENTRIES]], &mut [u8]) {
        (&mut self.uncounted.entries, &mut self.uncounted.some)
    }

    #[inline]
    fn begin_turn(&mut self, now: u64) {
        self.now = now;
        self.since_pin += 1;
        if self.since_pin >= BURST {
            self.since_pin = 0;
            self.hand_over_counts();
            self.bursts += 1;
            if self.bursts >= BURSTS {
                self.hand_over_missed();
            }
            self.reader.pin();
        } else if !self.reader.is_pinned() {
            self.reader.pin();
        }
    }

    /// Tells the tables that this context stands still, so that they need not keep what was deleted; call when no
    /// packet is waiting.
    pub fn idle(&mut self) {
        self.entry = None;
        self.hand_over_counts();
        self.hand_over_missed();
        self.reader.park();
    }

    /// Before the reader is pinned anew: afterwards another entry may have the slot.
    fn hand_over_counts(&mut self) {
        self.uncounted.hand_over(&self.device.tables);
        self.uncounted_cells.hand_over(&self.device.counters);
        let device = self.device;
        self.together.hand_over(|table, slot, hits| device.count_found(table, slot, hits.packets, hits.bytes, hits.at));
    }

    fn hand_over_missed(&mut self) {
        self.bursts = 0;
        let (tables, missed) = (&self.device.tables, &mut self.missed);
        self.together.hand_over_missed(|table, hits| {
            if tables[table.index()].counts {
                missed[table.index()] += PACKET * hits.packets + hits.bytes;
            }
        });
        for (missed, table) in self.missed.iter_mut().zip(&self.device.tables) {
            let missed = std::mem::take(missed);
            if missed != 0 {
                table.count(DEFAULT, missed / PACKET, missed % PACKET);
            }
        }
    }

    /// Puts the deparser's output in front of the payload: the packet as it leaves.
    #[inline]
    pub fn finish(&mut self) {
        self.packet.replace_front(self.cursor, &self.out, self.device.program().max_growth as usize);
        self.cursor = 0;
        self.out.clear();
    }

    /// Whether a key, packed as for a table, is in a value set.
    pub fn in_value_set(&mut self, set: ValueSetId, key: &[u8]) -> bool {
        if !self.reader.is_pinned() {
            self.reader.pin();
        }
        self.device.value_sets[set.index()].contains(&self.reader, key)
    }

    /// Uses one turn of the budget up; answers whether none was left.
    pub fn take_fuel(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel == 0
    }

    /// Whether a loop asked for more turns than there were; whoever asks here gives it new ones.
    #[inline]
    pub fn ran_out_of_fuel(&mut self) -> bool {
        let ran_out = self.fuel == 0;
        if ran_out {
            self.fuel = FUEL;
        }
        ran_out
    }

    /// Counts the packet; the counter gets it with those of its burst, as counters of entries do.
    pub fn count(&mut self, counter: CounterId, index: u64) {
        self.uncounted_cells.add(&self.device.counters, counter, index, self.packet.len() as u64);
    }

    /// The packet's colour: 0 green, 1 yellow, 2 red. `before` is what it was; [`GREEN`] for a colour-blind meter.
    pub fn meter(&mut self, meter: MeterId, index: u64, before: u32) -> u32 {
        self.device.meters[meter.index()].mark(before, index, self.packet.len() as u64, self.now)
    }

    /// The packet's colour by the meter of the entry that the table's lookup found just before; green without one.
    pub fn direct_meter(&mut self, table: TableId, before: u32) -> u32 {
        match (self.entry, &self.device.tables[table.index()].meters) {
            (Some((looked_up, slot)), Some(meters)) if looked_up == table => {
                meters.cell(slot).mark(before, meters.unit, self.packet.len() as u64, self.now)
            }
            _ => GREEN,
        }
    }

    /// Asks for a copy of the packet to be kept; answers whether there is room for it.
    pub fn buffer_keep(
        &mut self,
        buffer: BufferId,
        queue: u32,
        number: u32,
        microseconds: u32,
        fields: FieldListId,
    ) -> bool {
        let room = self.device.buffers[buffer.index()].has_room(queue, number, self.packet.len());
        if room {
            let deadline = self.now + u64::from(microseconds) * 1000;
            self.effects.keep.push(Keep { buffer, queue, number, deadline, fields });
        }
        room
    }

    /// Drops copies.
    pub fn buffer_release(&mut self, buffer: BufferId, queue: u32, number: u32) {
        self.device.buffers[buffer.index()].release(queue, number);
    }

    /// Has copies start again.
    pub fn buffer_send(&mut self, buffer: BufferId, queue: u32, number: u32) {
        self.device.buffers[buffer.index()].send(queue, number);
    }

    /// The hash of the data, whose last byte is filled up with zeros.
    pub fn hash(&mut self, algorithm: HashAlgorithm, data: &[u8]) -> u64 {
        self.checksum(algorithm, data, false)
    }

    /// The checksum of the data; with `payload`, over the bytes after the cursor too.
    pub fn checksum(&mut self, algorithm: HashAlgorithm, data: &[u8], payload: bool) -> u64 {
        let rest = if payload { &self.packet.bytes()[self.cursor..] } else { &[] };
        hash(algorithm, [data, rest], || self.random.next())
    }

    /// A random number in `lo..=hi`.
    pub fn random(&mut self, lo: u128, hi: u128) -> u128 {
        self.random.between(lo, hi)
    }

    /// A random number in `lo..=hi` of any width.
    pub fn random_wide(&mut self, lo: &BigUint, hi: &BigUint) -> BigUint {
        if hi <= lo {
            return lo.clone();
        }
        let span = hi - lo + 1u8;
        let digits =
            (0..span.bits().div_ceil(64) + 1).fold(BigUint::ZERO, |value, _| (value << 64) + self.random.next());
        lo + digits % span
    }

    /// Sends a message to the control plane.
    pub fn digest(&mut self, digest: DigestId, values: Vec<BigUint>) {
        self.effects.digests.push((digest, values));
    }

    /// Calls an extern of the program's own; answers its results.
    pub fn call_extern(&mut self, function: ExternId, args: &[BigUint]) -> Vec<BigUint> {
        let called = &self.device.program().externs[function];
        let call = Call { args, results: &called.results, packet: self.packet.bytes(), now: self.now };
        self.device.externs.call(function, called, &call)
    }

    /// Asks for a copy of the packet; the last one of a block counts.
    pub fn clone_packet(&mut self, kind: CloneKind, session: u32, fields: Option<FieldListId>) {
        match kind {
            CloneKind::IngressToEgress => self.effects.clone_i2e = Some((session, fields)),
            CloneKind::EgressToEgress => self.effects.clone_e2e = Some((session, fields)),
        }
    }

    /// Asks for another pass through the parser, as the packet came in.
    pub fn resubmit(&mut self, fields: Option<FieldListId>) {
        self.effects.resubmit = Some(fields);
    }

    /// Asks for another pass through the parser, as the packet leaves.
    pub fn recirculate(&mut self, fields: Option<FieldListId>) {
        self.effects.recirculate = Some(fields);
    }

    /// Asks for the packet to be cut when it leaves.
    pub fn truncate(&mut self, bytes: u32) {
        self.effects.truncate = Some(self.effects.truncate.map_or(bytes, |before| before.min(bytes)));
    }

    /// Logs a text whose `{}` stand for the arguments, in decimal.
    pub fn log_message(&mut self, format: StringId, args: &[BigUint]) {
        let format = &self.device.program().strings[format];
        let mut args = args.iter();
        let mut parts = format.split("{}");
        let mut line = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match args.next() {
                Some(arg) => line.push_str(&arg.to_string()),
                None => line.push_str("{}"),
            }
            line.push_str(part);
        }
        self.effects.log.push(line);
    }

    /// An `assert` or `assume` did not hold.
    pub fn assert_failed(&mut self, text: StringId) {
        self.effects.assertion_failed = Some(text);
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        self.hand_over_counts();
        self.hand_over_missed();
    }
}
