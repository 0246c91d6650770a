//! A switch without a data plane, served on the loopback, and controllers that talk to it.

#[allow(dead_code, reason = "the tests of `control` need more of it")]
#[path = "../../../../control/tests/control/common/mod.rs"]
pub mod plant;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use control::{Loaded, Replication};
use listen::{Address, Listener};
use plant::{Copies, Plant};
use proto::p4::config::v1::P4Info;
use proto::p4::v1;
use proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use proto::p4::v1::stream_message_request::Update as Request;
use proto::p4::v1::stream_message_response::Update as Response;
use runtime::Device;
use service::{Clients, Hub, Program, Target, Tls};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;

pub const DEVICE: u64 = 1;

/// The switch: any text is the program of the fixture, except one that starts with "broken". A text that starts with
/// "small" makes its exact table hold two entries only.
pub struct FakeSwitch {
    pub clock: AtomicU64,
    pub sent: Mutex<Vec<Vec<u8>>>,
    pub committed: Mutex<Vec<String>>,
    this: std::sync::Weak<Self>,
}

pub struct FakeProgram {
    text: String,
    plant: Plant,
    p4info: P4Info,
    switch: Arc<FakeSwitch>,
}

impl FakeSwitch {
    pub fn new() -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            clock: AtomicU64::new(plant::NOW),
            sent: Mutex::default(),
            committed: Mutex::default(),
            this: this.clone(),
        })
    }

    pub fn pass(&self, nanoseconds: u64) {
        self.clock.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl Target for FakeSwitch {
    fn load(&self, text: &str) -> Result<Arc<dyn Program>, String> {
        if text.starts_with("broken") {
            return Err("main.p4:1:1: error: expected a declaration".into());
        }
        let mut program = plant::program();
        if text.starts_with("small") {
            let exact = program.tables.keys().next().unwrap();
            program.tables[exact].size = 2;
        }
        let plant = Plant { device: Device::new(Arc::new(program)).unwrap(), copies: Copies::default() };
        let switch = self.this.upgrade().unwrap();
        Ok(Arc::new(FakeProgram { text: text.to_owned(), plant, p4info: plant::p4info(), switch }))
    }

    fn packet_out(&self, packet: Vec<u8>) -> Result<(), String> {
        self.sent.lock().unwrap().push(packet);
        Ok(())
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    fn since_epoch(&self) -> u64 {
        1_700_000_000_000_000_000
    }
}

impl Loaded for FakeProgram {
    fn device(&self) -> &Device {
        &self.plant.device
    }

    fn replication(&self) -> &dyn Replication {
        &self.plant.copies
    }

    fn has_port(&self, port: u32) -> bool {
        self.plant.has_port(port)
    }

    fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        work();
        true
    }
}

impl Program for FakeProgram {
    fn p4info(&self) -> Option<&P4Info> {
        Some(&self.p4info)
    }

    fn commit(self: Arc<Self>) {
        self.switch.committed.lock().unwrap().push(self.text.clone());
    }
}

/// The service on a free port of the loopback.
pub struct Served {
    pub switch: Arc<FakeSwitch>,
    pub hub: Arc<Hub>,
    pub port: u16,
    pub stop: Option<oneshot::Sender<()>>,
    pub served: tokio::task::JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Served {
    pub async fn new() -> Self {
        Self::with_tls(None, Clients::default()).await
    }

    pub async fn with_tls(tls: Option<Tls>, clients: Clients) -> Self {
        let switch = FakeSwitch::new();
        let hub = Hub::new(DEVICE, switch.clone(), Arc::new(clients));
        let address = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(&address, "", service::limits(1024, tls.is_some())).await.unwrap();
        let Address::Tcp(address) = listener.address() else { unreachable!() };
        let port = address.port();
        let (stop, stopped) = oneshot::channel();
        let stopped = async { stopped.await.unwrap_or(()) };
        let served = tokio::spawn(service::serve(hub.clone(), listener, tls, stopped));
        Self { switch, hub, port, stop: Some(stop), served }
    }

    pub async fn client(&self) -> P4RuntimeClient<Channel> {
        let client = P4RuntimeClient::connect(format!("http://127.0.0.1:{}", self.port)).await.unwrap();
        client.max_decoding_message_size(4 << 20)
    }

    /// A controller that has bid and knows the answer's code.
    pub async fn controller(&self, election: u64) -> Controller {
        let mut controller = self.stream().await;
        controller.bid(v1::MasterArbitrationUpdate { election_id: id(election), ..bid() }).await;
        controller
    }

    pub async fn stream(&self) -> Controller {
        let mut client = self.client().await;
        let (requests, receiver) = mpsc::channel(16);
        let answers = client.stream_channel(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        Controller { client, requests, answers, election: None }
    }

    /// The primary, with the fixture's program running.
    pub async fn ready(&self) -> Controller {
        let mut controller = self.controller(10).await;
        assert_eq!(controller.arbitration().await.0, 0);
        controller.set_config(Action::VerifyAndCommit, Some(config("program"))).await.unwrap();
        controller
    }
}

pub struct Controller {
    pub client: P4RuntimeClient<Channel>,
    pub requests: mpsc::Sender<v1::StreamMessageRequest>,
    pub answers: Streaming<v1::StreamMessageResponse>,
    pub election: Option<v1::Uint128>,
}

impl Controller {
    pub async fn send(&mut self, update: Request) {
        self.requests.send(v1::StreamMessageRequest { update: Some(update) }).await.unwrap();
    }

    pub async fn bid(&mut self, update: v1::MasterArbitrationUpdate) {
        self.election = update.election_id;
        self.send(Request::Arbitration(update)).await;
    }

    pub async fn next(&mut self) -> Response {
        self.answers.message().await.unwrap().expect("a message").update.unwrap()
    }

    /// The code and election id of the next message, which must be about arbitration.
    pub async fn arbitration(&mut self) -> (i32, Option<u64>) {
        match self.next().await {
            Response::Arbitration(update) => (update.status.unwrap().code, update.election_id.map(|id| id.low)),
            other => panic!("{other:?}"),
        }
    }

    pub async fn set_config(
        &mut self,
        action: Action,
        config: Option<v1::ForwardingPipelineConfig>,
    ) -> Result<(), tonic::Status> {
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            election_id: self.election,
            action: action as i32,
            config,
            ..Default::default()
        };
        self.client.set_forwarding_pipeline_config(request).await.map(drop)
    }

    pub async fn write(&mut self, updates: Vec<v1::Update>) -> Result<(), tonic::Status> {
        let request = v1::WriteRequest { device_id: DEVICE, election_id: self.election, updates, ..Default::default() };
        self.client.write(request).await.map(drop)
    }

    /// All messages of a read, or the error at its end.
    pub async fn read(&mut self, entities: Vec<v1::Entity>) -> (Vec<v1::ReadResponse>, Option<tonic::Status>) {
        let request = v1::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
        let mut stream = match self.client.read(request).await {
            Ok(stream) => stream.into_inner(),
            Err(status) => return (Vec::new(), Some(status)),
        };
        let mut messages = Vec::new();
        loop {
            match stream.message().await {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => return (messages, None),
                Err(status) => return (messages, Some(status)),
            }
        }
    }
}

pub fn id(low: u64) -> Option<v1::Uint128> {
    Some(v1::Uint128 { high: 0, low })
}

pub fn bid() -> v1::MasterArbitrationUpdate {
    v1::MasterArbitrationUpdate { device_id: DEVICE, ..Default::default() }
}

pub fn config(text: &str) -> v1::ForwardingPipelineConfig {
    v1::ForwardingPipelineConfig {
        p4info: Some(plant::p4info()),
        p4_device_config: text.as_bytes().to_vec(),
        cookie: Some(v1::forwarding_pipeline_config::Cookie { cookie: 42 }),
    }
}
