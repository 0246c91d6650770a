//! The search on all cores. Modifiers are tried in their order from a start, in chunks that the threads take one after the
//! other; so the answer is the first one in that order, whatever the number of threads, and a search that was
//! stopped goes on where it was.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::message::Message;

/// Tries between two looks at what the other threads found: some ten milliseconds.
const CHUNK: u64 = 1 << 15;

const BITS_PER_SEC: u32 = 16;

/// The most that the three bits of an address can say.
const MOST_SEC: u8 = 7;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// This modifier will do.
    Modifier(u128),
    /// Stopped, or all tries of this run used up; another run goes on.
    NotYet,
}

pub struct Search {
    message: Message,
    zeros: u32,
    start: u128,
    /// Chunks begun, which is chunks done when no run is under way.
    chunks: AtomicU64,
    tried: AtomicU64,
    stopped: AtomicBool,
}

impl Search {
    /// Look for a modifier from `start` on; `tail` is the encoded public key and the extension fields.
    pub fn new(tail: &[u8], sec: u8, start: u128) -> Search {
        assert!(sec <= MOST_SEC, "sec has three bits");
        Search {
            message: Message::new(tail),
            zeros: BITS_PER_SEC * u32::from(sec),
            start,
            chunks: AtomicU64::new(0),
            tried: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Try at least `tries` modifiers, or without end; a whole number of chunks in any case.
    pub fn run(&self, threads: usize, tries: Option<u64>) -> Found {
        let begun = self.chunks.load(Ordering::Relaxed);
        let end = tries.map_or(u64::MAX, |tries| begun.saturating_add(tries.div_ceil(CHUNK)));
        let best = AtomicU64::new(u64::MAX);
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| self.work(end, &best));
            }
        });
        self.stopped.store(false, Ordering::Relaxed);
        match best.into_inner() {
            u64::MAX => Found::NotYet,
            number => Found::Modifier(self.modifier(number)),
        }
    }

    /// End the run that is under way, if any.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Modifiers tried so far.
    pub fn tried(&self) -> u64 {
        self.tried.load(Ordering::Relaxed)
    }

    /// Where another search would have to start to go on, while no run is under way.
    pub fn next(&self) -> u128 {
        self.modifier(self.chunks.load(Ordering::Relaxed) * CHUNK)
    }

    fn modifier(&self, number: u64) -> u128 {
        self.start.wrapping_add(u128::from(number))
    }

    /// Take chunk after chunk; a chunk once taken is finished, unless an earlier one has the answer.
    fn work(&self, end: u64, best: &AtomicU64) {
        let mut message = self.message.clone();
        while !self.stopped.load(Ordering::Relaxed) {
            let taken = self.chunks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |chunk| {
                (chunk < end && chunk * CHUNK < best.load(Ordering::Relaxed)).then_some(chunk + 1)
            });
            let Ok(chunk) = taken else { break };
            let first = chunk * CHUNK;
            let hit = (first..first + CHUNK).find(|&number| {
                let hash = message.hash2(self.modifier(number));
                self.zeros == 0 || hash >> (u128::BITS - self.zeros) == 0
            });
            self.tried.fetch_add(hit.map_or(CHUNK, |number| number - first + 1), Ordering::Relaxed);
            if let Some(number) = hit {
                best.fetch_min(number, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u128 = u128::MAX - 1000;

    fn first_by_hand(tail: &[u8], sec: u32) -> u128 {
        let mut message = Message::new(tail);
        (0..)
            .map(|number| START.wrapping_add(number))
            .find(|&modifier| message.hash2(modifier).leading_zeros() >= 16 * sec)
            .unwrap()
    }

    #[test]
    fn any_number_of_threads_finds_the_first_modifier() {
        for tail in [&b"one key"[..], &[7; 162], &[9; 400]] {
            let expected = first_by_hand(tail, 1);
            for threads in [1, 2, 5] {
                assert_eq!(Search::new(tail, 1, START).run(threads, None), Found::Modifier(expected));
            }
        }
    }

    #[test]
    fn sec_0_takes_the_start() {
        let search = Search::new(b"key", 0, 42);
        assert_eq!(search.run(2, None), Found::Modifier(42));
    }

    #[test]
    fn a_search_in_parts_finds_what_a_search_in_one_piece_does() {
        let expected = first_by_hand(b"parts", 1);
        let mut start = START;
        let mut parts = 0;
        let found = loop {
            let search = Search::new(b"parts", 1, start);
            match search.run(2, Some(1)) {
                Found::Modifier(modifier) => break modifier,
                Found::NotYet => {
                    assert_eq!(search.tried(), CHUNK);
                    assert_eq!(search.next(), start.wrapping_add(u128::from(CHUNK)));
                    start = search.next();
                    parts += 1;
                }
            }
        };
        assert_eq!(found, expected);
        assert_eq!(parts, expected.wrapping_sub(START) / u128::from(CHUNK));
    }

    #[test]
    fn a_search_that_was_stopped_goes_on_with_nothing_left_out() {
        let search = Search::new(b"stopped", 7, START);
        search.stop();
        assert_eq!(search.run(2, None), Found::NotYet);
        assert_eq!((search.tried(), search.next()), (0, START));
        assert_eq!(search.run(2, Some(CHUNK * 3)), Found::NotYet);
        assert_eq!((search.tried(), search.next()), (CHUNK * 3, START.wrapping_add(u128::from(CHUNK) * 3)));
    }
}
