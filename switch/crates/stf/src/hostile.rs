//! Packets that nobody meant: random bytes, cut and stretched, on random ports. A program may do with them what it
//! likes, but it may not stop the switch.

use fastrand::Rng;
use pipeline::{Engine, Loaded, Message, Sink, Traffic};

/// The longest packet that is sent: more than any header stack of a case.
const LONGEST: usize = 4096;

struct Nowhere;

impl Sink for Nowhere {
    fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}
    fn message(&mut self, _message: Message) {}
}

/// Sends `packets` packets; an error says what went wrong. That it returns at all is the better part of the test.
pub fn run(loaded: &Loaded, packets: u64) -> Result<(), String> {
    let mut traffic = Traffic::default();
    {
        let mut engine = Engine::new(loaded, &mut traffic, 1);
        for (round, (port, bytes)) in (0..packets).zip(Packets::new(packets)) {
            engine.receive(port, &bytes, round * 1000, &mut Nowhere);
        }
        engine.flush(&mut Nowhere);
    }
    let received = traffic.stats.received_packets();
    if received == packets { Ok(()) } else { Err(format!("{received} of {packets} packets were counted")) }
}

/// Packets without end, with the ports they come by.
pub struct Packets {
    random: Rng,
    /// The packet before.
    last: Vec<u8>,
    changed: bool,
}

impl Packets {
    pub fn new(seed: u64) -> Self {
        Self { random: Rng::with_seed(seed), last: Vec::new(), changed: true }
    }

    /// Mostly small or full values, which lengths and types are made of.
    fn byte(&mut self) -> u8 {
        match self.random.usize(..4) {
            0 => 0,
            1 => self.random.u8(..8),
            _ => self.random.u8(..),
        }
    }
}

impl Iterator for Packets {
    type Item = (u32, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        // Half of the packets repeat the last one with a few bytes changed, so that parsers get further.
        if self.changed || self.last.is_empty() {
            let len = match self.random.usize(..8) {
                0 => 0,
                1 => self.random.usize(..LONGEST),
                _ => self.random.usize(..160),
            };
            self.last = (0..len).map(|_| self.byte()).collect();
        } else {
            for _ in 0..=self.random.usize(..4) {
                let at = self.random.usize(..self.last.len());
                self.last[at] = self.byte();
            }
            let len = self.random.usize(1..=self.last.len());
            self.last.truncate(len);
        }
        self.changed = !self.changed;
        Some((self.random.u32(..16), self.last.clone()))
    }
}
