//! P4Runtime inserts per second: a client of the service, over gRPC on the loopback, in batches.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use bench::measure::{Effort, Spread, short};
use control::{Loaded, Replication};
use listen::Listener;
use pipeline::BackendKind;
use proto::p4::config::v1::P4Info;
use proto::p4::v1::update::Type;
use runtime::Device;

use crate::client::{BATCH, Client};
use crate::packets::routes;

const ENTRIES: usize = 50_000;
const DESCRIPTORS: u64 = 1024;

pub fn run(programs: &Path, effort: Effort) -> Result<()> {
    let text = std::fs::read_to_string(programs.join("routing.p4")).context("routing.p4")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async move {
        let target = Target { program: loader::load(&text, BackendKind::Jit).map_err(|error| anyhow!(error))? };
        let p4info = target.program.p4info.clone().context("a program's text has a P4Info")?;
        let hub = service::Hub::new(1, Arc::new(target), Arc::default());
        let address = "127.0.0.1:0".parse().map_err(|error: String| anyhow!(error))?;
        let listener = Listener::bind(&address, "", service::limits(DESCRIPTORS, false)).await?;
        let address = listener.address().to_string();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let server = tokio::spawn(service::serve(hub, listener, None, async {
            // Dropping the sender stops the server too.
            let _ = stopped.await;
        }));
        let mut client = Client::connect(&format!("http://{address}"), p4info, &text).await?;
        let mut rates = vec![];
        for draw in 0..effort.draws {
            let routes = routes(ENTRIES, &mut effort.numbers(draw));
            let start = Instant::now();
            client.write(Type::Insert, &routes).await?;
            rates.push(routes.len() as f64 / start.elapsed().as_secs_f64());
            client.write(Type::Delete, &routes).await?;
        }
        println!("P4Runtime inserts over gRPC, {ENTRIES} prefixes in batches of {BATCH}");
        let rate = Spread::of(&rates);
        println!("  {:>10}inserts/s ({})", short(rate.median), rate.around(short));
        drop(client);
        let _ = stop.send(());
        server.await?.context("the service")
    })
}

/// A switch that knows one program and never forwards.
struct Target {
    program: loader::Program,
}

impl service::Target for Target {
    fn load(&self, text: &str) -> Result<Arc<dyn service::Program>, String> {
        Ok(Arc::new(Program(loader::load(text, BackendKind::Jit)?)))
    }
    fn packet_out(&self, _packet: Vec<u8>) -> Result<(), String> {
        Err("there is no CPU port".into())
    }
    fn now(&self) -> u64 {
        0
    }
    fn since_epoch(&self) -> u64 {
        0
    }
}

struct Program(loader::Program);

impl Loaded for Program {
    fn device(&self) -> &Device {
        self.0.device()
    }
    fn replication(&self) -> &dyn Replication {
        self.0.replication()
    }

    fn has_port(&self, port: u32) -> bool {
        self.0.has_port(port)
    }

    fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        work();
        true
    }
}

impl service::Program for Program {
    fn p4info(&self) -> Option<&P4Info> {
        self.0.p4info.as_ref()
    }
    fn commit(self: Arc<Self>) {}
}
