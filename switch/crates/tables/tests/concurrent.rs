//! Readers look while a writer changes things: what stays must be found, what is found must be whole.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Recent, Schema, Slots, Words, table};

/// How many keys there are: one of so many stays, the others come and go, so often.
struct Course {
    keys: u32,
    stays: u32,
    rounds: u32,
}

const SMALL: Course = Course { keys: 400, stays: 2, rounds: 40 };

/// A key for a number, spread over the whole width.
fn key(number: u32, bytes: usize) -> Vec<u8> {
    let spread = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    (0..bytes).map(|i| spread[i % 8] ^ (i / 8) as u8).collect()
}

/// A body is a record whose two words must agree; it is filled before it is published, and filled anew when it is used
/// for another entry.
struct Bodies<'a> {
    words: &'a Words,
    epochs: &'a Epochs,
    numbers: Slots,
}

impl Bodies<'_> {
    fn put(&mut self, number: u32, version: u32) -> u32 {
        let body = self.numbers.take(self.epochs);
        self.words.ensure(body);
        let record = self.words.record(body);
        record[0].store(u64::from(number) << 32 | u64::from(version), Relaxed);
        record[1].store(u64::from(version) << 32 | u64::from(number), Relaxed);
        body
    }
}

fn check(fields: &[FieldSpec], course: &Course, pattern: impl Fn(u32) -> Pattern) {
    let Course { keys, stays, rounds } = *course;
    let schema = Schema { fields: fields.to_vec() };
    let bytes = schema.bytes();
    let epochs = Epochs::new();
    let (table, mut writer) = table(schema, u64::from(keys) + 10, &epochs);
    let words = Words::new(2, 2);
    let mut bodies = Bodies { words: &words, epochs: &epochs, numbers: Slots::starting_at(1) };
    for number in (0..keys).step_by(stays as usize) {
        writer.insert(&pattern(number), |_| bodies.put(number, 0)).unwrap();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for start in 0..2 {
            let (table, words, epochs, done) = (&table, &words, &epochs, &done);
            scope.spawn(move || {
                let mut reader = Reader::new(epochs);
                let (mut recent, mut before) = (Recent::default(), start);
                // At least one whole round, however fast the writer is.
                for turn in start.. {
                    let finished = done.load(Acquire);
                    for number in 0..keys {
                        if number % 16 == 0 {
                            reader.pin();
                        }
                        let number = (number * 7 + turn) % keys;
                        // The key before is remembered, perhaps from before the reader was pinned anew.
                        for number in [std::mem::replace(&mut before, number), number] {
                            let hit = table.lookup_again(&reader, &key(number, bytes), &mut recent);
                            assert!(hit.is_some() || number % stays != 0, "key {number} is always there");
                            if let Some(hit) = hit {
                                let body = words.record(hit.body);
                                let (first, second) = (body[0].load(Relaxed), body[1].load(Relaxed));
                                assert_eq!(first >> 32, u64::from(number), "the body of another key");
                                assert_eq!(first.rotate_left(32), second, "a body written while it is read");
                            }
                        }
                    }
                    if finished {
                        break;
                    }
                }
            });
        }
        for round in 0..rounds {
            for number in (1..keys).filter(|number| number % stays != 0) {
                writer.insert(&pattern(number), |_| bodies.put(number, round)).unwrap();
            }
            for number in (0..keys).step_by(2 * stays as usize) {
                let slot = writer.get(&pattern(number)).unwrap();
                let old = writer.body(slot);
                writer.set_body(slot, bodies.put(number, round + 1));
                bodies.numbers.retire(old, &epochs);
            }
            for number in (1..keys).filter(|number| number % stays != 0) {
                let slot = writer.get(&pattern(number)).unwrap();
                let old = writer.body(slot);
                writer.remove(slot);
                bodies.numbers.retire(old, &epochs);
            }
        }
        done.store(true, Release);
    });
    assert_eq!(writer.len(), u64::from(keys.div_ceil(stays)));
    let mut reader = Reader::new(&epochs);
    reader.pin();
    for number in 0..keys {
        assert_eq!(table.lookup(&reader, &key(number, bytes)).is_some(), number % stays == 0);
    }
}

fn field(kind: FieldKind, width: u32) -> FieldSpec {
    FieldSpec { kind, width }
}

#[test]
fn exact() {
    check(&[field(FieldKind::Exact, 64)], &SMALL, |number| Pattern {
        first: key(number, 8),
        second: key(number, 8),
        priority: 0,
    });
}

#[test]
fn lpm() {
    check(&[field(FieldKind::Lpm, 128)], &SMALL, |number| Pattern {
        first: key(number, 16),
        second: vec![0xff; 16],
        priority: 0,
    });
}

/// The array before the tries is made three times in each round.
#[test]
fn many_prefixes() {
    let course = Course { keys: 3000, stays: 16, rounds: 5 };
    check(&[field(FieldKind::Lpm, 128)], &course, |number| {
        let length = 40 + number % 80;
        let mask = (u128::MAX << (128 - length)).to_be_bytes();
        let first = key(number, 16).iter().zip(mask).map(|(byte, mask)| byte & mask).collect();
        Pattern { first, second: mask.to_vec(), priority: 0 }
    });
}

#[test]
fn tuples() {
    check(&[field(FieldKind::Ternary, 64), field(FieldKind::Range, 64)], &SMALL, |number| {
        // 16 masks that leave different bits open.
        let mask = !(1u64 << (number % 16));
        let value = u64::from_be_bytes(key(number, 16)[..8].try_into().unwrap()) & mask;
        let second = key(number, 16)[8..].to_vec();
        Pattern {
            first: [value.to_be_bytes().to_vec(), second.clone()].concat(),
            second: [mask.to_be_bytes().to_vec(), second].concat(),
            priority: 1 + number % 50,
        }
    });
}
