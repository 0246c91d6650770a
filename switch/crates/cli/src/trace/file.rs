//! Packets of a case, a capture or the command line, through a program.

use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::channel;

use anyhow::{Context, Result, anyhow, bail};
use pipeline::{BackendKind, Engine, Loaded, Message, Sink, Traffic};
use ports::pcap::Reader;
use runtime::Recorder;
use stf::script::{self, Command};
use stf::{Nodes, apply};

use super::output::Output;
use crate::args::Trace;

/// Nanoseconds between two packets.
const STEP: u64 = 1_000_000;

pub fn trace(args: &Trace) -> Result<ExitCode> {
    let (program, script) = match &args.words[..] {
        [] => bail!("write PROGRAM.p4 [CASES.stf], or --target ADDRESS [FILTER] for a switch that runs"),
        [program] => (program, None),
        [program, script] => (program, Some(script)),
        [_, _, other, ..] => bail!("'{other}' is too much: a filter needs --target ADDRESS, of the switch that runs"),
    };
    let compiled = match compiler::compile_file(Path::new(program), &args.source.options()) {
        Ok(compiled) => compiled,
        Err(failure) => {
            eprintln!("{failure}");
            return Ok(ExitCode::FAILURE);
        }
    };
    let program = loader::program(compiled, BackendKind::Interpreter).map_err(|error| anyhow!("{error}"))?;
    let loaded = &*program.loaded;
    let mut traffic = Traffic::default();
    let mut tracer = Tracer::new(loaded, &mut traffic, Output::new(args));
    if let Some(name) = script {
        let text = std::fs::read_to_string(name).with_context(|| name.clone())?;
        let mut nodes = Nodes::default();
        for line in script::parse(&text).map_err(|error| anyhow!("{name}: {error}"))? {
            match &line.command {
                Command::Packet { port, bytes } => tracer.packet(*port, bytes)?,
                command => apply(loaded, &mut nodes, command)
                    .map_err(|error| anyhow!("{name}: line {}: {error}", line.number))?,
            }
        }
    }
    for text in &args.packet {
        tracer.packet(args.port, &hex(text)?)?;
    }
    if let Some(path) = &args.pcap {
        let mut reader = Reader::open(path).with_context(|| path.display().to_string())?;
        while let Some((_, frame)) = reader.next_packet().with_context(|| path.display().to_string())? {
            tracer.packet(args.port, &frame)?;
        }
    }
    if tracer.packets == 0 {
        bail!("no packet to trace; give an STF file, --packet HEX or --pcap FILE");
    }
    Ok(ExitCode::SUCCESS)
}

struct Tracer<'a> {
    engine: Engine<'a>,
    output: Output<'a>,
    packets: u64,
}

/// Traces tell all there is to know of what leaves.
struct Nowhere;

impl Sink for Nowhere {
    fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}
    fn message(&mut self, _message: Message) {}
}

impl<'a> Tracer<'a> {
    fn new(loaded: &'a Loaded, traffic: &'a mut Traffic, output: Output<'a>) -> Self {
        Self { engine: Engine::new(loaded, traffic, 1), output, packets: 0 }
    }

    fn packet(&mut self, port: u32, bytes: &[u8]) -> Result<()> {
        self.packets += 1;
        let (sender, traces) = channel();
        let now = self.packets * STEP;
        let packet = bytes.to_vec();
        self.engine.trace_next(Recorder::new(move |steps, left_out| {
            // Read below, once the packet has gone.
            let _ = sender.send(trace::Trace::new(now, port, &packet, steps, left_out));
        }));
        self.engine.receive(port, bytes, now, &mut Nowhere);
        self.engine.flush(&mut Nowhere);
        traces.try_iter().try_for_each(|trace| self.output.show(&trace))
    }
}

fn hex(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|digit| !digit.is_whitespace())
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8).ok_or_else(|| anyhow!("'{digit}' is not hexadecimal")))
        .collect::<Result<_>>()?;
    if !digits.len().is_multiple_of(2) {
        bail!("a packet is whole bytes: two hexadecimal digits each");
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
