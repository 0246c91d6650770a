//! Runs of words of any length in one arena: nodes of tries, lists.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use crate::epoch::Epochs;
use crate::segments::Words;

/// Up to this many words, blocks come in steps of two; longer ones in powers of two.
const SMALL: usize = 160;

/// Room for as many blocks that wait is kept, also when fewer wait.
const WAITING: usize = 1024;

/// An arena with its writer's book.
pub(crate) struct Arena<'a> {
    pub words: &'a Words,
    pub blocks: &'a mut Blocks,
    pub epochs: &'a Epochs,
}

impl Arena<'_> {
    /// Puts `contents` into a block no reader knows.
    pub fn put(&mut self, contents: &[u64]) -> u32 {
        self.blocks.put(self.words, self.epochs, contents)
    }

    /// Takes a block of `len` words back that readers can't reach any more but may still be looking at.
    pub fn retire(&mut self, block: u32, len: usize) {
        self.blocks.retire(self.epochs, block, len);
    }
}

/// The writer's book of an arena of blocks. Number 0 is no block.
#[derive(Debug)]
pub struct Blocks {
    next: u32,
    /// Words at the ends of segments that were too short for a block, and were never touched.
    skipped: u32,
    /// What is left of a long block that is cut into short ones.
    rest: Range<u32>,
    free: Vec<Vec<u32>>,
    waiting: VecDeque<(u64, u32, usize)>,
}

impl Default for Blocks {
    fn default() -> Self {
        let free = vec![Vec::new(); SMALL / 2 + 40];
        Self { next: 2, skipped: 0, rest: 0..0, free, waiting: VecDeque::new() }
    }
}

/// Where blocks of a length are kept, and the words they take.
fn class(len: usize) -> (usize, u32) {
    if len <= SMALL {
        (len.div_ceil(2), len.next_multiple_of(2) as u32)
    } else {
        let words = len.next_power_of_two();
        (SMALL / 2 + words.ilog2() as usize, words as u32)
    }
}

impl Blocks {
    /// An arena for blocks.
    pub fn arena() -> Words {
        Words::new(10, 1)
    }

    /// Puts `contents` into a block no reader knows.
    pub fn put(&mut self, arena: &Words, epochs: &Epochs, contents: &[u64]) -> u32 {
        let (class, words) = class(contents.len());
        if self.free[class].is_empty() && !self.waiting.is_empty() {
            let safe = epochs.safe();
            while let Some(&(ticket, block, class)) = self.waiting.front()
                && ticket < safe
            {
                self.waiting.pop_front();
                self.free[class].push(block);
            }
            if self.waiting.capacity() > WAITING && self.waiting.len() < self.waiting.capacity() / 4 {
                self.waiting.shrink_to(self.waiting.len() * 2);
            }
        }
        let block = self.free[class].pop().or_else(|| self.cut(words)).unwrap_or_else(|| {
            while arena.room(self.next) < u64::from(words) {
                let room = u32::try_from(arena.room(self.next)).expect("below 2^32 words");
                self.skipped += room;
                self.next = self.next.checked_add(room).expect("below 2^32 words");
            }
            let block = self.next;
            self.next = block.checked_add(words).expect("below 2^32 words");
            arena.ensure(block);
            block
        });
        for (word, value) in arena.tail(block).iter().zip(contents) {
            word.store(*value, Relaxed);
        }
        block
    }

    /// A short block out of a long one that is free: an array of a table that has outgrown it, say.
    fn cut(&mut self, words: u32) -> Option<u32> {
        if words as usize > SMALL {
            return None;
        }
        if self.rest.len() < words as usize {
            let longer = (SMALL / 2 + 1..self.free.len()).find(|&class| !self.free[class].is_empty())?;
            let long = self.free[longer].pop()?;
            let rest = std::mem::replace(&mut self.rest, long..long + (1 << (longer - SMALL / 2)));
            if !rest.is_empty() {
                self.free[class(rest.len()).0].push(rest.start);
            }
        }
        let block = self.rest.start;
        self.rest.start += words;
        Some(block)
    }

    /// Takes a block of `len` words back that readers can't reach any more but may still be looking at.
    pub fn retire(&mut self, epochs: &Epochs, block: u32, len: usize) {
        self.waiting.push_back((epochs.retire(), block, class(len).0));
    }

    /// Bytes used of the arena and by the book.
    pub fn memory(&self) -> usize {
        (self.next - self.skipped) as usize * 8
            + self.free.iter().map(|list| list.capacity() * 4).sum::<usize>()
            + self.waiting.capacity() * size_of::<(u64, u32, usize)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_in_one_segment_and_are_used_again() {
        let (epochs, arena, mut blocks) = (Epochs::new(), Blocks::arena(), Blocks::default());
        let lengths = [1, 2, 700, 3, 5000, 159, 161, 4];
        let made: Vec<_> = lengths.iter().map(|&len| blocks.put(&arena, &epochs, &vec![len as u64; len])).collect();
        for (&block, &len) in made.iter().zip(&lengths) {
            assert!(arena.tail(block)[..len].iter().all(|word| word.load(Relaxed) == len as u64), "length {len}");
        }
        blocks.retire(&epochs, made[3], 3);
        assert_eq!(blocks.put(&arena, &epochs, &[9; 4]), made[3]);
    }

    #[test]
    fn a_long_block_becomes_short_ones_that_do_not_overlap() {
        let (epochs, arena, mut blocks) = (Epochs::new(), Blocks::arena(), Blocks::default());
        let long = blocks.put(&arena, &epochs, &[7; 1000]);
        let end = blocks.put(&arena, &epochs, &[8; 1]);
        blocks.retire(&epochs, long, 1000);
        let short: Vec<_> = (0..300).map(|i| blocks.put(&arena, &epochs, &[i; 3])).collect();
        assert!(short[..256].iter().all(|block| (long..long + 1024).contains(block)));
        assert!((0..300).all(|i| arena.tail(short[i])[..3].iter().all(|word| word.load(Relaxed) == i as u64)));
        assert_eq!(arena.tail(end)[0].load(Relaxed), 8);
    }
}
