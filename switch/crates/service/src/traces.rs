//! The service of traces: packets of the running switch, step by step, for who asks.

use std::sync::Arc;

use listen::Caller;
use proto::trace::packet_traces_server::{PacketTraces, PacketTracesServer};
use proto::trace::{Form, WatchRequest, WatchResponse};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use trace::{Colour, Filter, Message, Watch};
use tracing::{info, warn};

use crate::clients::{AUDIT, Right};
use crate::hub::Hub;

/// Packets per second for who does not say.
const RATE: u32 = 10;

pub fn calls(hub: Arc<Hub>) -> PacketTracesServer<impl PacketTraces> {
    PacketTracesServer::new(Traces(hub))
}

struct Traces(Arc<Hub>);

type Answer = Result<WatchResponse, Status>;

#[tonic::async_trait]
impl PacketTraces for Traces {
    type WatchStream = ReceiverStream<Answer>;

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let who = self.0.clients.admit(&request, "Watch", Right::Capture)?;
        let caller = request.extensions().get::<Caller>().cloned();
        let request = request.into_inner();
        let form = request.form();
        let filter: Filter = request.filter.parse().map_err(Status::invalid_argument)?;
        let asked = |number: u32, default| if number == 0 { default } else { number };
        let (one_in, rate) = (asked(request.one_in, 1), asked(request.packets_per_second, RATE));
        info!(target: AUDIT, client = who.name, from = who.from, %filter, rate, "somebody watches packets");
        let what = trace::Request::new(filter, one_in, rate).map_err(Status::invalid_argument)?;
        let hub = self.0.clone();
        // The interpreter may have to be made first.
        let watch = tokio::task::spawn_blocking(move || hub.target.watch(what)).await.map_err(|error| {
            warn!("a call failed inside the switch: {error}");
            Status::internal("the call failed inside the switch; its log says why")
        })?;
        let watch = watch.map_err(Status::resource_exhausted)?;
        let (answers, stream) = mpsc::channel(1);
        let closed = self.0.closed.subscribe();
        tokio::spawn(async move {
            // Connections without a stream have to leave when there are too many.
            let _hold = caller.as_ref().map(Caller::hold);
            deliver(watch, form, answers, closed).await;
            info!("nobody watches those packets any more");
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }
}

/// Sends traces as they come, until the caller has gone or the switch stops.
async fn deliver(
    mut watch: Watch,
    form: Form,
    answers: mpsc::Sender<Answer>,
    mut closed: tokio::sync::watch::Receiver<bool>,
) {
    let mut answer: Answer = Ok(WatchResponse::default());
    loop {
        if answers.send(answer).await.is_err() {
            return;
        }
        answer = tokio::select! {
            message = watch.next() => match message {
                Some(message) => written(message, form),
                None => return,
            },
            () = answers.closed() => return,
            () = stopped(&mut closed) => {
                // Who is gone need not hear it.
                let _ = answers.send(Err(Status::unavailable("the switch stops"))).await;
                return;
            }
        };
    }
}

async fn stopped(closed: &mut tokio::sync::watch::Receiver<bool>) {
    // An error says that the switch has stopped already.
    let _ = closed.wait_for(|closed| *closed).await.map(drop);
}

fn written(message: Message, form: Form) -> Answer {
    let Message { trace, over_rate, no_room } = message;
    let trace = match form {
        Form::Text => trace::text(&trace, Colour::Never),
        Form::Json => serde_json::to_string(&trace).map_err(|error| Status::internal(error.to_string()))?,
    };
    Ok(WatchResponse { trace, over_rate, no_room })
}
