//! From text to syntax tree.
//!
//! [`parse`] does all of it: preprocess, split into tokens, parse. [`preprocess::program_text`] makes the one text of a
//! program that a P4Runtime client sends.

pub mod ast;
mod builtin;
pub mod diag;
pub mod lexer;
pub mod parser;
pub mod preprocess;
pub mod source;
pub mod token;

use ast::Program;
use diag::Diagnostics;
use preprocess::Options;
use source::{FileId, SourceMap};

/// Preprocesses and parses the program whose main file is `main`. With errors the tree is what could be read.
pub fn parse(map: &mut SourceMap, main: FileId, options: &Options) -> (Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let tokens = preprocess::preprocess(map, main, options, &mut diagnostics);
    let program = parser::parse_tokens(&tokens, &mut diagnostics);
    (program, diagnostics)
}
