//! Packets that cells of counters do not have yet.

use ir::{CounterId, Handle};

use crate::cells::Counters;

/// How many cells are counted apart: packets of a burst are counted in few.
const CELLS: usize = 8;

/// Those of one context, by the low bits of counter and index.
#[derive(Debug, Clone, Default)]
pub(crate) struct UncountedCells {
    cells: [Cell; CELLS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    counter: u32,
    packets: u32,
    index: u64,
    bytes: u64,
}

impl UncountedCells {
    /// A packet is counted in a cell.
    #[inline]
    pub fn add(&mut self, counters: &[Counters], counter: CounterId, index: u64, bytes: u64) {
        let number = counter.index() as u32;
        let cell = &mut self.cells[(counter.index() ^ index as usize) % CELLS];
        if (cell.counter, cell.index) != (number, index) {
            cell.hand_over(counters);
            (cell.counter, cell.index) = (number, index);
        }
        cell.packets += 1;
        cell.bytes += bytes;
    }

    /// Gives the counters what they do not have.
    pub fn hand_over(&mut self, counters: &[Counters]) {
        self.cells.iter_mut().for_each(|cell| cell.hand_over(counters));
    }
}

impl Cell {
    fn hand_over(&mut self, counters: &[Counters]) {
        if self.packets != 0 {
            counters[self.counter as usize].count(self.index, u64::from(self.packets), self.bytes);
            (self.packets, self.bytes) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_gets_its_packets_at_once_when_another_takes_its_place_and_all_when_they_are_handed_over() {
        let counter = |name: &str| Counters::new(&ir::Counter { name: name.into(), size: 16, ..Default::default() });
        let counters = [counter("first"), counter("second")];
        let [first, second] = [0, 1].map(CounterId::new);
        let mut uncounted = UncountedCells::default();
        for (counter, index, bytes) in [(first, 3, 10), (first, 3, 20), (second, 3, 100), (first, 11, 1)] {
            uncounted.add(&counters, counter, index, bytes);
        }
        let counted = || {
            [(0, 3), (0, 11), (1, 3)].map(|(counter, index): (usize, u64)| {
                let data = counters[counter].read(index).expect("the counter has the cell");
                (data.packets, data.bytes)
            })
        };
        assert_eq!(counted(), [(2, 30), (0, 0), (0, 0)], "cell 11 took the place of cell 3");
        uncounted.hand_over(&counters);
        assert_eq!(counted(), [(2, 30), (1, 1), (1, 100)]);
        uncounted.hand_over(&counters);
        assert_eq!(counted(), [(2, 30), (1, 1), (1, 100)], "each packet once");
    }
}
