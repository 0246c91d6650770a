//! Lookups in big tables: a million exact entries, a million prefixes, a hundred thousand ternary entries; and changes
//! of the prefixes while they are looked up.

mod changes;

use std::collections::HashMap;
use std::sync::Arc;

use bench::measure::{Contestant, Effort, Rates, Spread, short};
use fastrand::Rng;
use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Schema, Table, Writer, table};

use crate::goals::{self, Goals};
use crate::packets::routes;

const ENTRIES: usize = 1_000_000;
const TERNARY: usize = 100_000;
const MASKS: usize = 50;
/// Keys looked up in turn: more than the caches hold.
const KEYS: usize = 1_000_000;
const BURST: usize = 64;
/// Lookups between two looks at the clock.
const PIECE: usize = BURST * 64;

/// Times as long as an exact lookup in as many entries.
const MOST_OF_LPM: f64 = 1.3;
const MOST_OF_TERNARY: f64 = 1.5;

pub fn run(effort: Effort, goals: &mut Goals) {
    println!("lookups of 128-bit keys, one core, by the thread's processor time; the hash map is std's, for scale");
    let mut numbers = effort.numbers(effort.draws);
    let exact = exact(ENTRIES, &mut numbers);
    let mut tables = [
        Filled::new("exact", FieldKind::Exact, exact.clone()),
        Filled::new("lpm", FieldKind::Lpm, prefixes(ENTRIES, &mut numbers)),
        Filled::new("exact, as many as ternary", FieldKind::Exact, exact[..TERNARY].to_vec()),
        Filled::new("ternary", FieldKind::Ternary, ternary(&mut numbers)),
    ];
    let map: HashMap<&[u8], usize> =
        exact.iter().enumerate().map(|(index, pattern)| (pattern.first.as_slice(), index)).collect();
    let mut rates = Rates::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let keys: Vec<_> = tables.iter().map(|filled| filled.keys(KEYS, &mut numbers)).collect();
        let mut contestants: Vec<_> =
            tables.iter_mut().zip(&keys).map(|(filled, keys)| filled.contestant(keys)).collect();
        let mut at = 0;
        contestants.push(Contestant::new("hash map", || {
            let keys = next_piece(&keys[0], &mut at);
            std::hint::black_box(keys.iter().filter(|key| map.contains_key(key.as_slice())).count());
            keys.len() as u64
        }));
        rates.take_turns(effort, &mut numbers, contestants);
    }
    for filled in &tables {
        let bytes = filled.writer.memory() / filled.patterns.len();
        print(filled.name, filled.patterns.len(), rates.of(filled.name), &format!(", {bytes} bytes/entry"));
    }
    print("hash map", map.len(), rates.of("hash map"), "");
    let (lpm, ternary) = (rates.ratio("exact", "lpm"), rates.ratio("exact, as many as ternary", "ternary"));
    println!("  time of lpm / exact {lpm}");
    println!("  time of ternary / exact {ternary}");
    goals.at_most(MOST_OF_LPM, "longest prefix / exact", lpm.median, goals::ratio);
    goals.at_most(MOST_OF_TERNARY, "ternary / exact", ternary.median, goals::ratio);
    let [_, prefixes, ..] = tables;
    changes::run(effort, prefixes, goals);
}

fn print(name: &str, entries: usize, rate: Spread, more: &str) {
    let each = |rate: f64| format!("{:.0}", 1e9 / rate);
    println!(
        "  {name:25} {entries:8} entries {:>10}lookups/s, {} ns ({}){more}",
        short(rate.median),
        each(rate.median),
        rate.around(each)
    );
}

fn exact(count: usize, numbers: &mut Rng) -> Vec<Pattern> {
    let pattern = |_| {
        let first = numbers.u128(..).to_be_bytes().to_vec();
        Pattern { second: first.clone(), first, priority: 0 }
    };
    (0..count).map(pattern).collect()
}

fn prefixes(count: usize, numbers: &mut Rng) -> Vec<Pattern> {
    let pattern = |(prefix, length): (u128, u32)| {
        let mask = u128::MAX << (128 - length);
        Pattern { first: prefix.to_be_bytes().to_vec(), second: mask.to_be_bytes().to_vec(), priority: 0 }
    };
    routes(count, numbers).iter().map(|route| pattern((route.prefix, route.length))).collect()
}

fn ternary(numbers: &mut Rng) -> Vec<Pattern> {
    let masks: Vec<u128> = (0..MASKS).map(|_| numbers.u128(..) | numbers.u128(..)).collect();
    let pattern = |i: usize| {
        let mask = masks[i % MASKS];
        let value = numbers.u128(..) & mask;
        let priority = numbers.u32(1..=10_000);
        Pattern { first: value.to_be_bytes().to_vec(), second: mask.to_be_bytes().to_vec(), priority }
    };
    (0..TERNARY).map(pattern).collect()
}

/// The keys that come after the last ones, and the first again behind the last.
fn next_piece<'k>(keys: &'k [Vec<u8>], at: &mut usize) -> &'k [Vec<u8>] {
    *at = (*at + PIECE) % (keys.len() - PIECE);
    &keys[*at..][..PIECE]
}

/// A table and the entries that it has.
struct Filled {
    name: &'static str,
    kind: FieldKind,
    patterns: Vec<Pattern>,
    epochs: Arc<Epochs>,
    table: Arc<Table>,
    writer: Writer,
    reader: Reader,
}

impl Filled {
    fn new(name: &'static str, kind: FieldKind, patterns: Vec<Pattern>) -> Self {
        let epochs = Epochs::new();
        let schema = Schema { fields: vec![FieldSpec { kind, width: 128 }] };
        let (table, mut writer) = table(schema, patterns.len() as u64, &epochs);
        for (index, pattern) in patterns.iter().enumerate() {
            assert!(writer.insert(pattern, |_| index as u32).is_ok(), "the patterns differ and fit");
        }
        Self { name, kind, patterns, table, writer, reader: Reader::new(&epochs), epochs }
    }

    /// Keys that hit an entry each.
    fn keys(&self, count: usize, numbers: &mut Rng) -> Vec<Vec<u8>> {
        keys(self.kind, &self.patterns, count, numbers)
    }

    fn contestant<'a>(&'a mut self, keys: &'a [Vec<u8>]) -> Contestant<'a> {
        let (table, reader) = (&self.table, &mut self.reader);
        let mut at = 0;
        Contestant::new(self.name, move || look_up(table, reader, next_piece(keys, &mut at)))
    }
}

fn keys(kind: FieldKind, patterns: &[Pattern], count: usize, numbers: &mut Rng) -> Vec<Vec<u8>> {
    let key = |_| {
        let pattern = &patterns[numbers.usize(..patterns.len())];
        match kind {
            FieldKind::Lpm => {
                let host = numbers.u128(..).to_be_bytes();
                (0..16).map(|i| pattern.first[i] | host[i] & !pattern.second[i]).collect()
            }
            _ => pattern.first.clone(),
        }
    };
    (0..count).map(key).collect()
}

/// All of them must be found.
fn look_up(table: &Table, reader: &mut Reader, keys: &[Vec<u8>]) -> u64 {
    let mut found = 0;
    for burst in keys.chunks(BURST) {
        reader.pin();
        found += burst.iter().filter(|key| table.lookup(reader, key).is_some()).count();
    }
    assert_eq!(found, keys.len(), "every key was made from an entry");
    found as u64
}
