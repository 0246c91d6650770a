//! What leaves an engine.

use pipeline::{Message, Sink};

/// Packets that left, each with its port, in order. None of the programs here says anything to a controller.
#[derive(Default)]
pub struct Sent(pub Vec<(u32, Vec<u8>)>);

impl Sink for Sent {
    fn transmit(&mut self, port: u32, bytes: &[u8], _at: u64) {
        self.0.push((port, bytes.to_vec()));
    }

    fn message(&mut self, message: Message) {
        panic!("{message:?}");
    }
}
