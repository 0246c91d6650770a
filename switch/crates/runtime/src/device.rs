//! The state of one loaded program.

use std::sync::Arc;
use std::sync::atomic::Ordering::Release;

use ir::*;
use num_bigint::BigUint;
use tables::sync::AtomicU8;
use tables::{Epochs, Reader};

use crate::buffer::{Buffer, BufferState, KeptPacket};
use crate::cells::{Counters, Meters};
use crate::entry::{ColourCounts, CounterData, MeterConfig};
use crate::error::{ProgramError, WriteError};
use crate::page_table::PageTable;
use crate::plugin::{Bound, Externs};
use crate::profile::ProfileState;
use crate::registers::Registers;
use crate::special::Special;
use crate::table::{DEFAULT, TableState};
use crate::turns::Turns;
use crate::value_set::ValueSetState;
use crate::writes::Writes;

/// All state of one loaded program. Every method takes `&self`: packets and the control plane share it.
///
/// Writes to one object follow each other; packets never wait for them and see each as a whole. The calls for tables,
/// profiles and value sets stand in their modules.
pub struct Device {
    program: Arc<Program>,
    pub(crate) epochs: Arc<Epochs>,
    pub(crate) tables: Vec<TableState>,
    /// By table: 1 while it has entries. Side by side, so that packets pass empty tables with hardly a look.
    occupied: Box<[AtomicU8]>,
    pub(crate) special: Special,
    pub(crate) writes: Writes,
    pub(crate) profiles: Vec<ProfileState>,
    pub(crate) counters: Vec<Counters>,
    pub(crate) meters: Vec<Meters>,
    pub(crate) registers: Vec<Registers>,
    register_pages: Arc<PageTable>,
    pub(crate) turns: Turns,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) value_sets: Vec<ValueSetState>,
    pub(crate) externs: Bound,
    pub(crate) errors: ParserErrors,
    /// The most words of data that an action has.
    pub(crate) data_words: usize,
}

/// Indices of the errors that extraction can end in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParserErrors {
    pub packet_too_short: u32,
    pub header_too_short: u32,
    pub invalid_argument: u32,
}

impl ParserErrors {
    fn new(program: &Program) -> Self {
        // A program without core.p4's errors can't tell them apart, but none of them is `NoError`.
        let index = |name| program.errors.iter().position(|error| error == name).map_or(u32::MAX, |i| i as u32);
        Self {
            packet_too_short: index("PacketTooShort"),
            header_too_short: index("HeaderTooShort"),
            invalid_argument: index("ParserInvalidArgument"),
        }
    }
}

impl Device {
    /// The state of a program just loaded: const and initial entries in place, everything else empty or zero. The error
    /// names an entry of the program that its table can't have.
    pub fn new(program: Arc<Program>) -> Result<Self, ProgramError> {
        Self::with_externs(program, &Externs::default())
    }

    /// The same with externs of one's own. The error may also name one that the program calls and the switch does not
    /// have.
    pub fn with_externs(program: Arc<Program>, externs: &Externs) -> Result<Self, ProgramError> {
        let externs = Bound::new(&program, externs).map_err(ProgramError::Extern)?;
        let epochs = Epochs::new();
        let words = program.actions.iter().map(|(_, action)| crate::action::data_words(action)).max();
        let (registers, register_pages) = Registers::all(&program);
        let device = Self {
            tables: TableState::all(&program, &epochs),
            occupied: program.tables.iter().map(|_| AtomicU8::new(0)).collect(),
            special: Special::new(),
            writes: Writes::new(&program),
            profiles: ProfileState::all(&program, &epochs),
            counters: program.counters.iter().map(|(_, counter)| Counters::new(counter)).collect(),
            meters: program.meters.iter().map(|(_, meter)| Meters::new(meter)).collect(),
            registers,
            register_pages,
            turns: Turns::new(&program),
            buffers: program.buffers.iter().map(|(_, buffer)| Buffer::new(buffer)).collect(),
            value_sets: program.value_sets.iter().map(|(_, set)| ValueSetState::new(set, &epochs)).collect(),
            externs,
            errors: ParserErrors::new(&program),
            data_words: words.unwrap_or(0),
            epochs,
            program,
        };
        device.load_program_entries()?;
        Ok(device)
    }

    /// The program this is the state of.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// To be called before packets run by several threads: those that use a register which packets write take turns.
    pub fn serve_threads(&self) {
        self.turns.need();
    }

    /// The writes that change what packets find: entries, default actions, members, groups, value sets, ports that are up.
    #[inline]
    pub fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Whether someone asks which packets found an entry of the table: it has counters, or is reported when idle.
    pub fn notes_hits(&self, table: TableId) -> bool {
        self.tables[table.index()].has_stats()
    }

    /// For a thread that keeps slots of entries: while it is pinned, no other entry gets the slot of one that it knows.
    pub fn reader(&self) -> Reader {
        Reader::new(&self.epochs)
    }

    /// Counts packets that found an entry without a context, the last of them now; with [`DEFAULT`], that found none.
    pub fn count_found(&self, table: TableId, slot: u32, packets: u64, bytes: u64, now: u64) {
        let state = &self.tables[table.index()];
        if slot != DEFAULT {
            state.hit(slot, now);
        }
        if state.counts {
            state.count(slot, packets, bytes);
        }
    }

    /// Counts packets in a cell without a context.
    pub fn count_cell(&self, counter: CounterId, index: u64, packets: u64, bytes: u64) {
        self.counters[counter.index()].count(index, packets, bytes);
    }

    /// For each table a 1 while it has entries.
    #[inline]
    pub fn occupied(&self) -> &[AtomicU8] {
        &self.occupied
    }

    /// To be called with the table's book locked, once entries came or went.
    pub(crate) fn note_occupied(&self, table: TableId, has_entries: bool) {
        self.occupied[table.index()].store(u8::from(has_entries), Release);
    }

    /// Where compiled code finds cells of registers.
    #[inline]
    pub fn register_pages(&self) -> &PageTable {
        &self.register_pages
    }

    /// The next copy of a packet that starts again at or before `now`.
    #[inline]
    pub fn pop_kept(&self, now: u64) -> Option<KeptPacket> {
        self.buffers.iter().find_map(|buffer| buffer.pop(now))
    }

    /// When a copy of a packet starts again.
    #[inline]
    pub fn next_kept(&self) -> Option<u64> {
        self.buffers.iter().filter_map(Buffer::next).min()
    }

    /// Keeps a copy for which there is room.
    pub fn keep(&self, buffer: BufferId, queue: u32, number: u32, deadline: u64, packet: KeptPacket) {
        self.buffers[buffer.index()].keep(queue, number, deadline, packet);
    }

    /// What is in the packet buffers, and what became of copies.
    pub fn buffers(&self) -> Vec<BufferState> {
        self.buffers.iter().map(Buffer::state).collect()
    }

    /// What a cell of a counter counted.
    pub fn counter(&self, counter: CounterId, index: u64) -> Result<CounterData, WriteError> {
        self.counters[counter.index()].read(index)
    }

    /// Sets a cell of a counter.
    pub fn set_counter(&self, counter: CounterId, index: u64, data: CounterData) -> Result<(), WriteError> {
        self.counters[counter.index()].write(index, data)
    }

    /// The configuration of a cell of a meter, if it has one.
    pub fn meter(&self, meter: MeterId, index: u64) -> Result<Option<MeterConfig>, WriteError> {
        self.meters[meter.index()].read(index)
    }

    /// Configures a cell of a meter; `None` makes it green for all.
    pub fn set_meter(&self, meter: MeterId, index: u64, config: Option<MeterConfig>) -> Result<(), WriteError> {
        self.meters[meter.index()].write(index, config)
    }

    /// What a cell of a meter marked.
    pub fn meter_counts(&self, meter: MeterId, index: u64) -> Result<ColourCounts, WriteError> {
        self.meters[meter.index()].counts(index)
    }

    /// Forgets what a cell of a meter marked.
    pub fn clear_meter_counts(&self, meter: MeterId, index: u64) -> Result<(), WriteError> {
        self.meters[meter.index()].clear_counts(index)
    }

    /// A cell of a register.
    pub fn register(&self, register: RegisterId, index: u64) -> Result<BigUint, WriteError> {
        self.registers[register.index()].read_number(index)
    }

    /// Sets a cell of a register.
    pub fn set_register(&self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), WriteError> {
        self.registers[register.index()].write_number(index, value)
    }
}
