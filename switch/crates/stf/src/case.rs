//! Runs a case: every command in order, then what left each port against what was expected there.

use std::collections::BTreeMap;

use pipeline::{Engine, Loaded, Message, Sink, Traffic};

use crate::apply::{Nodes, apply, counted};
use crate::script::{Command, Line, Pattern};

/// What became of a case that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// One line for each expectation that was not met.
    pub failures: Vec<String>,
}

/// Time between two packets of a case.
const STEP: u64 = 1_000_000;

#[derive(Default)]
struct Outputs {
    ports: BTreeMap<u32, Vec<Vec<u8>>>,
}

impl Sink for Outputs {
    fn transmit(&mut self, port: u32, bytes: &[u8], _at: u64) {
        self.ports.entry(port).or_default().push(bytes.to_vec());
    }

    fn message(&mut self, _message: Message) {}
}

/// Runs the script on a freshly loaded program. An error says which line could not be carried out.
pub fn run(loaded: &Loaded, script: &[Line]) -> Result<Outcome, String> {
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    let mut outputs = Outputs::default();
    let mut expected: BTreeMap<u32, Vec<(usize, Option<&Pattern>)>> = BTreeMap::new();
    let mut nodes = Nodes::default();
    let mut failures = vec![];
    let mut now = STEP;
    for line in script {
        match &line.command {
            Command::Packet { port, bytes } => {
                engine.receive(*port, bytes, now, &mut outputs);
                now += STEP;
            }
            Command::Expect { port, pattern } => {
                expected.entry(*port).or_default().push((line.number, pattern.as_ref()));
            }
            Command::CheckCounter { counter, index, bytes, count } => {
                engine.flush(&mut outputs);
                engine.idle();
                let have = counted(loaded, counter, *index, *bytes)
                    .map_err(|error| format!("line {}: {error}", line.number))?;
                if have != *count {
                    failures.push(format!("line {}: {counter}({index}) is {have}, not {count}", line.number));
                }
            }
            command => apply(loaded, &mut nodes, command).map_err(|error| format!("line {}: {error}", line.number))?,
        }
    }
    engine.flush(&mut outputs);
    failures.extend(compare(&expected, &outputs.ports));
    Ok(Outcome { failures })
}

fn compare(
    expected: &BTreeMap<u32, Vec<(usize, Option<&Pattern>)>>,
    outputs: &BTreeMap<u32, Vec<Vec<u8>>>,
) -> Vec<String> {
    let mut failures = vec![];
    for (port, wanted) in expected {
        let got = outputs.get(port).map_or(&[][..], Vec::as_slice);
        if wanted.iter().any(|(_, pattern)| pattern.is_none()) {
            if got.is_empty() {
                failures.push(format!("port {port}: expected any packet, got none"));
            }
            continue;
        }
        for (index, (line, pattern)) in wanted.iter().enumerate() {
            let Some(pattern) = pattern else { continue };
            match got.get(index) {
                None => failures.push(format!("line {line}: port {port}: expected {pattern}, got nothing")),
                Some(bytes) if !pattern.matches(bytes) => {
                    failures.push(format!("line {line}: port {port}: expected {pattern}, got {}", hex(bytes)));
                }
                Some(_) => {}
            }
        }
        for bytes in got.iter().skip(wanted.len()) {
            failures.push(format!("port {port}: unexpected {}", hex(bytes)));
        }
    }
    for (port, got) in outputs.iter().filter(|(port, _)| !expected.contains_key(port)) {
        failures.extend(got.iter().map(|bytes| format!("port {port}: unexpected {}", hex(bytes))));
    }
    failures
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::parse;

    fn failures(script: &str, outputs: &[(u32, &[u8])]) -> Vec<String> {
        let lines = parse(script).unwrap();
        let mut expected: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for line in &lines {
            if let Command::Expect { port, pattern } = &line.command {
                expected.entry(*port).or_default().push((line.number, pattern.as_ref()));
            }
        }
        let mut ports: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
        for (port, bytes) in outputs {
            ports.entry(*port).or_default().push(bytes.to_vec());
        }
        compare(&expected, &ports)
    }

    #[test]
    fn every_packet_is_accounted_for() {
        assert_eq!(failures("expect 1 0a", &[(1, &[10])]), [""; 0]);
        assert_eq!(failures("expect 1 0a", &[(1, &[11])]), ["line 1: port 1: expected 0a, got 0b"]);
        assert_eq!(failures("expect 1 0a", &[]), ["line 1: port 1: expected 0a, got nothing"]);
        assert_eq!(failures("expect 1 0a", &[(1, &[10]), (1, &[12])]), ["port 1: unexpected 0c"]);
        assert_eq!(failures("", &[(2, &[10])]), ["port 2: unexpected 0a"]);
        assert_eq!(failures("expect 1", &[]), ["port 1: expected any packet, got none"]);
    }
}
