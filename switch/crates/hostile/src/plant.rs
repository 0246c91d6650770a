//! A program that is compiled once and given a fresh device for each input.

use std::sync::Arc;

use compiler::Options;
use control::Control;
use pipeline::{BackendKind, Loaded};
use proto::p4::config::v1::P4Info;
use runtime::{Backend, Context, Device};

pub struct Plant {
    pub p4info: P4Info,
    program: Arc<ir::Program>,
    jit: Arc<dyn Backend>,
    interpreter: Arc<dyn Backend>,
}

/// A backend holds no state of a device, so that many devices can run the same code.
struct Shared(Arc<dyn Backend>);

impl Backend for Shared {
    fn run(&self, function: ir::FunctionId, context: &mut Context<'_>) {
        self.0.run(function, context);
    }
}

impl Plant {
    /// The text is one of ours, so it compiles.
    pub fn new(name: &str, text: &str) -> Self {
        let compiled =
            compiler::compile_text(name, text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let p4info = p4info::p4info(&compiled);
        let program = Arc::new(compiled.program);
        let backend = |kind| {
            let loaded = Loaded::new(program.clone(), kind).unwrap_or_else(|error| panic!("{name}: {error}"));
            Arc::from(loaded.backend)
        };
        Self { p4info, jit: backend(BackendKind::Jit), interpreter: backend(BackendKind::Interpreter), program }
    }

    /// A device as after a start, and its control plane.
    pub fn fresh(&self, kind: BackendKind) -> (Arc<Loaded>, Control) {
        let backend = match kind {
            BackendKind::Jit => &self.jit,
            BackendKind::Interpreter => &self.interpreter,
        };
        let loaded = Arc::new(Loaded {
            program: self.program.clone(),
            device: Device::new(self.program.clone()),
            replication: Default::default(),
            backend: Box::new(Shared(backend.clone())),
        });
        let program = loader::Program { loaded: loaded.clone(), p4info: self.p4info.clone() };
        match Control::new(self.p4info.clone(), Arc::new(program)) {
            Ok(control) => (loaded, control),
            Err(error) => panic!("the P4Info is not the program's: {error:?}"),
        }
    }
}
