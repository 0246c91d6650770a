//! Hits that the counters of a table do not have yet. Adding to a counter that other threads may change costs more than
//! a short lookup, and what follows one another is most often of the same flow.

use crate::table::TableState;

/// Those of one entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Uncounted {
    slot: u32,
    packets: u64,
    bytes: u64,
}

impl Uncounted {
    /// A packet hit an entry of the table.
    #[inline]
    pub fn add(&mut self, table: &TableState, slot: u32, bytes: u64) {
        if slot != self.slot {
            self.hand_over(table);
            self.slot = slot;
        }
        self.packets += 1;
        self.bytes += bytes;
    }

    /// Gives the counter what it does not have.
    #[inline]
    pub fn hand_over(&mut self, table: &TableState) {
        if self.packets != 0 {
            table.count(self.slot, self.packets, self.bytes);
            (self.packets, self.bytes) = (0, 0);
        }
    }
}
