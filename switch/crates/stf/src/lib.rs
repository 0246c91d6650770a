//! Cases in the STF format: a program, packets in, packets expected.

mod apply;
mod case;
pub mod script;

pub use case::{run, Outcome};
