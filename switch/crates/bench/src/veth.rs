//! Forwarding between two veth pairs: the embedded switch by AF_PACKET and by AF_XDP, the Linux kernel, and BMv2 where it is
//! installed. All packets stay in network namespaces made here.
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
mod network;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use bench::measure::{Effort, median, short};
use tokio::signal::unix::{SignalKind, signal};

use bench::traffic::Outcome;
use contestants::{Kind, Running};
use network::Network;

/// A search is nine of these, so there are fewer rounds than in the other parts.
const STEP: Duration = Duration::from_millis(1000);
const ROUNDS: usize = 3;
const SEARCH_STEPS: usize = 8;
const SLOWEST: f64 = 5_000.0;
/// A loss of one packet may be the machine's: a rate is without loss if one of so many tries was.
const TRIES: usize = 2;
/// The generator may be held up for so much of its time.
const REACHED: f64 = 0.9;
/// Processor time is measured below the limit, where nothing waits for long.
const COMFORT: f64 = 0.8;

pub fn run(programs: &Path, effort: Effort) -> Result<()> {
    println!("Forwarding over veth pairs: IPv6, 64 bytes of payload, {} routes", network::ROUTES);
    if !rustix::process::geteuid().is_root() {
        println!("  skipped: network namespaces need root");
        return Ok(());
    }
    if let Err(error) = Network::plain() {
        println!("  skipped: no network namespaces: {error:#}");
        return Ok(());
    }
    println!("  others keep the machine {:.0} % busy", 100.0 * busy()?);
    clear_away_on_signals()?;
    // Others on the machine may not decide what is measured; what is started here inherits this.
    let _ = rustix::process::nice(-20);
    let kinds = contestants::available();
    let rounds = effort.rounds.min(ROUNDS);

    let most = generator_limit()?;
    println!("  the generator's own limit is {}packets/s", short(most));
    let mut limits = vec![];
    for kind in &kinds {
        let limit = |_| search(&mut kind.start(programs)?, most);
        limits.push(median((0..rounds).map(limit).collect::<Result<_>>()?));
    }
    let common = COMFORT * limits.iter().copied().fold(most, f64::min);
    println!("  {:24} {:>14} {:>22} {:>22}", "", "without loss", at(common), "at 80 % of its own");
    let mut costs = vec![];
    for (kind, limit) in kinds.iter().zip(&limits) {
        let at_common = cost(kind, programs, common, rounds)?;
        let at_own = cost(kind, programs, COMFORT * limit, rounds)?;
        println!("  {:24} {:>12}/s {at_common} {at_own}", kind.name(), short(*limit));
        costs.push((at_common, at_own));
    }
    for (index, kind) in kinds.iter().enumerate() {
        for (other, reference) in kinds.iter().enumerate() {
            if kind.is_ours() && !reference.is_ours() {
                println!(
                    "  {} / {}: {:.2} of the rate, {:.3} of the time at the same rate, {:.3} at its own",
                    kind.name(),
                    reference.name(),
                    limits[index] / limits[other],
                    costs[index].0.packet / costs[other].0.packet,
                    costs[index].1.packet / costs[other].1.packet,
                );
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
    std::thread::sleep(STEP);
    let (all_after, idle_after) = read()?;
    Ok(1.0 - (idle_after - idle) / (all_after - all))
}

/// Namespaces end by themselves; processes and files do not.
fn clear_away_on_signals() -> Result<()> {
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

fn at(rate: f64) -> String {
    format!("at {}/s", short(rate))
}

/// Nanoseconds of processor time per packet.
struct Cost {
    packet: f64,
    /// The contestant's process alone; the kernel has none.
    process: Option<f64>,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let process = self.process.map(|process| format!("(process {process:.0})")).unwrap_or_default();
        write!(f, "{:>8.0} ns {process:14}", self.packet)
    }
}

/// What the generator and one veth pair can do.
fn generator_limit() -> Result<f64> {
    let mut network = Network::plain()?;
    let rates = (0..3).map(|_| Ok(network.drive(f64::INFINITY, STEP)?.rate)).collect::<Result<_>>()?;
    Ok(median(rates))
}

/// The highest rate without loss that a search by halves finds.
fn search(running: &mut Running, most: f64) -> Result<f64> {
    let (mut low, mut high) = (SLOWEST, most);
    // The first guess is the top: a contestant may be faster than the generator.
    let mut guess = 0.97 * most;
    for _ in 0..SEARCH_STEPS {
        match without_loss(&mut running.network, guess)? {
            Some(rate) => low = rate.max(low),
            None => high = guess,
        }
        guess = (low * high).sqrt();
    }
    Ok(low)
}

/// The rate that was reached, if no packet was lost at it.
fn without_loss(network: &mut Network, rate: f64) -> Result<Option<f64>> {
    for _ in 0..TRIES {
        let outcome = network.drive(rate, STEP)?;
        if outcome.sent == outcome.received && outcome.rate > REACHED * rate {
            return Ok(Some(outcome.rate));
        }
    }
    Ok(None)
}

fn cost(kind: &Kind, programs: &Path, rate: f64, rounds: usize) -> Result<Cost> {
    let (mut packets, mut processes) = (vec![], vec![]);
    for _ in 0..rounds {
        let plain = Network::plain()?.drive(rate, STEP)?;
        let mut running = kind.start(programs)?;
        let before = running.processor_time()?;
        let outcome = running.network.drive(rate, STEP)?;
        let process = running.processor_time()?.zip(before).map(|(after, before)| after.since(&before));
        packets.push(per_packet(&outcome, process.unwrap_or_default()) - per_packet(&plain, Duration::ZERO));
        processes.extend(process.map(|process| process.as_nanos() as f64 / outcome.received as f64));
    }
    let process = (!processes.is_empty()).then(|| median(processes));
    Ok(Cost { packet: median(packets), process })
}

fn per_packet(outcome: &Outcome, process: Duration) -> f64 {
    (outcome.processor_time + process).as_nanos() as f64 / outcome.received as f64
}
