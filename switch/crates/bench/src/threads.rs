//! What a second thread brings in memory: two threads that share a program and its tables, beside two that have one each and
//! share nothing, as two processes would.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use bench::measure::{Contestant, Effort, Rates, short};
use pipeline::{BackendKind, Engine, Loaded, Traffic};

use crate::edge;
use crate::forwarding::Last;
use crate::packets::{PACKETS, ROUTES, packets, routes};

/// How often a thread sends its packets before it is waited for: starting threads must not count.
const ROUNDS: usize = 40;

pub fn run(p4src: &Path, effort: Effort) -> Result<()> {
    let mut rates = Rates::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let routes = routes(ROUTES, &mut numbers);
        let packets = packets(&routes, PACKETS, &mut numbers);
        let load = || {
            let loaded = edge::load(p4src, BackendKind::Jit, &routes)?;
            loaded.device.serve_threads();
            ensure!(loaded.specialise().map_err(|error| anyhow!("{error}"))?, "nobody writes to the tables meanwhile");
            Ok(loaded)
        };
        let [together, one, other] = [load()?, load()?, load()?];
        let halves: Vec<_> = packets.chunks(PACKETS / 2).collect();
        let contestants = vec![
            Contestant::new("one thread", || side_by_side(&[(&together, halves[0])])),
            Contestant::new("two threads", || side_by_side(&[(&together, halves[0]), (&together, halves[1])])),
            Contestant::new("two apart", || side_by_side(&[(&one, halves[0]), (&other, halves[1])])),
        ];
        rates.take_turns(effort, &mut numbers, contestants);
    }
    println!("threads in memory: the edge program, {ROUTES} routes, each thread half of the packets");
    for (name, rate) in rates.spreads() {
        println!("  {name:12} {:>10}packets/s  ({})", short(rate.median), rate.around(short));
    }
    println!("  two threads / one {}", rates.ratio("two threads", "one thread"));
    println!("  two threads / two apart {}", rates.ratio("two threads", "two apart"));
    Ok(())
}

/// A thread for each, until all are done; answers how many packets they ran.
fn side_by_side(threads: &[(&Loaded, &[Vec<u8>])]) -> u64 {
    let send = |loaded: &Loaded, packets: &[Vec<u8>]| {
        let mut traffic = Traffic::default();
        let mut engine = Engine::new(loaded, &mut traffic, 1);
        let mut last = Last::default();
        for now in 0..ROUNDS as u64 {
            for packet in packets {
                engine.receive(0, packet, now * 1000, &mut last);
            }
        }
    };
    std::thread::scope(|scope| {
        threads.iter().for_each(|(loaded, packets)| drop(scope.spawn(|| send(loaded, packets))));
    });
    threads.iter().map(|(_, packets)| (packets.len() * ROUNDS) as u64).sum()
}
