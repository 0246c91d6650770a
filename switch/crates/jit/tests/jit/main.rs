//! The JIT against the meaning of the flat form.

mod branches;
mod externs;
mod few;
mod guard;
mod headers;
mod programs;
mod random;
mod registers;
mod series;
mod tables;
mod zeros;

use std::sync::Arc;

/// The cases that all backends share.
#[test]
fn cases_pass() {
    cases::run_all(&|program| Box::new(jit::Jit::compile(program).expect("a verified program compiles")));
}

/// Marks for a profile change nothing but what they tell.
#[test]
fn marked_code_passes_them_too() {
    cases::run_all(&|program| Box::new(jit::Jit::compile_marked(program).expect("a verified program compiles").0));
}

/// Code for what the tables hold does the same as any other.
#[test]
fn code_for_the_content_of_tables_passes_them_too() {
    cases::run_all(&|program| Box::new(jit::AtOnce::new(Arc::new(jit::Jit::compile(program).unwrap()))));
}
