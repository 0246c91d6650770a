//! Streams of the edge's features: the packets of the pipeline's own cases that leave, with the tables of the case.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use bench::measure::Effort;
use num_bigint::BigUint;
use pipeline::{Engine, Loaded, Message, Sink, Traffic};
use stf::script::{self, Command, Line};
use stf::{Nodes, apply};

use crate::flows::{self, Outcome, PACKETS, Sent};
use crate::forwarding::Last;

/// By the name of a case in `p4src/tests`.
const SCENES: [(&str, &str); 8] = [
    ("NPTv6", "locators"),
    ("NPTv6 by flow", "borders"),
    ("mapped hosts", "mapped_hosts"),
    ("Shim6", "session_paths"),
    ("ILNP", "ilnp_long_nonce"),
    ("SRv6 insert", "segment_insertion"),
    ("SRv6 SIDs", "segment_endpoints"),
    ("IOAM", "traces_begin"),
];

pub fn run(p4src: &Path, program: &Loaded, effort: Effort) -> Result<()> {
    for (place, (name, case)) in SCENES.into_iter().enumerate() {
        let lines = read(p4src, case)?;
        let load = || -> Result<Loaded> {
            let loaded = program.fresh().map_err(|error| anyhow!("{error}"))?;
            fill(&loaded, &lines).with_context(|| case)?;
            know_sources(&loaded, &lines)?;
            flows::specialise(&loaded, None)?;
            Ok(loaded)
        };
        let leaving = leaving(&load()?, &lines);
        ensure!(!leaving.is_empty(), "no packet of {case} leaves");
        let loaded = [load()?, load()?];
        let mut outcome = Outcome::default();
        for draw in 0..effort.draws {
            // Each scene draws something else.
            let mut numbers = effort.numbers(effort.draws * (place + 1) + draw);
            let mut packets: Vec<_> = leaving.iter().cloned().cycle().take(PACKETS / 4).collect();
            numbers.shuffle(&mut packets);
            let sent = Sent { packets, is_flood: false, written: None };
            flows::contest(loaded.each_ref(), &sent, effort, &mut numbers, &mut outcome)?;
        }
        println!("  {name}: {} packets of p4src/tests/{case}.stf", leaving.len());
        flows::print(name, &outcome, effort.draws as u32);
    }
    Ok(())
}

/// The lines of a case in `p4src/tests`.
pub fn read(p4src: &Path, case: &str) -> Result<Vec<Line>> {
    let path = p4src.join(format!("tests/{case}.stf"));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    script::parse(&text).map_err(|error| anyhow!("{case}: {error}"))
}

/// Gives the program what a case gives it before packets.
pub fn fill(loaded: &Loaded, lines: &[Line]) -> Result<()> {
    let mut nodes = Nodes::default();
    for line in lines {
        apply(loaded, &mut nodes, &line.command).map_err(|error| anyhow!("line {}: {error}", line.number))?;
    }
    Ok(())
}

/// Sources whose MAC addresses are new are told to the controller, which has them known from then on.
#[derive(Default)]
struct NewSources(Vec<Vec<BigUint>>);

impl Sink for NewSources {
    fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}

    fn message(&mut self, message: Message) {
        if let Message::Digest { values, .. } = message
            && values.len() == 3
        {
            self.0.push(values);
        }
    }
}

/// Does what the controller does.
pub fn know_sources(loaded: &Loaded, lines: &[Line]) -> Result<()> {
    let (mut traffic, mut sources) = (Traffic::default(), NewSources::default());
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    for line in lines {
        if let Command::Packet { port, bytes } = &line.command {
            engine.receive(*port, bytes, 0, &mut sources);
        }
    }
    sources.0.sort();
    sources.0.dedup();
    let nodes = &mut Nodes::default();
    for values in sources.0 {
        let [port, vlan, source] = [0, 1, 2].map(|at: usize| &values[at]);
        let text = format!("add learned_macs port:{port} vlan:{vlan} source:{source} known_mac()");
        for line in script::parse(&text).map_err(|error| anyhow!("{error}"))? {
            apply(loaded, nodes, &line.command).map_err(|error| anyhow!("{text}: {error}"))?;
        }
    }
    Ok(())
}

/// The packets of a case that leave by a port.
fn leaving(loaded: &Loaded, lines: &[Line]) -> Vec<(u32, Vec<u8>)> {
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    let packets = lines.iter().filter_map(|line| match &line.command {
        Command::Packet { port, bytes } => Some((*port, bytes.clone())),
        _ => None,
    });
    let leaves = |(port, packet): &(u32, Vec<u8>)| {
        let mut last = Last::default();
        engine.receive(*port, packet, 0, &mut last);
        last != Last::default()
    };
    packets.filter(leaves).collect()
}
