//! Lets a batch of writes in between packets, so that no packet sees half of it.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Engines are inside while packets are on their way through them. They look at one flag for each packet, and take the
/// lock only to go in and out: when they stand idle, and when a batch waits.
#[derive(Debug, Default)]
pub struct Gate {
    /// A batch waits for engines to go out, or is at work.
    closed: AtomicBool,
    /// Engines inside. Held locked while a batch is at work.
    inside: Mutex<usize>,
    changed: Condvar,
    /// Batches go one after another.
    order: Mutex<()>,
}

/// Opens the gate, also when the batch panicked.
struct Closed<'g>(&'g Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.closed.store(false, Release);
        self.0.changed.notify_all();
    }
}

impl Gate {
    /// Does the work while no packet is on its way; false if some still were after so much patience, and nothing was
    /// done.
    pub fn between_packets(&self, patience: Duration, work: &mut dyn FnMut()) -> bool {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let _closed = Closed(self);
        self.closed.store(true, Release);
        let waiting = self.changed.wait_timeout_while(self.lock(), patience, |inside| *inside != 0);
        let (inside, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        let is_empty = *inside == 0;
        if is_empty {
            work();
        }
        is_empty
    }

    /// Whether a batch waits or is at work.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Waits while the gate is closed.
    pub(crate) fn enter(&self) {
        let waiting = self.changed.wait_while(self.lock(), |_| self.is_closed());
        *waiting.unwrap_or_else(PoisonError::into_inner) += 1;
    }

    pub(crate) fn leave(&self) {
        *self.lock() -= 1;
        // To wake no one is a system call all the same.
        if self.is_closed() {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_waits_for_those_inside_and_gives_up_when_they_stay() {
        let gate = Gate::default();
        gate.enter();
        let mut done = false;
        assert!(!gate.between_packets(Duration::ZERO, &mut || done = true));
        assert!(!done && !gate.is_closed());
        gate.leave();
        assert!(gate.between_packets(Duration::ZERO, &mut || done = true));
        assert!(done);
        gate.enter();
    }

    #[test]
    fn a_batch_that_panics_leaves_the_gate_open() {
        let gate = Gate::default();
        let batch = || gate.between_packets(Duration::ZERO, &mut || panic!("the batch"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(batch)).is_err());
        gate.enter();
        gate.leave();
    }
}
