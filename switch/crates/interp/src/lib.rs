//! Runs the flat form of a program: the reference that the JIT is held against, and the one that traces.
//!
//! A function is decoded once into a dense list of operations (`code`); `run` is the loop over them, on temps and the
//! frame; `calls` does what involves the packet, tables and externs. The arithmetic is `ir::eval`.

mod calls;
mod code;
mod names;
mod place;
mod run;
mod trace;
mod watch;

use std::cell::RefCell;
use std::sync::Arc;

use ir::{FunctionId, Handle, Program};
use runtime::{Backend, Context};

use code::Code;
use run::{Memory, Run};
pub use watch::{Watcher, Watching};

/// The interpreter of one program, which has been verified.
pub struct Interpreter {
    program: Arc<Program>,
    /// By function; without notes.
    plain: Vec<Code>,
    /// By function; with notes, for runs that are traced.
    noted: Vec<Code>,
}

impl Interpreter {
    /// Decodes the program. It must keep to the rules of [`mod@ir::verify`].
    pub fn new(program: Arc<Program>) -> Self {
        let decode = |notes| program.functions.iter().map(|(_, function)| Code::new(function, notes)).collect();
        Self { plain: decode(false), noted: decode(true), program }
    }

    /// Runs one function on the packet in `context`, watched.
    fn watch(&self, function: FunctionId, context: &mut Context<'_>, watcher: &mut Watcher) {
        let code = &self.plain[function.index()];
        watcher.make_room(code.temps.len());
        MEMORY.with_borrow_mut(|memory| Run::new(&self.program, code, memory, context).watched(watcher));
    }
}

thread_local! {
    /// Kept from run to run.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

impl Backend for Interpreter {
    fn run(&self, function: FunctionId, context: &mut Context<'_>) {
        let traced = context.trace.is_some();
        let code = if traced { &self.noted } else { &self.plain };
        MEMORY.with_borrow_mut(|memory| {
            let run = Run::new(&self.program, &code[function.index()], memory, context);
            if traced { run.traced(&self.program.functions[function].name) } else { run.plain() }
        });
    }
}
