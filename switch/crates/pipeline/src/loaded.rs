//! A program with its code and its state: what a switch runs until another takes its place.

use std::sync::{Arc, OnceLock};

use interp::Interpreter;
use jit::{AtOnce, Jit, Stages};
use runtime::{Backend, Device, Externs, Holdings};

use crate::gate::Gate;
use crate::replication::Replication;

/// What runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackendKind {
    /// Native code.
    #[default]
    Jit,
    /// Native code for what the tables hold, compiled before each packet that follows a change: for tests.
    SpecialAtOnce,
    /// The reference.
    Interpreter,
    /// Native code and the ways of packets, each learned at once: for tests.
    Flows,
    /// The interpreter runs each packet, and panics where one takes another way than is known of it: for tests.
    CheckedFlows,
}

/// Ways that are learned at once, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    Taken,
    Checked,
}

/// What a program's backend is made of, for another device with the same program.
#[derive(Clone)]
enum Code {
    Native(Arc<Jit>),
    AtOnce(Arc<Jit>),
    Decoded(Arc<Interpreter>),
}

pub struct Loaded {
    pub program: Arc<ir::Program>,
    pub device: Device,
    pub replication: Replication,
    pub backend: Arc<dyn Backend>,
    /// Between packets and batches that they must see whole.
    pub gate: Gate,
    pub(crate) learned: Option<Learned>,
    code: Code,
    externs: Arc<Externs>,
    tracer: OnceLock<Arc<Interpreter>>,
}

impl Loaded {
    /// A program with fresh state. An error says why it can't run: no native code for it, or a wrong entry of its own.
    pub fn new(program: Arc<ir::Program>, kind: BackendKind) -> Result<Self, String> {
        Self::with_externs(program, kind, Arc::default())
    }

    /// The same for a program that calls externs of one's own.
    pub fn with_externs(program: Arc<ir::Program>, kind: BackendKind, externs: Arc<Externs>) -> Result<Self, String> {
        let compile = || Jit::compile(program.clone()).map(Arc::new);
        let code = match kind {
            BackendKind::Jit | BackendKind::Flows => Code::Native(compile()?),
            BackendKind::SpecialAtOnce => Code::AtOnce(compile()?),
            BackendKind::Interpreter | BackendKind::CheckedFlows => {
                Code::Decoded(Arc::new(Interpreter::new(program.clone())))
            }
        };
        let learned = match kind {
            BackendKind::Flows => Some(Learned::Taken),
            BackendKind::CheckedFlows => Some(Learned::Checked),
            BackendKind::Jit | BackendKind::SpecialAtOnce | BackendKind::Interpreter => None,
        };
        Ok(Self { learned, ..Self::with(program, code, externs)? })
    }

    /// The same program with fresh state, run by something else.
    pub fn as_kind(&self, kind: BackendKind) -> Result<Self, String> {
        Self::with_externs(self.program.clone(), kind, self.externs.clone())
    }

    /// A program in native code that says where it is, with fresh state.
    pub fn marked(program: Arc<ir::Program>) -> Result<(Self, Arc<Stages>), String> {
        let (jit, stages) = Jit::compile_marked(program.clone())?;
        Ok((Self::with(program, Code::Native(Arc::new(jit)), Arc::default())?, stages))
    }

    /// The same program and code with fresh state.
    pub fn fresh(&self) -> Result<Self, String> {
        Ok(Self { learned: self.learned, ..Self::with(self.program.clone(), self.code.clone(), self.externs.clone())? })
    }

    fn with(program: Arc<ir::Program>, code: Code, externs: Arc<Externs>) -> Result<Self, String> {
        let device = Device::with_externs(program.clone(), &externs).map_err(|error| error.to_string())?;
        let backend: Arc<dyn Backend> = match code.clone() {
            Code::Native(code) => code,
            Code::AtOnce(code) => Arc::new(AtOnce::new(code)),
            Code::Decoded(code) => code,
        };
        let (replication, gate, tracer) = (Replication::default(), Gate::default(), OnceLock::new());
        Ok(Self { program, device, replication, backend, gate, learned: None, code, externs, tracer })
    }

    /// The port of the controller as the program has it; `given` is the operator's choice.
    pub fn cpu_port(&self, given: u32) -> u32 {
        if self.program.psa.is_some() { crate::PSA_PORT_CPU } else { given }
    }

    /// Whether it is native code, which can be compiled for what the tables hold.
    pub fn is_native(&self) -> bool {
        matches!(self.code, Code::Native(_))
    }

    /// Compiles the program for what its tables hold, and has packets run by that as long as they hold it; false if they
    /// changed meanwhile. One caller at a time.
    pub fn specialise(&self) -> Result<bool, String> {
        self.specialise_for(&self.device.holdings(&|_| true))
    }

    /// The same for what some of them hold; false as well where the interpreter runs packets.
    pub fn specialise_for(&self, holdings: &Holdings) -> Result<bool, String> {
        match &self.code {
            Code::Native(code) | Code::AtOnce(code) => jit::specialise(code, &self.device, holdings),
            Code::Decoded(_) => Ok(false),
        }
    }

    /// What runs the packets that are traced or watched, whatever runs the others; made when it is first asked for.
    pub fn tracer(&self) -> &Arc<Interpreter> {
        self.tracer.get_or_init(|| Arc::new(Interpreter::new(self.program.clone())))
    }
}
