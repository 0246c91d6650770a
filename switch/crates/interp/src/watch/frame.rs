//! Shadows of the variables in the frame.

use ir::storage_size;
use smallvec::SmallVec;

use super::shadow::{Sets, Shadow};

/// A byte of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cell {
    shadow: Shadow,
    /// The variable's size, and where in it the byte stands; 0 where only zeros were written.
    size: u16,
    at: u16,
    /// The run that wrote it.
    run: u32,
}

/// By byte of the frame. Nothing is cleared between runs: a frame has many more bytes than a run touches.
#[derive(Default)]
pub struct FrameShadows {
    cells: Vec<Cell>,
    run: u32,
    /// Bytes that are zero when a packet enters. Those behind have what earlier packets left there.
    persistent: usize,
}

impl FrameShadows {
    /// Another packet enters.
    pub fn begin(&mut self, bytes: usize, persistent: usize) {
        if self.run == u32::MAX || self.cells.len() != bytes {
            self.cells.clear();
            self.run = 0;
        }
        self.cells.resize(bytes, Cell::default());
        self.run += 1;
        self.persistent = persistent;
    }

    #[inline]
    fn cell(&self, at: usize) -> Cell {
        let cell = self.cells[at];
        if cell.run == self.run {
            return cell;
        }
        let shadow = if at < self.persistent { Shadow::default() } else { Shadow::UNSTABLE };
        Cell { shadow, size: 0, at: 0, run: self.run }
    }

    /// The shadow of a variable; that of all its bytes where parts of variables stand, or one that was zeroed in part.
    pub fn read(&self, offset: u32, width: u32, sets: &mut Sets) -> Shadow {
        let (start, size) = (offset as usize, storage_size(width) as usize);
        let first = self.cell(start);
        let is_whole = |at: usize| {
            let cell = self.cell(start + at);
            cell.shadow == first.shadow && usize::from(cell.size) == size && usize::from(cell.at) == at
        };
        match (0..size).all(is_whole) {
            true => first.shadow,
            false => sets.join((start..start + size).map(|at| self.cell(at).shadow)),
        }
    }

    pub fn write(&mut self, offset: u32, width: u32, shadow: Shadow) {
        let size = storage_size(width) as u16;
        for (at, cell) in self.cells[offset as usize..][..usize::from(size)].iter_mut().enumerate() {
            *cell = Cell { shadow, size, at: at as u16, run: self.run };
        }
    }

    /// Zeros, or something else that is the same for all packets of the way.
    pub fn fix(&mut self, offset: u32, bytes: u32) {
        self.cells[offset as usize..][..bytes as usize].fill(Cell { run: self.run, ..Cell::default() });
    }

    /// As they were before where both overlap.
    pub fn copy(&mut self, dst: u32, src: u32, bytes: u32) {
        let (dst, src, bytes) = (dst as usize, src as usize, bytes as usize);
        let copied: SmallVec<[Cell; 64]> = (src..src + bytes).map(|at| self.cell(at)).collect();
        self.cells[dst..dst + bytes].copy_from_slice(&copied);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_they_were_written() {
        let (mut frame, sets) = (FrameShadows::default(), &mut Sets::default());
        frame.begin(32, 16);
        assert!(frame.read(0, 32, sets).is_fixed());
        assert_eq!(frame.read(16, 8, sets), Shadow::UNSTABLE);
        let copy = Shadow::copy(8, 32);
        frame.write(4, 32, copy);
        assert_eq!(frame.read(4, 32, sets), copy);
        frame.copy(16, 4, 4);
        assert_eq!(frame.read(16, 32, sets), copy);
        assert_eq!(frame.read(5, 8, sets).copied(), None, "a part of it is not the whole");
        frame.copy(6, 4, 4);
        assert_eq!(frame.read(6, 32, sets), copy);
        assert_eq!(frame.read(4, 32, sets).copied(), None);
        frame.fix(6, 4);
        assert!(frame.read(6, 32, sets).is_fixed());
    }

    #[test]
    fn another_run_sees_nothing_of_those_before() {
        let (mut frame, sets) = (FrameShadows::default(), &mut Sets::default());
        frame.begin(16, 8);
        frame.write(0, 64, Shadow::LENGTH);
        frame.write(8, 64, Shadow::default());
        frame.begin(16, 8);
        assert!(frame.read(0, 64, sets).is_fixed());
        frame.copy(0, 8, 8);
        assert_eq!(frame.read(0, 64, sets), Shadow::UNSTABLE);
    }
}
