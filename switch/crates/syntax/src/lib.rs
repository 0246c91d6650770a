//! From text to syntax tree.

pub mod ast;
pub mod source;
