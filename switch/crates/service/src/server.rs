//! The gRPC server: listening, TLS, a clean stop.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use listen::{Limits, Listener, Rate};
use proto::p4::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tracing::{info, warn};

use crate::hub::Hub;
use crate::rpc::Rpc;
use crate::traces;

/// Room for a config of 64 MiB with its P4Info.
const MOST_MESSAGE: usize = 72 << 20;
/// How often digests and idle timeouts are looked after.
const TICK: Duration = Duration::from_millis(10);
/// How long calls under way may take after the stop.
const GRACE: Duration = Duration::from_secs(5);
/// A controller whose machine is gone is noticed after this long without an answer, and asked as often.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// So a connection on which nothing comes for longer is none of HTTP/2.
const IDLE: Duration = Duration::from_secs(40);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Calls of one connection under way, and octets of a call's headers.
const MOST_CALLS: u32 = 32;
const MOST_HEADERS: u32 = 16 << 10;
/// Calls that are reset before they are looked at, and those that are reset for a mistake, end the connection at this
/// number: a peer that asks and takes back costs more than it pays ("rapid reset", CVE-2023-44487).
const MOST_RESET: usize = 20;
const MOST_MISTAKEN: usize = 64;
/// Connections, if there are descriptors enough: one of four may be.
const MOST_CONNECTIONS: usize = 64;

/// Connections of one peer that begin TLS: each costs signatures.
const ARRIVALS: Rate = Rate { per_second: 20, at_once: 100 };

/// What a listener for [`serve`] has to let in, in a process that may have so many descriptors.
pub fn limits(descriptors: u64, tls: bool) -> Limits {
    let most = usize::try_from(descriptors / 4).map_or(MOST_CONNECTIONS, |most| most.min(MOST_CONNECTIONS));
    Limits { most, most_of_one: most.div_ceil(2), idle: IDLE, arrivals: tls.then_some(ARRIVALS) }
}

/// The files of TLS, in PEM. With `client_ca`, controllers must show a certificate that it signed (mTLS).
#[derive(Clone)]
pub struct Tls {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
    pub client_ca: Option<Vec<u8>>,
}

/// The calls as HTTP requests reach them, whatever these come by.
pub fn calls(hub: Arc<Hub>) -> P4RuntimeServer<impl P4Runtime> {
    P4RuntimeServer::new(Rpc(hub)).max_decoding_message_size(MOST_MESSAGE).max_encoding_message_size(MOST_MESSAGE)
}

/// Serves until `stop` resolves; then all streams end, and calls under way may finish.
pub async fn serve(
    hub: Arc<Hub>,
    listener: Listener,
    tls: Option<Tls>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), tonic::transport::Error> {
    let mut server = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .max_concurrent_streams(MOST_CALLS)
        .http2_max_header_list_size(MOST_HEADERS)
        .http2_max_pending_accept_reset_streams(Some(MOST_RESET))
        .http2_max_local_error_reset_streams(Some(MOST_MISTAKEN));
    let secured = match &tls {
        None => "without TLS",
        Some(Tls { client_ca: None, .. }) => "with TLS",
        Some(_) => "with TLS for known controllers only",
    };
    if let Some(tls) = tls {
        let mut config =
            ServerTlsConfig::new().identity(Identity::from_pem(tls.certificate, tls.key)).timeout(HANDSHAKE);
        if let Some(ca) = tls.client_ca {
            config = config.client_ca_root(Certificate::from_pem(ca));
        }
        server = server.tls_config(config)?;
    }
    info!("P4Runtime on {} {secured}", listener.address());

    let ticker = tokio::spawn(tick(hub.clone()));
    let service = calls(hub.clone());
    let traces = traces::calls(hub.clone());
    let (stopped, was_stopped) = tokio::sync::oneshot::channel();
    let stop = async move {
        stop.await;
        info!("P4Runtime stops");
        hub.close();
        // Only the wait below needs to know, and it may be over.
        let _ = stopped.send(());
    };
    let grace = async {
        match was_stopped.await {
            Ok(()) => tokio::time::sleep(GRACE).await,
            Err(_) => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        ended = server.add_service(service).add_service(traces).serve_with_incoming_shutdown(listener, stop) => ended,
        () = grace => {
            warn!("calls under way did not finish in time and were cut off");
            Ok(())
        }
    };
    ticker.abort();
    ended
}

async fn tick(hub: Arc<Hub>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        hub.tick();
    }
}
