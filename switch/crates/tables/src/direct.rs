//! A short exact key is its own place: one load, whatever the key.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::sync::{AtomicU64, zeroed};

/// The longest key, in bits: half a megabyte, of which the system gives only the pages that are written.
pub(crate) const MOST_BITS: u32 = 16;

/// By key `slot + 1 << 32 | body`, or 0.
#[derive(Debug)]
pub(crate) struct DirectIndex {
    places: Box<[AtomicU64]>,
    /// How far the key stands above the lowest bit of its word.
    shift: u32,
}

impl DirectIndex {
    /// For keys of so many bits, at most [`MOST_BITS`].
    pub fn new(width: u32) -> Self {
        Self { places: zeroed(1 << width), shift: 64 - width.next_multiple_of(8) }
    }

    /// Slot and body of a key.
    #[inline]
    pub fn find(&self, key: u64) -> Option<(u32, u32)> {
        let value = self.places.get((key >> self.shift) as usize)?.load(Acquire);
        Some((((value >> 32) as u32).checked_sub(1)?, value as u32))
    }

    /// Gives a key a slot and a body. Only for the writer.
    pub fn set(&self, key: u64, slot: u32, body: u32) {
        self.places[(key >> self.shift) as usize].store(u64::from(slot + 1) << 32 | u64::from(body), Release);
    }

    /// Takes a key out. Only for the writer.
    pub fn remove(&self, key: u64) {
        self.places[(key >> self.shift) as usize].store(0, Relaxed);
    }

    /// Bytes of the places.
    pub fn memory(&self) -> usize {
        size_of_val(&self.places[..])
    }
}
