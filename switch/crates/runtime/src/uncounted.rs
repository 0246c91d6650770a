//! Hits that the counters of a table do not have yet. Adding to a counter that other threads change too costs more than a
//! short lookup, and packets that follow one another find the same few entries in most tables.

mod cells;

pub(crate) use self::cells::UncountedCells;
use crate::table::TableState;

/// How many entries of a table are counted apart before their counters get it: as many as next hops and ports that a burst
/// of packets goes to, most often.
const ENTRIES: usize = 8;

/// Those of one table, by the low bits of slots.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uncounted {
    entries: [Hits; ENTRIES],
    /// A bit for each that has hits.
    some: u8,
}

#[derive(Debug, Clone, Copy, Default)]
struct Hits {
    slot: u32,
    packets: u32,
    bytes: u64,
}

impl Uncounted {
    /// A packet hit an entry of the table.
    #[inline]
    pub fn add(&mut self, table: &TableState, slot: u32, bytes: u64) {
        let place = slot as usize % ENTRIES;
        let hits = &mut self.entries[place];
        if hits.slot != slot {
            hits.hand_over(table);
            hits.slot = slot;
        }
        hits.packets += 1;
        hits.bytes += bytes;
        self.some |= 1 << place;
    }

    /// Gives the counters what they do not have.
    #[inline]
    pub fn hand_over(&mut self, table: &TableState) {
        while self.some != 0 {
            self.entries[self.some.trailing_zeros() as usize].hand_over(table);
            self.some &= self.some - 1;
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
