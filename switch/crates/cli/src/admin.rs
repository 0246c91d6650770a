//! What only this machine may ask of a running switch, on a Unix socket: its counters, carriers, and links to cut or change.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Path as InPath;
use axum::http::StatusCode;
use axum::routing::{get, put};
use listen::Listener;
use ports::{Impairment, PortSpec};
use serde_json::json;
use service::{AUDIT, Hub};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::carriers::Shown;
use crate::handle::Handle;
use crate::metrics;

const LONGEST_ANSWER: Duration = Duration::from_secs(5);

/// The links of a switch, as its command line has them.
pub struct Links {
    pub handle: Arc<Handle>,
    pub ports: Vec<PortSpec>,
    pub threads: usize,
}

/// Answers until it is aborted.
pub async fn serve(listener: Listener, links: Links, hub: Arc<Hub>, shown: watch::Receiver<Shown>) {
    let handle = links.handle.clone();
    let router = metrics::router(handle.clone(), hub).merge(cuts(handle)).merge(changes(links)).merge(carriers(shown));
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
fn cuts(handle: Arc<Handle>) -> Router {
    let mending = handle.clone();
    let cut = move |InPath(port): InPath<u32>| async move { set_cut(&handle, port, true) };
    let mend = move |InPath(port): InPath<u32>| async move { set_cut(&mending, port, false) };
    Router::new().route("/ports/{port}/cut", put(cut).delete(mend))
}

/// `PUT /ports/NUMBER/link` has the port's link do what the body says, written as behind the `?` of `--interface`.
fn changes(links: Links) -> Router {
    let links = Arc::new(links);
    let change = move |InPath(port): InPath<u32>, options: String| async move { links.change(port, options.trim()) };
    Router::new().route("/ports/{port}/link", put(change))
}

impl Links {
    fn change(&self, port: u32, options: &str) -> (StatusCode, String) {
        let Some(opened) = self.ports.iter().find(|spec| spec.port == port) else {
            return (StatusCode::NOT_FOUND, format!("there is no port {port}\n"));
        };
        let changed = match opened.with_link(options) {
            Ok(changed) => changed,
            Err(error) => return (StatusCode::BAD_REQUEST, format!("{error}\n")),
        };
        if self.threads > 1 {
            return (StatusCode::CONFLICT, "with --threads links stay as they are\n".into());
        }
        if opened.impairment == Impairment::default() && changed.impairment != Impairment::default() {
            let why = format!("port {port} was opened without delay= and loss=, so its link has neither\n");
            return (StatusCode::CONFLICT, why);
        }
        if let Err(error) = self.handle.change_link(changed) {
            return (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n"));
        }
        info!(target: AUDIT, port, "link is now {options}");
        (StatusCode::NO_CONTENT, String::new())
    }
}

fn set_cut(handle: &Handle, port: u32, cut: bool) -> (StatusCode, String) {
    if !handle.cut(port, cut) {
        return (StatusCode::NOT_FOUND, format!("there is no port {port}\n"));
    }
    info!(target: AUDIT, port, "link is {}", if cut { "cut" } else { "mended" });
    (StatusCode::NO_CONTENT, String::new())
}
