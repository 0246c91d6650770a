//! What encapsulation costs by size: the fast half of `bench/encap`, which says what to measure and draws what comes of it.

mod carry;
mod memory;
mod points;
mod road;
mod roads;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use pipeline::DEFAULT_WAYS;
use ports::PortSpec;
use road::Road;
use roads::Effort;

#[derive(Parser)]
#[command(about = "Measure packets of many sizes, in turns; prints medians and their spread as CSV")]
struct Args {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Subcommand)]
enum Measurement {
    /// Processor time of the pipeline alone, on one core
    Memory {
        /// The program as one text
        #[arg(long)]
        program: PathBuf,
        /// A serialised P4Runtime WriteRequest
        #[arg(long)]
        entries: PathBuf,
        /// A line for each packet: its point's name, a tab, the packet in hex
        #[arg(long)]
        points: PathBuf,
        /// The port that packets come in by
        #[arg(long)]
        port: u32,
        #[arg(long)]
        rounds: usize,
        /// Draws the order of points in each round
        #[arg(long)]
        seed: u64,
        /// Packets of each point in a round
        #[arg(long)]
        packets: usize,
        /// Ways of packets that are kept, as the switch has it; they are learned before anything is measured
        #[arg(long, default_value_t = DEFAULT_WAYS)]
        flow_cache: usize,
    },
    /// Carry frames from one port to another without looking at them, until killed
    Carry {
        /// As the switch takes it: 1@xdp:west
        from: PortSpec,
        to: PortSpec,
    },
    /// Flood roads: what is forwarded, and the processor time that it takes
    Flood {
        /// NAME,INTERFACE IN,INTERFACE OUT,PROCESS or 0,FILE WITH POINTS
        #[arg(required = true)]
        roads: Vec<Road>,
        #[arg(long)]
        rounds: usize,
        /// Rounds before those that count
        #[arg(long)]
        warm_up: usize,
        /// Draws the order of points and roads in each round
        #[arg(long)]
        seed: u64,
        /// How long a point is flooded in a round
        #[arg(long)]
        millis: u64,
    },
    /// Search for the greatest paced rate without loss
    Lossless {
        /// As of `flood`
        #[arg(required = true)]
        roads: Vec<Road>,
        #[arg(long)]
        rounds: usize,
        /// As of `flood`
        #[arg(long)]
        seed: u64,
        /// How long a rate is tried
        #[arg(long)]
        millis: u64,
        /// Where the search begins, packets per second
        #[arg(long)]
        most: f64,
    },
}

fn main() -> Result<()> {
    match Args::parse().measurement {
        Measurement::Memory { program, entries, points, port, rounds, seed, packets, flow_cache } => {
            let effort = memory::Effort { rounds, seed, packets, flow_cache };
            let mut pipeline = memory::load(&program, &entries)?;
            memory::run(&mut pipeline, &points::read(&points)?, port, effort)
        }
        Measurement::Carry { from, to } => carry::run(&from, &to),
        Measurement::Flood { roads, warm_up, rounds, seed, millis } => {
            roads::flood(&roads, warm_up, &Effort { rounds, seed, millis })
        }
        Measurement::Lossless { roads, rounds, seed, millis, most } => {
            roads::lossless(&roads, &Effort { rounds, seed, millis }, most)
        }
    }
}
