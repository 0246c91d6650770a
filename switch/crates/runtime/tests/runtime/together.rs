//! What packets of known ways find together: counted by each entry, and by default entries where nothing was found.

use ir::{DirectCounter, Handle, MatchKind, TableId};
use runtime::{BitString, Context, DEFAULT, Device, Found, FoundTogether};

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

/// By table the packets and octets that the default entry counted, and its other one.
fn counts(device: &Device) -> Vec<[(u64, u64); 2]> {
    let of_table = |id: TableId| {
        let default = device.default_entry(id).unwrap().counter.unwrap();
        let entry = device.entry(id, &[exact(1)], 0, 0).unwrap().counter.unwrap();
        [default, entry].map(|data| (data.packets, data.bytes))
    };
    device.program().tables.keys().map(of_table).collect()
}

#[test]
fn what_ways_find_together_is_counted_by_each_entry() {
    let device = counted(4);
    let mut context = Context::new(&device, 0);
    let [mut first, mut second] = [&[0, 0, 1, 0], &[0, 1, 1, 0]].map(|keys| found(&mut context, keys));
    context.idle();
    let before = counts(&device);
    let together = [&mut first, &mut second].map(|found| {
        let [common, others] = context.found_together(found);
        assert_eq!(others, None, "few ways found more of the same");
        common.unwrap()
    });
    let tables = |found: &[Found]| found.iter().map(|(table, _)| table.index()).collect::<Vec<_>>();
    assert_eq!((tables(&first), tables(&second)), (vec![2], vec![1]), "an entry that nobody found before");
    assert_eq!(together.each_ref().map(|set| tables(set.found())), [vec![0, 1, 3], vec![2, 0, 3]]);
    for (set, bytes) in [(0, 10), (1, 100), (0, 1000)] {
        context.packet.refill(0, &vec![0; bytes]);
        context.note_found_together(&together[set]);
    }
    assert_eq!(counts(&device), before, "not yet");
    context.idle();
    let more: Vec<_> = counts(&device)
        .iter()
        .zip(&before)
        .map(|(now, before)| [0, 1].map(|at| (now[at].0 - before[at].0, now[at].1 - before[at].1)))
        .collect();
    let none = (0, 0);
    assert_eq!(more, [[(3, 1110), none], [(2, 1010), none], [none, (1, 100)], [(3, 1110), none]]);
}

#[test]
fn a_set_that_nobody_has_makes_room() {
    let device = counted(8);
    let mut context = Context::new(&device, 0);
    // Each finds nothing where no other does.
    let take = |context: &mut Context<'_>, number: usize| {
        let [common, others] = context
            .found_together(&mut vec![(TableId::new(2 * number), DEFAULT), (TableId::new(2 * number + 1), DEFAULT)]);
        assert_eq!(others, None);
        common
    };
    let mut sets: Vec<FoundTogether> = (0..100).filter_map(|number| take(&mut context, number)).collect();
    assert_eq!(sets.len(), 16);
    assert!(take(&mut context, 99).is_none());
    sets.pop();
    assert!(take(&mut context, 99).is_some());
}

#[test]
fn what_a_few_ways_find_is_counted_together_besides_what_all_do() {
    let device = counted(8);
    let mut context = Context::new(&device, 0);
    let all = [0, 1].map(|table| (TableId::new(table), DEFAULT));
    let take = |context: &mut Context<'_>, number: u32| {
        let own = [2, 3].map(|table| (TableId::new(table), number));
        let mut found = [all, own].concat();
        let [common, others] = context.found_together(&mut found);
        let found_by = |set: Option<&FoundTogether>| set.map(|set| set.found().to_vec());
        assert_eq!(found_by(common.as_ref()), Some(all.to_vec()));
        assert!(others.is_none() || found_by(others.as_ref()) == Some(own.to_vec()));
        assert_eq!(found.is_empty(), others.is_some(), "nothing else is left");
        others
    };
    for _ in 0..4 {
        assert!((0..300).all(|number| take(&mut context, number).is_none()), "not yet");
    }
    let mut sets: Vec<FoundTogether> = vec![];
    for four in (0..1100).step_by(4) {
        // Now and then what was found before counts half, so it takes some more.
        let mut taken = [const { None }; 4];
        for _ in 0..8 {
            (four..).zip(&mut taken).for_each(|(number, taken)| *taken = take(&mut context, number).or(taken.take()));
        }
        sets.extend(taken.into_iter().flatten());
    }
    assert_eq!(sets.len(), 1024, "as many as there is room for");
    // Only the first of them is of entries that are there.
    let before = counts(&device);
    context.note_found_together(&sets[0]);
    context.idle();
    let count = |number: usize| counts(&device)[number][1].0 - before[number][1].0;
    assert_eq!([0, 1, 2, 3, 4].map(count), [0, 0, 1, 1, 0]);
    let mut last_four = || (0..80).filter_map(|turn| take(&mut context, 1096 + turn % 4)).next();
    assert!(last_four().is_none());
    sets.remove(0);
    assert!(last_four().is_some(), "one that nobody has makes room");
}

#[test]
fn what_one_entry_more_is_found_with_is_counted_with_it() {
    let device = counted(8);
    let mut context = Context::new(&device, 0);
    let mut take = |entries: &[(usize, u32)]| {
        let mut found: Vec<Found> = entries.iter().map(|(table, number)| (TableId::new(*table), *number)).collect();
        let [_, others] = context.found_together(&mut found);
        (others.map_or(0, |set| set.found().len()), found.len())
    };
    // What few of many ways find is not common.
    assert!((0..300).all(|number| take(&[(5, number)]) == (0, 1)));
    let mut often = |entries: &[(usize, u32)]| (0..5).fold((0, 0), |_, _| take(entries));
    assert_eq!(often(&[(0, 1), (1, 1)]), (2, 0));
    assert_eq!(often(&[(0, 1), (1, 1), (2, 5)]), (3, 0));
    assert_eq!(often(&[(4, 1)]), (0, 1), "one alone is no set");
}
