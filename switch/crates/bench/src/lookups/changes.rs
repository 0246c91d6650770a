//! Prefixes are looked up while others are changed: what both reach, and how long the slowest lookups take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench::measure::{Effort, Spread, ratios, short};
use fastrand::Rng;
use tables::{Pattern, Reader, Table, Writer};

use crate::goals::Goals;

use super::{BURST, Filled, KEYS, keys, look_up, next_piece};

/// Changes a second that are wanted, and beside which the slowest lookups are looked at.
const STEADY: f64 = 500_000.0;
/// Entries taken out and put back between two looks at the clock.
const PIECE: usize = 16;
/// Of so many lookups, one is slower than the time that is told.
const ONE_IN: u64 = 10_000;
/// Nanoseconds between two times that are told apart, and how many of them.
const STEP: u64 = 64;
const STEPS: usize = 1 << 18;

/// One thread looks prefixes up that stay, another takes others out and puts them back: as fast as it can, then steadily.
pub fn run(effort: Effort, filled: Filled, goals: &mut Goals) {
    let Filled { kind, patterns, table, mut writer, mut reader, epochs: _epochs, .. } = filled;
    let (still, restless) = patterns.split_at(patterns.len() / 2);
    let (mut alone, mut beside, mut changed) = (vec![], vec![], vec![]);
    let (mut slow_alone, mut slow_beside, mut steady) = (vec![], vec![], vec![]);
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let keys = keys(kind, still, KEYS / 4, &mut numbers);
        let mut changes = Changes { writer: &mut writer, restless, numbers };
        let time = Duration::from_millis(effort.millis);
        alone.push(rate(&table, &mut reader, &keys, time));
        let (with_changes, made) = changes.beside(f64::INFINITY, || rate(&table, &mut reader, &keys, time));
        beside.push(with_changes);
        changed.push(made);
        slow_alone.push(slowest(&table, &mut reader, &keys, time));
        let (slow, made) = changes.beside(STEADY, || slowest(&table, &mut reader, &keys, time));
        slow_beside.push(slow);
        steady.push(made);
    }
    let changes = Spread::of(&changed);
    println!("  changes of lpm beside lookups {:>10}/s ({})", short(changes.median), changes.around(short));
    println!("  lookups beside changes / alone {}", Spread::of(&ratios(&beside, &alone)));
    let above: Vec<f64> = slow_beside.iter().zip(&slow_alone).map(|(beside, alone)| beside - alone).collect();
    println!("  99.99th percentile of a lookup in us, alone {}", Spread::of(&slow_alone));
    println!("    beside {} changes/s {}", short(Spread::of(&steady).median), Spread::of(&slow_beside));
    println!("    above that alone {}", Spread::of(&above));
    goals.at_least(STEADY, "changes a second of longest prefixes beside lookups", changes.median, short);
}

/// Lookups a second.
fn rate(table: &Table, reader: &mut Reader, keys: &[Vec<u8>], time: Duration) -> f64 {
    let (start, mut at, mut found) = (Instant::now(), 0, 0);
    while start.elapsed() < time {
        found += look_up(table, reader, next_piece(keys, &mut at));
    }
    let rate = found as f64 / start.elapsed().as_secs_f64();
    reader.park();
    rate
}

/// The 99.99th percentile of the time of a lookup, in microseconds: from one reading of the clock to the next.
fn slowest(table: &Table, reader: &mut Reader, keys: &[Vec<u8>], time: Duration) -> f64 {
    let mut counts = vec![0_u32; STEPS];
    // Written once before it counts, so that no lookup waits for the memory.
    counts.iter_mut().for_each(|count| *std::hint::black_box(count) = 0);
    let (start, mut at, mut total) = (Instant::now(), 0, 0_u64);
    let mut last = start;
    while last - start < time {
        for burst in next_piece(keys, &mut at).chunks(BURST) {
            reader.pin();
            for key in burst {
                assert!(table.lookup(reader, key).is_some(), "every key was made from an entry that stays");
                let now = Instant::now();
                let step = (now - last).as_nanos() as u64 / STEP;
                counts[(step as usize).min(STEPS - 1)] += 1;
                total += 1;
                last = now;
            }
        }
    }
    reader.park();
    let mut slower = total / ONE_IN;
    let step = counts.iter().rposition(|&count| {
        let is_it = u64::from(count) > slower;
        slower = slower.saturating_sub(count.into());
        is_it
    });
    step.map_or(f64::NAN, |step| (step as u64 * STEP) as f64 / 1000.0)
}

/// What another thread does meanwhile.
struct Changes<'a> {
    writer: &'a mut Writer,
    restless: &'a [Pattern],
    numbers: Rng,
}

impl Changes<'_> {
    /// What some work answers while entries are changed, at most so many a second, and how many a second they were.
    fn beside<T>(&mut self, most: f64, work: impl FnOnce() -> T) -> (T, f64) {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| self.make(most, &done));
            let answer = work();
            done.store(true, Ordering::Release);
            (answer, writing.join().expect("changes go on"))
        })
    }

    fn make(&mut self, most: f64, done: &AtomicBool) -> f64 {
        let (start, mut count) = (Instant::now(), 0_u64);
        while !done.load(Ordering::Acquire) {
            if count as f64 > most * start.elapsed().as_secs_f64() {
                std::thread::sleep(Duration::from_micros(20));
                continue;
            }
            for _ in 0..PIECE {
                let pattern = &self.restless[self.numbers.usize(..self.restless.len())];
                let slot = self.writer.get(pattern).expect("it is put back each time");
                let body = self.writer.body(slot);
                self.writer.remove(slot);
                assert!(self.writer.insert(pattern, |_| body).is_ok(), "it was just taken out");
                count += 2;
            }
        }
        count as f64 / start.elapsed().as_secs_f64()
    }
}
