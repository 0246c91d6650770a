//! The switch as the P4Runtime service sees it.

use std::collections::BTreeSet;
use std::sync::Arc;

use control::{Checks, Loaded, Replication};
use kernel_flow_cache::Pause;
use pipeline::{BackendKind, Switch};
use proto::p4::config::v1::P4Info;
use runtime::Device;
use trace::{Request, Watch, Watches};
use tracing::info;

use crate::clock::Clock;
use crate::handle::Handle;

pub struct Target {
    pub switch: Arc<Switch>,
    pub handle: Arc<Handle>,
    pub clock: Clock,
    pub checks: Checks,
    pub backend: BackendKind,
    /// Numbers of all ports, the CPU port among them; `None` where a controller may name others.
    pub ports: Option<Arc<BTreeSet<u32>>>,
    /// That forward.
    pub threads: usize,
    pub watches: Arc<Watches>,
}

impl service::Target for Target {
    fn load(&self, text: &str) -> Result<Arc<dyn service::Program>, String> {
        let program = loader::load(text, self.backend)?;
        if self.threads > 1 {
            program.loaded.device.serve_threads();
            if let Some(note) = take_turns(&program.loaded.program) {
                info!("{note}");
            }
        }
        Ok(Arc::new(Program {
            program,
            switch: self.switch.clone(),
            handle: self.handle.clone(),
            clock: self.clock,
            ports: self.ports.clone(),
            watches: self.watches.clone(),
        }))
    }

    fn packet_out(&self, packet: Vec<u8>) -> Result<(), String> {
        self.handle.packet_out(packet)
    }

    fn watch(&self, request: Request) -> Result<Watch, String> {
        // Here and not where packets wait for it.
        if let Some(loaded) = self.switch.loaded() {
            loaded.tracer();
        }
        self.handle.pause_while(true, Pause::Watched, || self.watches.watch(request))
    }

    fn checks(&self) -> Checks {
        self.checks
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn since_epoch(&self) -> u64 {
        self.clock.since_epoch()
    }
}

/// Registers that are named; an edge's program has sixty.
const NAMED: usize = 5;

/// What several threads cannot do side by side, for people; none if there is nothing.
pub fn take_turns(program: &ir::Program) -> Option<String> {
    let registers = runtime::registers_written_by_packets(program);
    let name = |register: &_| program.registers[*register].name.as_str();
    let names: Vec<&str> = registers.iter().take(NAMED).map(name).collect();
    let more = registers.len() - names.len();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!names.is_empty())
        .then(|| format!("with --threads, packets that use these registers take turns: {}{rest}", names.join(", ")))
}

/// A program that this switch compiled.
struct Program {
    program: loader::Program,
    switch: Arc<Switch>,
    handle: Arc<Handle>,
    clock: Clock,
    ports: Option<Arc<BTreeSet<u32>>>,
    watches: Arc<Watches>,
}

impl Loaded for Program {
    fn device(&self) -> &Device {
        self.program.device()
    }

    fn replication(&self) -> &dyn Replication {
        self.program.replication()
    }

    fn has_port(&self, port: u32) -> bool {
        self.ports.as_ref().is_none_or(|ports| ports.contains(&port))
    }

    fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        self.program.between_packets(work)
    }

    fn collect_counts(&self) {
        if let Some(kernel) = self.handle.kernel() {
            kernel.collect(self.clock.now());
        }
    }
}

impl service::Program for Program {
    fn p4info(&self) -> Option<&P4Info> {
        self.program.p4info.as_ref()
    }

    fn commit(self: Arc<Self>) {
        if self.watches.any() {
            self.program.loaded.tracer();
        }
        let load = || self.switch.load(Some(self.program.loaded.clone()));
        self.handle.pause_while(true, Pause::Program, load);
        self.handle.wake();
        info!("packets run through the new program");
    }
}
