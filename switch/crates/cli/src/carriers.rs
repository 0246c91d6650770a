//! Sees at once when the link of a port loses its carrier, or has one again.
//!
//! The kernel's flag, which [`ports::Port::is_up`] reads, follows once a second at most, whatever link of the machine
//! changed. The driver is asked here, on a thread of its own: the question waits while others change links or routes,
//! and forwarding must not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use ports::Carrier;

use crate::forward::Handle;
use crate::outputs::OpenPort;

const PERIOD: Duration = Duration::from_millis(10);

/// A carrier, and where it is noted.
pub struct Watched {
    carrier: Carrier,
    seen: Arc<AtomicBool>,
}

/// The carriers of these ports, which believe from now on what is noted of them.
pub fn of(ports: &mut [OpenPort]) -> Result<Vec<Watched>> {
    let mut watched = vec![];
    for open in ports {
        let asked = open.port.carrier().with_context(|| format!("the carrier of port {}", open.number))?;
        if let Some(carrier) = asked {
            let seen = Arc::new(AtomicBool::new(carrier.is_there()));
            open.carrier_seen = Some(seen.clone());
            watched.push(Watched { carrier, seen });
        }
    }
    Ok(watched)
}

/// Looks at them until the switch stops; at once where there is none to look at.
pub fn watch(watched: Vec<Watched>, handle: Arc<Handle>) -> Result<JoinHandle<()>> {
    let look = move || {
        while !watched.is_empty() && !handle.stopping() {
            // All of them are looked at: links of one machine often go together.
            if watched.iter().filter(|each| each.look()).count() > 0 {
                handle.carriers_changed();
            }
            std::thread::sleep(PERIOD);
        }
    };
    Ok(std::thread::Builder::new().name("carriers".into()).spawn(look)?)
}

impl Watched {
    /// Notes what is; true when that is new.
    fn look(&self) -> bool {
        let is_there = self.carrier.is_there();
        self.seen.swap(is_there, Ordering::Relaxed) != is_there
    }
}
