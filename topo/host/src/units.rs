//! Time as the host counts it: nanoseconds of the caller's clock. People write seconds, smoltcp counts microseconds.

use smoltcp::time::Instant;

pub const MILLISECOND: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// Seconds that a person wrote; what is negative or not a number counts as none.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds * SECOND as f64) as u64
}

/// A rate from what was moved in a time.
pub fn bits_per_second(bytes: u64, nanoseconds: u64) -> u64 {
    let bits = u128::from(bytes) * 8 * u128::from(SECOND);
    u64::try_from(bits / u128::from(nanoseconds.max(1))).unwrap_or(u64::MAX)
}

pub fn instant(now: u64) -> Instant {
    Instant::from_micros((now / 1000) as i64)
}

/// The first nanosecond at which [`instant`] has reached it.
pub fn since_instant(instant: Instant) -> u64 {
    instant.total_micros().max(0) as u64 * 1000
}
