//! What controllers send on their streams (spec "P4Runtime Stream Messages").

use std::sync::Arc;

use control::{Code, Status};
use proto::p4::v1::stream_error::Details;
use proto::p4::v1::stream_message_request::Update;
use proto::p4::v1::{
    DigestListAck, DigestListAckError, PacketOut, PacketOutError, StreamError, StreamMessageRequest, StreamOtherError,
};
use tokio_stream::{Stream, StreamExt};
use tracing::info;

use crate::arbiter::ClientId;
use crate::clients::Who;
use crate::hub::Hub;
use crate::outbox::Gone;

/// Reads a controller's stream until either side ends it.
pub async fn read(
    hub: Arc<Hub>,
    client: ClientId,
    who: Who,
    gone: Gone,
    mut messages: impl Stream<Item = Result<StreamMessageRequest, tonic::Status>> + Unpin,
) {
    let mut error = None;
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = gone.wait() => break,
        };
        let update = match message {
            Some(Ok(message)) => message.update,
            Some(Err(status)) => {
                info!(stream = client.0, "stream broke: {}", status.message());
                break;
            }
            None => break,
        };
        match update {
            Some(Update::Arbitration(update)) => {
                // Writes that were let in end before the primary changes.
                let gate = hub.gate.lock().await;
                let answer = hub.bid(client, &who, &update);
                drop(gate);
                if let Err(status) = answer {
                    error = Some(status);
                    break;
                }
            }
            Some(Update::Packet(packet)) => packet_out(&hub, client, packet),
            Some(Update::DigestAck(ack)) => digest_ack(&hub, client, ack),
            Some(Update::Other(other)) => {
                let details = Details::Other(StreamOtherError { other: Some(other) });
                refuse(&hub, client, Status::unimplemented("messages in `other`; v1model has none"), details);
            }
            None => {
                let details = Details::Other(StreamOtherError { other: None });
                refuse(&hub, client, Status::invalid("the message has no update"), details);
            }
        }
    }
    info!(stream = client.0, "controller left");
    drop(gone);
    hub.close_stream(client, error);
}

fn packet_out(hub: &Hub, client: ClientId, packet: PacketOut) {
    let sent = only_primary(hub, client, "send packets").and_then(|()| {
        let running = hub.pipeline.running();
        let installed = running.ok_or_else(|| {
            Status::new(Code::FailedPrecondition, "no forwarding pipeline config is set; the packet is dropped")
        })?;
        let bytes = installed.control.packet_out(&packet)?;
        hub.target.packet_out(bytes).map_err(|error| Status::new(Code::FailedPrecondition, error))
    });
    if let Err(status) = sent {
        refuse(hub, client, status, Details::PacketOut(PacketOutError { packet_out: Some(packet) }));
    }
}

fn digest_ack(hub: &Hub, client: ClientId, ack: DigestListAck) {
    let taken = only_primary(hub, client, "acknowledge digests")
        .and_then(|()| hub.pipeline.running().map_or(Ok(()), |installed| installed.control.acknowledge(&ack)));
    if let Err(status) = taken {
        refuse(hub, client, status, Details::DigestListAck(DigestListAckError { digest_list_ack: Some(ack) }));
    }
}

fn only_primary(hub: &Hub, client: ClientId, what: &str) -> Result<(), Status> {
    match hub.streams().arbiter.access_of(client) {
        Some(_) => Ok(()),
        None => Err(Status::denied(format!("not primary: only the primary may {what}"))),
    }
}

fn refuse(hub: &Hub, client: ClientId, status: Status, details: Details) {
    let error = StreamError {
        canonical_code: status.code as i32,
        message: status.message,
        details: Some(details),
        ..Default::default()
    };
    hub.stream_error(client, error);
}
