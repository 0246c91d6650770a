//! What more threads bring in memory: threads that share a program and its tables, beside as many that have one each and share
//! nothing, as processes would.

use std::iter::{repeat, successors};
use std::path::Path;
use std::thread::{self, available_parallelism};
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use bench::measure::{Contestant, Effort, Rates, short};
use pipeline::{BackendKind, Engine, Loaded, Traffic};

use crate::edge;
use crate::forwarding::Last;
use crate::goals::{self, Goals};
use crate::packets::{ROUTES, Route, packets, routes};

/// Of each thread.
const PACKETS: usize = 512;
/// How often a thread sends its packets before it is waited for: starting threads must not count.
const ROUNDS: usize = 40;

/// Threads that share a program reach so much of what two reach that share nothing.
const LEAST_OF_TWO: f64 = 0.9;

pub fn run(p4src: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    let processors = available_parallelism()?.get();
    let counts: Vec<usize> =
        successors(Some(2), |count| Some(2 * count)).take_while(|&count| count <= processors).collect();
    let most = counts.last().copied().unwrap_or(1);
    let mut rates = Rates::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let routes = routes(ROUTES, &mut numbers);
        let packets = packets(&routes, PACKETS * most, &mut numbers);
        let loaded = load(p4src, &routes, most + 1)?;
        let (shared, apart) = (&loaded[0], &loaded[1..]);
        let shares = || packets.chunks(PACKETS);
        let mut contestants =
            vec![Contestant::new(shared_by(1), || side_by_side(repeat(shared).zip(shares()).take(1)))];
        for &count in &counts {
            contestants.push(Contestant::new(shared_by(count), move || {
                side_by_side(repeat(shared).zip(shares()).take(count))
            }));
            contestants
                .push(Contestant::new(alone(count), move || side_by_side(apart.iter().zip(shares()).take(count))));
        }
        // Of several threads, so by the wall clock.
        let start = Instant::now();
        rates.take_turns_by(|| start.elapsed(), effort, &mut numbers, contestants);
    }
    println!(
        "threads in memory, {processors} processors: the edge program, {ROUTES} routes, {PACKETS} packets a thread"
    );
    for (name, rate) in rates.spreads() {
        println!("  {name:16} {:>10}packets/s  ({})", short(rate.median), rate.around(short));
    }
    for count in counts {
        println!("  {count} threads / 1 thread {}", rates.ratio(&shared_by(count), &shared_by(1)));
        println!("  {count} threads / {count} apart {}", rates.ratio(&shared_by(count), &alone(count)));
    }
    if most > 1 {
        let shared = rates.ratio(&shared_by(2), &alone(2)).median;
        goals.at_least(LEAST_OF_TWO, "2 threads / 2 apart", shared, goals::ratio);
    } else {
        goals.unmeasured("2 threads / 2 apart", "there is one processor");
    }
    Ok(())
}

fn shared_by(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

fn alone(threads: usize) -> String {
    format!("{threads} apart")
}

/// So many of the same, made side by side: each takes about a second to compile.
fn load(p4src: &Path, routes: &[Route], count: usize) -> Result<Vec<Loaded>> {
    let one = || {
        let loaded = edge::load(p4src, BackendKind::Jit, routes)?;
        loaded.device.serve_threads();
        ensure!(loaded.specialise().map_err(|error| anyhow!("{error}"))?, "nobody writes to the tables meanwhile");
        Ok(loaded)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(one)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("a thread that loaded has panicked"))?)
            .collect()
    })
}

/// A thread for each, until all are done; answers how many packets they ran.
fn side_by_side<'a>(threads: impl Iterator<Item = (&'a Loaded, &'a [Vec<u8>])>) -> u64 {
    let send = |loaded: &Loaded, packets: &[Vec<u8>]| {
        let mut traffic = Traffic::default();
        let mut engine = Engine::new(loaded, &mut traffic, 1);
        let mut last = Last::default();
        for now in 0..ROUNDS as u64 {
            for packet in packets {
                engine.receive(0, packet, now * 1000, &mut last);
            }
        }
        (packets.len() * ROUNDS) as u64
    };
    thread::scope(|scope| {
        let threads: Vec<_> = threads.map(|(loaded, packets)| scope.spawn(move || send(loaded, packets))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that forwards does not panic")).sum()
    })
}
