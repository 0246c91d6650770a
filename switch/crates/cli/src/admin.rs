//! What only this machine may ask of a running switch, on a Unix socket: its counters, and links to cut.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::Path as InPath;
use axum::http::StatusCode;
use axum::routing::put;
use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use tokio::net::UnixListener;
use tracing::{info, warn};

use crate::forward::Handle;
use crate::metrics;

/// Connections that may wait to be taken.
const WAITING: i32 = 128;

/// Listens at `path`; a socket left behind by a process that was killed is replaced.
pub fn listen(path: &Path) -> Result<UnixListener> {
    let shown = path.display();
    match bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if UnixStream::connect(path).is_ok() {
                bail!("{shown} is in use by another process; end it or choose another path with --admin");
            }
            std::fs::remove_file(path).with_context(|| shown.to_string())?;
            bind(path).with_context(|| shown.to_string())
        }
        other => other.with_context(|| format!("--admin {shown}")),
    }
}

/// Listens for the owner of this process alone: the file gets the mode of the socket, from its first moment on.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, WAITING)?;
    UnixListener::from_std(socket.into())
}

/// Answers until it is aborted.
pub async fn serve(listener: UnixListener, handle: Arc<Handle>) {
    let router = metrics::router(handle.clone()).merge(links(handle));
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
    info!(port, "link is {}", if cut { "cut" } else { "mended" });
    (StatusCode::NO_CONTENT, String::new())
}
