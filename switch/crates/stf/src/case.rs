//! Runs a case: every command in order, then what left each port against what was expected there.

use std::collections::BTreeMap;
use std::fmt;

use pipeline::{Engine, Loaded, Message, Sink, Traffic};
use runtime::Recorder;
use serde::Serialize;

use crate::apply::{Nodes, apply, counted};
use crate::script::{Command, Line, Pattern};

/// What became of a case that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// One for each expectation that was not met.
    pub failures: Vec<Failure>,
}

/// An expectation that was not met, or a packet that nobody expected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Failure {
    /// The line of the expectation.
    pub line: Option<usize>,
    /// The line of the packet that it is about.
    pub packet: Option<usize>,
    pub what: String,
    /// Hexadecimal digits, where packets are compared.
    pub expected: Option<String>,
    pub got: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => write!(f, "{}: expected {expected}, got {got}", self.what),
            (Some(expected), None) => write!(f, "{}: expected {expected}, got nothing", self.what),
            (None, Some(got)) => write!(f, "{}: unexpected {got}", self.what),
            (None, None) => f.write_str(&self.what),
        }
    }
}

/// Time between two packets of a case.
const STEP: u64 = 1_000_000;

/// What left, by port.
#[derive(Default)]
struct Outputs {
    ports: BTreeMap<u32, Vec<Sent>>,
    /// The line of the packet that runs.
    packet: usize,
}

struct Sent {
    bytes: Vec<u8>,
    /// The line of the packet that caused it.
    packet: usize,
}

/// What is expected of a port, by line, and the line of the packet that should cause it.
struct Wanted<'s> {
    line: usize,
    packet: Option<usize>,
    pattern: Option<&'s Pattern>,
}

impl Sink for Outputs {
    fn transmit(&mut self, port: u32, bytes: &[u8], _at: u64) {
        self.ports.entry(port).or_default().push(Sent { bytes: bytes.to_vec(), packet: self.packet });
    }

    fn message(&mut self, _message: Message) {}
}

/// Runs the script on a freshly loaded program. An error says which line could not be carried out.
pub fn run(loaded: &Loaded, script: &[Line]) -> Result<Outcome, String> {
    run_traced(loaded, script, None)
}

/// The same, with the packet of a line traced.
pub fn run_traced(loaded: &Loaded, script: &[Line], traced: Option<(usize, Recorder)>) -> Result<Outcome, String> {
    run_by(loaded, script, 1, traced)
}

/// The same, with packets run by so many engines in turn, as threads that share the program would.
pub fn run_in_turn(loaded: &Loaded, script: &[Line], engines: usize) -> Result<Outcome, String> {
    run_by(loaded, script, engines, None)
}

fn run_by(
    loaded: &Loaded,
    script: &[Line],
    engines: usize,
    mut traced: Option<(usize, Recorder)>,
) -> Result<Outcome, String> {
    let mut traffic: Vec<Traffic> = (0..engines).map(|_| Traffic::default()).collect();
    let mut engines: Vec<_> = traffic.iter_mut().map(|traffic| Engine::new(loaded, traffic, 1)).collect();
    let mut outputs = Outputs::default();
    let mut expected: BTreeMap<u32, Vec<Wanted<'_>>> = BTreeMap::new();
    let mut nodes = Nodes::default();
    let mut failures = vec![];
    let mut now = STEP;
    for line in script {
        match &line.command {
            Command::Packet { port, bytes } => {
                outputs.packet = line.number;
                let engine = &mut engines[0];
                if let Some((_, recorder)) = traced.take_if(|(number, _)| *number == line.number) {
                    engine.trace_next(recorder);
                }
                engine.receive(*port, bytes, now, &mut outputs);
                engines.rotate_left(1);
                now += STEP;
            }
            Command::Expect { port, pattern } => {
                let (line, packet) = (line.number, packet_of(script, line.number));
                expected.entry(*port).or_default().push(Wanted { line, packet, pattern: pattern.as_ref() });
            }
            Command::CheckCounter { counter, index, bytes, count } => {
                for engine in &mut engines {
                    engine.flush(&mut outputs);
                    engine.idle();
                }
                let have = counted(loaded, counter, *index, *bytes)
                    .map_err(|error| format!("line {}: {error}", line.number))?;
                if have != *count {
                    let what = format!("{counter}({index}) is {have}, not {count}");
                    let packet = packet_of(script, line.number);
                    failures.push(Failure { line: Some(line.number), packet, what, ..Failure::default() });
                }
            }
            command => apply(loaded, &mut nodes, command).map_err(|error| format!("line {}: {error}", line.number))?,
        }
    }
    engines.iter_mut().for_each(|engine| engine.flush(&mut outputs));
    failures.extend(compare(&expected, &outputs.ports));
    Ok(Outcome { failures })
}

/// The line of the packet that an expectation is about: the last one before it, or the first behind.
fn packet_of(script: &[Line], line: usize) -> Option<usize> {
    let packets =
        || script.iter().filter(|line| matches!(line.command, Command::Packet { .. })).map(|line| line.number);
    packets().take_while(|packet| *packet < line).last().or_else(|| packets().next())
}

fn compare(expected: &BTreeMap<u32, Vec<Wanted<'_>>>, outputs: &BTreeMap<u32, Vec<Sent>>) -> Vec<Failure> {
    let mut failures = vec![];
    let unexpected = |port: &u32, sent: &Sent| Failure {
        packet: Some(sent.packet),
        what: format!("port {port}"),
        got: Some(hex(&sent.bytes)),
        ..Failure::default()
    };
    for (port, wanted) in expected {
        let got = outputs.get(port).map_or(&[][..], Vec::as_slice);
        if let Some(any) = wanted.iter().find(|wanted| wanted.pattern.is_none()) {
            if got.is_empty() {
                let what = format!("port {port}: expected any packet, got none");
                failures.push(Failure { line: Some(any.line), packet: any.packet, what, ..Failure::default() });
            }
            continue;
        }
        for (index, Wanted { line, packet, pattern }) in wanted.iter().enumerate() {
            let Some(pattern) = pattern else { continue };
            let sent = got.get(index);
            if sent.is_none_or(|sent| !pattern.matches(&sent.bytes)) {
                failures.push(Failure {
                    line: Some(*line),
                    packet: sent.map(|sent| sent.packet).or(*packet),
                    what: format!("port {port}"),
                    expected: Some(pattern.to_string()),
                    got: sent.map(|sent| hex(&sent.bytes)),
                });
            }
        }
        failures.extend(got.iter().skip(wanted.len()).map(|sent| unexpected(port, sent)));
    }
    for (port, got) in outputs.iter().filter(|(port, _)| !expected.contains_key(port)) {
        failures.extend(got.iter().map(|sent| unexpected(port, sent)));
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
                let wanted = Wanted { line: line.number, packet: None, pattern: pattern.as_ref() };
                expected.entry(*port).or_default().push(wanted);
            }
        }
        let mut ports: BTreeMap<u32, Vec<Sent>> = BTreeMap::new();
        for (port, bytes) in outputs {
            ports.entry(*port).or_default().push(Sent { bytes: bytes.to_vec(), packet: 0 });
        }
        compare(&expected, &ports).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_packet_is_accounted_for() {
        assert_eq!(failures("expect 1 0a", &[(1, &[10])]), [""; 0]);
        assert_eq!(failures("expect 1 0a", &[(1, &[11])]), ["line 1: port 1: expected 0a, got 0b"]);
        assert_eq!(failures("expect 1 0a", &[]), ["line 1: port 1: expected 0a, got nothing"]);
        assert_eq!(failures("expect 1 0a", &[(1, &[10]), (1, &[12])]), ["port 1: unexpected 0c"]);
        assert_eq!(failures("", &[(2, &[10])]), ["port 2: unexpected 0a"]);
        assert_eq!(failures("expect 1", &[]), ["line 1: port 1: expected any packet, got none"]);
    }

    #[test]
    fn an_expectation_is_about_the_packet_before_it() {
        let script = parse("expect 1 0a\npacket 0 0a\nexpect 1 0a\npacket 0 0b\nexpect 1 0b").unwrap();
        assert_eq!([1, 3, 5].map(|line| packet_of(&script, line)), [Some(2), Some(2), Some(4)]);
    }
}
