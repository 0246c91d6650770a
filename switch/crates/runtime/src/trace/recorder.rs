//! Notes what a packet meets, and what its copies meet.

use std::fmt;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::{Cause, Event};
use tables::sync::{AtomicU32, Mutex, MutexGuard};

/// Steps noted of one packet with all its copies: a program that loops must not fill the memory. Copies, ends and the
/// errors of parsers are noted all the same; the engine bounds them.
const MOST_STEPS: usize = 20_000;

/// A step of a packet or of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// 0 is the packet that was received, others are as [`Event::Copied`] numbers them.
    pub packet: u32,
    pub event: Event,
}

/// Takes the steps, and how many were left out.
type Done = Box<dyn FnOnce(Vec<Step>, u64) + Send>;

/// All that one received packet and its copies met, handed on when the last of them has left or was dropped.
struct Recording {
    noted: Mutex<Noted>,
    copies: AtomicU32,
}

struct Noted {
    steps: Vec<Step>,
    left_out: u64,
    done: Option<Done>,
}

impl Recording {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let mut noted = self.noted();
        if let Some(done) = noted.done.take() {
            done(mem::take(&mut noted.steps), noted.left_out);
        }
    }
}

/// Notes the steps of one packet; it goes with the packet from block to block and through queues.
pub struct Recorder {
    recording: Arc<Recording>,
    packet: u32,
    /// The statement that runs, and the one that marked the packet to be dropped.
    statement: Option<Cause>,
    marked: Option<Cause>,
}

impl Recorder {
    /// A recorder for a packet that is received next. `done` is called once all its copies have met their ends.
    pub fn new(done: impl FnOnce(Vec<Step>, u64) + Send + 'static) -> Self {
        let noted = Noted { steps: Vec::new(), left_out: 0, done: Some(Box::new(done)) };
        let recording = Recording { noted: Mutex::new(noted), copies: AtomicU32::new(0) };
        Self { recording: Arc::new(recording), packet: 0, statement: None, marked: None }
    }

    pub fn event(&mut self, event: Event) {
        if let Event::Statement { text, at } = &event {
            self.statement = Some(Cause { text: text.clone(), at: at.clone() });
        }
        let is_end = matches!(
            event,
            Event::Copied { .. } | Event::ParserError { .. } | Event::Sent { .. } | Event::Dropped { .. }
        );
        let mut noted = self.recording.noted();
        if noted.steps.len() < MOST_STEPS || is_end {
            noted.steps.push(Step { packet: self.packet, event });
        } else {
            noted.left_out += 1;
        }
    }

    /// The recorder of a copy, or of the packet as it goes round.
    pub fn copied(&mut self, reason: &'static str, port: Option<u32>) -> Self {
        let packet = self.recording.copies.fetch_add(1, Ordering::Relaxed) + 1;
        self.event(Event::Copied { reason: reason.into(), port, packet });
        Self { recording: self.recording.clone(), packet, statement: None, marked: None }
    }

    /// The statement that runs marks the packet to be dropped, or takes that back.
    pub fn mark(&mut self, dropped: bool) {
        self.marked = if dropped { self.statement.clone() } else { None };
    }

    /// What marked the packet to be dropped.
    pub fn marked(&self) -> Option<Cause> {
        self.marked.clone()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("packet", &self.packet).finish_non_exhaustive()
    }
}
