//! The expensive part of a cryptographically generated address: the modifier whose Hash2 begins with enough zeros
//! (RFC 3972, section 4, steps 1 to 3). The rest of the RFC takes microseconds and is done in Python.

mod message;
mod search;

pub use search::{Found, Search};
