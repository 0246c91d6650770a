//! Opens the ports that the command line names, or takes them over from the switch before.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use ports::{Port, PortSpec};
use runtime::Random;
use tracing::info;

use crate::args::Run;
use crate::handoff::Inbox;
use crate::hot_restart::Predecessor;
use crate::outputs::OpenPort;

/// What cuts each port's link, in the order of the command line.
pub type Cuts = Vec<(u32, Arc<AtomicBool>)>;

/// Opens all ports: by thread, its ends.
pub fn open(args: &Run, inboxes: &[Inbox], cuts: &Cuts, random: &mut Random) -> Result<Vec<Vec<OpenPort>>> {
    by_thread(args, inboxes, cuts, &mut |spec, _| open_port(spec, args.threads, random.next()))
}

/// Takes all ports over.
pub fn take_over(
    args: &Run,
    inboxes: &[Inbox],
    cuts: &Cuts,
    predecessor: &mut Predecessor,
) -> Result<Vec<Vec<OpenPort>>> {
    by_thread(args, inboxes, cuts, &mut |spec, cut| {
        let (ends, is_cut) = predecessor.port(spec.port, spec.ends(args.threads))?;
        cut.store(is_cut, Ordering::Relaxed);
        ports::take_over(spec, ends).with_context(|| format!("port {}", spec.port))
    })
}

/// Each port once, with what it can be asked for.
pub fn check(args: &Run) -> Result<()> {
    let mut numbers = BTreeSet::new();
    for spec in &args.interface {
        if !numbers.insert(spec.port) {
            bail!("port {} is given twice; each number stands for one device", spec.port);
        }
        if args.cpu_port == spec.port {
            bail!("port {} is the CPU port (--cpu-port) and a device too; give one another number", spec.port);
        }
        if spec.rate.is_some() && args.threads > 1 {
            bail!("port {} has a rate, which one queue of one thread keeps: leave out rate= or --threads", spec.port);
        }
    }
    let missing = |spec: &PortSpec| spec.carrier().iter().find(|port| !numbers.contains(port)).copied();
    if let Some((spec, missing)) = args.interface.iter().find_map(|spec| Some((spec, missing(spec)?))) {
        bail!("port {}: carrier={missing} names a port that is not there", spec.port);
    }
    Ok(())
}

fn open_port(spec: &PortSpec, threads: usize, seed: u64) -> Result<Vec<Box<dyn Port>>> {
    ports::open_ends(spec, threads, seed).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            anyhow!("port {}: {} needs root; without it use a wire, such as {0}@wire:/tmp/link", spec.port, spec.device)
        }
        _ => anyhow!("port {}: {}: {error}", spec.port, spec.device),
    })
}

/// Gives the ends of a port; is told what cuts its link.
type Opener<'a> = dyn FnMut(&PortSpec, &AtomicBool) -> Result<Vec<Box<dyn Port>>> + 'a;

fn by_thread(args: &Run, inboxes: &[Inbox], cuts: &Cuts, opener: &mut Opener<'_>) -> Result<Vec<Vec<OpenPort>>> {
    let mut ports: Vec<Vec<OpenPort>> = inboxes.iter().map(|_| vec![]).collect();
    for (index, (spec, (_, cut))) in args.interface.iter().zip(cuts).enumerate() {
        let opened = opener(spec, cut)?;
        let ends = OpenPort::of(spec, index, opened, cut.clone(), args.pcap.as_deref(), inboxes)?;
        ports.iter_mut().zip(ends).for_each(|(ports, end)| ports.push(end));
        info!(interface = %spec.device, "port {} is open", spec.port);
    }
    Ok(ports)
}
