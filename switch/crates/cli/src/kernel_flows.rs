//! Ways of the flow cache in the kernel (`--kernel-flow-cache`).

use std::sync::Arc;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kernel_flow_cache::KernelFlowCache;
use pipeline::Switch;
use trace::Watches;
use tracing::info;

use crate::args::Run;
use crate::clock::Clock;
use crate::handle::Handle;
use crate::outputs::OpenPort;

/// How often ways are taken in and out, and counts collected that nobody asks for.
const HOUSEKEEPING: Duration = Duration::from_millis(50);

/// Has the kernel forward for those of the ports for which it can; none if that was not asked for.
pub fn open_kernel(args: &Run, threads: &[Vec<OpenPort>]) -> Result<Option<Arc<KernelFlowCache>>> {
    if args.kernel_flow_cache == 0 {
        return Ok(None);
    }
    if args.flow_cache == 0 {
        bail!(
            "--kernel-flow-cache forwards what the flow cache knows: give --flow-cache too, for example of 16384 ways"
        );
    }
    let has_rate = |port: u32| args.interface.iter().any(|spec| spec.port == port && spec.rate.is_some());
    let mut ends = vec![];
    for open in threads.iter().flatten().filter(|open| !has_rate(open.number)) {
        let end = open.port.kernel_end().with_context(|| format!("port {}", open.number))?;
        ends.extend(end.map(|end| (open.number, end)));
    }
    if ends.is_empty() {
        bail!(
            "--kernel-flow-cache: none of the ports is an interface (PORT@INTERFACE, without rate=, delay= and loss=)"
        );
    }
    let cache = KernelFlowCache::open(ends, args.kernel_flow_cache).context("--kernel-flow-cache")?;
    info!("ways that are taken often are in the kernel, {} at most", args.kernel_flow_cache);
    Ok(Some(Arc::new(cache)))
}

/// Takes ways in and out until the switch stops.
pub fn keep_kernel_flows(
    kernel: Arc<KernelFlowCache>,
    switch: Arc<Switch>,
    handle: Arc<Handle>,
    watches: Arc<Watches>,
    clock: Clock,
) -> Result<JoinHandle<()>> {
    let keep = move || {
        while !handle.stopping() {
            sleep(HOUSEKEEPING);
            kernel.keep_house(&switch, || watches.any(), clock.now());
        }
    };
    Ok(Builder::new().name("kernel-flows".into()).spawn(keep)?)
}
