//! Forwarding between two veth pairs: the embedded switch by AF_PACKET, by AF_XDP, and with the ways of all packets in the
//! kernel; the Linux kernel, and BMv2 where it is installed. All packets stay in network namespaces made here.
//!
//! ```text
//!   outer namespace            inner namespace             outer namespace
//!   generator -- west0 ====== west1 -- contestant -- east1 ====== east0 -- counter
//! ```
//!
//! The processor time of a contestant is what the generator, the counter, the contestant's process and the kernel's
//! threads for packets take together, less what they take when generator and counter are at the ends of one pair: most of the
//! kernel's work for a packet is done on the time of whoever sent it.

mod contestants;
mod figures;
mod latency;
mod metrics;
mod network;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench::measure::{Effort, Spread, ratios, short};
use tokio::signal::unix::{SignalKind, signal};

use crate::goals::Goals;
use bench::traffic::Outcome;
use contestants::{Kind, Running};
use figures::{BMV2S_TIME, Figures, KERNELS_RATE, KERNELS_TIME};
use network::Network;

/// A search is a few of these.
const STEP: Duration = Duration::from_millis(300);
/// For what is measured once.
const LONG_STEP: Duration = Duration::from_millis(1000);

/// With a rate, only the processor time at that one, which no goal judges.
pub fn run(programs: &Path, effort: Effort, rate: Option<f64>, goals: &mut Goals) -> Result<()> {
    println!("Forwarding over veth pairs: IPv6, 64 bytes of payload, {} routes", network::ROUTES);
    if let Err(why) = prepare() {
        println!("  skipped: {why:#}");
        for what in [BMV2S_TIME, KERNELS_RATE, KERNELS_TIME] {
            goals.unmeasured(what, &format!("{why:#}"));
        }
        return Ok(());
    }
    println!("  others keep the machine {:.0} % busy", 100.0 * busy()?);
    let kinds = contestants::available();
    if !kinds.iter().any(|kind| matches!(kind, Kind::Bmv2)) {
        goals.unmeasured(BMV2S_TIME, "simple_switch_grpc and p4c-bm2-ss are not both on PATH");
    }
    if let Some(rate) = rate {
        return run_at(rate, &kinds, programs, effort);
    }

    if !kinds.iter().any(Kind::is_ours) {
        [KERNELS_RATE, KERNELS_TIME].iter().for_each(|what| goals.unmeasured(what, "wayname-switch is not built"));
    }

    let figures = Figures::measure(&kinds, programs, effort)?;
    (0..kinds.len()).for_each(|index| figures.print(index));
    for (ours, reference) in (0..kinds.len()).flat_map(|ours| (0..kinds.len()).map(move |other| (ours, other))) {
        if kinds[ours].is_ours() && !kinds[reference].is_ours() {
            figures.compare(ours, reference, goals);
        }
    }
    Ok(())
}

/// Processor time of a packet at one rate.
fn run_at(rate: f64, kinds: &[Kind], programs: &Path, effort: Effort) -> Result<()> {
    let mut costs = vec![Costs::default(); kinds.len()];
    in_turns(kinds, programs, effort, |index, running, packets| costs[index].measure(running, packets, rate))?;
    for (kind, costs) in kinds.iter().zip(&costs) {
        println!("  {:48} at {:>8}/s     {costs}", kind.name(), short(rate));
    }
    for (ours, costs_of) in kinds.iter().zip(&costs).filter(|(kind, _)| kind.is_ours()) {
        for (reference, its) in kinds.iter().zip(&costs).filter(|(kind, _)| !kind.is_ours()) {
            let times = Spread::of(&ratios(&costs_of.packets, &its.packets));
            println!("  {} / {}: time at the same rate {times}", ours.name(), reference.name());
        }
    }
    Ok(())
}

/// How long lone packets take.
pub fn run_latency(programs: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    println!("Latency of lone packets over veth pairs: IPv6, 64 bytes of payload, {} routes", network::ROUTES);
    if let Err(why) = prepare() {
        println!("  skipped: {why:#}");
        goals.unmeasured(latency::WHAT, &format!("{why:#}"));
        return Ok(());
    }
    let mut kinds = contestants::available();
    // It wakes for a packet after milliseconds, and nothing is wanted beside it here.
    kinds.retain(|kind| !matches!(kind, Kind::Bmv2));
    let busy: Vec<Kind> = kinds.iter().filter_map(|kind| kind.polling_busily(latency::BUSY_POLL)).collect();
    kinds.extend(busy);
    latency::measure(&kinds, programs, effort, goals)
}

/// Whether networks can be made here; what must be done before.
fn prepare() -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "network namespaces need root");
    Network::plain(&[]).context("no network namespaces")?;
    clear_away_on_signals()?;
    // Others on the machine may not decide what is measured; what is started here inherits this.
    let _ = rustix::process::nice(-20);
    Ok(())
}

/// Each contestant once in a draw, with the same packets, in an order that is drawn too. All stand beside each other before
/// the first is measured: their turns are then so close that a slow minute of the machine meets all of them.
fn in_turns(
    kinds: &[Kind],
    programs: &Path,
    effort: Effort,
    mut measure: impl FnMut(usize, &mut Running, &[Vec<u8>]) -> Result<()>,
) -> Result<()> {
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let packets = network::packets(&mut numbers);
        let started = kinds.iter().map(|kind| kind.start(programs, &packets));
        let mut turns: Vec<(usize, Running)> = started.collect::<Result<Vec<_>>>()?.into_iter().enumerate().collect();
        numbers.shuffle(&mut turns);
        for (index, running) in &mut turns {
            measure(*index, running, &packets)?;
            let strayed = running.strayed()?;
            if strayed > 0 {
                println!("  {}: {strayed} packets of draw {draw} went through its process", kinds[*index].name());
            }
        }
    }
    Ok(())
}

/// Of all processors' time, how much is used now.
fn busy() -> Result<f64> {
    let read = || -> Result<(f64, f64)> {
        let text = std::fs::read_to_string("/proc/stat")?;
        let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
        let ticks = fields.map(|field| Ok(field.parse()?)).collect::<Result<Vec<f64>>>()?;
        // The fourth and fifth: idle, and waiting for a disk.
        Ok((ticks.iter().sum(), ticks.iter().skip(3).take(2).sum()))
    };
    let (all, idle) = read()?;
    std::thread::sleep(LONG_STEP);
    let (all_after, idle_after) = read()?;
    Ok(1.0 - (idle_after - idle) / (all_after - all))
}

/// Namespaces end by themselves; processes and files do not.
fn clear_away_on_signals() -> Result<()> {
    static AWAITED: AtomicBool = AtomicBool::new(false);
    if AWAITED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            contestants::clear_away();
            std::process::exit(1);
        });
    });
    Ok(())
}

/// Nanoseconds of processor time per packet, draw by draw.
#[derive(Clone, Default)]
struct Costs {
    packets: Vec<f64>,
    /// The contestant's process alone; the kernel has none.
    processes: Vec<f64>,
}

impl Costs {
    fn measure(&mut self, running: &mut Running, packets: &[Vec<u8>], rate: f64) -> Result<()> {
        let plain = Network::plain(packets)?.drive(rate, STEP)?;
        let before = running.processor_time()?;
        let outcome = running.network.drive(rate, STEP)?;
        let process = running.processor_time()?.zip(before).map(|(after, before)| after.since(&before));
        self.packets.push(per_packet(&outcome, process.unwrap_or_default()) - per_packet(&plain, Duration::ZERO));
        self.processes.extend(process.map(|process| process.as_nanos() as f64 / outcome.received as f64));
        Ok(())
    }
}

impl std::fmt::Display for Costs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let packet = Spread::of(&self.packets);
        write!(f, "{:>8.0} ns ({})", packet.median, packet.around(|ns| format!("{ns:.0}")))?;
        if !self.processes.is_empty() {
            write!(f, ", of which its process {:.0} ns", Spread::of(&self.processes).median)?;
        }
        Ok(())
    }
}

fn per_packet(outcome: &Outcome, process: Duration) -> f64 {
    (outcome.processor_time + process).as_nanos() as f64 / outcome.received as f64
}
