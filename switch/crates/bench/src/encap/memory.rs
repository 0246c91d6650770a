//! The pipeline alone: packets from memory through the engine, and nowhere.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use bench::measure::{listed, thread_time};
use control::{Control, Scope};
use fastrand::Rng;
use loader::Program;
use pipeline::{BackendKind, Engine, Message, Sink, Traffic};
use prost::Message as _;
use proto::p4::v1::WriteRequest;

use crate::points::Point;

/// Packets between two looks at the clock, as the switch's own loop does it.
const BURST: usize = 64;

/// How many packets left, and the length of the last one.
#[derive(Default)]
struct Left {
    packets: usize,
    length: usize,
}

impl Sink for Left {
    fn transmit(&mut self, _port: u32, bytes: &[u8], _at: u64) {
        self.packets += 1;
        self.length = bytes.len();
    }

    fn message(&mut self, _message: Message) {}
}

/// A program with entries as P4Runtime writes them.
pub fn load(program: &Path, entries: &Path) -> Result<Arc<Program>> {
    let text = std::fs::read_to_string(program).with_context(|| program.display().to_string())?;
    let program = Arc::new(loader::load(&text, BackendKind::Jit).map_err(|error| anyhow!(error))?);
    let bytes = std::fs::read(entries).with_context(|| entries.display().to_string())?;
    let request = WriteRequest::decode(bytes.as_slice()).with_context(|| entries.display().to_string())?;
    let p4info = program.p4info.clone().context("a program's text has a P4Info")?;
    let control = Control::new(p4info, program.clone()).map_err(|status| anyhow!(status.message))?;
    let statuses =
        control.write(&request.updates, request.atomicity, &Scope::All, 0).map_err(|status| anyhow!(status.message))?;
    for (number, status) in statuses.iter().enumerate() {
        ensure!(status.is_ok(), "entry {number}: {}", status.message);
    }
    // As the switch does by itself once its tables stand still.
    let installed = program.loaded.specialise().map_err(|error| anyhow!("{error}"))?;
    ensure!(installed, "nobody writes to the tables meanwhile");
    Ok(program)
}

pub struct Effort {
    pub rounds: usize,
    pub seed: u64,
    /// Of each point in a round.
    pub packets: usize,
    /// Ways of packets that are kept.
    pub flow_cache: usize,
}

/// Rounds before the first that counts, at most: as many as ways are still learned in.
const MOST_WARM_UP: usize = 100;

/// Nanoseconds a packet, of each point in each round.
pub fn run(program: &mut Arc<Program>, points: &[Point], port: u32, effort: Effort) -> Result<()> {
    let packets = effort.packets;
    let mut numbers = Rng::with_seed(effort.seed);
    let mut order: Vec<usize> = (0..points.len()).collect();
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    if effort.flow_cache > 0 {
        engine.keep_flows(effort.flow_cache);
    }
    let mut now = 1_000_000_000;
    let mut taken = vec![(vec![], vec![]); points.len()];
    let mut lengths = vec![0; points.len()];
    let mut pass_all = |engine: &mut Engine<'_>, taken: &mut [(Vec<f64>, Vec<f64>)]| -> Result<()> {
        numbers.shuffle(&mut order);
        for &index in &order {
            let point = &points[index];
            let mut left = Left::default();
            let (began, began_at) = (thread_time(), Instant::now());
            for number in 0..packets {
                if number % BURST == 0 {
                    now += 1000;
                }
                engine.receive(port, &point.packets[number % point.packets.len()], now, &mut left);
            }
            let each = 1e9 / packets as f64;
            taken[index].0.push((thread_time() - began).as_secs_f64() * each);
            taken[index].1.push(began_at.elapsed().as_secs_f64() * each);
            ensure!(left.packets == packets, "{}: {} of {packets} packets left", point.name, left.packets);
            lengths[index] = left.length;
        }
        Ok(())
    };
    for _ in 0..MOST_WARM_UP {
        let before = engine.traffic().flows.learned;
        pass_all(&mut engine, &mut taken)?;
        if engine.traffic().flows.learned == before {
            break;
        }
    }
    taken.fill_with(Default::default);
    for _ in 0..effort.rounds {
        pass_all(&mut engine, &mut taken)?;
    }
    println!("point,octets_in,octets_out,ns,ns_wall");
    for ((point, length), (processor, wall)) in points.iter().zip(lengths).zip(taken) {
        println!("{},{},{length},{},{}", point.name, point.packets[0].len(), listed(&processor), listed(&wall));
    }
    Ok(())
}
