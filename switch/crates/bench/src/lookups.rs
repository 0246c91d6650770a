//! Lookups in big tables: a million exact entries, half a million prefixes, a hundred thousand ternary entries.

use std::collections::HashMap;

use bench::measure::{Contestant, Effort, Rates, short};
use fastrand::Rng;
use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Schema, table};

use crate::packets::routes;

const EXACT: usize = 1_000_000;
const PREFIXES: usize = 500_000;
const TERNARY: usize = 100_000;
const MASKS: usize = 50;
/// Keys looked up in turn: more than the caches hold.
const KEYS: usize = 1_000_000;
const BURST: usize = 64;

pub fn run(effort: Effort) {
    println!("lookups of 128-bit keys, one core; the hash map is std's, for scale");
    let mut numbers = effort.numbers(effort.draws);
    let exact: Vec<Pattern> = (0..EXACT)
        .map(|_| {
            let first = numbers.u128(..).to_be_bytes().to_vec();
            Pattern { second: first.clone(), first, priority: 0 }
        })
        .collect();
    measure(effort, "exact", FieldKind::Exact, &exact);

    let prefixes: Vec<Pattern> = routes(PREFIXES, &mut numbers)
        .iter()
        .map(|route| {
            let mask = u128::MAX << (128 - route.length);
            Pattern { first: route.prefix.to_be_bytes().to_vec(), second: mask.to_be_bytes().to_vec(), priority: 0 }
        })
        .collect();
    measure(effort, "lpm", FieldKind::Lpm, &prefixes);

    let masks: Vec<u128> = (0..MASKS).map(|_| numbers.u128(..) | numbers.u128(..)).collect();
    let ternary: Vec<Pattern> = (0..TERNARY)
        .map(|i| {
            let mask = masks[i % MASKS];
            let value = numbers.u128(..) & mask;
            let priority = numbers.u32(1..=10_000);
            Pattern { first: value.to_be_bytes().to_vec(), second: mask.to_be_bytes().to_vec(), priority }
        })
        .collect();
    measure(effort, "ternary", FieldKind::Ternary, &ternary);
}

/// The entries are drawn once, keys each time.
fn measure(effort: Effort, name: &str, kind: FieldKind, patterns: &[Pattern]) {
    let epochs = Epochs::new();
    let schema = Schema { fields: vec![FieldSpec { kind, width: 128 }] };
    let (table, mut writer) = table(schema, patterns.len() as u64, &epochs);
    for (index, pattern) in patterns.iter().enumerate() {
        assert!(writer.insert(pattern, |_| index as u32).is_ok(), "the patterns differ and fit");
    }
    let map: HashMap<&[u8], usize> =
        patterns.iter().enumerate().map(|(index, pattern)| (pattern.first.as_slice(), index)).collect();
    let mut reader = Reader::new(&epochs);
    let mut rates = Rates::default();
    for draw in 0..effort.draws {
        let mut numbers = effort.numbers(draw);
        let keys = keys(kind, patterns, &mut numbers);
        reader.pin();
        let found = keys.iter().filter(|key| table.lookup(&reader, key).is_some()).count();
        assert_eq!(found, keys.len(), "every key was made from an entry");
        let (mut at, mut map_at) = (0, 0);
        let next = |at: &mut usize| {
            *at = (*at + BURST * 64) % (KEYS - BURST * 64);
            *at
        };
        let contestants = vec![
            Contestant::new("table", || {
                let start = next(&mut at);
                let mut hits = 0;
                for burst in keys[start..][..BURST * 64].chunks(BURST) {
                    reader.pin();
                    hits += burst.iter().filter(|key| table.lookup(&reader, key).is_some()).count();
                }
                hits as u64
            }),
            Contestant::new("hash map", || {
                let start = next(&mut map_at);
                let keys = &keys[start..][..BURST * 64];
                let hits = keys.iter().filter(|key| map.contains_key(key.as_slice())).count();
                std::hint::black_box(hits);
                keys.len() as u64
            }),
        ];
        rates.take_turns(effort, &mut numbers, contestants);
    }
    let (ours, map) = (rates.of("table"), rates.of("hash map"));
    println!(
        "  {name:8} {:8} entries  {:>10}lookups/s, {:.0} ns ({}), hash map {:.0} ns, {} bytes/entry",
        patterns.len(),
        short(ours.median),
        1e9 / ours.median,
        ours.around(|rate| format!("{:.0}", 1e9 / rate)),
        1e9 / map.median,
        writer.memory() / patterns.len()
    );
}

/// Keys that hit an entry each.
fn keys(kind: FieldKind, patterns: &[Pattern], numbers: &mut Rng) -> Vec<Vec<u8>> {
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
    (0..KEYS).map(key).collect()
}
