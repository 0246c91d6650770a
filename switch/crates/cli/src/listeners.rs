//! Where the switch listens: P4Runtime, counters, administration.

use std::time::Duration;

use anyhow::Result;
use listen::{Address, Limits, Listener};

use crate::args::Run;
use crate::hot_restart::Predecessor;

pub struct Listeners {
    pub grpc: Listener,
    pub metrics: Option<Listener>,
    pub admin: Option<Listener>,
}

const GRPC: &str = "--grpc-server-addr";
const METRICS: &str = "--metrics-addr";
const ADMIN: &str = "--admin";

impl Listeners {
    /// Listens where the command line says.
    pub async fn open(args: &Run, predecessor: &mut Option<Predecessor>) -> Result<Self> {
        let descriptors = listen::raise_limit()?;
        let limits = service::limits(descriptors, args.grpc_server_ssl);
        let grpc = listen(predecessor, &args.grpc_server_addr, GRPC, limits).await?;
        let limits = http_limits(descriptors);
        let metrics = match &args.metrics_addr {
            Some(address) => Some(listen(predecessor, address, METRICS, limits).await?),
            None => None,
        };
        let admin = match &args.admin {
            Some(address) => Some(listen(predecessor, address, ADMIN, limits).await?),
            None => None,
        };
        Ok(Self { grpc, metrics, admin })
    }

    /// By the flags that choose their addresses.
    pub fn by_flag(&self) -> impl Iterator<Item = (&'static str, &Listener)> {
        let all = [(GRPC, Some(&self.grpc)), (METRICS, self.metrics.as_ref()), (ADMIN, self.admin.as_ref())];
        all.into_iter().filter_map(|(flag, listener)| Some((flag, listener?)))
    }
}

/// Listens where the running switch does that hands over to this one, or anew.
async fn listen(
    predecessor: &mut Option<Predecessor>,
    address: &Address,
    flag: &'static str,
    limits: Limits,
) -> Result<Listener> {
    let taken = predecessor.as_mut().map(|predecessor| predecessor.listener(flag, address, limits)).transpose()?;
    match taken.flatten() {
        Some(listener) => Ok(listener),
        None => Ok(Listener::bind(address, flag, limits).await?),
    }
}

/// Of counters and administration: who asks, asks at once.
fn http_limits(descriptors: u64) -> Limits {
    let most = usize::try_from(descriptors / 16).map_or(16, |most| most.min(16));
    Limits { most, most_of_one: most.div_ceil(2), idle: Duration::from_secs(10), arrivals: None }
}
