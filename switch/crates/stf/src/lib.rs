//! Cases in the STF format: a program, packets in, packets expected.

pub mod alike;
mod apply;
mod case;
pub mod hostile;
pub mod script;

pub use apply::{Nodes, apply};
pub use case::{Failure, Outcome, run, run_in_turn, run_traced};
