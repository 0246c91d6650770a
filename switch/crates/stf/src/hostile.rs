//! Packets that nobody meant: random bytes, cut and stretched, on random ports. A program may do with them what it
//! likes, but it may not stop the switch.

use pipeline::{Engine, Loaded, Message, Sink, Traffic};

/// The longest packet that is sent: more than any header stack of a case.
const LONGEST: u64 = 4096;

struct Nowhere;

impl Sink for Nowhere {
    fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}
    fn message(&mut self, _message: Message) {}
}

/// Sends `packets` packets; an error says what went wrong. That it returns at all is the better part of the test.
pub fn run(loaded: &Loaded, packets: u64) -> Result<(), String> {
    let mut traffic = Traffic::default();
    let mut random = Random(packets);
    let mut sent = vec![];
    {
        let mut engine = Engine::new(loaded, &mut traffic, 1);
        for round in 0..packets {
            // Half of the packets repeat the last one with a few bytes changed, so that parsers get further.
            if round % 2 == 0 || sent.is_empty() {
                let len = match random.below(8) {
                    0 => 0,
                    1 => random.below(LONGEST),
                    _ => random.below(160),
                };
                sent = (0..len).map(|_| random.byte()).collect();
            } else {
                for _ in 0..=random.below(4) {
                    let at = random.below(sent.len() as u64) as usize;
                    sent[at] = random.byte();
                }
                sent.truncate(1 + random.below(sent.len() as u64) as usize);
            }
            engine.receive(random.below(16) as u32, &sent, round * 1000, &mut Nowhere);
        }
        engine.flush(&mut Nowhere);
    }
    let received: u64 = traffic.stats.ports.values().map(|port| port.received_packets).sum();
    if received == packets { Ok(()) } else { Err(format!("{received} of {packets} packets were counted")) }
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Mostly small or full values, which lengths and types are made of.
    fn byte(&mut self) -> u8 {
        match self.below(4) {
            0 => 0,
            1 => self.below(8) as u8,
            _ => self.next() as u8,
        }
    }
}
