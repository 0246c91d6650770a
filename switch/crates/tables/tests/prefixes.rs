//! Large tables of prefixes against a list by length: as they grow, change, and shrink again.

use std::collections::{BTreeMap, HashMap};

use fastrand::Rng;
use tables::{Epochs, FieldKind, FieldSpec, Hit, Pattern, Reader, Schema, Table, Writer, table};

const ENTRIES: usize = 6000;

/// Prefixes by length, and what each finds.
#[derive(Default)]
struct Model(BTreeMap<u32, HashMap<u128, Hit>>);

fn masked(value: u128, length: u32) -> u128 {
    value & u128::MAX.checked_shl(128 - length).unwrap_or(0)
}

impl Model {
    fn best(&self, key: u128) -> Option<Hit> {
        self.0.iter().rev().find_map(|(length, entries)| entries.get(&masked(key, *length)).copied())
    }
}

/// A table with one field of prefixes, and others before it that are a part of the number's first bits.
struct Tried {
    writer: Writer,
    table: std::sync::Arc<Table>,
    reader: Reader,
    exact: u32,
    width: u32,
    model: Model,
}

impl Tried {
    fn new(exact: u32, width: u32) -> Self {
        let epochs = Epochs::new();
        let mut fields = vec![FieldSpec { kind: FieldKind::Lpm, width }];
        if exact > 0 {
            // Behind the prefix, though compared first.
            fields.push(FieldSpec { kind: FieldKind::Exact, width: exact });
        }
        let (table, writer) = table(Schema { fields }, 1 << 20, &epochs);
        Self { writer, table, reader: Reader::new(&epochs), exact, width, model: Model::default() }
    }

    /// The packed field and the exact one of a number's first bits.
    fn pack(&self, number: u128) -> Vec<u8> {
        let exact = if self.exact == 0 { 0 } else { number >> (128 - self.exact) };
        let field = number << self.exact >> (128 - self.width);
        let bytes = |value: u128, width: u32| value.to_be_bytes()[16 - width.div_ceil(8) as usize..].to_vec();
        [bytes(field, self.width), bytes(exact, self.exact)].concat()
    }

    fn pattern(&self, number: u128, length: u32) -> Pattern {
        let first = self.pack(masked(number, length));
        let mask = self.pack(masked(u128::MAX, length));
        let field = self.width.div_ceil(8) as usize;
        let second = [&mask[..field], &first[field..]].concat();
        Pattern { first, second, priority: 0 }
    }

    fn insert(&mut self, number: u128, length: u32, body: u32) {
        let length = length.clamp(self.exact, self.exact + self.width);
        let (pattern, number) = (self.pattern(number, length), masked(number, length));
        let entries = self.model.0.entry(length).or_default();
        match self.writer.insert(&pattern, |_| body) {
            Ok(slot) => assert_eq!(entries.insert(number, Hit { slot, body }), None),
            Err(_) => assert!(entries.contains_key(&number)),
        }
    }

    fn remove(&mut self, number: u128, length: u32) {
        let pattern = self.pattern(number, length);
        let hit = self.model.0.get_mut(&length).and_then(|entries| entries.remove(&number)).unwrap();
        assert_eq!(self.writer.get(&pattern), Some(hit.slot));
        assert_eq!(self.writer.pattern(hit.slot), pattern);
        self.writer.remove(hit.slot);
        assert_eq!(self.writer.get(&pattern), None);
    }

    fn change(&mut self, number: u128, length: u32, body: u32) {
        let hit = self.model.0.get_mut(&length).and_then(|entries| entries.get_mut(&number)).unwrap();
        hit.body = body;
        self.writer.set_body(hit.slot, body);
    }

    fn prefixes(&self) -> Vec<(u128, u32)> {
        let all = self.model.0.iter().flat_map(|(length, entries)| entries.keys().map(|number| (*number, *length)));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        all
    }

    /// Keys below and beside every prefix find what the list finds.
    fn check(&mut self, random: &mut Rng) {
        self.reader.pin();
        for (number, length) in self.prefixes() {
            let below = number | random.u128(..) & !masked(u128::MAX, length);
            let beside = below ^ 1u128 << (128 - length.max(1));
            for key in [below, beside, random.u128(..)] {
                let used = masked(key, self.exact + self.width);
                let found = self.table.lookup(&self.reader, &self.pack(used));
                assert_eq!(found, self.model.best(used), "{used:#x} below or beside {number:#x}/{length}");
            }
        }
    }
}

/// Grows, changes, shrinks and grows again.
fn try_all(exact: u32, width: u32, mut draw: impl FnMut(&mut Rng) -> (u128, u32)) {
    let mut random = Rng::with_seed(1);
    let mut tried = Tried::new(exact, width);
    for round in 0..2 {
        for body in 0..ENTRIES {
            let (number, length) = draw(&mut random);
            tried.insert(number, length, body as u32);
            if body.is_power_of_two() || body % 2500 == 0 {
                tried.check(&mut random);
            }
        }
        for (number, length) in tried.prefixes() {
            match random.u32(..3) {
                0 => tried.remove(number, length),
                1 => tried.change(number, length, random.u32(..1 << 20)),
                _ => {}
            }
        }
        tried.check(&mut random);
        for (index, (number, length)) in tried.prefixes().into_iter().enumerate() {
            if index % 20 != round {
                tried.remove(number, length);
            }
        }
        tried.check(&mut random);
    }
    tried.prefixes().into_iter().for_each(|(number, length)| tried.remove(number, length));
    assert!(tried.writer.is_empty());
}

#[test]
fn prefixes_spread_over_a_block() {
    try_all(0, 128, |random| ((0x2001 << 112) | random.u128(..) >> 16, 24 + random.u32(..41)));
}

#[test]
fn many_prefixes_below_few_others() {
    try_all(0, 128, |random| {
        let provider = 0x2a00_0000 + u128::from(random.u32(..30));
        let customer = u128::from(random.u32(..1 << 12));
        (
            provider << 96 | customer << 80 | random.u128(..) >> 48,
            [0, 3, 29, 32, 40, 44, 48, 56, 64, 128][random.usize(..10)],
        )
    });
}

#[test]
fn prefixes_of_ipv4() {
    try_all(0, 32, |random| (random.u128(..), [8, 16, 20, 24, 24, 24, 32][random.usize(..7)]));
}

#[test]
fn prefixes_behind_an_exact_key() {
    try_all(12, 128 - 12, |random| {
        let part = u128::from(random.u32(..3)) << 116;
        (part | (0x2001 << 100) | random.u128(..) >> 28, 12 + random.u32(..80))
    });
}

#[test]
fn prefixes_that_share_no_bits_or_nearly_all() {
    try_all(0, 20, |random| (random.u128(..), 8 + random.u32(..13)));
    try_all(0, 128, |random| (u128::from(random.u32(..1 << 14)) | 7 << 60, 128 - random.u32(..12)));
}
