//! How the switch is asked to stop, and that it does.

use std::future::Future;
use std::io;
use std::process::exit;
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tracing::info;

/// After which it ends however much is still under way.
const PATIENCE: Duration = Duration::from_secs(10);

/// Resolves at the first SIGTERM or SIGINT. From then on a second one ends the process at once, and so does time.
pub fn asked() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        info!("{name}: the switch stops");
        thread::spawn(|| {
            thread::sleep(PATIENCE);
            eprintln!("wayname-switch: did not stop within {} s, and ends now", PATIENCE.as_secs());
            exit(1);
        });
        tokio::spawn(async move {
            let number = tokio::select! {
                _ = terminate.recv() => SignalKind::terminate().as_raw_value(),
                _ = interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            };
            exit(128 + number);
        });
    })
}
