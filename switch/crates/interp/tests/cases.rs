//! The cases of `switch/cases/ir` on the interpreter.

use interp::Interpreter;

#[test]
fn all_cases() {
    cases::run_all(&|program| Box::new(Interpreter::new(program)));
}
