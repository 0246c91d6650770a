//! What readers and a writer do at the same time, in many orders of their steps and with every older value that a load may
//! still see. `make test-loom`; in other builds there is nothing here.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use loom::sync::atomic::{AtomicBool, AtomicU32};
use loom::thread;
use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Recent, Schema, Slots, Words, table};

/// Orders with up to so many changes from one thread to another while the first could go on.
const PREEMPTIONS: usize = 3;

fn explore(model: impl Fn() + Send + Sync + 'static) {
    explore_with(PREEMPTIONS, model);
}

fn explore_with(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// Bodies are records whose two words are those of a number. They are filled before they are published, and anew when the
/// record is used for another number.
struct Bodies {
    words: Arc<Words>,
    epochs: Arc<Epochs>,
    numbers: Slots,
}

impl Bodies {
    fn new(epochs: &Arc<Epochs>) -> Self {
        Self { words: Arc::new(Words::new(2, 2)), epochs: epochs.clone(), numbers: Slots::starting_at(1) }
    }

    fn put(&mut self, number: u64) -> u32 {
        let body = self.numbers.take(&self.epochs);
        self.words.ensure(body);
        self.words.record(body).iter().for_each(|word| word.store(number, Relaxed));
        body
    }

    fn retire(&mut self, body: u32) {
        self.numbers.retire(body, &self.epochs);
    }
}

fn assert_is(words: &Words, body: u32, numbers: &[u64]) {
    let found = [0, 1].map(|i| words.record(body)[i].load(Relaxed));
    assert!(found[0] == found[1] && numbers.contains(&found[0]), "{found:?} in place of one of {numbers:?}");
}

/// A reader looks for an entry that goes, for one that stays and gets another body, and for one that comes in the place of
/// the first, while a writer does this.
fn check(kind: FieldKind, width: u32, mask: &'static [u8]) {
    let bytes = width.div_ceil(8) as usize;
    let key = move |number: u8| (0..bytes).map(|i| if i + 1 == bytes { number << 4 } else { 0 }).collect::<Vec<u8>>();
    let pattern = move |number: u8| {
        let second = if kind == FieldKind::Exact { key(number) } else { mask.to_vec() };
        let priority = if kind == FieldKind::Ternary { number.into() } else { 0 };
        Pattern { first: key(number), second, priority }
    };
    explore(move || {
        let epochs = Epochs::new();
        let (table, mut writer) = table(Schema { fields: vec![FieldSpec { kind, width }] }, 4, &epochs);
        let mut bodies = Bodies::new(&epochs);
        let goes = writer.insert(&pattern(1), |_| bodies.put(1)).unwrap();
        let stays = writer.insert(&pattern(2), |_| bodies.put(2)).unwrap();
        let (words, mut reader) = (bodies.words.clone(), Reader::new(&epochs));
        let answered = Arc::new(AtomicBool::new(false));
        let told = answered.clone();
        let packets = thread::spawn(move || {
            let mut recent = Recent::default();
            for number in [1, 2, 2, 3] {
                if number != 3 {
                    reader.pin();
                }
                let hit = table.lookup_again(&reader, &key(number), &mut recent);
                match (number, hit) {
                    (2, None) => panic!("this entry is always there"),
                    (2, Some(hit)) => assert_is(&words, hit.body, &[2, 20]),
                    (number, Some(hit)) => assert_is(&words, hit.body, &[number.into()]),
                    (_, None) => {}
                }
            }
            if told.load(Acquire) {
                assert!(table.lookup_again(&reader, &key(3), &mut recent).is_some(), "this entry came before");
            }
        });
        let old = writer.body(goes);
        writer.remove(goes);
        bodies.retire(old);
        let old = writer.body(stays);
        writer.set_body(stays, bodies.put(20));
        bodies.retire(old);
        writer.insert(&pattern(3), |_| bodies.put(3)).unwrap();
        answered.store(true, Release);
        packets.join().unwrap();
    });
    // The same of the first entries of a table.
    explore(move || {
        let epochs = Epochs::new();
        let (table, mut writer) = table(Schema { fields: vec![FieldSpec { kind, width }] }, 4, &epochs);
        let mut bodies = Bodies::new(&epochs);
        let (words, mut reader) = (bodies.words.clone(), Reader::new(&epochs));
        let packets = thread::spawn(move || {
            reader.pin();
            let found = [2, 1].map(|number| (number, table.lookup(&reader, &key(number))));
            assert!(found[0].1.is_none() || found[1].1.is_some(), "the second one came and the first is not there");
            for (number, hit) in found {
                hit.inspect(|hit| assert_is(&words, hit.body, &[number.into()]));
            }
        });
        writer.insert(&pattern(1), |_| bodies.put(1)).unwrap();
        writer.insert(&pattern(2), |_| bodies.put(2)).unwrap();
        packets.join().unwrap();
    });
}

#[test]
fn exact() {
    check(FieldKind::Exact, 24, &[]);
}

#[test]
fn direct() {
    check(FieldKind::Exact, 8, &[]);
}

#[test]
fn prefixes() {
    check(FieldKind::Lpm, 16, &[0xff, 0xf0]);
}

/// Prefixes of an array, which has one place for each value of the first six bits: another one, and a third one, come to
/// the place of the one that stays. With `made`, the array itself is made before, while packets look.
fn check_array(made: bool, preemptions: usize) {
    let fields = vec![FieldSpec { kind: FieldKind::Lpm, width: 16 }];
    let key = |first: u8, second: u8| vec![first << 4, second << 4];
    let pattern = move |first, second| Pattern { first: key(first, second), second: vec![0xff, 0xf0], priority: 0 };
    explore_with(preemptions, move || {
        let epochs = Epochs::new();
        let (table, mut writer) = table(Schema { fields: fields.clone() }, 32, &epochs);
        let before = if made { 15 } else { 16 };
        let slots: Vec<u32> =
            (0..before).map(|first| writer.insert(&pattern(first, 0), |slot| slot).unwrap()).collect();
        let mut reader = Reader::new(&epochs);
        let packets = thread::spawn(move || {
            reader.pin();
            for second in [2, 1, 0] {
                let hit = table.lookup(&reader, &key(3, second));
                assert!(hit.is_some() || second != 0, "this entry is always there");
                assert!(hit.is_none_or(|hit| hit.slot == hit.body), "{hit:?}, and a body is its slot here");
            }
        });
        if made {
            writer.insert(&pattern(15, 0), |slot| slot).unwrap();
        } else {
            writer.insert(&pattern(3, 1), |slot| slot).unwrap();
            writer.insert(&pattern(3, 2), |slot| slot).unwrap();
            writer.remove(slots[4]);
        }
        packets.join().unwrap();
    });
}

#[test]
fn prefixes_of_an_array() {
    check_array(false, PREEMPTIONS);
}

#[test]
fn an_array_is_made() {
    check_array(true, 2);
}

#[test]
fn tuples() {
    check(FieldKind::Ternary, 8, &[0xf0]);
}

/// Entries are found while the buckets of their hash are split. Which of them move is another matter in each process, by its
/// secret numbers; so this is done with several pairs.
#[test]
fn exact_while_it_grows() {
    let fields = vec![FieldSpec { kind: FieldKind::Exact, width: 24 }];
    let key = |pair: u8, number: u8| vec![pair, number, 0];
    let pattern = move |pair, number| Pattern { first: key(pair, number), second: key(pair, number), priority: 0 };
    for pair in 0..6 {
        let fields = fields.clone();
        explore(move || {
            let epochs = Epochs::new();
            let (table, mut writer) = table(Schema { fields: fields.clone() }, 4, &epochs);
            let slots = [0, 1].map(|number| writer.insert(&pattern(pair, number), |slot| slot).unwrap());
            let mut reader = Reader::new(&epochs);
            let packets = thread::spawn(move || {
                reader.pin();
                let found = [0, 1].map(|number| table.lookup(&reader, &key(pair, number)).map(|hit| hit.slot));
                assert_eq!(found, slots.map(Some));
            });
            writer.insert(&pattern(pair, 2), |slot| slot).unwrap();
            packets.join().unwrap();
        });
    }
}

/// Two readers come at once; what is taken out while one looks at it is used again by none.
#[test]
fn readers() {
    explore(|| {
        let (epochs, words) = (Epochs::new(), Arc::new(Words::new(1, 2)));
        words.ensure(1);
        let published = Arc::new(AtomicU32::new(0));
        let look = |epochs: Arc<Epochs>, words: Arc<Words>, published: Arc<AtomicU32>| {
            move || {
                let mut reader = Reader::new(&epochs);
                reader.pin();
                let record = words.record(published.load(Acquire));
                let [first, second] = [0, 1].map(|i| record[i].load(Relaxed));
                assert_eq!(first, second, "written while it is read");
            }
        };
        let readers = [(); 2].map(|()| thread::spawn(look(epochs.clone(), words.clone(), published.clone())));
        published.store(1, Release);
        let ticket = epochs.retire();
        if ticket < epochs.safe() {
            words.record(0).iter().for_each(|word| word.store(7, Relaxed));
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
