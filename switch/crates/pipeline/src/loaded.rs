//! A program with its code and its state: what a switch runs until another takes its place.

use std::sync::{Arc, OnceLock};

use interp::Interpreter;
use jit::{Jit, Stages};
use runtime::{Backend, Device};

use crate::gate::Gate;
use crate::replication::Replication;

/// What runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackendKind {
    /// Native code.
    #[default]
    Jit,
    /// The reference.
    Interpreter,
}

pub struct Loaded {
    pub program: Arc<ir::Program>,
    pub device: Device,
    pub replication: Replication,
    pub backend: Arc<dyn Backend>,
    /// Between packets and batches that they must see whole.
    pub gate: Gate,
    tracer: OnceLock<Interpreter>,
}

impl Loaded {
    /// A program with fresh state. An error says why it can't run: no native code for it, or a wrong entry of its own.
    pub fn new(program: Arc<ir::Program>, kind: BackendKind) -> Result<Self, String> {
        let backend: Arc<dyn Backend> = match kind {
            BackendKind::Jit => Arc::new(Jit::compile(program.clone())?),
            BackendKind::Interpreter => Arc::new(Interpreter::new(program.clone())),
        };
        Self::with(program, backend)
    }

    /// A program in native code that says where it is, with fresh state.
    pub fn marked(program: Arc<ir::Program>) -> Result<(Self, Arc<Stages>), String> {
        let (jit, stages) = Jit::compile_marked(program.clone())?;
        Ok((Self::with(program, Arc::new(jit))?, stages))
    }

    /// The same program and code with fresh state.
    pub fn fresh(&self) -> Result<Self, String> {
        Self::with(self.program.clone(), self.backend.clone())
    }

    fn with(program: Arc<ir::Program>, backend: Arc<dyn Backend>) -> Result<Self, String> {
        let device = Device::new(program.clone()).map_err(|error| error.to_string())?;
        let (replication, gate) = (Replication::default(), Gate::default());
        Ok(Self { program, device, replication, backend, gate, tracer: OnceLock::new() })
    }

    /// What runs the packets that are traced, whatever runs the others; made when it is first asked for.
    pub fn tracer(&self) -> &Interpreter {
        self.tracer.get_or_init(|| Interpreter::new(self.program.clone()))
    }
}
