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
mod latency;
mod metrics;
mod network;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench::measure::{Effort, Spread, ratios, short};
use tokio::signal::unix::{SignalKind, signal};

use crate::goals::{Goals, ratio};
use bench::traffic::Outcome;
use contestants::{Kind, Running};
use network::Network;

/// A search is a few of these.
const STEP: Duration = Duration::from_millis(300);
/// For what is measured once.
const LONG_STEP: Duration = Duration::from_millis(1000);
const SEARCH_STEPS: usize = 8;
const SLOWEST: f64 = 5_000.0;
/// A loss of one packet may be the machine's: a rate is without loss if one of so many tries was.
const TRIES: usize = 2;
/// Of BMv2's processor time for a packet.
const MOST_OF_BMV2S_TIME: f64 = 1.0 / 12.0;
const BMV2S_TIME: &str = "processor time of a packet / BMv2's at the same rate";
/// Where the kernel forwards packets by ways that it was given, without the switch's process.
const MOST_OF_BMV2S_TIME_IN_KERNEL: f64 = 1.0 / 20.0;
const LEAST_OF_KERNELS_RATE: f64 = 1.1;
const KERNELS_RATE: &str = "hits in the kernel, learned before: rate without loss / the Linux kernel's";
const MOST_OF_KERNELS_TIME: f64 = 1.0;
const KERNELS_TIME: &str =
    "hits in the kernel, learned before: processor time of a packet / the Linux kernel's at the same rate";
/// Processor time is measured below the limit, where nothing waits for long.
const COMFORT: f64 = 0.8;

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

    let most = generator_limit(effort)?;
    println!("  the generator's own limit is {}packets/s", short(most));
    let (mut limits, mut learning) = (vec![vec![]; kinds.len()], vec![]);
    in_turns(&kinds, programs, effort, |index, running, _| {
        learning.extend(running.learned.as_ref().map(|learned| learned.took.as_secs_f64()));
        limits[index].push(search(&mut running.network, most)?);
        Ok(())
    })?;
    let spreads: Vec<Spread> = limits.iter().map(|drawn| Spread::of(drawn)).collect();
    let is_bmv2 = |index: usize| matches!(kinds[index], Kind::Bmv2);
    // BMv2 is so much slower that at its rate a process that does nothing counts for most of others' packets.
    let slowest = |with_bmv2: bool| {
        let of_them = (0..kinds.len()).filter(|index| with_bmv2 || !is_bmv2(*index));
        COMFORT * of_them.map(|index| spreads[index].median).fold(most, f64::min)
    };
    let rates = [slowest(false), slowest(true)];
    let fresh = || vec![Costs::default(); kinds.len()];
    let (mut at_same, mut at_own) = ([fresh(), fresh()], fresh());
    in_turns(&kinds, programs, effort, |index, running, packets| {
        if !is_bmv2(index) {
            at_same[0][index].measure(running, packets, rates[0])?;
        }
        if rates[1] < rates[0] {
            at_same[1][index].measure(running, packets, rates[1])?;
        }
        at_own[index].measure(running, packets, COMFORT * spreads[index].median)
    })?;
    for (index, kind) in kinds.iter().enumerate() {
        let (name, limit) = (kind.name(), spreads[index]);
        println!("  {name:48} without loss      {:>10}/s ({})", short(limit.median), limit.around(short));
        for (rate, costs) in rates.iter().zip(&at_same).filter(|(_, costs)| !costs[index].packets.is_empty()) {
            println!("  {name:48} at {:>8}/s     {}", short(*rate), costs[index]);
        }
        println!("  {name:48} at 80 % of its own {}", at_own[index]);
        if kind.hits_in_kernel() {
            let (took, seconds) = (Spread::of(&learning), |value| format!("{value:.1}"));
            println!("  {name:48} learned in {:>12.1} s ({}), in no other figure", took.median, took.around(seconds));
        }
    }
    for (index, kind) in kinds.iter().enumerate() {
        for (other, reference) in kinds.iter().enumerate() {
            if kind.is_ours() && !reference.is_ours() {
                let names = format!("{} / {}", kind.name(), reference.name());
                let times = |costs: &[Costs]| Spread::of(&ratios(&costs[index].packets, &costs[other].packets));
                let rate = Spread::of(&ratios(&limits[index], &limits[other]));
                println!("  {names}: rate {rate}");
                let same = times(&at_same[usize::from(is_bmv2(other))]);
                println!("  {names}: time at the same rate {same}");
                println!("  {names}: time at its own {}", times(&at_own));
                let in_kernel = kind.hits_in_kernel();
                if is_bmv2(other) {
                    let most = if in_kernel { MOST_OF_BMV2S_TIME_IN_KERNEL } else { MOST_OF_BMV2S_TIME };
                    goals.at_most(most, format!("{}: {BMV2S_TIME}", kind.name()), same.median, ratio);
                } else if in_kernel {
                    goals.at_least(LEAST_OF_KERNELS_RATE, KERNELS_RATE, rate.median, ratio);
                    goals.at_most(MOST_OF_KERNELS_TIME, KERNELS_TIME, same.median, ratio);
                }
            }
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

/// What the generator and one veth pair can do.
fn generator_limit(effort: Effort) -> Result<f64> {
    let mut network = Network::plain(&network::packets(&mut effort.numbers(0)))?;
    let rates = (0..3).map(|_| Ok(network.drive(f64::INFINITY, LONG_STEP)?.rate)).collect::<Result<Vec<_>>>()?;
    Ok(Spread::of(&rates).median)
}

/// The highest rate without loss: what a flood reaches if nothing of it is lost, otherwise what a search by halves finds. What
/// forwards a packet on the time of whoever sends it, as the kernel does, loses nothing: it is the generator that gets slower,
/// and there is no higher rate to ask for.
fn search(network: &mut Network, most: f64) -> Result<f64> {
    if let Some(rate) = without_loss(network, f64::INFINITY)? {
        return Ok(rate);
    }
    let (mut low, mut high) = (SLOWEST, most);
    for _ in 0..SEARCH_STEPS {
        let guess = (low * high).sqrt();
        match without_loss(network, guess)? {
            Some(rate) => low = rate.max(low),
            None => high = guess,
        }
    }
    Ok(low)
}

/// The rate at which packets arrived, if none was lost. It may be below the one asked for. A generator that was held up says
/// nothing against the rate asked for, so this is no loss, and nothing for it. And what only waits in a queue has not passed yet.
fn without_loss(network: &mut Network, rate: f64) -> Result<Option<f64>> {
    for _ in 0..TRIES {
        let outcome = network.drive(rate, STEP)?;
        if outcome.sent == outcome.received {
            return Ok(Some(outcome.received as f64 / outcome.passing.as_secs_f64()));
        }
    }
    Ok(None)
}

fn per_packet(outcome: &Outcome, process: Duration) -> f64 {
    (outcome.processor_time + process).as_nanos() as f64 / outcome.received as f64
}
