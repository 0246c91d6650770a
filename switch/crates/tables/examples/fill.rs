//! Fills the three stores to their intended sizes and prints what inserts, lookups and entries cost.
//!
//! `cargo run --release -p tables --example fill`

use std::time::Instant;

use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Schema, table};

/// Deterministic numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn next_u128(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

fn run(name: &str, kind: FieldKind, width: u32, patterns: &[Pattern], keys: &[Vec<u8>]) {
    let epochs = Epochs::new();
    let schema = Schema { fields: vec![FieldSpec { kind, width }] };
    let (table, mut writer) = table(schema, patterns.len() as u64, &epochs);
    let start = Instant::now();
    let mut inserted = 0u32;
    for pattern in patterns {
        inserted += u32::from(writer.insert(pattern, |slot| slot).is_ok());
    }
    let insert = start.elapsed().as_secs_f64() / f64::from(inserted);
    let mut reader = Reader::new(&epochs);
    let time = |keys: &[Vec<u8>], reader: &mut Reader| {
        let mut best = f64::MAX;
        let mut hits = 0;
        for _ in 0..3 {
            hits = 0;
            let start = Instant::now();
            for burst in keys.chunks(64) {
                reader.pin();
                hits += burst.iter().filter(|key| table.lookup(reader, key).is_some()).count();
            }
            best = best.min(start.elapsed().as_secs_f64() / keys.len() as f64);
        }
        (best * 1e9, hits)
    };
    let (cold, hits) = time(keys, &mut reader);
    let few: Vec<_> = keys[..256].iter().cycle().take(200_000).cloned().collect();
    let (warm, _) = time(&few, &mut reader);
    println!(
        "{name:8} {inserted:8} entries  {:9.0} inserts/s  lookup {cold:5.0} ns over all ({hits}/{} hit), {warm:4.0} ns over 256 keys  {:4} bytes/entry",
        1.0 / insert,
        keys.len(),
        writer.memory() / inserted as usize,
    );
}

fn main() {
    let mut numbers = Numbers(1);
    let exact: Vec<Pattern> = (0..1_000_000)
        .map(|_| {
            let first = numbers.next_u128().to_be_bytes().to_vec();
            Pattern { second: first.clone(), first, priority: 0 }
        })
        .collect();
    let keys: Vec<_> = (0..1_000_000).map(|_| exact[numbers.next() as usize % exact.len()].first.clone()).collect();
    run("exact", FieldKind::Exact, 128, &exact, &keys);

    // Routes as in the wild: most are /48 and /32 under a few thousand registries' blocks.
    let routes: Vec<Pattern> = (0..500_000)
        .map(|i| {
            let block = (0x2000 + numbers.next() as u128 % 0x0c00) << 112;
            let length = [48, 48, 48, 48, 32, 40, 44, 36, 64, 29][i % 10];
            let mask = u128::MAX << (128 - length);
            let value = (block | numbers.next_u128() >> 16) & mask;
            Pattern { first: value.to_be_bytes().to_vec(), second: mask.to_be_bytes().to_vec(), priority: 0 }
        })
        .collect();
    let keys: Vec<_> = (0..1_000_000)
        .map(|_| {
            let route = &routes[numbers.next() as usize % routes.len()];
            let host = numbers.next_u128().to_be_bytes();
            (0..16).map(|i| route.first[i] | host[i] & !route.second[i]).collect()
        })
        .collect();
    run("lpm", FieldKind::Lpm, 128, &routes, &keys);

    let masks: Vec<u128> = (0..50).map(|_| numbers.next_u128() | numbers.next_u128()).collect();
    let entries: Vec<Pattern> = (0..100_000)
        .map(|i| {
            let mask = masks[i % 50];
            let value = numbers.next_u128() & mask;
            let priority = 1 + (numbers.next() % 10_000) as u32;
            Pattern { first: value.to_be_bytes().to_vec(), second: mask.to_be_bytes().to_vec(), priority }
        })
        .collect();
    let keys: Vec<_> = (0..200_000).map(|_| entries[numbers.next() as usize % entries.len()].first.clone()).collect();
    run("ternary", FieldKind::Ternary, 128, &entries, &keys);
}
