//! Many masks: they share hashes, and the right entry is found.

use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Schema, table};

fn ternary(first: u128, mask: u128, priority: u32) -> Pattern {
    Pattern { first: (first & mask).to_be_bytes().into(), second: mask.to_be_bytes().into(), priority }
}

fn matches(pattern: &Pattern, key: &[u8]) -> bool {
    key.iter().zip(&pattern.second).map(|(key, mask)| key & mask).eq(pattern.first.iter().copied())
}

/// Entries under each of these masks come and go; each lookup finds one of the highest priority of those that match.
fn check(masks: &[u128], value: impl Fn(&mut fastrand::Rng) -> u128) {
    let schema = Schema { fields: vec![FieldSpec { kind: FieldKind::Ternary, width: 128 }] };
    let epochs = Epochs::new();
    let (table, mut writer) = table(schema, 10_000, &epochs);
    let mut reader = Reader::new(&epochs);
    let mut numbers = fastrand::Rng::with_seed(7);
    let mut entries: Vec<(Pattern, u32)> = Vec::new();
    for step in 0..4000 {
        if step % 4 == 3 {
            let (pattern, slot) = entries.swap_remove(numbers.usize(..entries.len()));
            assert_eq!(writer.get(&pattern), Some(slot));
            writer.remove(slot);
        } else {
            let mask = masks[numbers.usize(..masks.len())];
            let pattern = ternary(value(&mut numbers), mask, numbers.u32(1..1000));
            if let Ok(slot) = writer.insert(&pattern, |slot| slot + 1) {
                entries.push((pattern, slot));
            }
        }
        // So that links are written anew while a reader is there, and while none is.
        if step % 300 < 200 {
            reader.pin();
        }
        let (aim, _) = &entries[numbers.usize(..entries.len())];
        let host = numbers.u128(..).to_be_bytes();
        let near: Vec<u8> = (0..16).map(|i| aim.first[i] | host[i] & !aim.second[i]).collect();
        for key in [near, value(&mut numbers).to_be_bytes().into()] {
            let best =
                entries.iter().filter(|(pattern, _)| matches(pattern, &key)).map(|(each, _)| each.priority).max();
            let hit = table.lookup(&reader, &key);
            let found = hit.map(|hit| {
                let (pattern, _) = entries.iter().find(|(_, slot)| *slot == hit.slot).expect("an entry that is there");
                assert!(matches(pattern, &key) && hit.body == hit.slot + 1);
                pattern.priority
            });
            assert_eq!(found, best, "step {step}");
        }
    }
    for (pattern, slot) in entries {
        assert_eq!((writer.get(&pattern), writer.pattern(slot)), (Some(slot), pattern));
        writer.remove(slot);
    }
    assert!(writer.is_empty());
}

#[test]
fn random_masks() {
    let mut numbers = fastrand::Rng::with_seed(1);
    let masks: Vec<u128> = (0..50).map(|_| numbers.u128(..) | numbers.u128(..)).collect();
    check(&masks, |numbers| numbers.u128(..));
}

#[test]
fn prefixes_of_two_fields() {
    // As an access list has them: few networks at one side, many at the other, and ports or none.
    let prefix = |length: u32| if length == 0 { 0 } else { u128::from(u64::MAX << (64 - length)) };
    let masks: Vec<u128> = [0, 16, 24, 32, 48, 64]
        .into_iter()
        .flat_map(|one| [0, 32, 40, 48, 56, 64].map(|other| prefix(one) << 64 | prefix(other)))
        .collect();
    check(&masks, |numbers| {
        let (site, network) = (numbers.u128(0..4), numbers.u128(0..500));
        0x2001_0db8 << 96
            | site << 80
            | numbers.u128(0..3) << 64
            | 0x2001_0db9 << 32
            | network << 16
            | numbers.u128(0..9)
    });
}

#[test]
fn entries_that_are_alike_where_masks_overlap() {
    let masks: Vec<u128> = (0..24).map(|bit| !(u128::from(u16::MAX) << (4 * bit))).collect();
    check(&masks, |numbers| u128::MAX << 32 ^ numbers.u128(0..1 << 20) << (4 * numbers.u32(0..20)));
}
