//! The switch that this one hands over to.

use std::env;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use listen::{Listener, Shared};
use service::Hub;
use tokio::signal::unix::Signal;
use tokio::sync::OwnedMutexGuard;
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::channel::{Channel, Kind};
use super::{Begin, PortEnd, VARIABLE, VERSION};
use crate::clock::Clock;
use crate::outputs::OpenPort;
use crate::service_manager::ServiceManager;

/// Until the next one is ready, and until it forwards when this one does no more.
const PATIENCE: Duration = Duration::from_secs(60);
const TAKES: Duration = Duration::from_secs(5);

/// Restarts that are asked for by SIGHUP.
pub struct Restarts {
    asked: Signal,
    /// Of this process, while the file is there: an upgrade puts another in its place.
    program: PathBuf,
    hub: Arc<Hub>,
    clock: Clock,
    shared: Arc<Vec<(&'static str, Shared)>>,
    /// Why there can be none, if so.
    refused: Option<String>,
}

/// The next switch, which is ready.
pub struct Successor {
    channel: Channel,
    child: Child,
    shared: Arc<Vec<(&'static str, Shared)>>,
    /// Nothing that it does not know is written meanwhile.
    _writes: OwnedMutexGuard<()>,
}

impl Restarts {
    /// With what has to go on: the listeners by the flags that choose their addresses.
    pub fn new<'a>(
        asked: Signal,
        hub: Arc<Hub>,
        clock: Clock,
        listeners: impl Iterator<Item = (&'static str, &'a Listener)>,
        refused: Option<String>,
    ) -> io::Result<Self> {
        let shared = listeners.map(|(flag, listener)| Ok((flag, listener.share()?))).collect::<io::Result<Vec<_>>>()?;
        Ok(Self { asked, program: env::current_exe()?, hub, clock, shared: Arc::new(shared), refused })
    }

    /// Resolves when the next switch waits for what this one has.
    pub async fn ready(mut self) -> Successor {
        loop {
            if self.asked.recv().await.is_none() {
                std::future::pending::<()>().await;
            }
            if let Some(refused) = &self.refused {
                warn!("SIGHUP: no hot restart: {refused}; restart the switch");
                continue;
            }
            info!("SIGHUP: the next switch starts");
            ServiceManager::tell_if_any("RELOADING=1");
            match self.start().await {
                Ok(successor) => return successor,
                Err(error) => {
                    warn!("hot restart failed, and this switch goes on: {error:#}");
                    ServiceManager::tell_if_any("READY=1");
                }
            }
        }
    }

    async fn start(&self) -> Result<Successor> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut child = Command::new(&self.program)
            .args(env::args_os().skip(1))
            .arg0(env::args_os().next().unwrap_or_default())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .env(VARIABLE, "1")
            // It names this process.
            .env_remove("WATCHDOG_PID")
            .spawn()
            .with_context(|| self.program.display().to_string())?;
        let (hub, beginning, shared) = (self.hub.clone(), self.clock.beginning(), self.shared.clone());
        let met = spawn_blocking(move || meet(ours, &hub, beginning, &shared)).await?;
        match met {
            Ok((channel, writes)) => Ok(Successor { channel, child, shared: self.shared.clone(), _writes: writes }),
            Err(error) => {
                let _ = child.kill();
                let ended = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(error.context(format!("the next switch did not get ready ({ended})")))
            }
        }
    }
}

/// Says everything that is known before forwarding ends.
fn meet(
    stream: UnixStream,
    hub: &Hub,
    clock: (u64, u64),
    shared: &[(&'static str, Shared)],
) -> Result<(Channel, OwnedMutexGuard<()>)> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut channel = Channel(stream);
    channel.send_json(Kind::Begin, &Begin { version: VERSION, clock, listeners: shared.len() }, &[])?;
    for (flag, shared) in shared {
        channel.send_json(Kind::Listener, flag, &[shared.descriptor()])?;
    }
    let (state, writes) = hub.hold_state().map_err(anyhow::Error::msg)?;
    channel.send(Kind::State, &state.to_bytes(), &[])?;
    channel.receive(Kind::Ready)?;
    Ok((channel, writes))
}

impl Successor {
    /// Its listeners' files stay from now on.
    pub fn leave_sockets(&self) {
        self.shared.iter().for_each(|(_, shared)| shared.stays());
    }

    /// Hands the ends of all ports over, by thread, and what packets wrote; tells the service manager who the switch is
    /// from now on.
    pub fn hand_over(mut self, mut threads: Vec<Vec<OpenPort>>, cells: &[u8]) -> Result<()> {
        self.channel.0.set_read_timeout(Some(TAKES))?;
        let ports = threads.first().map_or(0, Vec::len);
        for index in 0..ports {
            for open in threads.iter_mut().map(|ports| &mut ports[index]) {
                let Some(end) = open.hand_over()? else { continue };
                let descriptors: Vec<_> = end.descriptors.iter().map(AsFd::as_fd).collect();
                let said = PortEnd { port: open.number, cut: open.is_cut(), numbers: end.numbers };
                self.channel.send_json(Kind::Port, &said, &descriptors)?;
            }
        }
        self.channel.send(Kind::Cells, cells, &[])?;
        if let Err(error) = self.channel.receive(Kind::Taken) {
            let _ = self.child.kill();
            bail!("the next switch failed while it took over: {error:#}");
        }
        ServiceManager::tell_if_any(&format!("MAINPID={}\nREADY=1", self.child.id()));
        info!("process {} is the switch from now on", self.child.id());
        Ok(())
    }
}
