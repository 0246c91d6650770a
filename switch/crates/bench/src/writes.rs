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
use proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action as ConfigAction;
use proto::p4::v1::update::Type;
use proto::p4::v1::{self, Uint128, entity, field_match, stream_message_request, table_action};
use runtime::Device;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use crate::packets::{Route, routes};

const ENTRIES: usize = 50_000;
const BATCH: usize = 1000;
const DESCRIPTORS: u64 = 1024;
const ELECTION: Uint128 = Uint128 { high: 0, low: 1 };

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

struct Client {
    rpc: P4RuntimeClient<Channel>,
    /// The stream lives as long as this.
    _stream: tokio::sync::mpsc::Sender<v1::StreamMessageRequest>,
    table: u32,
    action: u32,
}

impl Client {
    async fn connect(address: &str, p4info: P4Info, text: &str) -> Result<Self> {
        let mut rpc = P4RuntimeClient::connect(address.to_string()).await?.max_encoding_message_size(64 << 20);
        let (stream, requests) = tokio::sync::mpsc::channel(4);
        let arbitration =
            v1::MasterArbitrationUpdate { device_id: 1, election_id: Some(ELECTION), ..Default::default() };
        let update = Some(stream_message_request::Update::Arbitration(arbitration));
        stream.send(v1::StreamMessageRequest { update }).await?;
        let mut responses = rpc.stream_channel(ReceiverStream::new(requests)).await?.into_inner();
        responses.message().await?.context("no answer to the bid for primary")?;
        let name = |preamble: &Option<proto::p4::config::v1::Preamble>| preamble.clone().unwrap_or_default();
        let table = p4info.tables.first().map(|table| name(&table.preamble).id).context("no table")?;
        let action = p4info.actions.iter().map(|action| name(&action.preamble));
        let action = action.into_iter().find(|action| action.alias == "forward").context("no action forward")?.id;
        rpc.set_forwarding_pipeline_config(v1::SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id: Some(ELECTION),
            action: ConfigAction::VerifyAndCommit as i32,
            config: Some(v1::ForwardingPipelineConfig {
                p4info: Some(p4info),
                p4_device_config: text.as_bytes().to_vec(),
                cookie: None,
            }),
            ..Default::default()
        })
        .await?;
        Ok(Self { rpc, _stream: stream, table, action })
    }

    async fn write(&mut self, kind: Type, routes: &[Route]) -> Result<()> {
        for batch in routes.chunks(BATCH) {
            let updates = batch.iter().map(|route| self.update(kind, route)).collect();
            let request = v1::WriteRequest { device_id: 1, election_id: Some(ELECTION), updates, ..Default::default() };
            self.rpc.write(request).await?;
        }
        Ok(())
    }

    fn update(&self, kind: Type, route: &Route) -> v1::Update {
        let lpm = field_match::Lpm { value: short_bytes(&route.prefix.to_be_bytes()), prefix_len: route.length as i32 };
        let param = |param_id, value: &[u8]| v1::action::Param { param_id, value: short_bytes(value) };
        let action = v1::Action {
            action_id: self.action,
            params: vec![param(1, &route.port.to_be_bytes()), param(2, &route.source), param(3, &route.destination)],
        };
        let entry = v1::TableEntry {
            table_id: self.table,
            r#match: vec![v1::FieldMatch {
                field_id: 1,
                field_match_type: Some(field_match::FieldMatchType::Lpm(lpm)),
            }],
            action: Some(v1::TableAction { r#type: Some(table_action::Type::Action(action)) }),
            ..Default::default()
        };
        let entity = v1::Entity { entity: Some(entity::Entity::TableEntry(entry)) };
        v1::Update { r#type: kind as i32, entity: Some(entity) }
    }
}

/// The canonical form: no leading zero bytes.
fn short_bytes(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(bytes.len() - 1);
    bytes[zeros..].to_vec()
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
