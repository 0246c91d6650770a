//! Sees at once when the link of a port loses its carrier, or has one again, and shows it to Linux.
//!
//! The kernel's flag, which [`ports::Port::is_up`] reads, follows once a second at most, whatever link of the machine
//! changed. So carriers are asked for here, on a thread of its own: to ask, and to give a TAP device its carrier, waits
//! while others change links or routes, and forwarding must not. Who asks the switch hears before Linux does, which goes
//! through all its routes first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use ports::{Carrier, ShownCarrier};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::handle::Handle;
use crate::outputs::OpenPort;

const PERIOD: Duration = Duration::from_millis(10);

/// Which ports show a carrier to Linux, by their numbers, and how often that changed since the switch began with 1.
pub struct Shown {
    pub changes: u64,
    pub up: BTreeMap<u32, bool>,
}

/// The carriers of all ports.
pub struct Carriers {
    watched: Vec<Watched>,
    devices: Vec<TapDevice>,
    shown: watch::Sender<Shown>,
}

/// A carrier, and where it is noted.
struct Watched {
    carrier: Carrier,
    up: Arc<AtomicBool>,
}

/// A TAP device with a carrier while one of the links is up that it stands for.
struct TapDevice {
    port: u32,
    carrier: ShownCarrier,
    links: Vec<Arc<AtomicBool>>,
    up: bool,
}

impl Carriers {
    /// Those of these ports, which believe from now on what is noted of them.
    pub fn of(ports: &mut [OpenPort]) -> Result<Self> {
        let (mut watched, mut devices) = (vec![], vec![]);
        for open in &mut *ports {
            let context = || format!("the carrier of port {}", open.number);
            if let Some(mut carrier) = open.port.carrier().with_context(context)? {
                open.link.store(carrier.is_there(), Ordering::Relaxed);
                open.is_watched = true;
                watched.push(Watched { carrier, up: open.link.clone() });
            }
        }
        for open in ports.iter().filter(|open| !open.carrier_of.is_empty()) {
            let context = || format!("the carrier of port {}", open.number);
            if let Some(carrier) = open.port.shown_carrier().with_context(context)? {
                let links = ports.iter().filter(|link| open.carrier_of.contains(&link.number));
                let links = links.map(|link| link.link.clone()).collect();
                let mut device = TapDevice { port: open.number, carrier, links, up: false };
                device.look();
                // Linux gives it one when it is opened; one that was open before may have none.
                device.show();
                devices.push(device);
            }
        }
        let up = devices.iter().map(|device| (device.port, device.up)).collect();
        Ok(Self { watched, devices, shown: watch::Sender::new(Shown { changes: 1, up }) })
    }

    /// What is shown to Linux, now and whenever it changes.
    pub fn shown(&self) -> watch::Receiver<Shown> {
        self.shown.subscribe()
    }

    /// Looks at them until the switch stops; at once where there is none to look at.
    pub fn watch(mut self, handle: Arc<Handle>) -> Result<JoinHandle<()>> {
        let look = move || {
            let has_work = !self.watched.is_empty() || !self.devices.is_empty();
            while has_work && !handle.stopping() {
                // All of them are looked at: links of one machine often go together.
                if self.watched.iter_mut().filter_map(Watched::look).count() > 0 {
                    handle.carriers_changed();
                }
                self.show();
                std::thread::sleep(PERIOD);
            }
        };
        Ok(std::thread::Builder::new().name("carriers".into()).spawn(look)?)
    }

    fn show(&mut self) {
        let changed: Vec<&mut TapDevice> = self.devices.iter_mut().filter_map(TapDevice::look).collect();
        if changed.is_empty() {
            return;
        }
        self.shown.send_modify(|shown| {
            shown.changes += 1;
            shown.up.extend(changed.iter().map(|device| (device.port, device.up)));
        });
        changed.iter().for_each(|device| device.show());
    }
}

impl Watched {
    /// Notes what is; something when that is new.
    fn look(&mut self) -> Option<()> {
        let is_there = self.carrier.is_there();
        (self.up.swap(is_there, Ordering::Relaxed) != is_there).then_some(())
    }
}

impl TapDevice {
    /// Notes what is to be shown; itself when that is new.
    fn look(&mut self) -> Option<&mut Self> {
        let up = self.links.iter().any(|link| link.load(Ordering::Relaxed));
        (std::mem::replace(&mut self.up, up) != up).then_some(self)
    }

    fn show(&self) {
        match self.carrier.set(self.up) {
            Ok(()) => info!(self.port, "Linux sees {}", if self.up { "a carrier" } else { "no carrier" }),
            Err(error) => warn!(self.port, "its carrier cannot be shown to Linux: {error}"),
        }
    }
}
