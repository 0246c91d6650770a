//! What the embedded switch costs, each figure beside something else that was run in the same minute.

mod client;
mod edge;
mod features;
mod first_packet;
mod flows;
mod forwarding;
mod goals;
mod handwritten;
mod learning;
mod lookups;
mod packets;
mod scenes;
mod threads;
mod tracing;
mod veth;
mod writes;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use bench::measure::Effort;
use clap::{Parser, ValueEnum};

use goals::Goals;

#[derive(Parser)]
#[command(
    about = "Measure the embedded switch: medians of many draws with their spread, and ratios within one draw; status 1 if a goal is missed"
)]
struct Args {
    /// What to measure; all if left out
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Draws routes, packets, keys and the order of contestants
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How often they are drawn; each time every contestant runs once
    #[arg(long, default_value_t = 30)]
    draws: usize,
    /// Milliseconds that a contestant runs in a draw
    #[arg(long, default_value_t = 100)]
    millis: u64,
    /// Of `veth` measure only the processor time of a packet, at so many packets a second
    #[arg(long)]
    rate: Option<u32>,
    /// Folder with the programs
    #[arg(long, default_value = "../bench/p4")]
    programs: PathBuf,
    /// Folder with the edge program
    #[arg(long, default_value = "../p4src")]
    p4src: PathBuf,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// Packets per second in memory: JIT, interpreter, hand-written loop
    Forwarding,
    /// Packets per second in memory of the whole edge: routed, with segments, sessions, NPTv6 flows, a schedule
    Features,
    /// What a packet of one of a million sessions or flows takes, against one of few
    Million,
    /// Packets per second in memory where the ways of packets are kept, and where that is for nothing
    Flows,
    /// Packets per second in memory on more and more threads that share a program, and on as many that do not
    Threads,
    /// Lookups in big tables, and bytes per entry; changes of them meanwhile
    Lookups,
    /// P4Runtime inserts per second, over gRPC
    Writes,
    /// From a P4Runtime write to the first packet that leaves a running switch by the new entry
    FirstPacket,
    /// Packets per second between veth pairs, and processor time, beside the kernel and BMv2; needs root
    Veth,
    /// How long a packet takes between veth pairs while no other is under way, beside the kernel; needs root
    Latency,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let wanted = |part| args.parts.is_empty() || args.parts.contains(&part);
    let effort = Effort { seed: args.seed, draws: args.draws, millis: args.millis };
    let goals = &mut Goals::default();
    println!("{} draws, seed {}, {}", effort.draws, effort.seed, load());
    if wanted(Part::Forwarding) {
        forwarding::run(&args.programs, &args.p4src, effort, goals)?;
    }
    if wanted(Part::Features) {
        features::run(&args.p4src, effort, goals)?;
    }
    if wanted(Part::Million) {
        features::run_million(&args.p4src, effort, goals)?;
    }
    if wanted(Part::Flows) {
        flows::run(&args.p4src, effort, goals)?;
    }
    if wanted(Part::Threads) {
        threads::run(&args.p4src, effort, goals)?;
    }
    if wanted(Part::Lookups) {
        lookups::run(effort, goals);
    }
    if wanted(Part::Writes) {
        writes::run(&args.programs, effort)?;
    }
    if wanted(Part::FirstPacket) {
        first_packet::run(&args.programs, effort, goals)?;
    }
    if wanted(Part::Veth) {
        veth::run(&args.programs, effort, args.rate.map(f64::from), goals)?;
    }
    if wanted(Part::Latency) {
        veth::run_latency(&args.programs, effort, goals)?;
    }
    println!("{}", load());
    goals.summary().iter().for_each(|line| println!("{line}"));
    Ok(if goals.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What else the machine does decides some of the figures.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    format!("load of the machine over 1, 5 and 15 minutes: {}", averages.join(", "))
}
