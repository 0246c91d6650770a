//! Packets through the interpreter, native code, code for what the tables hold and ways that are known, side by side.

use std::path::Path;
use std::sync::Arc;

use compiler::Options;
use pipeline::{BackendKind, Engine, Loaded, Message, Sink, Stats, Traffic};
use runtime::Device;
use stf::script::{self, Command, Line};

/// A program with the entries of a case, on all engines.
pub struct Engines {
    reference: Loaded,
    tested: [(&'static str, Loaded); 4],
    case: Vec<Line>,
}

/// All that a program did with some packets.
#[derive(Default, PartialEq, Debug)]
struct Outcome {
    sent: Vec<(u32, Vec<u8>, u64)>,
    messages: Vec<Message>,
    stats: Stats,
}

impl Sink for Outcome {
    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64) {
        self.sent.push((port, bytes.to_vec(), at));
    }

    fn message(&mut self, message: Message) {
        self.messages.push(message);
    }
}

impl Engines {
    /// Compiles a program and reads the case whose entries it gets.
    pub fn new(program: &Path, include_dirs: &[&Path], case: &str) -> Result<Self, String> {
        let include_dirs = include_dirs.iter().map(|folder| folder.to_path_buf()).collect();
        let options = Options { include_dirs, read_files: true, ..Options::default() };
        let compiled = compiler::compile_file(program, &options).map_err(|failure| failure.to_string())?;
        let program = Arc::new(compiled.program);
        let reference = Loaded::new(program, BackendKind::Interpreter)?;
        Self::beside(reference, script::parse(case)?)
    }

    /// The others beside the interpreter. What it runs, all must run.
    pub fn beside(reference: Loaded, case: Vec<Line>) -> Result<Self, String> {
        let load = |name, kind| Ok::<_, String>((name, Loaded::new(reference.program.clone(), kind)?));
        let native = load("native code", BackendKind::Jit)?;
        let special = load("code for the tables' content", BackendKind::SpecialAtOnce)?;
        let (flows, checked) =
            (load("known ways", BackendKind::Flows)?, load("checked ways", BackendKind::CheckedFlows)?);
        Ok(Self { reference, tested: [native, special, flows, checked], case })
    }

    /// The packets of the case.
    pub fn packets(&self) -> Vec<(u32, Vec<u8>)> {
        let packet = |line: &Line| match &line.command {
            Command::Packet { port, bytes } => Some((*port, bytes.clone())),
            _ => None,
        };
        self.case.iter().filter_map(packet).collect()
    }

    /// Sends packets through fresh state on each. An error says in what they differ.
    pub fn run(&mut self, packets: &[(u32, Vec<u8>)]) -> Result<(), String> {
        self.begin()?;
        self.send(packets, 0)
    }

    /// Gives each fresh state, with the entries of the case.
    fn begin(&mut self) -> Result<(), String> {
        for loaded in std::iter::once(&mut self.reference).chain(self.tested.iter_mut().map(|(_, tested)| tested)) {
            loaded.device = Device::new(loaded.program.clone()).map_err(|error| error.to_string())?;
            let mut nodes = stf::Nodes::default();
            for line in &self.case {
                let applied = stf::apply(loaded, &mut nodes, &line.command);
                applied.map_err(|error| format!("line {}: {error}", line.number))?;
            }
        }
        Ok(())
    }

    /// Sends packets, `before` others having come since the state was fresh.
    fn send(&self, packets: &[(u32, Vec<u8>)], before: usize) -> Result<(), String> {
        let reference = send(&self.reference, packets, before);
        for (name, tested) in &self.tested {
            let tested = send(tested, packets, before);
            if reference != tested {
                return Err(format!("the interpreter: {reference:?}\n{name}: {tested:?}"));
            }
        }
        Ok(())
    }
}

/// Engines that keep their state for many inputs: to compile for what tables hold takes as long as thousands of packets.
pub struct Lasting {
    engines: Engines,
    /// What came since the state was fresh.
    packets: Vec<(u32, Vec<u8>)>,
}

impl Lasting {
    /// Packets that meet what those before left.
    const MOST: usize = 5000;

    pub fn new(mut engines: Engines) -> Result<Self, String> {
        engines.begin()?;
        Ok(Self { engines, packets: vec![] })
    }

    /// Sends an input's packets. An error says in what the engines differ, and of which input with fresh state.
    pub fn run(&mut self, input: &[u8]) -> Result<(), String> {
        if self.packets.len() > Self::MOST {
            self.engines.begin()?;
            self.packets.clear();
        }
        let (packets, before) = (parse(input), self.packets.len());
        self.packets.extend_from_slice(&packets);
        let sent = self.engines.send(&packets, before);
        sent.map_err(|difference| {
            format!("{difference}\nall {} packets: {:02x?}", self.packets.len(), format(&self.packets))
        })
    }
}

fn send(loaded: &Loaded, packets: &[(u32, Vec<u8>)], before: usize) -> Outcome {
    let (mut traffic, mut outcome) = (Traffic::default(), Outcome::default());
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    // Twice: then their ways are known.
    for round in [0, 500_000] {
        for (number, (port, bytes)) in (before as u64 + 1..).zip(packets) {
            engine.receive(*port, bytes, number * 1_000_000 + round, &mut outcome);
        }
    }
    engine.flush(&mut outcome);
    drop(engine);
    outcome.stats = traffic.stats;
    outcome
}

/// Packets as a fuzzer gives them: a port, a length of two bytes, and so many bytes or what is left.
pub fn parse(mut data: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut packets = Vec::new();
    while let [port, high, low, rest @ ..] = data {
        let (packet, left) = rest.split_at(usize::from(u16::from_be_bytes([*high, *low])).min(rest.len()));
        packets.push((port_of(*port), packet.to_vec()));
        data = left;
    }
    packets
}

/// The other way round, for seeds.
pub fn format(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut data = Vec::new();
    for (port, packet) in packets {
        let len = packet.len().min(usize::from(u16::MAX));
        data.push((*port).min(u32::from(CPU)) as u8);
        data.extend((len as u16).to_be_bytes());
        data.extend(&packet[..len]);
    }
    data
}

/// The byte that stands for the controller's port.
const CPU: u8 = 255;

fn port_of(byte: u8) -> u32 {
    if byte == CPU { 510 } else { byte.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_go_into_bytes_and_back() {
        let packets = vec![(3, vec![1, 2, 3]), (510, vec![]), (7, vec![9; 300])];
        assert_eq!(parse(&format(&packets)), packets);
        assert_eq!(parse(&[3, 0xff, 0xff, 5]), [(3, vec![5])]);
    }
}
