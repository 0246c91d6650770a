//! Hits that the counters of tables do not have yet. Adding to a counter that other threads change too costs more than a
//! short lookup, and packets that follow one another find the same few entries in most tables.

mod cells;
mod together;

use ir::{Handle, TableId};

pub(crate) use self::cells::UncountedCells;
pub(crate) use self::together::Together;
pub use self::together::{AllTogether, Found, FoundTogether};
use crate::table::TableState;

/// How many entries of a table are counted apart before their counters get it: as many as next hops and ports that a burst
/// of packets goes to, most often.
pub const ENTRIES: usize = 8;

/// Those of one context. Compiled code adds to them where it knows the entry.
#[derive(Debug, Clone)]
pub(crate) struct Uncounted {
    /// By table, by the low bits of slots.
    pub entries: Box<[[Hits; ENTRIES]]>,
    /// By table, and for as many more as make it a multiple of eight: a bit for each place that has hits.
    pub some: Box<[u8]>,
}

/// Hits of the entry in a slot.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Hits {
    pub slot: u32,
    pub packets: u32,
    pub bytes: u64,
}

/// Where the hits of an entry are counted.
#[inline]
pub fn place(slot: u32) -> usize {
    slot as usize % ENTRIES
}

impl Uncounted {
    pub fn new(tables: usize) -> Self {
        Self { entries: vec![<_>::default(); tables].into(), some: vec![0; tables.next_multiple_of(8)].into() }
    }

    /// A packet hit an entry of the table.
    #[inline]
    pub fn add(&mut self, id: TableId, table: &TableState, slot: u32, bytes: u64) {
        let place = place(slot);
        let hits = &mut self.entries[id.index()][place];
        if hits.slot != slot {
            hits.hand_over(table);
            hits.slot = slot;
        }
        hits.packets += 1;
        hits.bytes += bytes;
        self.some[id.index()] |= 1 << place;
    }

    /// Gives the counters what they do not have.
    #[inline]
    pub fn hand_over(&mut self, tables: &[TableState]) {
        // Of most tables no entry was hit.
        let (eights, _) = self.some.as_chunks_mut();
        for (number, some) in eights.iter_mut().enumerate().filter(|(_, some)| u64::from_ne_bytes(**some) != 0) {
            for (id, bits) in (8 * number..).zip(some) {
                while *bits != 0 {
                    self.entries[id][bits.trailing_zeros() as usize].hand_over(&tables[id]);
                    *bits &= *bits - 1;
                }
            }
        }
    }
}

impl Hits {
    fn hand_over(&mut self, table: &TableState) {
        if self.packets != 0 {
            table.count(self.slot, u64::from(self.packets), self.bytes);
            (self.packets, self.bytes) = (0, 0);
        }
    }
}
