//! Registers.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use num_bigint::BigUint;
use tables::sync::{AtomicU32, AtomicU64, fence, hint, thread, zeroed};

use crate::error::{Problem, What, WriteError};
use crate::page_table::PageTable;
use crate::paged::{PAGE, Paged};

/// Versions among which the cells of wide registers are shared out.
const VERSIONS: usize = 16;
/// So often who meets a writer looks again before another thread gets the processor.
const LOOKS: u32 = 64;

/// Cells of one width. Up to 64 bits each is an atomic word; a wider one has a version (seqlock), so that no half of a
/// value is seen: readers, of which there are most, write nothing at all.
pub(crate) struct Registers {
    cells: Paged<AtomicU64>,
    width: u32,
    words: usize,
    /// The words of a cell that was never written.
    initial: Box<[u64]>,
    versions: [Version; VERSIONS],
    /// Where pages are shown to compiled code, and the number of the first.
    shown: Option<(Arc<PageTable>, usize)>,
}

impl Registers {
    /// With its cells in pages `shown` there, if they are single words that begin as zero.
    pub fn new(register: &ir::Register, shown: Option<(Arc<PageTable>, usize)>) -> Self {
        let words = (register.width.div_ceil(64) as usize).max(1);
        let mut initial = register.initial.to_u64_digits();
        initial.resize(words, 0);
        Self {
            cells: Paged::new(&register.name, register.size),
            width: register.width,
            words,
            initial: initial.into(),
            versions: Default::default(),
            shown,
        }
    }

    /// All those of a program, and where compiled code finds them.
    pub fn all(program: &ir::Program) -> (Vec<Self>, Arc<PageTable>) {
        let (first_pages, pages) = PageTable::places(program);
        let table = Arc::new(PageTable::new(pages));
        let registers = program.registers.iter().zip(first_pages);
        let shown = |first| (table.clone(), first);
        (registers.map(|((_, register), first)| Self::new(register, first.map(shown))).collect(), table)
    }

    /// The words of all cells, and how many a cell has.
    pub fn words(&self) -> (&Paged<AtomicU64>, usize) {
        (&self.cells, self.words)
    }

    /// The cell as a little-endian integer, cut or filled up to the length of `out`; zero beyond the end.
    pub fn read_bytes(&self, index: u64, out: &mut [u8]) {
        out.fill(0);
        let Some(cell) = self.cells.get(index, self.words) else {
            if index < self.cells.size {
                for (bytes, word) in out.chunks_mut(8).zip(&self.initial) {
                    bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
                }
            }
            return;
        };
        self.version(index).read(|| {
            for (bytes, word) in out.chunks_mut(8).zip(cell) {
                bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes()[..bytes.len()]);
            }
        });
    }

    /// Stores a little-endian integer that fits the width; beyond the end nothing happens.
    pub fn write_bytes(&self, index: u64, value: &[u8]) {
        let Some(cell) = self.cells.make(index, self.words, |len| self.page(index, len)) else { return };
        self.version(index).write(|| {
            let mut bytes = value.chunks(8);
            for word in cell {
                let part = bytes.next().unwrap_or(&[]);
                let mut whole = [0; 8];
                whole[..part.len()].copy_from_slice(part);
                word.store(u64::from_le_bytes(whole), Relaxed);
            }
        });
    }

    /// The low 128 bits of a cell.
    #[inline]
    pub fn read(&self, index: u64) -> u128 {
        if self.words == 1 {
            let untouched = || if index < self.cells.size { self.initial[0].into() } else { 0 };
            return self.cells.get(index, 1).map_or_else(untouched, |cell| cell[0].load(Relaxed).into());
        }
        if let (2, Some([lower, upper])) = (self.words, self.cells.get(index, 2)) {
            let halves = self.version(index).read(|| [lower, upper].map(|word| u128::from(word.load(Relaxed))));
            return halves[0] | halves[1] << 64;
        }
        let mut bytes = [0; 16];
        self.read_bytes(index, &mut bytes);
        u128::from_le_bytes(bytes)
    }

    /// Whether a cell has these words, the lowest first.
    pub fn is(&self, index: u64, words: &[u64]) -> bool {
        match self.cells.get(index, self.words) {
            Some(cell) => {
                self.version(index).read(|| cell.iter().zip(words).all(|(is, word)| is.load(Relaxed) == *word))
            }
            None => *self.initial == *words,
        }
    }

    /// Stores a value that fits the width.
    #[inline]
    pub fn write(&self, index: u64, value: u128) {
        if self.words == 1 {
            if let Some(cell) = self.cells.make(index, 1, |len| self.page(index, len)) {
                cell[0].store(value as u64, Relaxed);
            }
            return;
        }
        if let (2, Some([lower, upper])) = (self.words, self.cells.get(index, 2)) {
            return self.version(index).write(|| {
                lower.store(value as u64, Relaxed);
                upper.store((value >> 64) as u64, Relaxed);
            });
        }
        self.write_bytes(index, &value.to_le_bytes());
    }

    pub fn read_number(&self, index: u64) -> Result<BigUint, WriteError> {
        self.cells.check(index)?;
        let mut bytes = vec![0; self.words * 8];
        self.read_bytes(index, &mut bytes);
        Ok(BigUint::from_bytes_le(&bytes))
    }

    pub fn write_number(&self, index: u64, value: &BigUint) -> Result<(), WriteError> {
        self.cells.check(index)?;
        if value.bits() > u64::from(self.width) {
            return Err(WriteError::BadValue {
                object: self.cells.name.clone(),
                what: What::Value,
                problem: Problem::TooWide { value: value.clone(), width: self.width },
            });
        }
        self.write_bytes(index, &value.to_bytes_le());
        Ok(())
    }

    /// So many words of cells that were never written, for the page of a cell.
    fn page(&self, index: u64, len: usize) -> Box<[AtomicU64]> {
        if self.initial.iter().all(|word| *word == 0) {
            let page = zeroed(len);
            self.show((index / PAGE) as usize, &page);
            return page;
        }
        self.initial.iter().cycle().take(len).map(|word| AtomicU64::new(*word)).collect()
    }

    fn show(&self, number: usize, page: &[AtomicU64]) {
        if let Some((table, first)) = &self.shown {
            table.show(first + number, page);
        }
    }

    /// Shows the pages that exist. To be called once they were filled otherwise than by writes.
    pub fn show_all(&self) {
        self.cells.touched().for_each(|(number, page)| self.show(number, page));
    }

    #[inline]
    fn version(&self, index: u64) -> &Version {
        &self.versions[index as usize % VERSIONS]
    }
}

/// How often cells of several words changed; odd while they do.
#[derive(Default)]
struct Version(AtomicU32);

impl Version {
    /// What `read` gives at a moment when nobody writes. It may run more than once.
    #[inline]
    fn read<T>(&self, mut read: impl FnMut() -> T) -> T {
        let mut looks = 0;
        loop {
            let before = self.0.load(Acquire);
            if before.is_multiple_of(2) {
                let value = read();
                // What was read was read before the version is, again.
                fence(Acquire);
                if self.0.load(Relaxed) == before {
                    return value;
                }
            }
            wait(&mut looks);
        }
    }

    /// Runs `write` while nobody else writes.
    #[inline]
    fn write(&self, write: impl FnOnce()) {
        let mut looks = 0;
        let mut before = self.0.load(Relaxed);
        while !before.is_multiple_of(2) || self.0.compare_exchange_weak(before, before + 1, Acquire, Relaxed).is_err() {
            wait(&mut looks);
            before = self.0.load(Relaxed);
        }
        // The version is odd before anything changes.
        fence(Release);
        write();
        self.0.store(before.wrapping_add(2), Release);
    }
}

#[cold]
fn wait(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(LOOKS) {
        thread::yield_now();
    } else {
        hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_array_takes_memory_where_it_is_touched() {
        let registers =
            Registers::new(&ir::Register { name: "r".into(), size: u64::MAX, width: 32, ..Default::default() }, None);
        registers.write(u64::from(u32::MAX), 9);
        assert_eq!(registers.read(u64::from(u32::MAX)), 9);
        assert_eq!(registers.read(1 << 32), 0);
        assert_eq!(registers.cells.touched().count(), 1);
    }

    #[test]
    fn registers_of_any_width_hold_their_values() {
        for width in [1, 8, 48, 64, 65, 128, 129, 500] {
            let register = ir::Register { name: "r".into(), size: 3, width, ..Default::default() };
            let registers = Registers::new(&register, None);
            let most = (BigUint::from(1u8) << width) - 1u8;
            registers.write_number(1, &most).unwrap();
            assert_eq!(registers.read_number(1), Ok(most.clone()), "width {width}");
            assert_eq!(registers.read_number(0), Ok(BigUint::ZERO));
            assert_eq!(registers.read_number(2), Ok(BigUint::ZERO));
            let mut bytes = vec![1; ir::storage_size(width) as usize];
            registers.read_bytes(1, &mut bytes);
            assert_eq!(BigUint::from_bytes_le(&bytes), most);
            assert!(matches!(registers.write_number(1, &(most + 1u8)), Err(WriteError::BadValue { .. })));
            assert!(matches!(registers.write_number(3, &BigUint::ZERO), Err(WriteError::BadIndex { .. })));
            if width <= 128 {
                registers.write(2, 1);
                assert_eq!((registers.read(1), registers.read(2)), (u128::MAX >> (128 - width), 1));
            }
        }
    }
}
