//! From a device config to what packets run through and what the control plane sees.
//!
//! A switch inside another program: it compiles P4, writes an entry as a controller would, and sends a packet through.
//!
//! ```
//! use std::sync::Arc;
//!
//! use control::{Control, Scope};
//! use pipeline::{BackendKind, Engine, Message, Sink, Traffic};
//! use proto::p4::v1::{self, entity::Entity, field_match, table_action, update};
//!
//! const PROGRAM: &str = r#"
//! #include <core.p4>
//! #include <v1model.p4>
//! header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
//! struct headers { ethernet_t ethernet; }
//! struct metadata {}
//! parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
//!     state start { p.extract(h.ethernet); transition accept; }
//! }
//! control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
//!     action forward(bit<9> port) { s.egress_spec = port; }
//!     action drop() { mark_to_drop(s); }
//!     table by_dst { key = { h.ethernet.dst: exact; } actions = { forward; drop; } default_action = drop(); }
//!     apply { by_dst.apply(); }
//! }
//! control D(packet_out p, in headers h) { apply { p.emit(h.ethernet); } }
//! control C(inout headers h, inout metadata m) { apply {} }
//! control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply {} }
//! V1Switch(P(), C(), I(), E(), C(), D()) main;
//! "#;
//!
//! #[derive(Default)]
//! struct Sent(Vec<(u32, Vec<u8>)>);
//!
//! impl Sink for Sent {
//!     fn transmit(&mut self, port: u32, packet: &[u8], _at: u64) {
//!         self.0.push((port, packet.to_vec()));
//!     }
//!     fn message(&mut self, _digest_or_log: Message) {}
//! }
//!
//! let program = Arc::new(loader::load(PROGRAM, BackendKind::Jit)?);
//! let p4info = program.p4info.clone().ok_or("only BMv2 JSON has no P4Info")?;
//! let id = |preamble: &Option<proto::p4::config::v1::Preamble>| preamble.as_ref().map_or(0, |preamble| preamble.id);
//! let forward = v1::Action {
//!     action_id: id(&p4info.actions[0].preamble),
//!     params: vec![v1::action::Param { param_id: 1, value: vec![2] }],
//! };
//! let dst = field_match::FieldMatchType::Exact(field_match::Exact { value: vec![2, 0, 0, 0, 0, 2] });
//! let entry = v1::TableEntry {
//!     table_id: id(&p4info.tables[0].preamble),
//!     r#match: vec![v1::FieldMatch { field_id: 1, field_match_type: Some(dst) }],
//!     action: Some(v1::TableAction { r#type: Some(table_action::Type::Action(forward)) }),
//!     ..Default::default()
//! };
//! let entity = Some(v1::Entity { entity: Some(Entity::TableEntry(entry)) });
//! let control = Control::new(p4info, program.clone()).map_err(|status| status.message)?;
//! let insert = v1::Update { r#type: update::Type::Insert as i32, entity };
//! let statuses = control.write(&[insert], 0, &Scope::All, 0).map_err(|status| status.message)?;
//! assert!(statuses[0].is_ok(), "{}", statuses[0].message);
//!
//! let packet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
//! let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
//! let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
//! engine.receive(1, &packet, 0, &mut sent);
//! engine.flush(&mut sent);
//! assert_eq!(sent.0, [(2, packet.to_vec())]);
//! # Ok::<(), String>(())
//! ```

use std::sync::Arc;
use std::time::Duration;

use compiler::{Compiled, Options};
use control::CloneSession;
use pipeline::{BackendKind, Choices, Loaded};
use proto::p4::config::v1::P4Info;
use runtime::{Device, Externs};

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
    load_with(text, kind, Arc::default())
}

/// The same for a program that calls externs of one's own ([`runtime::Externs`]).
pub fn load_with(text: &str, kind: BackendKind, externs: Arc<Externs>) -> Result<Program, String> {
    if bmv2_json::is_document(text) {
        let program = bmv2_json::program(text).map_err(|error| format!("BMv2 JSON: {error}"))?;
        return Ok(Program { loaded: Arc::new(Loaded::new(Arc::new(program), kind)?), p4info: None });
    }
    let compiled =
        compiler::compile_text("program", text, &Options::default()).map_err(|failure| failure.to_string())?;
    program_with(compiled, kind, externs)
}

/// Makes a compiled program ready to run.
pub fn program(compiled: Compiled, kind: BackendKind) -> Result<Program, String> {
    program_with(compiled, kind, Arc::default())
}

fn program_with(compiled: Compiled, kind: BackendKind, externs: Arc<Externs>) -> Result<Program, String> {
    let p4info = Some(p4info::p4info(&compiled).map_err(|failure| failure.to_string())?);
    let loaded = Loaded::with_externs(Arc::new(compiled.program), kind, externs)?;
    Ok(Program { loaded: Arc::new(loaded), p4info })
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
        self.loaded.program.psa.is_some() || port < pipeline::DROP_PORT
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
