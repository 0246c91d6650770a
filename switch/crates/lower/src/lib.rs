//! From the typed tree to the flat form: sub-parsers, sub-controls, functions and actions are written out where they
//! are used, variables get places in the frame, and each programmable block of the architecture becomes one function.
//!
//! [`Builder`], [`value`], [`cleanup`] and [`growth`] know nothing of the tree: whoever writes the flat form uses them.

mod build;
mod call;
mod cleanup;
mod context;
mod effects;
mod entries;
mod expr;
mod externs;
mod growth;
mod layout;
mod lvalue;
mod objects;
mod packet;
mod parser;
mod plugin;
mod program;
mod psa;
mod stmt;
mod table;
mod v1model;
pub mod value;

pub use build::{Builder, mask};
pub use cleanup::cleanup;
pub use growth::growth;
pub use program::lower;
