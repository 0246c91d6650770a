//! From a device config to what packets run through and what the control plane sees.

use std::sync::Arc;
use std::time::Duration;

use compiler::{Compiled, Options};
use control::CloneSession;
use pipeline::{BackendKind, Choices, Loaded};
use proto::p4::config::v1::P4Info;
use runtime::Device;

/// How long a batch waits for packets to come to rest. They leave as soon as a batch waits, so only a switch that stands
/// still lets it pass.
const PATIENCE: Duration = Duration::from_secs(5);

/// A loaded program as crate `control` takes it.
pub struct Program {
    pub loaded: Arc<Loaded>,
    /// Nothing of BMv2 JSON, which does not say it.
    pub p4info: Option<P4Info>,
}

/// Loads a device config: p4c's BMv2 JSON, or the text of a program, preprocessed or including nothing but the standard
/// files. The error is the compiler's own text.
pub fn load(text: &str, kind: BackendKind) -> Result<Program, String> {
    if bmv2_json::is_document(text) {
        let program = bmv2_json::program(text).map_err(|error| format!("BMv2 JSON: {error}"))?;
        return Ok(Program { loaded: Arc::new(Loaded::new(Arc::new(program), kind)?), p4info: None });
    }
    let compiled =
        compiler::compile_text("program", text, &Options::default()).map_err(|failure| failure.to_string())?;
    program(compiled, kind)
}

/// Makes a compiled program ready to run.
pub fn program(compiled: Compiled, kind: BackendKind) -> Result<Program, String> {
    let p4info = Some(p4info::p4info(&compiled).map_err(|failure| failure.to_string())?);
    Ok(Program { loaded: Arc::new(Loaded::new(Arc::new(compiled.program), kind)?), p4info })
}

impl Program {
    /// The same program and code with fresh state.
    pub fn fresh(&self) -> Result<Self, String> {
        Ok(Self { loaded: Arc::new(self.loaded.fresh()?), p4info: self.p4info.clone() })
    }
}

impl control::Loaded for Program {
    fn device(&self) -> &Device {
        &self.loaded.device
    }

    fn replication(&self) -> &dyn control::Replication {
        self
    }

    fn has_port(&self, port: u32) -> bool {
        // Whoever runs it in process names ports as it likes.
        port < pipeline::DROP_PORT
    }

    fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        self.loaded.gate.between_packets(PATIENCE, work)
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
