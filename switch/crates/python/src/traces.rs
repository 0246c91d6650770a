//! Traces of the packets of a switch in the hand of a Python program.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use runtime::Recorder;
use trace::{Colour, Filter, Trace};

/// Traces that are kept until somebody takes them: the last ones.
const MOST_KEPT: usize = 64;

#[derive(Default)]
pub struct Traces {
    filter: Option<Filter>,
    kept: Arc<Mutex<VecDeque<Trace>>>,
}

impl Traces {
    pub fn watch(&mut self, filter: Option<Filter>) {
        self.filter = filter;
    }

    /// A recorder for a packet that somebody wants to see.
    pub fn choose(&self, port: u32, packet: &[u8], now: u64) -> Option<Recorder> {
        self.filter.as_ref().filter(|filter| filter.chooses(port, packet))?;
        let (packet, kept) = (packet.to_vec(), self.kept.clone());
        Some(Recorder::new(move |steps, left_out| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == MOST_KEPT {
                kept.pop_front();
            }
            kept.push_back(Trace::new(now, port, &packet, steps, left_out));
        }))
    }

    pub fn take(&self, text: bool) -> serde_json::Result<Vec<String>> {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        let written = |trace: &Trace| match text {
            true => Ok(trace::text(trace, Colour::Never)),
            false => serde_json::to_string(trace),
        };
        kept.iter().map(written).collect()
    }
}
