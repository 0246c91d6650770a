//! Memory that grows without moving what it holds.

use std::array;

use crate::sync::{AtomicU64, OnceLock, zeroed};

/// Items in segments, each twice as long as the one before, so an item never moves and a reader needs no lock. `stride`
/// neighbouring items make one record.
#[derive(Debug)]
pub struct Segments<T> {
    /// Logarithm of the records in the first segment.
    shift: u32,
    stride: usize,
    parts: [OnceLock<Box<[T]>>; 32],
}

/// Records of atomic words.
pub type Words = Segments<AtomicU64>;

impl<T> Segments<T> {
    /// Nothing yet; the first segment will hold `2^shift` records, `shift` at least 1.
    pub fn new(shift: u32, stride: usize) -> Self {
        assert!(shift >= 1 && stride >= 1);
        Self { shift, stride, parts: array::from_fn(|_| OnceLock::new()) }
    }

    #[inline]
    fn locate(&self, record: u32) -> (usize, usize) {
        let from_one = u64::from(record) + (1 << self.shift);
        let part = from_one.ilog2() - self.shift;
        (part as usize, (from_one - (1 << (part + self.shift))) as usize * self.stride)
    }

    /// A record; its segment exists since [`Self::ensure_with`].
    #[inline]
    pub fn record(&self, record: u32) -> &[T] {
        &self.tail(record)[..self.stride]
    }

    /// A record and those behind it in its segment.
    #[inline]
    pub fn tail(&self, record: u32) -> &[T] {
        let (part, offset) = self.locate(record);
        &self.parts[part].get().expect("a record that was made")[offset..]
    }

    /// A record, if its segment exists.
    #[inline]
    pub fn get(&self, record: u32) -> Option<&[T]> {
        let (part, offset) = self.locate(record);
        Some(&self.parts[part].get()?[offset..][..self.stride])
    }

    /// Items of a record.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Records from this one to the end of its segment.
    pub fn room(&self, record: u32) -> u64 {
        let from_one = u64::from(record) + (1 << self.shift);
        from_one.next_power_of_two() - from_one + if from_one.is_power_of_two() { from_one } else { 0 }
    }

    /// Makes the segment of a record, if it is not there, from `make(items)`.
    pub fn ensure_with(&self, record: u32, make: impl FnOnce(usize) -> Box<[T]>) {
        let (part, _) = self.locate(record);
        self.parts[part].get_or_init(|| make(self.stride << (self.shift as usize + part)));
    }
}

impl Words {
    /// Makes the segment of a record, if it is not there. The memory comes zeroed from the system, so what is not used
    /// costs nothing.
    pub fn ensure(&self, record: u32) {
        self.ensure_with(record, zeroed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn records_keep_their_place_as_segments_follow() {
        let words = Words::new(1, 3);
        for i in 0..1000 {
            words.ensure(i);
            words.record(i)[2].store(u64::from(i), Relaxed);
        }
        for i in 0..1000 {
            let record = words.record(i);
            assert_eq!((record.len(), record[0].load(Relaxed), record[2].load(Relaxed)), (3, 0, u64::from(i)));
        }
        assert!(words.get(1 << 20).is_none());
    }

    #[test]
    fn room_is_what_a_segment_has_left() {
        let words = Words::new(2, 1);
        assert_eq!([0, 1, 3, 4, 5, 11, 12].map(|i| words.room(i)), [4, 3, 1, 8, 7, 1, 16]);
        words.ensure(5);
        assert_eq!(words.tail(5).len(), 7);
    }
}
