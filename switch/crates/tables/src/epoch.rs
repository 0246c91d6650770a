//! When may memory be used again: epochs, counted up by writers and noted by readers.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use crate::segments::Words;
use crate::sync::{AtomicU32, AtomicU64, fence};

/// Words of a reader's record: two cache lines, so that readers don't disturb each other.
const STRIDE: usize = 16;
/// The epoch the reader noted, plus one; zero when it is not looking at anything.
const NOTED: usize = 0;
const TAKEN: usize = 1;

/// The clock shared by tables, their writers and their readers.
///
/// A writer that took something out of a structure gets a ticket ([`Self::retire`]). A reader that notes its epoch
/// afterwards can't find the thing any more; so it may be used again once the ticket is below [`Self::safe`].
#[derive(Debug)]
pub struct Epochs {
    now: AtomicU64,
    readers: Words,
    /// Records in `readers` ever taken.
    used: AtomicU32,
}

impl Epochs {
    /// A new clock.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { now: AtomicU64::new(0), readers: Words::new(4, STRIDE), used: AtomicU32::new(0) })
    }

    /// A ticket for what was just made unreachable.
    pub fn retire(&self) -> u64 {
        // Pairs with the fence in `pin`: either the reader's note is seen by `safe`, or the reader sees the change.
        fence(SeqCst);
        self.now.fetch_add(1, SeqCst)
    }

    /// What has a ticket below this is seen by no reader.
    pub fn safe(&self) -> u64 {
        fence(SeqCst);
        let mut safe = self.now.load(SeqCst);
        for reader in 0..self.used.load(Acquire) {
            let noted = self.readers.record(reader)[NOTED].load(Acquire);
            if noted != 0 {
                safe = safe.min(noted - 1);
            }
        }
        safe
    }
}

/// One thread's licence to look things up. It must be pinned while it does; what it found is good until it is pinned
/// anew or parked.
#[derive(Debug)]
pub struct Reader {
    epochs: Arc<Epochs>,
    record: u32,
    pinned: bool,
}

impl Reader {
    /// A parked reader.
    pub fn new(epochs: &Arc<Epochs>) -> Self {
        let mut record = 0;
        loop {
            epochs.readers.ensure(record);
            let taken = &epochs.readers.record(record)[TAKEN];
            if taken.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                break;
            }
            record += 1;
        }
        epochs.used.fetch_max(record + 1, SeqCst);
        Self { epochs: epochs.clone(), record, pinned: false }
    }

    /// Starts to look, or forgets what was found and looks anew. Once for a burst of packets is enough; while a reader
    /// stays pinned without this, what writers take out is kept.
    #[inline]
    pub fn pin(&mut self) {
        let note = &self.epochs.readers.record(self.record)[NOTED];
        note.store(self.epochs.now.load(SeqCst) + 1, Release);
        fence(SeqCst);
        self.pinned = true;
    }

    /// Stops looking.
    pub fn park(&mut self) {
        self.epochs.readers.record(self.record)[NOTED].store(0, Release);
        self.pinned = false;
    }

    /// Whether it may look things up.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.park();
        self.epochs.readers.record(self.record)[TAKEN].store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_reader_holds_back_what_was_retired_after() {
        let epochs = Epochs::new();
        let mut reader = Reader::new(&epochs);
        let before = epochs.retire();
        assert!(before < epochs.safe());
        reader.pin();
        let after = epochs.retire();
        assert!(before < epochs.safe());
        assert!(after >= epochs.safe());
        reader.pin();
        assert!(after < epochs.safe());
        let last = epochs.retire();
        assert!(last >= epochs.safe());
        drop(reader);
        assert!(last < epochs.safe());
    }

    #[test]
    fn readers_take_over_records() {
        let epochs = Epochs::new();
        let first = Reader::new(&epochs);
        let second = Reader::new(&epochs);
        assert_eq!((first.record, second.record), (0, 1));
        drop(first);
        assert_eq!(Reader::new(&epochs).record, 0);
        let many: Vec<_> = (0..100).map(|_| Reader::new(&epochs)).collect();
        assert_eq!(many[99].record, 100);
    }
}
