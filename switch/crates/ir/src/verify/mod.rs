//! The rules of a well-formed program. The interpreter and the JIT rely on them, so whatever makes a program (lowering,
//! a text file) has it verified before it runs.

mod code;
mod inst;
mod objects;

use std::fmt;

use crate::*;

/// A broken rule.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifyError {
    /// Where: `table ingress.t`, or `function ingress, block b3, instruction 4: %1:8 = add %0, 300`.
    pub at: String,
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// All broken rules of a program, in its order; none if it is well-formed.
pub fn verify(program: &Program) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    objects::verify(program, &mut errors);
    let names = text::Names::new(program);
    for (_, function) in program.functions.iter() {
        code::verify(program, &names, function, &mut errors);
    }
    errors
}
