//! Two forms of one program beside each other: the same entries, the same packets, and whatever leaves must be the same.

use std::fmt;

use fastrand::Rng;
use pipeline::{Engine, FlowStats, Loaded, Message, Sink, Traffic};

use crate::apply::{Nodes, apply};
use crate::hostile::Packets;
use crate::script::{Command, Line};

/// What one packet caused: what left and by which port, and what was told to the control plane.
#[derive(Debug, Default, PartialEq)]
struct Effects {
    sent: Vec<(u32, Vec<u8>)>,
    told: Vec<String>,
}

impl Sink for Effects {
    fn transmit(&mut self, port: u32, bytes: &[u8], _at: u64) {
        self.sent.push((port, bytes.to_vec()));
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Digest { values, .. } => self.told.push(format!("digest {values:?}")),
            // The place in the source is written in two ways.
            Message::AssertionFailed { .. } => self.told.push("an assertion failed".into()),
            // p4c writes formats of its own for headers.
            Message::Log { .. } => {}
        }
    }
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self == &Self::default() {
            return f.write_str("nothing");
        }
        for (port, bytes) in &self.sent {
            write!(f, "port {port} {} ", hex(bytes))?;
        }
        f.write_str(&self.told.join(" "))
    }
}

/// Sends the case's packets, changed ones of these, and random ones through both; the error is the first packet that
/// they treat differently. Answers what the other knew of their ways.
pub fn compare(one: &Loaded, other: &Loaded, script: &[Line], packets: u64) -> Result<FlowStats, String> {
    let mut traffics = [Traffic::default(), Traffic::default()];
    let [first, second] = &mut traffics;
    let (mut one_engine, mut other_engine) = (Engine::new(one, first, 1), Engine::new(other, second, 1));
    let mut seeds = vec![];
    let mut nodes = [Nodes::default(), Nodes::default()];
    for line in script {
        if let Command::Packet { port, bytes } = &line.command {
            seeds.push((*port, bytes.clone()));
            continue;
        }
        let errors = [apply(one, &mut nodes[0], &line.command), apply(other, &mut nodes[1], &line.command)];
        if errors[0].is_ok() != errors[1].is_ok() {
            let [a, b] = errors.map(|result| result.err().unwrap_or_else(|| "accepted".into()));
            return Err(format!("line {}: {a}; {b}", line.number));
        }
    }
    let mut random = Rng::with_seed(packets);
    let changed = seeds.clone().into_iter().cycle().map(|(port, mut bytes)| {
        if !bytes.is_empty() {
            for _ in 0..=random.usize(..3) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
        }
        (port, bytes)
    });
    let all =
        seeds.iter().cloned().chain(changed.take(packets as usize)).chain(Packets::new(packets).take(packets as usize));
    for (round, (port, bytes)) in all.enumerate() {
        let now = (round as u64 + 1) * 1000;
        let mut effects = [Effects::default(), Effects::default()];
        one_engine.receive(port, &bytes, now, &mut effects[0]);
        other_engine.receive(port, &bytes, now, &mut effects[1]);
        if effects[0] != effects[1] {
            let [a, b] = effects;
            return Err(format!("packet {round}, port {port} {}: {a} / {b}", hex(&bytes)));
        }
    }
    Ok(other_engine.traffic().flows)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
