//! A P4Runtime client that writes routes.

use anyhow::{Context, Result};
use proto::p4::config::v1::P4Info;
use proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action as ConfigAction;
use proto::p4::v1::update::Type;
use proto::p4::v1::{self, Uint128, entity, field_match, stream_message_request, table_action};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use crate::packets::Route;

/// Entries in one request.
pub const BATCH: usize = 1000;
const ELECTION: Uint128 = Uint128 { high: 0, low: 1 };

/// The primary of a switch that has `routing.p4`.
pub struct Client {
    rpc: P4RuntimeClient<Channel>,
    /// The stream lives as long as this.
    _stream: tokio::sync::mpsc::Sender<v1::StreamMessageRequest>,
    table: u32,
    action: u32,
}

impl Client {
    /// Bids for primary, and gives the switch its program.
    pub async fn connect(address: &str, p4info: P4Info, text: &str) -> Result<Self> {
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

    pub async fn write(&mut self, kind: Type, routes: &[Route]) -> Result<()> {
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
