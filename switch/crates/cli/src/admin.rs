//! What only this machine may ask of a running switch, on a Unix socket: its counters, carriers, and links to cut.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Path as InPath;
use axum::http::StatusCode;
use axum::routing::{get, put};
use listen::Listener;
use serde_json::json;
use service::{AUDIT, Hub};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::carriers::Shown;
use crate::handle::Handle;
use crate::metrics;

const LONGEST_ANSWER: Duration = Duration::from_secs(5);

/// Answers until it is aborted.
pub async fn serve(listener: Listener, handle: Arc<Handle>, hub: Arc<Hub>, shown: watch::Receiver<Shown>) {
    let router = metrics::router(handle.clone(), hub).merge(links(handle)).merge(carriers(shown));
    if let Err(error) = axum::serve(listener, router).await {
        warn!("administration is no longer served: {error}");
    }
}

/// `GET /carriers/CHANGES` answers as soon as that is no longer how often they changed, or after a while: by its number,
/// whether a TAP device's port shows Linux a carrier.
fn carriers(shown: watch::Receiver<Shown>) -> Router {
    let changed = move |InPath(known): InPath<u64>| {
        let mut shown = shown.clone();
        async move {
            let changed = async {
                if shown.wait_for(|shown| shown.changes != known).await.is_err() {
                    // There are none that could change.
                    std::future::pending::<()>().await;
                }
            };
            // Who is silent for longer is cut off.
            let _ = timeout(LONGEST_ANSWER, changed).await;
            let shown = shown.borrow();
            json!({"changes": shown.changes, "up": shown.up}).to_string()
        }
    };
    Router::new().route("/carriers/{known}", get(changed))
}

/// `PUT /ports/NUMBER/cut` cuts the port's link, `DELETE` mends it.
fn links(handle: Arc<Handle>) -> Router {
    let mending = handle.clone();
    let cut = move |InPath(port): InPath<u32>| async move { set_cut(&handle, port, true) };
    let mend = move |InPath(port): InPath<u32>| async move { set_cut(&mending, port, false) };
    Router::new().route("/ports/{port}/cut", put(cut).delete(mend))
}

fn set_cut(handle: &Handle, port: u32, cut: bool) -> (StatusCode, String) {
    if !handle.cut(port, cut) {
        return (StatusCode::NOT_FOUND, format!("there is no port {port}\n"));
    }
    info!(target: AUDIT, port, "link is {}", if cut { "cut" } else { "mended" });
    (StatusCode::NO_CONTENT, String::new())
}
