//! The calls of the P4Runtime service.

use std::pin::Pin;
use std::sync::Arc;

use control::{Scope, Status};
use listen::Caller;
use prost::Message;
use proto::p4::v1::p4_runtime_server::P4Runtime;
use proto::p4::v1::{
    CapabilitiesRequest, CapabilitiesResponse, Entity, GetForwardingPipelineConfigRequest,
    GetForwardingPipelineConfigResponse, ReadRequest, ReadResponse, SetForwardingPipelineConfigRequest,
    SetForwardingPipelineConfigResponse, StreamMessageRequest, WriteRequest, WriteResponse,
};
use tokio_stream::Stream;
use tonic::{Request, Response, Streaming};
use tracing::{debug, info, warn};

use crate::arbiter::role_name;
use crate::clients::{AUDIT, Right};
use crate::hub::Hub;
use crate::outbox::OutboxStream;
use crate::reply;
use crate::stream;

/// The version of P4Runtime whose messages and rules these are.
const API_VERSION: &str = "1.5.0";

/// Clients take 4 MiB in one message by default; reads come in smaller ones.
const READ_MESSAGE: usize = 1 << 20;

/// The calls on a [`Hub`].
#[derive(Clone)]
pub struct Rpc(pub Arc<Hub>);

#[tonic::async_trait]
impl P4Runtime for Rpc {
    #[allow(deprecated)] // Clients before version 1.4 send `role_id`.
    async fn write(&self, request: Request<WriteRequest>) -> Result<Response<WriteResponse>, tonic::Status> {
        let who = self.0.clients.admit(&request, "Write", Right::Operate)?;
        let request = request.into_inner();
        let hub = self.0.clone();
        let gate = hub.enter().await?;
        let role = role_name(&request.role, request.role_id);
        let access = hub.streams().arbiter.authorize(request.device_id, &role, request.election_id).cloned();
        let scope = access.map_err(refused("Write"))?.scope;
        let installed = hub.pipeline.current().map_err(refused("Write"))?;
        let statuses = blocking(move || {
            let _gate = gate;
            let statuses = installed.control.write(&request.updates, request.atomicity, &scope, hub.target.now())?;
            hub.keep_written(&installed, request.updates, &statuses);
            Ok(statuses)
        })
        .await?
        .map_err(refused("Write"))?;
        let answer = reply::batch("updates", &statuses);
        match &answer {
            Ok(()) => debug!(target: AUDIT, client = who.name, from = who.from, updates = statuses.len(), "Write done"),
            // Not the text, which quotes keys of entries: what a stranger must not know may be among them.
            Err(_) => {
                let mut refused = statuses.iter().filter(|status| !status.is_ok()).map(|status| status.code);
                let first = refused.next().map(|code| code.as_str_name());
                info!(target: AUDIT, client = who.name, updates = statuses.len(), first, more = refused.count(), "Write refused");
            }
        }
        answer.map(|()| Response::new(WriteResponse {}))
    }

    type ReadStream = Pin<Box<dyn Stream<Item = Result<ReadResponse, tonic::Status>> + Send>>;

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<Self::ReadStream>, tonic::Status> {
        let who = self.0.clients.admit(&request, "Read", Right::Read)?;
        let request = request.into_inner();
        let hub = self.0.clone();
        let turn = hub.clients.turn_to_read(&who).await;
        let scope = if request.role.is_empty() {
            hub.streams().arbiter.is_device(request.device_id).map(|()| Scope::All)
        } else {
            hub.streams().arbiter.access(request.device_id, &request.role).map(|access| access.scope.clone())
        };
        let scope = scope.map_err(refused("Read"))?;
        let installed = hub.pipeline.current().map_err(refused("Read"))?;
        let reading = blocking(move || installed.control.read(&request.entities, &scope, hub.target.now())).await?;
        debug!(entities = reading.entities.len(), "Read done");
        let error = reply::batch("requests", &reading.statuses).err();
        let messages = messages(reading.entities).map(Ok).chain(error.map(Err)).inspect(move |_| {
            let _until_all_is_sent = &turn;
        });
        Ok(Response::new(Box::pin(tokio_stream::iter(messages))))
    }

    #[allow(deprecated)] // Clients before version 1.4 send `role_id`.
    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<SetForwardingPipelineConfigResponse>, tonic::Status> {
        let who = self.0.clients.admit(&request, "SetForwardingPipelineConfig", Right::Operate)?;
        let request = request.into_inner();
        let hub = self.0.clone();
        let refused = refused("SetForwardingPipelineConfig");
        let gate = hub.enter().await?;
        let role = role_name(&request.role, request.role_id);
        let access = hub.streams().arbiter.authorize(request.device_id, &role, request.election_id).cloned();
        if !access.map_err(refused)?.can_push_pipeline {
            return Err(refused(Status::denied(format!("role {role:?} may not set the pipeline"))));
        }
        let action = request.action();
        blocking(move || {
            let _gate = gate;
            hub.pipeline.set(&*hub.target, request.action, request.config)?;
            hub.keep_pipeline();
            Ok(())
        })
        .await?
        .map_err(refused)?;
        info!(target: AUDIT, client = who.name, from = who.from, "SetForwardingPipelineConfig {} done", action.as_str_name());
        Ok(Response::new(SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<GetForwardingPipelineConfigResponse>, tonic::Status> {
        self.0.clients.admit(&request, "GetForwardingPipelineConfig", Right::Read)?;
        let request = request.into_inner();
        self.0.streams().arbiter.is_device(request.device_id).map_err(refused("GetForwardingPipelineConfig"))?;
        let config = self.0.pipeline.get(request.response_type);
        Ok(Response::new(GetForwardingPipelineConfigResponse { config }))
    }

    type StreamChannelStream = OutboxStream;

    async fn stream_channel(
        &self,
        request: Request<Streaming<StreamMessageRequest>>,
    ) -> Result<Response<OutboxStream>, tonic::Status> {
        let who = self.0.clients.admit(&request, "StreamChannel", Right::Read)?;
        let (client, answers, gone) = self.0.open_stream(&who)?;
        // Connections without a stream have to leave when there are too many.
        let hold = request.extensions().get::<Caller>().map(Caller::hold);
        info!(target: AUDIT, stream = client.0, client = who.name, from = who.from, "controller connected");
        let hub = self.0.clone();
        tokio::spawn(async move {
            stream::read(hub, client, who, gone, request.into_inner()).await;
            drop(hold);
        });
        Ok(Response::new(answers))
    }

    async fn capabilities(
        &self,
        request: Request<CapabilitiesRequest>,
    ) -> Result<Response<CapabilitiesResponse>, tonic::Status> {
        self.0.clients.admit(&request, "Capabilities", Right::Read)?;
        let device_id = request.into_inner().device_id;
        if device_id != 0 {
            self.0.streams().arbiter.is_device(device_id).map_err(refused("Capabilities"))?;
        }
        Ok(Response::new(CapabilitiesResponse { p4runtime_api_version: API_VERSION.to_owned(), experimental: None }))
    }
}

/// Runs what may take long where it keeps no stream waiting.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, tonic::Status> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        warn!("a call failed inside the switch: {error}");
        tonic::Status::internal("the call failed inside the switch; its log says why")
    })
}

fn refused(call: &'static str) -> impl Fn(Status) -> tonic::Status + Copy {
    move |status| {
        info!("{call} refused: {}", status.message);
        reply::status(status)
    }
}

/// Cuts what was read into messages of a size that clients take.
fn messages(entities: Vec<Entity>) -> impl Iterator<Item = ReadResponse> {
    let mut entities = entities.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut size = 0;
        let mut message = ReadResponse::default();
        while let Some(entity) = entities.next_if(|_| size < READ_MESSAGE) {
            size += entity.encoded_len();
            message.entities.push(entity);
        }
        (!message.entities.is_empty()).then_some(message)
    })
}
