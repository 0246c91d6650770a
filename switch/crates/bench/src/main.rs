//! What the embedded switch costs, each figure beside something else that was run in the same minute.

mod edge;
mod forwarding;
mod handwritten;
mod lookups;
mod packets;
mod tracing;
mod veth;
mod writes;

use std::path::PathBuf;

use anyhow::Result;
use bench::measure::Effort;
use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(about = "Measure the embedded switch: medians of several runs, and ratios within one run")]
struct Args {
    /// What to measure; all if left out
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Rounds; in each round every contestant runs once
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Milliseconds that a contestant runs in a round
    #[arg(long, default_value_t = 300)]
    millis: u64,
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
    /// Lookups in big tables, and bytes per entry
    Lookups,
    /// P4Runtime inserts per second, over gRPC
    Writes,
    /// Packets per second between veth pairs, and processor time, beside the kernel and BMv2; needs root
    Veth,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let wanted = |part| args.parts.is_empty() || args.parts.contains(&part);
    let effort = Effort { rounds: args.rounds, millis: args.millis };
    if wanted(Part::Forwarding) {
        forwarding::run(&args.programs, &args.p4src, effort)?;
    }
    if wanted(Part::Lookups) {
        lookups::run(effort);
    }
    if wanted(Part::Writes) {
        writes::run(&args.programs, effort)?;
    }
    if wanted(Part::Veth) {
        veth::run(&args.programs, effort)?;
    }
    Ok(())
}
