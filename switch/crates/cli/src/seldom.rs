//! Log lines, so many a second of each kind: much of what is told can be brought about by anybody who connects.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

const MOST: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);

/// What is told from here is of the switch's own doing, as its ports at the start.
const OWN: &str = env!("CARGO_CRATE_NAME");

/// Lets ten lines a second pass from each place in the code; below level info somebody asked for all of them.
#[derive(Default)]
pub struct Seldom(Mutex<HashMap<Identifier, Told>>);

/// What was told of one place since its second began.
struct Told {
    began: Instant,
    lines: u32,
}

impl Told {
    fn one_more(&mut self, now: Instant) -> bool {
        if now.duration_since(self.began) >= SECOND {
            *self = Self { began: now, lines: 0 };
        }
        self.lines += 1;
        self.lines <= MOST
    }
}

impl<S: Subscriber> Layer<S> for Seldom {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::INFO || metadata.target().starts_with(OWN) {
            return true;
        }
        let now = Instant::now();
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.entry(metadata.callsite()).or_insert(Told { began: now, lines: 0 }).one_more(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_ten_lines_a_second_are_told() {
        let now = Instant::now();
        let mut told = Told { began: now, lines: 0 };
        let mut passed = |now| (0..1000).filter(|_| told.one_more(now)).count();
        assert_eq!(passed(now), 10);
        assert_eq!(passed(now + SECOND / 2), 0);
        assert_eq!(passed(now + SECOND), 10);
    }
}
