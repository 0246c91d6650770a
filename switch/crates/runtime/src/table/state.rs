//! What a table consists of: for packets, and for the control plane.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

use ir::*;
use tables::sync::{AtomicU32, AtomicU64, Mutex, MutexGuard};
use tables::{Epochs, Segments, Words, Writer};

use crate::action::data_words;
use crate::body::{Bodies, BodyBook};
use crate::cells::{MeterCell, meter_page};
use crate::entry::*;
use crate::matching::schema;

/// Words of an entry's statistics.
pub(super) const LAST_HIT: usize = 0;
pub(super) const PACKETS: usize = 1;
pub(super) const BYTES: usize = 2;

/// An entry that was hit less than so many nanoseconds ago is not said to be hit anew: threads that hit the same entry would
/// take its cache line from each other with every packet.
const HIT_STEP: u64 = 1 << 16;

/// In place of a slot: the default entry.
pub const DEFAULT: u32 = u32::MAX;

/// How many entries with a timeout one call of `expired` looks at.
pub(super) const SCAN: usize = 16_384;

/// A table as packets see it.
pub(crate) struct TableState {
    pub matches: Arc<tables::Table>,
    pub bodies: Bodies,
    /// The body of the default action, 0 for none.
    pub default: AtomicU32,
    /// The body of what is done where a group has no member that is up, 0 for nothing. It stays as the program has it.
    pub empty_group: AtomicU32,
    /// The index in the table's actions of each action of the program.
    pub index_of: Vec<u32>,
    pub profile: Option<ProfileId>,
    /// Statistics by slot: last hit, packets, bytes.
    pub stats: Words,
    /// Those of the default entry.
    pub default_stats: [AtomicU64; 3],
    /// Whether its entries have counters.
    pub counts: bool,
    pub times: bool,
    pub meters: Option<DirectMeters>,
    pub(super) book: Mutex<Book>,
}

/// The meters of a table's entries.
pub(crate) struct DirectMeters {
    cells: Segments<MeterCell>,
    default: MeterCell,
    pub unit: MeterUnit,
}

impl DirectMeters {
    /// That of a slot, or of the default entry.
    pub fn cell(&self, slot: u32) -> &MeterCell {
        if slot == DEFAULT { &self.default } else { &self.cells.record(slot)[0] }
    }
}

/// A table as the control plane keeps it.
pub(super) struct Book {
    pub writer: Writer,
    pub bodies: BodyBook,
    pub default: Option<ActionCall>,
    /// What only some entries have.
    pub extra: HashMap<u32, Extra>,
    /// Slots of entries with a timeout, and where the last scan of them ended.
    pub timed: BTreeSet<u32>,
    pub scanned: u32,
    /// Whether the content is built into code that may run, or that is compiled now and would be installed.
    pub built_in: bool,
}

#[derive(Default, PartialEq)]
pub(super) struct Extra {
    pub idle_timeout: u64,
    pub metadata: Vec<u8>,
    pub is_const: bool,
    /// When it was last reported as idle.
    pub reported: u64,
}

impl TableState {
    pub fn all(program: &Program, epochs: &Arc<Epochs>) -> Vec<Self> {
        program.tables.iter().map(|(_, table)| Self::new(program, table, epochs)).collect()
    }

    pub fn new(program: &Program, table: &Table, epochs: &Arc<Epochs>) -> Self {
        let capacity = table.size.max(table.entries.len() as u64);
        let (matches, writer) = tables::table(schema(&table.keys), capacity, epochs);
        let words = table.actions.iter().map(|action| data_words(&program.actions[action.action])).max();
        let (bodies, body_book) = Bodies::new(words.unwrap_or(0), epochs);
        let mut index_of = vec![NO_ACTION; program.actions.len()];
        for (index, action) in table.actions.iter().enumerate().rev() {
            index_of[action.action.index()] = index as u32;
        }
        let book = Book {
            writer,
            bodies: body_book,
            default: None,
            extra: HashMap::new(),
            timed: BTreeSet::new(),
            scanned: 0,
            built_in: false,
        };
        Self {
            matches,
            bodies,
            default: AtomicU32::new(0),
            empty_group: AtomicU32::new(0),
            index_of,
            profile: table.profile,
            stats: Words::new(4, 3),
            default_stats: Default::default(),
            counts: table.direct_counter.is_some(),
            times: table.idle_timeout,
            meters: table.direct_meter.as_ref().map(|meter| DirectMeters {
                cells: Segments::new(4, 1),
                default: MeterCell::default(),
                unit: meter.unit,
            }),
            book: Mutex::new(book),
        }
    }

    /// Notes when a packet hit an entry. Inlined, since most tables need not know.
    #[inline(always)]
    pub fn hit(&self, slot: u32, now: u64) {
        if self.times {
            self.note_hit(slot, now);
        }
    }

    fn note_hit(&self, slot: u32, now: u64) {
        let last_hit = &self.stats.record(slot)[LAST_HIT];
        // Hits that were counted together are told late.
        if now.saturating_sub(last_hit.load(Relaxed)) >= HIT_STEP {
            last_hit.store(now, Relaxed);
        }
    }

    /// Counts packets that found an entry, or the default one.
    #[inline]
    pub fn count(&self, slot: u32, packets: u64, bytes: u64) {
        let stats = self.record(slot);
        stats[PACKETS].fetch_add(packets, Relaxed);
        stats[BYTES].fetch_add(bytes, Relaxed);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The content is no longer built into any code.
    pub fn let_go(&self) {
        self.lock().built_in = false;
    }

    pub fn has_stats(&self) -> bool {
        self.counts || self.times
    }

    pub fn record(&self, slot: u32) -> &[AtomicU64] {
        if slot == DEFAULT { &self.default_stats } else { self.stats.record(slot) }
    }

    pub fn stat(&self, slot: u32, word: usize) -> &AtomicU64 {
        &self.record(slot)[word]
    }

    pub fn set_counter(&self, slot: u32, data: CounterData) {
        self.stat(slot, PACKETS).store(data.packets, Relaxed);
        self.stat(slot, BYTES).store(data.bytes, Relaxed);
    }

    pub fn counter(&self, slot: u32) -> Option<CounterData> {
        self.counts.then(|| CounterData {
            packets: self.stat(slot, PACKETS).load(Relaxed),
            bytes: self.stat(slot, BYTES).load(Relaxed),
        })
    }

    pub fn meter(&self, slot: u32) -> Option<&MeterCell> {
        self.meters.as_ref().map(|meters| meters.cell(slot))
    }

    /// Fresh statistics and meter for a new entry.
    pub fn clear(&self, slot: u32, now: u64) {
        if self.has_stats() {
            self.stats.ensure(slot);
            self.stat(slot, LAST_HIT).store(now, Relaxed);
            self.set_counter(slot, CounterData::default());
        }
        if let Some(meters) = &self.meters {
            meters.cells.ensure_with(slot, meter_page);
            meters.cell(slot).configure(None);
            meters.cell(slot).clear_counts();
        }
    }
}

impl Book {
    /// Keeps what is not as in most entries.
    pub fn set_extra(&mut self, slot: u32, extra: Extra) {
        if extra.idle_timeout != 0 {
            self.timed.insert(slot);
        } else {
            self.timed.remove(&slot);
        }
        if extra == Extra::default() {
            self.extra.remove(&slot);
        } else {
            self.extra.insert(slot, extra);
        }
    }
}
