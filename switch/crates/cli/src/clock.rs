//! The clock of a running switch.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds since the switch started, which never go back, and what they are in everybody's time.
#[derive(Clone, Copy)]
pub struct Clock {
    start: Instant,
    /// Nanoseconds since 1970 when the switch started.
    epoch: u64,
}

impl Clock {
    pub fn start() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), epoch: u64::try_from(epoch.as_nanos()).unwrap_or(u64::MAX) }
    }

    pub fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub fn since_epoch(&self) -> u64 {
        self.epoch.saturating_add(self.now())
    }
}
