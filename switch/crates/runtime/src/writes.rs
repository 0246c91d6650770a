//! Which writes of the control plane there were, so that what was learned from a packet's run is forgotten in time.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

/// Counts writes when they begin and when they are done. Alone on its cache lines: packets read it.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Writes {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Writes {
    /// To be called before packets can find another content; what is answered lives until they do.
    pub fn begin(&self) -> Write<'_> {
        self.begun.fetch_add(1, SeqCst);
        Write(self)
    }

    /// How many there were; none while one is under way.
    #[inline]
    pub fn generation(&self) -> Option<u64> {
        // In this order: as many were begun when `done` was read.
        let done = self.done.load(Acquire);
        (self.begun.load(SeqCst) == done).then_some(done)
    }
}

/// A write that is under way.
pub(crate) struct Write<'w>(&'w Writes);

impl Drop for Write<'_> {
    fn drop(&mut self) {
        self.0.done.fetch_add(1, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_generation_while_writes_are_under_way() {
        let writes = Writes::default();
        assert_eq!(writes.generation(), Some(0));
        let (first, second) = (writes.begin(), writes.begin());
        drop(first);
        assert_eq!(writes.generation(), None);
        drop(second);
        assert_eq!(writes.generation(), Some(2));
    }
}
