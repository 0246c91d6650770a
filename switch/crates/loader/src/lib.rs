//! From a program's text to what packets run through and what the control plane sees.

use std::sync::Arc;

use compiler::{Compiled, Options};
use control::CloneSession;
use pipeline::{BackendKind, Choices, Loaded};
use proto::p4::config::v1::P4Info;
use runtime::Device;

/// Deeply nested programs need a deep stack, deeper than that of most threads.
const COMPILER_STACK: usize = 64 << 20;

/// A loaded program as crate `control` takes it.
pub struct Program {
    pub loaded: Arc<Loaded>,
    pub p4info: P4Info,
}

/// Compiles a device config: the text of a program, preprocessed or including nothing but the standard files. The
/// error is the compiler's own text.
pub fn load(text: &str, kind: BackendKind) -> Result<Program, String> {
    let options = Options::default();
    with_deep_stack(|| {
        let compiled = compiler::compile_text("program", text, &options).map_err(|failure| failure.to_string())?;
        program(compiled, kind)
    })
}

/// Makes a compiled program ready to run.
pub fn program(compiled: Compiled, kind: BackendKind) -> Result<Program, String> {
    let p4info = p4info::p4info(&compiled);
    Ok(Program { loaded: Arc::new(Loaded::new(Arc::new(compiled.program), kind)?), p4info })
}

/// Runs `work` where nesting does not overflow the stack.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(COMPILER_STACK).spawn_scoped(scope, work);
        match thread.expect("a thread can be started").join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

impl control::Loaded for Program {
    fn device(&self) -> &Device {
        &self.loaded.device
    }

    fn replication(&self) -> &dyn control::Replication {
        self
    }
}

impl control::Replication for Program {
    fn set_group(&self, id: u16, replicas: &[control::Replica]) -> Result<(), String> {
        self.loaded.replication.set_group(id, replicas.iter().map(choices).collect());
        Ok(())
    }

    fn remove_group(&self, id: u16) {
        self.loaded.replication.remove_group(id);
    }

    fn set_session(&self, id: u16, session: &CloneSession) -> Result<(), String> {
        let session = pipeline::CloneSession {
            copies: session.replicas.iter().map(choices).collect(),
            group: None,
            class_of_service: session.class_of_service,
            truncate: session.truncate,
        };
        self.loaded.replication.set_session(id, session);
        Ok(())
    }

    fn remove_session(&self, id: u16) {
        self.loaded.replication.remove_session(id);
    }
}

fn choices(replica: &control::Replica) -> Choices {
    let first = pipeline::Replica { port: replica.port, instance: replica.instance };
    let backups =
        replica.backups.iter().map(|backup| pipeline::Replica { port: backup.port, instance: backup.instance });
    std::iter::once(first).chain(backups).collect()
}
