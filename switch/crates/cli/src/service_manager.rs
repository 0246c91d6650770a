//! Tells a service manager how the switch is, as sd_notify(3) describes it: a datagram to `$NOTIFY_SOCKET`.
//!
//! That is the whole protocol, so no library is needed. Without the variable nobody is told.

use std::env;
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tracing::warn;

use crate::handle::Handle;

/// Where the service manager listens.
pub struct ServiceManager {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl ServiceManager {
    /// The one that started this process, if one did that wants to know.
    pub fn of_this_process() -> Result<Option<Self>> {
        let Some(name) = env::var_os("NOTIFY_SOCKET") else { return Ok(None) };
        let address = address(&name).with_context(|| format!("NOTIFY_SOCKET={}", name.display()))?;
        Ok(Some(Self { socket: UnixDatagram::unbound()?, address }))
    }

    /// Tells the one that started this process, if one did.
    pub fn tell_if_any(state: &str) {
        match Self::of_this_process() {
            Ok(manager) => manager.iter().for_each(|manager| manager.tell(state)),
            Err(error) => warn!("the service manager was not told {state}: {error:#}"),
        }
    }

    /// Tells it one thing, as `READY=1`. What is not taken is no reason to stop forwarding.
    pub fn tell(&self, state: &str) {
        if let Err(error) = self.socket.send_to_addr(state.as_bytes(), &self.address) {
            warn!("the service manager was not told {state}: {error}");
        }
    }

    /// Tells it twice in each period that the forwarding thread turns. When it stops turning, the manager is left to act.
    pub async fn keep_alive(self, handle: Arc<Handle>, period: Duration) {
        let mut turns = handle.turns();
        loop {
            tokio::time::sleep(period / 2).await;
            let now = handle.turns();
            if now != turns {
                self.tell("WATCHDOG=1");
            }
            turns = now;
        }
    }
}

/// How often the service manager wants to hear of this process: the variables of sd_watchdog_enabled(3).
pub fn watchdog_period() -> Option<Duration> {
    let number = |name| env::var(name).ok()?.parse::<u64>().ok();
    if number("WATCHDOG_PID").is_some_and(|pid| pid != u64::from(process::id())) {
        return None;
    }
    number("WATCHDOG_USEC").filter(|period| *period > 0).map(Duration::from_micros)
}

/// A name that begins with `@` is one of Linux's abstract sockets.
fn address(name: &OsStr) -> std::io::Result<SocketAddr> {
    match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(name),
    }
}
