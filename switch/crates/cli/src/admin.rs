//! What only this machine may ask of a running switch, on a Unix socket: its counters, and links to cut.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path as InPath;
use axum::http::StatusCode;
use axum::routing::put;
use listen::Listener;
use service::{AUDIT, Hub};
use tracing::{info, warn};

use crate::forward::Handle;
use crate::metrics;

/// Answers until it is aborted.
pub async fn serve(listener: Listener, handle: Arc<Handle>, hub: Arc<Hub>) {
    let router = metrics::router(handle.clone(), hub).merge(links(handle));
    if let Err(error) = axum::serve(listener, router).await {
        warn!("administration is no longer served: {error}");
    }
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
