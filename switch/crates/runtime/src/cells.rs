//! Counters and meters.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use ir::MeterUnit;
use tables::sync::{AtomicU64, Mutex, MutexGuard, zeroed};

use crate::entry::{ColourCounts, CounterData, MeterConfig};
use crate::error::{Problem, What, WriteError};
use crate::meter::{Colour, GREEN, Meter};
use crate::paged::Paged;

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
        if let Some([count, sum]) = self.0.make(index, 2, zeroed) {
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
        if let Some([packets, bytes]) = self.0.make(index, 2, zeroed) {
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
