//! Ways of packets are learned before anything is measured, and it is told what that took.

use std::fmt;
use std::time::Duration;

use bench::measure::{short, thread_time};
use pipeline::Engine;

/// Ways are learned as long as it takes until nearly all packets take known ones, in pieces of so many packets and at most so
/// many pieces, or until none was learned in so many.
const PIECE: u64 = 1 << 17;
const MOST_PIECES: u32 = 200;
const PIECES_IN_VAIN: u32 = 16;

/// What it took, in all draws.
#[derive(Clone, Copy, Default)]
pub struct Learned {
    draws: u32,
    ways: u64,
    packets: u64,
    took: Duration,
    /// Packets of the last pieces that took a way that was known.
    known: u64,
}

impl Learned {
    /// One draw.
    pub fn learn<'a>(
        &mut self,
        engine: &mut Engine<'a>,
        work: impl for<'e> Fn(&'e mut Engine<'a>) -> Box<dyn FnMut() -> u64 + 'e>,
    ) {
        let start = thread_time();
        let (mut in_vain, mut hits) = (0, 0);
        for _ in 0..MOST_PIECES {
            let before = engine.traffic().flows;
            let mut piece = work(engine);
            let mut count = 0;
            while count < PIECE {
                count += piece();
            }
            drop(piece);
            let now = engine.traffic().flows;
            self.packets += count;
            hits = (now.hits - before.hits) * PIECE / count;
            in_vain = if now.learned == before.learned { in_vain + 1 } else { 0 };
            if hits * 100 >= PIECE * 99 || in_vain == PIECES_IN_VAIN {
                break;
            }
        }
        self.draws += 1;
        self.ways += engine.traffic().flows.kept;
        self.known += hits;
        self.took += thread_time() - start;
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let draws = f64::from(self.draws);
        let rate = short(self.packets as f64 / self.took.as_secs_f64());
        let (ways, took) = (self.ways as f64 / draws, self.took.as_secs_f64() / draws);
        let share = 100.0 * self.known as f64 / PIECE as f64 / draws;
        write!(f, "{ways:.0} ways learned within {took:.1} s, at {rate}packets/s; {share:.1} % known then")
    }
}
