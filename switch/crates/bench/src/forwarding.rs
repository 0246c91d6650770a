//! Packets per second in memory, on one core: the JIT, also with code for what the tables hold, the interpreter, and a
//! loop written by hand.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use bench::measure::{Contestant, Effort, Rates, short};
use compiler::Options;
use fastrand::Rng;
use ir::Match;
use num_bigint::BigUint;
use pipeline::{BackendKind, DEFAULT_WAYS, Engine, Loaded, Message, Sink, Traffic};
use runtime::{ActionCall, EntryAction, NewEntry};

use crate::edge;
use crate::goals::{self, Goals};
use crate::handwritten::Router;
use crate::learning::Learned;
use crate::packets::{PACKETS, ROUTES, Route, packets, routes};
use crate::tracing;

/// Packets between two looks at the clock, as the switch's own loop does it.
pub const BURST: usize = 64;

/// Remembers the last packet.
#[derive(Debug, Default, PartialEq)]
pub struct Last {
    pub port: u32,
    pub bytes: Vec<u8>,
}

impl Sink for Last {
    fn transmit(&mut self, port: u32, bytes: &[u8], _at: u64) {
        self.port = port;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    fn message(&mut self, _message: Message) {}
}

/// Special, and with a flow cache as the switch has it by default, whose ways were learned before.
const CACHED: &str = "flow cache";
/// The loop by hand may be so many times as fast as `routing`.
const MOST_BY_HAND: f64 = 1.3;

pub fn run(programs: &Path, p4src: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    let [mut routing, mut segments, mut edge, mut traces]: [Rates; 4] = Default::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let routes = routes(ROUTES, &mut numbers);
        let packets = packets(&routes, PACKETS, &mut numbers);
        if draw == 0 {
            let bytes = packets[0].len();
            println!(
                "forwarding in memory: {ROUTES} routes, packets of {bytes} bytes, one core, by the thread's processor time"
            );
        }
        let drawn = &mut Drawn { effort, numbers, routes: &routes, packets: &packets };
        measure(programs, drawn, "routing", Router::route, &mut routing)?;
        measure(programs, drawn, "segments", Router::route_with_segments, &mut segments)?;
        measure_edge(p4src, drawn, &mut edge)?;
        tracing::measure(p4src, drawn, &mut traces)?;
    }
    let by_hand = routing.ratio("by hand", CACHED).median;
    for (name, rates) in [("routing", routing), ("segments", segments)] {
        print_rates(name, &rates);
        println!("  {name:10} JIT / interpreter {}", rates.ratio("JIT", "interpreter"));
        println!("  {name:10} special / JIT {}", rates.ratio("special", "JIT"));
        println!("  {name:10} by hand / special {}", rates.ratio("by hand", "special"));
        println!("  {name:10} by hand / {CACHED} {}", rates.ratio("by hand", CACHED));
    }
    print_rates("edge", &edge);
    println!("  {:10} JIT / interpreter {}", "edge", edge.ratio("JIT", "interpreter"));
    println!("  {:10} special / JIT {}", "edge", edge.ratio("special", "JIT"));
    print_rates("traces", &traces);
    println!("  {:10} unwatched / no traces {}", "traces", traces.ratio("unwatched", "no traces"));
    goals.at_most(MOST_BY_HAND, format!("routing, by hand / {CACHED}"), by_hand, goals::ratio);
    Ok(())
}

/// What the contestants of a draw meet.
pub struct Drawn<'a> {
    pub effort: Effort,
    pub numbers: Rng,
    pub routes: &'a [Route],
    pub packets: &'a [Vec<u8>],
}

/// The whole pipeline of the edge program: nobody wrote that by hand.
fn measure_edge(p4src: &Path, drawn: &mut Drawn<'_>, rates: &mut Rates) -> Result<()> {
    let packets = drawn.packets;
    let load = |kind| edge::load(p4src, kind, drawn.routes);
    let (jit, special, interpreter) =
        (load(BackendKind::Jit)?, load(BackendKind::Jit)?, load(BackendKind::Interpreter)?);
    specialise(&special)?;
    let [mut jit_traffic, mut special_traffic, mut interpreter_traffic]: [Traffic; 3] = Default::default();
    let mut jit = Engine::new(&jit, &mut jit_traffic, 1);
    let mut special = Engine::new(&special, &mut special_traffic, 1);
    let mut interpreter = Engine::new(&interpreter, &mut interpreter_traffic, 1);
    for packet in packets {
        let [expected, general, got] = [&mut interpreter, &mut jit, &mut special].map(|engine| {
            let mut last = Last::default();
            engine.receive(0, packet, 0, &mut last);
            (last.port, last.bytes)
        });
        ensure!((1..=4).contains(&expected.0), "the edge program does not route {packet:02x?}");
        ensure!(general == expected, "the JIT and the interpreter differ on {packet:02x?}");
        ensure!(got == expected, "the code for the tables' content and the interpreter differ on {packet:02x?}");
    }
    let contestants = vec![
        Contestant::new("JIT", engine_work(&mut jit, packets)),
        Contestant::new("special", engine_work(&mut special, packets)),
        Contestant::new("interpreter", engine_work(&mut interpreter, packets)),
    ];
    rates.take_turns(drawn.effort, &mut drawn.numbers, contestants);
    Ok(())
}

/// As the switch does by itself once its tables stand still.
pub fn specialise(loaded: &Loaded) -> Result<()> {
    ensure!(loaded.specialise().map_err(|error| anyhow!("{error}"))?, "nobody writes to the tables meanwhile");
    Ok(())
}

fn print_rates(name: &str, rates: &Rates) {
    for (contestant, rate) in rates.spreads() {
        let each = 1e9 / rate.median;
        println!(
            "  {name:10} {contestant:12} {:>10}packets/s  {each:6.0} ns each  ({})",
            short(rate.median),
            rate.around(short)
        );
    }
}

pub type ByHand = for<'a> fn(&'a mut Router, &[u8]) -> Option<(u16, &'a [u8])>;

fn measure(programs: &Path, drawn: &mut Drawn<'_>, name: &str, by_hand: ByHand, rates: &mut Rates) -> Result<()> {
    let (routes, packets) = (drawn.routes, drawn.packets);
    let load = |kind| load(&programs.join(format!("{name}.p4")), kind, routes, name == "segments");
    let (jit, special, interpreter) =
        (load(BackendKind::Jit)?, load(BackendKind::Jit)?, load(BackendKind::Interpreter)?);
    specialise(&special.loaded)?;
    let [mut jit_traffic, mut special_traffic, mut interpreter_traffic, mut cached_traffic]: [Traffic; 4] =
        Default::default();
    let mut jit = Engine::new(&jit.loaded, &mut jit_traffic, 1);
    let mut cached = Engine::new(&special.loaded, &mut cached_traffic, 1);
    let mut special = Engine::new(&special.loaded, &mut special_traffic, 1);
    let mut interpreter = Engine::new(&interpreter.loaded, &mut interpreter_traffic, 1);
    let mut router = Router::new(routes);
    cached.keep_flows(DEFAULT_WAYS);
    Learned::default().learn(&mut cached, |engine| Box::new(engine_work(engine, packets)));
    agree(&mut [&mut jit, &mut special, &mut interpreter, &mut cached], &mut router, by_hand, packets)?;

    let contestants = vec![
        Contestant::new("JIT", engine_work(&mut jit, packets)),
        Contestant::new("special", engine_work(&mut special, packets)),
        Contestant::new(CACHED, engine_work(&mut cached, packets)),
        Contestant::new("interpreter", engine_work(&mut interpreter, packets)),
        Contestant::new("by hand", work_by_hand(&mut router, by_hand, packets)),
    ];
    rates.take_turns(drawn.effort, &mut drawn.numbers, contestants);
    Ok(())
}

pub fn work_by_hand<'a>(router: &'a mut Router, by_hand: ByHand, packets: &'a [Vec<u8>]) -> impl FnMut() -> u64 + 'a {
    move || {
        let mut last = Last::default();
        for burst in packets.chunks(BURST) {
            router.pin();
            for packet in burst {
                if let Some((port, bytes)) = by_hand(router, packet) {
                    last.transmit(port.into(), bytes, 0);
                }
            }
        }
        packets.len() as u64
    }
}

pub fn engine_work<'a>(engine: &'a mut Engine<'_>, packets: &'a [Vec<u8>]) -> impl FnMut() -> u64 + 'a {
    let mut now = 0;
    move || {
        let mut last = Last::default();
        for burst in packets.chunks(BURST) {
            now += 1000;
            for packet in burst {
                engine.receive(0, packet, now, &mut last);
            }
        }
        packets.len() as u64
    }
}

/// All do the same to every packet, or the figures mean nothing.
fn agree(engines: &mut [&mut Engine<'_>], router: &mut Router, by_hand: ByHand, packets: &[Vec<u8>]) -> Result<()> {
    router.pin();
    for packet in packets {
        let expected = by_hand(router, packet).map(|(port, bytes)| (u32::from(port), bytes.to_vec()));
        for engine in engines.iter_mut() {
            let mut last = Last::default();
            engine.receive(0, packet, 0, &mut last);
            let got = (!last.bytes.is_empty()).then_some((last.port, last.bytes));
            ensure!(got == expected, "the switch and the loop by hand differ on {packet:02x?}");
        }
    }
    Ok(())
}

fn load(path: &Path, kind: BackendKind, routes: &[Route], segments: bool) -> Result<loader::Program> {
    let options = Options { read_files: true, ..Options::default() };
    let compiled = compiler::compile_file(path, &options).map_err(|failure| anyhow!("{failure}"))?;
    let program = loader::program(compiled, kind).map_err(|error| anyhow!("{error}"))?;
    let flat = &program.loaded.program;
    let (table, _) = flat.tables.iter().next().ok_or_else(|| anyhow!("{} has no table", path.display()))?;
    let (action, _) = flat
        .actions
        .iter()
        .find(|(_, action)| action.name.ends_with("forward"))
        .ok_or_else(|| anyhow!("{} has no action forward", path.display()))?;
    for route in routes {
        let mut args = vec![
            BigUint::from(route.port),
            BigUint::from_bytes_be(&route.source),
            BigUint::from_bytes_be(&route.destination),
        ];
        if segments {
            args.extend(route.segments.map(BigUint::from));
        }
        let entry = NewEntry {
            keys: vec![Match::Lpm { value: route.prefix.into(), prefix: route.length }],
            priority: 0,
            action: EntryAction::Action(ActionCall { action, args }),
            idle_timeout: 0,
            metadata: vec![],
            counter: None,
            meter: None,
        };
        program.loaded.device.insert_entry(table, &entry, 0).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(program)
}
