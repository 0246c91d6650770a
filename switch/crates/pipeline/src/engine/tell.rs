//! What a run of blocks has to say: digests, log messages, and that the packet can't go on.

use std::mem;

use super::{Engine, Message, Sink};
use crate::stats::DropReason;

impl Engine<'_> {
    /// Passes digests and logs on; false when the packet is gone: an assertion failed, or a backend did.
    #[inline]
    pub(super) fn tell(&mut self, now: u64, sink: &mut impl Sink) -> bool {
        if !self.context.effects.has_to_tell() && self.context.fuel > 0 {
            return true;
        }
        self.tell_all(now, sink)
    }

    fn tell_all(&mut self, now: u64, sink: &mut impl Sink) -> bool {
        let effects = &mut self.context.effects;
        for (digest, values) in effects.digests.drain(..) {
            sink.message(Message::Digest { digest, values, at: now });
        }
        for text in effects.log.drain(..) {
            sink.message(Message::Log { text });
        }
        if mem::take(&mut effects.fault) {
            self.drop_packet(DropReason::Fault);
            return false;
        }
        if self.context.ran_out_of_fuel() {
            // What the program did so far is half of something.
            self.drop_packet(DropReason::Budget);
            return false;
        }
        let Some(text) = self.context.effects.assertion_failed.take() else { return true };
        sink.message(Message::AssertionFailed { text: self.loaded.program.strings[text].clone() });
        self.drop_packet(DropReason::Assertion);
        false
    }
}
