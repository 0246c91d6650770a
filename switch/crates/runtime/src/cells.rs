//! Arrays of cells: counters, meters and registers. What is never touched takes no memory.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ir::MeterUnit;
use num_bigint::BigUint;

use crate::entry::{ColourCounts, CounterData, MeterConfig};
use crate::error::{Problem, What, WriteError};
use crate::meter::{Colour, GREEN, Meter};

/// Cells of a page.
const PAGE: u64 = 4096;
/// P4 counts cells in 32 bits.
const MOST: u64 = 1 << 32;

/// An array whose pages come into being when they are first written.
pub(crate) struct Paged<T> {
    name: String,
    size: u64,
    pages: Vec<OnceLock<Box<[T]>>>,
}

impl<T> Paged<T> {
    fn new(name: &str, size: u64) -> Self {
        let size = size.min(MOST);
        let pages = (0..size.div_ceil(PAGE)).map(|_| OnceLock::new()).collect();
        Self { name: name.to_owned(), size, pages }
    }

    /// The `stride` items of a cell, if its page exists.
    fn get(&self, index: u64, stride: usize) -> Option<&[T]> {
        let page = self.pages.get((index / PAGE) as usize)?.get()?;
        page.get((index % PAGE) as usize * stride..)?.get(..stride)
    }

    /// The items of a cell; none beyond the end.
    fn make(&self, index: u64, stride: usize, page: impl FnOnce(usize) -> Box<[T]>) -> Option<&[T]> {
        if index >= self.size {
            return None;
        }
        let first = index / PAGE * PAGE;
        let cells = (self.size - first).min(PAGE) as usize;
        let page = self.pages[(index / PAGE) as usize].get_or_init(|| page(cells * stride));
        page.get((index % PAGE) as usize * stride..)?.get(..stride)
    }

    fn check(&self, index: u64) -> Result<(), WriteError> {
        if index < self.size {
            return Ok(());
        }
        Err(WriteError::BadIndex { object: self.name.clone(), index, size: self.size })
    }
}

impl Paged<AtomicU64> {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pages that exist, by their numbers.
    pub fn touched(&self) -> impl Iterator<Item = (usize, &[AtomicU64])> {
        let pages = self.pages.iter().enumerate();
        pages.filter_map(|(number, page)| Some((number, &page.get()?[..])))
    }

    /// Fills a page with little-endian words; false if it has not that many, or is not there.
    pub fn fill(&self, page: usize, stride: usize, words: &[u8]) -> bool {
        let cells =
            (page as u64).checked_mul(PAGE).and_then(|first| self.size.checked_sub(first)).unwrap_or(0).min(PAGE);
        let len = cells as usize * stride;
        if len == 0 || words.len() != 8 * len {
            return false;
        }
        let page = self.pages[page].get_or_init(|| bytemuck::zeroed_slice_box(len));
        for (word, bytes) in page.iter().zip(words.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
        true
    }
}

/// Packets and bytes per cell. Both are always counted; the unit says what is shown.
pub(crate) struct Counters(Paged<AtomicU64>);

impl Counters {
    pub fn new(counter: &ir::Counter) -> Self {
        Self(Paged::new(&counter.name, counter.size))
    }

    /// The words of all cells, and how many a cell has.
    pub fn words(&self) -> (&Paged<AtomicU64>, usize) {
        (&self.0, 2)
    }

    /// Counts packets of so many bytes together; beyond the end nothing happens.
    pub fn count(&self, index: u64, packets: u64, bytes: u64) {
        if let Some([count, sum]) = self.0.make(index, 2, bytemuck::zeroed_slice_box) {
            count.fetch_add(packets, Relaxed);
            sum.fetch_add(bytes, Relaxed);
        }
    }

    pub fn read(&self, index: u64) -> Result<CounterData, WriteError> {
        self.0.check(index)?;
        let cell = self.0.get(index, 2).map(|cell| [cell[0].load(Relaxed), cell[1].load(Relaxed)]);
        let [packets, bytes] = cell.unwrap_or_default();
        Ok(CounterData { packets, bytes })
    }

    pub fn write(&self, index: u64, data: CounterData) -> Result<(), WriteError> {
        self.0.check(index)?;
        if let Some([packets, bytes]) = self.0.make(index, 2, bytemuck::zeroed_slice_box) {
            packets.store(data.packets, Relaxed);
            bytes.store(data.bytes, Relaxed);
        }
        Ok(())
    }
}

/// A meter's place. The lock is held for one update of two buckets and a count, which must be one step.
#[derive(Default)]
pub(crate) struct MeterCell(Mutex<Marker>);

#[derive(Default)]
struct Marker {
    /// Most are never configured.
    meter: Option<Box<Meter>>,
    counts: ColourCounts,
}

impl MeterCell {
    fn lock(&self) -> MutexGuard<'_, Marker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The colour of a packet of `bytes`, which is then counted; green where nothing is configured, whatever it was before.
    pub fn mark(&self, before: u32, unit: MeterUnit, bytes: u64, now: u64) -> u32 {
        let size = match unit {
            MeterUnit::Packets => 1,
            MeterUnit::Bytes => bytes,
        };
        let Marker { meter, counts } = &mut *self.lock();
        let colour = meter.as_mut().map_or(Colour::Green, |meter| meter.mark(before.into(), size, now));
        let count = match colour {
            Colour::Green => &mut counts.green,
            Colour::Yellow => &mut counts.yellow,
            Colour::Red => &mut counts.red,
        };
        count.packets = count.packets.wrapping_add(1);
        count.bytes = count.bytes.wrapping_add(bytes);
        colour as u32
    }

    /// The configuration.
    pub fn config(&self) -> Option<MeterConfig> {
        self.lock().meter.as_ref().map(|meter| meter.config)
    }

    /// Configures the place with full buckets, or sets it back; what was counted stays.
    pub fn configure(&self, config: Option<MeterConfig>) {
        self.lock().meter = config.map(|config| Box::new(Meter::new(config)));
    }

    pub fn counts(&self) -> ColourCounts {
        self.lock().counts
    }

    pub fn clear_counts(&self) {
        self.lock().counts = ColourCounts::default();
    }
}

/// RFC 2698: the peak rate is not below the committed one.
pub(crate) fn check_rates(object: &str, config: Option<MeterConfig>) -> Result<(), WriteError> {
    match config {
        Some(MeterConfig { cir, pir, .. }) if cir > pir => Err(WriteError::BadValue {
            object: object.to_owned(),
            what: What::Rate,
            problem: Problem::AboveLimit { value: cir, limit: pir },
        }),
        _ => Ok(()),
    }
}

/// Fresh, unconfigured places.
pub(crate) fn meter_page(cells: usize) -> Box<[MeterCell]> {
    (0..cells).map(|_| MeterCell::default()).collect()
}

pub(crate) struct Meters {
    cells: Paged<MeterCell>,
    unit: MeterUnit,
}

impl Meters {
    pub fn new(meter: &ir::Meter) -> Self {
        Self { cells: Paged::new(&meter.name, meter.size), unit: meter.unit }
    }

    pub fn mark(&self, before: u32, index: u64, bytes: u64, now: u64) -> u32 {
        self.cells.make(index, 1, meter_page).map_or(GREEN, |cell| cell[0].mark(before, self.unit, bytes, now))
    }

    pub fn read(&self, index: u64) -> Result<Option<MeterConfig>, WriteError> {
        self.cells.check(index)?;
        Ok(self.cells.get(index, 1).and_then(|cell| cell[0].config()))
    }

    pub fn counts(&self, index: u64) -> Result<ColourCounts, WriteError> {
        self.cells.check(index)?;
        Ok(self.cells.get(index, 1).map_or_else(ColourCounts::default, |cell| cell[0].counts()))
    }

    pub fn clear_counts(&self, index: u64) -> Result<(), WriteError> {
        self.cells.check(index)?;
        if let Some(cell) = self.cells.get(index, 1) {
            cell[0].clear_counts();
        }
        Ok(())
    }

    pub fn write(&self, index: u64, config: Option<MeterConfig>) -> Result<(), WriteError> {
        self.cells.check(index)?;
        check_rates(&self.cells.name, config)?;
        if let Some(cell) = self.cells.make(index, 1, meter_page) {
            cell[0].configure(config);
        }
        Ok(())
    }
}

/// Locks among which the cells of wide registers are shared out.
const LOCKS: usize = 16;

/// Cells of one width. Up to 64 bits each is an atomic word; wider ones are read and written under a lock, so that no
/// half of a value is seen.
pub(crate) struct Registers {
    cells: Paged<AtomicU64>,
    width: u32,
    words: usize,
    /// The words of a cell that was never written.
    initial: Box<[u64]>,
    locks: [Mutex<()>; LOCKS],
}

impl Registers {
    pub fn new(register: &ir::Register) -> Self {
        let words = (register.width.div_ceil(64) as usize).max(1);
        let mut initial = register.initial.to_u64_digits();
        initial.resize(words, 0);
        Self {
            cells: Paged::new(&register.name, register.size),
            width: register.width,
            words,
            initial: initial.into(),
            locks: Default::default(),
        }
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
        let _guard = self.lock(index);
        for (bytes, word) in out.chunks_mut(8).zip(cell) {
            bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes()[..bytes.len()]);
        }
    }

    /// Stores a little-endian integer that fits the width; beyond the end nothing happens.
    pub fn write_bytes(&self, index: u64, value: &[u8]) {
        let Some(cell) = self.cells.make(index, self.words, |len| self.page(len)) else { return };
        let _guard = self.lock(index);
        let mut bytes = value.chunks(8);
        for word in cell {
            let part = bytes.next().unwrap_or(&[]);
            let mut whole = [0; 8];
            whole[..part.len()].copy_from_slice(part);
            word.store(u64::from_le_bytes(whole), Relaxed);
        }
    }

    /// The low 128 bits of a cell.
    #[inline]
    pub fn read(&self, index: u64) -> u128 {
        if self.words == 1 {
            let untouched = || if index < self.cells.size { self.initial[0].into() } else { 0 };
            return self.cells.get(index, 1).map_or_else(untouched, |cell| cell[0].load(Relaxed).into());
        }
        let mut bytes = [0; 16];
        self.read_bytes(index, &mut bytes);
        u128::from_le_bytes(bytes)
    }

    /// Stores a value that fits the width.
    #[inline]
    pub fn write(&self, index: u64, value: u128) {
        if self.words == 1 {
            if let Some(cell) = self.cells.make(index, 1, |len| self.page(len)) {
                cell[0].store(value as u64, Relaxed);
            }
            return;
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

    /// So many words of cells that were never written.
    fn page(&self, len: usize) -> Box<[AtomicU64]> {
        if self.initial.iter().all(|word| *word == 0) {
            return bytemuck::zeroed_slice_box(len);
        }
        self.initial.iter().cycle().take(len).map(|word| AtomicU64::new(*word)).collect()
    }

    fn lock(&self, index: u64) -> Option<std::sync::MutexGuard<'_, ()>> {
        let lock = &self.locks[index as usize % LOCKS];
        (self.words > 1).then(|| lock.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_where_they_are_and_nowhere_else() {
        let counters = Counters::new(&ir::Counter { name: "c".into(), size: 5000, ..Default::default() });
        counters.count(4999, 1, 60);
        counters.count(4999, 1, 40);
        counters.count(5000, 1, 1);
        assert_eq!(counters.read(4999), Ok(CounterData { packets: 2, bytes: 100 }));
        assert_eq!(counters.read(0), Ok(CounterData::default()));
        assert_eq!(counters.read(5000), Err(WriteError::BadIndex { object: "c".into(), index: 5000, size: 5000 }));
        counters.write(0, CounterData { packets: 7, bytes: 8 }).unwrap();
        counters.count(0, 1, 2);
        assert_eq!(counters.read(0), Ok(CounterData { packets: 8, bytes: 10 }));
    }

    #[test]
    fn the_largest_array_takes_memory_where_it_is_touched() {
        let registers =
            Registers::new(&ir::Register { name: "r".into(), size: u64::MAX, width: 32, ..Default::default() });
        registers.write(u64::from(u32::MAX), 9);
        assert_eq!(registers.read(u64::from(u32::MAX)), 9);
        assert_eq!(registers.read(1 << 32), 0);
        assert_eq!(registers.cells.pages.iter().filter(|page| page.get().is_some()).count(), 1);
    }

    #[test]
    fn registers_of_any_width_hold_their_values() {
        for width in [1, 8, 48, 64, 65, 128, 129, 500] {
            let registers = Registers::new(&ir::Register { name: "r".into(), size: 3, width, ..Default::default() });
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

    #[test]
    fn meters_are_green_until_configured() {
        let meters = Meters::new(&ir::Meter { name: "m".into(), size: 2, unit: MeterUnit::Bytes });
        assert_eq!(meters.mark(GREEN, 0, 1500, 0), 0);
        assert_eq!(meters.mark(GREEN, 7, 1500, 0), 0);
        let config = MeterConfig { cir: 1, cburst: 100, pir: 1, pburst: 200 };
        meters.write(0, Some(config)).unwrap();
        assert_eq!([100, 100, 100].map(|bytes| meters.mark(GREEN, 0, bytes, 0)), [0, 1, 2]);
        assert_eq!((meters.read(0), meters.read(1)), (Ok(Some(config)), Ok(None)));
        meters.write(0, None).unwrap();
        assert_eq!(meters.mark(GREEN, 0, 1500, 0), 0);
        let data = |packets, bytes| CounterData { packets, bytes };
        let expected = ColourCounts { green: data(3, 3100), yellow: data(1, 100), red: data(1, 100) };
        assert_eq!(meters.counts(0), Ok(expected), "of the unconfigured meter too");
        assert_eq!(meters.counts(1), Ok(ColourCounts::default()));
        meters.clear_counts(0).unwrap();
        assert_eq!(meters.counts(0), Ok(ColourCounts::default()));
        assert!(matches!(meters.counts(2), Err(WriteError::BadIndex { .. })));
        assert!(matches!(meters.write(0, Some(MeterConfig { cir: 2, ..config })), Err(WriteError::BadValue { .. })));
    }
}
