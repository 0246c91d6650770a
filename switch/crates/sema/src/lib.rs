//! From syntax tree to checked program: names are resolved, types checked and inferred, constants computed.
//!
//! [`check`] walks the program once, in source order, as P4 wants names declared before use. A mistake is reported
//! where it is found; what is built on it has the type `_`, which fits everywhere, so that it is reported once.

mod annotations;
mod architecture;
mod arguments;
mod builtin;
mod calls;
mod checker;
mod controls;
mod convert;
mod declarations;
mod entries;
mod expr;
mod fold;
mod functions;
mod keysets;
mod names;
mod operators;
mod packet;
mod parsers;
mod report;
mod scope;
mod signature;
mod statements;
mod suggest;
mod tables;
mod types;

use syntax::ast;
use syntax::diag::Diagnostics;

/// Stack for the deepest nesting that is let through, in a build without optimisation too.
const STACK_BYTES: usize = 64 << 20;

/// Checks a program. Mistakes go to `diags`; with an error among them there is no result.
pub fn check(program: &ast::Program, diags: &mut Diagnostics) -> Option<hir::Program> {
    let mut found = Diagnostics::new();
    // A thread of our own: the caller's stack may be too small for the nesting allowed.
    let prog = std::thread::scope(|scope| {
        let found = &mut found;
        let checking = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
            let mut checker = checker::Checker::new(found);
            checker.program(program);
            checker.check_given_up();
            checker.prog
        });
        match checking.map(|thread| thread.join()) {
            Ok(Ok(prog)) => prog,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => panic!("no thread can be started: {e}"),
        }
    });
    let failed = found.has_errors();
    diags.append(found);
    (!failed).then_some(prog)
}
