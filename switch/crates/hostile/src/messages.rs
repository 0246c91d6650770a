//! P4Runtime messages through the service.

use std::sync::Arc;

use prost::Message;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::stream_message_request::Update as Request;
use service::Hub;
use tokio::runtime::Runtime;
use tonic::Code;

use crate::calls::{Answer, Known, Stream, Switch, call, open};

pub const DEVICE: u64 = 1;
pub const ELECTION: v1::Uint128 = v1::Uint128 { high: 0, low: 1 };

/// The calls, by the first byte of a fuzzer's input.
pub const METHODS: [&str; 6] =
    ["Write", "Read", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig", "StreamChannel", "Capabilities"];

/// A service with a program and a controller that is its primary.
pub struct Served {
    runtime: Runtime,
    hub: Arc<Hub>,
    _primary: Stream,
}

impl Served {
    pub fn new(known: &Arc<Known>) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let hub = Hub::new(DEVICE, Arc::new(Switch::new(known.clone())), Arc::default());
        let config = v1::ForwardingPipelineConfig {
            p4_device_config: known.text.clone().into_bytes(),
            p4info: Some(known.p4info.clone()),
            cookie: None,
        };
        hub.start_with(config).map_err(|status| status.message)?;
        let bid = bid().encode_to_vec();
        let primary = runtime.block_on(open(&hub, &[&bid]));
        Ok(Self { runtime, hub, _primary: primary })
    }

    /// Calls the method that the first byte names with the rest. An error says which promise was broken.
    pub fn check(&self, input: &[u8]) -> Result<(), String> {
        let [method, message @ ..] = input else { return Ok(()) };
        match METHODS[usize::from(*method) % METHODS.len()] {
            "Write" => self.check_write(message),
            "StreamChannel" => self.call("StreamChannel", &parts(message)).map(drop),
            method => self.check_refusal(method, message),
        }
    }

    /// Each update alone, so that one that is refused must have changed nothing; then all together.
    fn check_write(&self, message: &[u8]) -> Result<(), String> {
        if let Ok(request) = v1::WriteRequest::decode(message)
            && request.updates.len() > 1
        {
            for update in &request.updates {
                let single = v1::WriteRequest { updates: vec![update.clone()], ..request.clone() };
                self.check_refusal("Write", &single.encode_to_vec())?;
            }
            self.call("Write", &[message])?;
            return Ok(());
        }
        self.check_refusal("Write", message)
    }

    fn check_refusal(&self, method: &str, message: &[u8]) -> Result<(), String> {
        let before = self.everything()?;
        let answer = self.call(method, &[message])?;
        if answer.status != Code::Ok && self.everything()? != before {
            return Err(format!("{method} was refused ({}) and changed something", answer.text));
        }
        Ok(())
    }

    /// Nothing may fail inside the switch.
    fn call(&self, method: &str, messages: &[&[u8]]) -> Result<Answer, String> {
        let answer = self.runtime.block_on(call(&self.hub, method, messages));
        match answer.status {
            Code::Internal if !answer.text.starts_with("failed to decode") => Err(format!("{method}: {}", answer.text)),
            _ => Ok(answer),
        }
    }

    /// All that can be read, and the pipeline.
    fn everything(&self) -> Result<Vec<Vec<u8>>, String> {
        let read = self.call("Read", &[&read_all().encode_to_vec()])?;
        if read.status != Code::Ok {
            return Err(format!("what was written cannot be read: {}", read.text));
        }
        let pipeline = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: 0 };
        let pipeline = self.call("GetForwardingPipelineConfig", &[&pipeline.encode_to_vec()])?;
        Ok([read.messages, pipeline.messages].concat())
    }
}

/// A service that meets many inputs one after the other: to begin one takes as long as many of them.
pub struct Lasting {
    known: Arc<Known>,
    served: Served,
    /// What came since the service began.
    inputs: Vec<Vec<u8>>,
}

impl Lasting {
    /// Inputs that meet what those before left. What is written makes everything that is read longer.
    const MOST: usize = 50;

    pub fn new(known: Arc<Known>) -> Result<Self, String> {
        let served = Served::new(&known)?;
        Ok(Self { known, served, inputs: vec![] })
    }

    /// Checks an input. An error says which promise was broken, and by which inputs to a service that began with them.
    pub fn check(&mut self, input: &[u8]) -> Result<(), String> {
        if self.inputs.len() >= Self::MOST {
            self.served = Served::new(&self.known)?;
            self.inputs.clear();
        }
        self.inputs.push(input.to_vec());
        let checked = self.served.check(input);
        checked.map_err(|problem| format!("{problem}\nall {} inputs: {:02x?}", self.inputs.len(), self.inputs))
    }
}

/// A stream's messages, each behind its length in two bytes.
fn parts(mut data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let [high, low, rest @ ..] = data {
        let (part, left) = rest.split_at(usize::from(u16::from_be_bytes([*high, *low])).min(rest.len()));
        parts.push(part);
        data = left;
    }
    parts
}

/// The bid of a controller.
pub fn bid() -> v1::StreamMessageRequest {
    let bid = v1::MasterArbitrationUpdate { device_id: DEVICE, election_id: Some(ELECTION), ..Default::default() };
    v1::StreamMessageRequest { update: Some(Request::Arbitration(bid)) }
}

/// A request for everything that the control plane can read.
pub fn read_all() -> v1::ReadRequest {
    let entries = v1::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    let entities = [
        Entity::TableEntry(entries),
        Entity::TableEntry(v1::TableEntry { is_default_action: true, ..Default::default() }),
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::CounterEntry(Default::default()),
        Entity::DirectCounterEntry(Default::default()),
        Entity::MeterEntry(Default::default()),
        Entity::DirectMeterEntry(Default::default()),
        Entity::RegisterEntry(Default::default()),
        Entity::ValueSetEntry(Default::default()),
        Entity::PacketReplicationEngineEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
    ];
    let entities = entities.map(|entity| v1::Entity { entity: Some(entity) }).to_vec();
    v1::ReadRequest { device_id: DEVICE, entities, ..Default::default() }
}
