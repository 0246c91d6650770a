//! Numbers of records, given out and taken back.

use std::collections::VecDeque;

use crate::epoch::Epochs;

/// The writer's book of a [`crate::Words`]: which records are free, and which wait for readers.
#[derive(Debug, Default)]
pub struct Slots {
    next: u32,
    free: Vec<u32>,
    waiting: VecDeque<(u64, u32)>,
}

impl Slots {
    /// The first number given out is `first`.
    pub fn starting_at(first: u32) -> Self {
        Self { next: first, ..Self::default() }
    }

    /// A number no reader knows.
    pub fn take(&mut self, epochs: &Epochs) -> u32 {
        if self.free.is_empty() && !self.waiting.is_empty() {
            let safe = epochs.safe();
            while let Some(&(ticket, slot)) = self.waiting.front()
                && ticket < safe
            {
                self.waiting.pop_front();
                self.free.push(slot);
            }
        }
        self.free.pop().unwrap_or_else(|| {
            let slot = self.next;
            self.next = slot.checked_add(1).expect("fewer than 2^32 records");
            slot
        })
    }

    /// Takes a number back that readers can't reach any more but may still be looking at.
    pub fn retire(&mut self, slot: u32, epochs: &Epochs) {
        self.waiting.push_back((epochs.retire(), slot));
    }

    /// One more than the largest number ever given out.
    pub fn end(&self) -> u32 {
        self.next
    }

    /// Bytes of the book itself.
    pub fn memory(&self) -> usize {
        self.free.capacity() * size_of::<u32>() + self.waiting.capacity() * size_of::<(u64, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epoch::Reader;

    #[test]
    fn a_number_comes_back_when_no_reader_can_know_it() {
        let epochs = Epochs::new();
        let mut reader = Reader::new(&epochs);
        let mut slots = Slots::starting_at(1);
        assert_eq!((slots.take(&epochs), slots.take(&epochs)), (1, 2));
        reader.pin();
        slots.retire(1, &epochs);
        assert_eq!(slots.take(&epochs), 3);
        reader.park();
        assert_eq!(slots.take(&epochs), 1);
        assert_eq!(slots.end(), 4);
    }
}
