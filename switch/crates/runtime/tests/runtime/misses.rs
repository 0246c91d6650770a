//! Tables in which packets of a known way find nothing: counted together.

use ir::{DirectCounter, Handle, MatchKind, TableId};
use runtime::{BitString, Context, CounterData, Device};

use crate::common::*;

/// As many tables, each with a counter, and with one entry.
fn counted(tables: u64) -> Device {
    let mut program = program();
    for number in 0..tables {
        let mut table = table(&format!("t{number}"), vec![key("key", 8, MatchKind::Exact)], 4);
        table.direct_counter = Some(DirectCounter::default());
        program.tables.push(table);
    }
    let device = device(program);
    for id in device.program().tables.keys() {
        device.insert_entry(id, &forward_entry(vec![exact(1)], 0, 1), 0).unwrap();
    }
    device
}

/// What lookups of keys in the first tables find.
fn found(context: &mut Context<'_>, keys: &[u8]) -> Vec<(TableId, u32)> {
    let look = |(number, key): (usize, &u8)| {
        context.lookup(TableId::new(number), &[*key], &BitString::new());
        context.last_found().unwrap()
    };
    keys.iter().enumerate().map(look).collect()
}

fn counted_by_default(device: &Device) -> Vec<CounterData> {
    device.program().tables.keys().map(|id| device.default_entry(id).unwrap().counter.unwrap()).collect()
}

#[test]
fn misses_of_a_way_are_counted_by_the_default_entries_of_its_tables() {
    let device = counted(4);
    let mut context = Context::new(&device, 0);
    let [mut all, mut some] = [&[0, 0, 1, 0], &[0, 1, 1, 0]].map(|keys| found(&mut context, keys));
    context.idle();
    device.program().tables.keys().for_each(|id| device.set_default_counter(id, CounterData::default()).unwrap());
    let (one, other) = (context.missed_together(&mut all), context.missed_together(&mut some));
    assert_eq!(all.iter().map(|(table, _)| table.index()).collect::<Vec<_>>(), [2], "the entries that were hit stay");
    assert_eq!(some.iter().map(|(table, _)| table.index()).collect::<Vec<_>>(), [1, 2]);
    assert_ne!(one, other);
    for (number, bytes) in [(one, 10), (other, 100), (one, 1000)] {
        context.packet.refill(0, &vec![0; bytes]);
        context.note_missed_together(number.unwrap());
    }
    assert_eq!(counted_by_default(&device)[0].packets, 0, "not yet");
    context.idle();
    let counted = counted_by_default(&device).iter().map(|data| (data.packets, data.bytes)).collect::<Vec<_>>();
    assert_eq!(counted, [(3, 1110), (2, 1010), (0, 0), (3, 1110)]);
}

#[test]
fn only_so_many_sets_of_tables_are_counted_together() {
    let device = counted(8);
    let mut context = Context::new(&device, 0);
    let mut together = 0;
    for set in 0..=255u8 {
        let keys: Vec<u8> = (0..8).map(|bit| set >> bit & 1).collect();
        let mut one = found(&mut context, &keys);
        match context.missed_together(&mut one) {
            Some(_) => together += 1,
            None => assert_eq!(one.len(), 8, "each by itself"),
        }
    }
    assert_eq!(together, 64);
}
