//! From text to syntax tree.

pub mod ast;
pub mod diag;
pub mod lexer;
pub mod source;
pub mod token;
