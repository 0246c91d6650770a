//! The meaning of the arithmetic: every scalar operation on `(u128, width)`, and every [`WideOp`](crate::WideOp) on
//! values of any width.
//!
//! The interpreter runs these functions, the JIT calls them where it generates no code of its own, and constant folding
//! uses them, so a value is the same wherever it is computed.

mod scalar;
mod wide;

pub use scalar::*;
pub use wide::{Wide, wide};
