//! The clock of a running switch.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds since the switch started first, which never go back, and what they are in everybody's time.
#[derive(Clone, Copy)]
pub struct Clock {
    start: Instant,
    /// What the clock said at this start of the switch: more than nothing after a warm restart.
    begun: u64,
    /// Nanoseconds since 1970 when it said nothing.
    epoch: u64,
}

impl Clock {
    /// Goes on from the epoch of a state, unless the time of day was set back to before it.
    pub fn start(epoch: Option<u64>) -> Self {
        let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let today = u64::try_from(today.as_nanos()).unwrap_or(u64::MAX);
        let epoch = epoch.filter(|epoch| *epoch <= today).unwrap_or(today);
        Self { start: Instant::now(), begun: today - epoch, epoch }
    }

    /// Goes on from the clock of another process of this machine, and is never behind it.
    pub fn take_over(monotonic: u64, epoch: u64) -> Self {
        let start = Instant::now();
        Self { start, begun: monotonic_now().saturating_sub(monotonic), epoch }
    }

    /// When it said nothing, by the clock that all processes of this machine have, and in nanoseconds since 1970.
    pub fn beginning(&self) -> (u64, u64) {
        (monotonic_now().saturating_sub(self.now()), self.epoch)
    }

    pub fn now(&self) -> u64 {
        self.begun.saturating_add(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub fn since_epoch(&self) -> u64 {
        self.epoch.saturating_add(self.now())
    }
}

/// That of [`Instant`].
fn monotonic_now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
