//! `profile`: where the time of a packet goes.
//!
//! The program runs twice in memory, in turns: as it always does, which says how long a packet takes, and with marks in
//! its code. A mark is one store that says which stage begins. Another thread looks at irregular times which stage it is,
//! and a stage's share of the looks is its share of the time. So there is no clock in the measured code whose cost had to
//! be taken out; what the marks cost is the difference of the two runs, and is printed.

use std::io::{self, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{hint, thread};

use anyhow::{Context, Result, anyhow, bail};
use pipeline::{BackendKind, Engine, Loaded, Message, Sink, StageKind, Stages, Traffic};
use stf::script::{self, Command, Line};
use stf::{Nodes, apply};

use crate::args::Profile;

/// Both runs take turns of this length, so that a slow moment of the machine meets both.
const TURN: Duration = Duration::from_millis(100);
/// Packets between two looks at the clock.
const BURST: usize = 256;
/// Between two looks at the stage; what is added is random, so that no rhythm of the packets is met.
const LOOK: Duration = Duration::from_micros(20);
/// A case tells time by its packets: so many nanoseconds lie between two.
const STEP: u64 = 1_000;
/// Shares below are told together.
const LEAST: f64 = 0.002;

pub fn profile(args: &Profile) -> Result<ExitCode> {
    let compiled = match compiler::compile_file(&args.program, &args.source.options()) {
        Ok(compiled) => Arc::new(compiled.program),
        Err(failure) => {
            eprintln!("{failure}");
            return Ok(ExitCode::FAILURE);
        }
    };
    let text = std::fs::read_to_string(&args.case).with_context(|| args.case.display().to_string())?;
    let name = args.case.display();
    let script = script::parse(&text).map_err(|error| anyhow!("{name}: {error}"))?;
    let plain = Loaded::new(compiled.clone(), BackendKind::Jit).map_err(|error| anyhow!("{error}"))?;
    let (marked, stages) = Loaded::marked(compiled).map_err(|error| anyhow!("{error}"))?;
    let [packets, _] = [prepare(&plain, &script, &args.case)?, prepare(&marked, &script, &args.case)?];
    if packets.is_empty() {
        bail!("{name} has no packet: give it a line like `packet 1 0a0b0c`");
    }
    let [mut plain_traffic, mut marked_traffic] = [Traffic::default(), Traffic::default()];
    let mut plain = Run::new(Engine::new(&plain, &mut plain_traffic, 1), &packets);
    let mut marked = Run::new(Engine::new(&marked, &mut marked_traffic, 1), &packets);
    // The first packets find the caches cold.
    plain.turn(TURN);
    marked.turn(TURN);
    (plain.packets, plain.took) = (0, Duration::ZERO);
    (marked.packets, marked.took) = (0, Duration::ZERO);
    let looks = watch(&stages, |running| {
        let end = Instant::now() + Duration::from_secs(args.seconds.into());
        while Instant::now() < end {
            plain.turn(TURN);
            running.store(true, Relaxed);
            marked.turn(TURN);
            running.store(false, Relaxed);
        }
    });
    print(&mut stdout().lock(), &stages, &looks, plain.nanos(), marked.nanos())?;
    Ok(ExitCode::SUCCESS)
}

/// Puts the entries of a case in place; answers its packets.
fn prepare(loaded: &Loaded, script: &[Line], path: &Path) -> Result<Vec<(u32, Vec<u8>)>> {
    let (mut nodes, mut packets) = (Nodes::default(), Vec::new());
    for line in script {
        match &line.command {
            Command::Packet { port, bytes } => packets.push((*port, bytes.clone())),
            Command::Expect { .. } | Command::CheckCounter { .. } => {}
            command => apply(loaded, &mut nodes, command)
                .map_err(|error| anyhow!("{}: line {}: {error}", path.display(), line.number))?,
        }
    }
    Ok(packets)
}

struct Run<'a> {
    engine: Engine<'a>,
    given: &'a [(u32, Vec<u8>)],
    next: usize,
    packets: u64,
    took: Duration,
}

struct Nowhere;

impl Sink for Nowhere {
    fn transmit(&mut self, _port: u32, bytes: &[u8], _at: u64) {
        hint::black_box(bytes);
    }
    fn message(&mut self, _message: Message) {}
}

impl<'a> Run<'a> {
    fn new(engine: Engine<'a>, given: &'a [(u32, Vec<u8>)]) -> Self {
        Self { engine, given, next: 0, packets: 0, took: Duration::ZERO }
    }

    /// Runs packets for so long.
    fn turn(&mut self, length: Duration) {
        let start = Instant::now();
        let mut elapsed = Duration::ZERO;
        while elapsed < length {
            for _ in 0..BURST {
                let (port, bytes) = &self.given[self.next];
                self.next = (self.next + 1) % self.given.len();
                self.packets += 1;
                self.engine.receive(*port, bytes, self.packets * STEP, &mut Nowhere);
            }
            elapsed = start.elapsed();
        }
        self.took += elapsed;
    }

    /// What a packet took.
    fn nanos(&self) -> f64 {
        self.took.as_nanos() as f64 / self.packets as f64
    }
}

/// Looks again and again which stage the code is in while `body` says that it runs; answers how often it was in each.
fn watch(stages: &Stages, body: impl FnOnce(&AtomicBool)) -> Vec<u64> {
    let (running, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut looks = vec![0; stages.all().len()];
            let mut random = 1u32;
            while !ended.load(Relaxed) {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                thread::sleep(LOOK + Duration::from_nanos(u64::from(random >> 16)));
                if running.load(Relaxed) {
                    looks[stages.here()] += 1;
                }
            }
            looks
        });
        body(&running);
        ended.store(true, Relaxed);
        looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn print(out: &mut impl Write, stages: &Stages, looks: &[u64], plain: f64, marked: f64) -> io::Result<()> {
    let all = looks.iter().sum::<u64>().max(1) as f64;
    writeln!(
        out,
        "a packet takes {plain:.0} ns, with marks in the code {marked:.0} ns ({:+.1} %)",
        100.0 * (marked / plain - 1.0)
    )?;
    // Twice the standard deviation of a share of one half, which is the largest.
    writeln!(
        out,
        "{all:.0} looks: a share is right to {:.1} % of the packet's time or better (95 of 100 times)",
        100.0 / all.sqrt()
    )?;
    // Reading the processor's counters takes a privilege that virtual machines seldom have.
    writeln!(out, "cache misses are not counted\n")?;
    writeln!(out, "{:<12} {:<44} {:>7} {:>8}", "stage", "", "share", "ns")?;
    let mut rows: Vec<_> = stages.all().iter().zip(looks).map(|(stage, looks)| (stage, *looks as f64 / all)).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut rest = (0, 0.0);
    for (stage, share) in rows {
        if share < LEAST {
            rest = (rest.0 + 1, rest.1 + share);
            continue;
        }
        row(out, kind(stage.kind), &stage.name, share, plain)?;
    }
    row(out, "", &format!("{} other stages", rest.0), rest.1, plain)
}

fn row(out: &mut impl Write, kind: &str, name: &str, share: f64, whole: f64) -> io::Result<()> {
    writeln!(out, "{kind:<12} {name:<44} {:>5.1} % {:>8.1}", 100.0 * share, share * whole)
}

fn kind(kind: StageKind) -> &'static str {
    match kind {
        StageKind::Around => "engine",
        StageKind::Block => "block",
        StageKind::Table => "table",
        StageKind::Action => "action",
    }
}
