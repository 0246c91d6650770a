//! Patterns as they stand in records, and back.

use std::sync::atomic::Ordering::Relaxed;

use super::{KEY, Layout, STATE};
use crate::key::{FieldKind, Pattern, Schema, bits, load, unload};
use crate::sync::AtomicU64;

/// A pattern in the form of records.
pub struct Parts {
    pub mask: Box<[u64]>,
    /// Key, number of the mask (set later), ends of ranges.
    pub words: Vec<u64>,
    pub rank: u32,
}

impl Parts {
    pub fn new(schema: &Schema, layout: &Layout, pattern: &Pattern) -> Self {
        let mut mask_bytes = vec![0; pattern.first.len()];
        let mut set_bits = 0;
        for (at, field) in schema.placed() {
            let span = at..at + field.bytes();
            let mask = &mut mask_bytes[span.clone()];
            match field.kind {
                FieldKind::Exact => mask.fill(0xff),
                FieldKind::Lpm | FieldKind::Ternary | FieldKind::Optional => {
                    mask.copy_from_slice(&pattern.second[span]);
                    set_bits += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
                }
                FieldKind::Range => {
                    for (i, mask) in span.clone().zip(mask) {
                        let differ = pattern.first[i] ^ pattern.second[i];
                        *mask = !(0xff_u8.checked_shr(differ.leading_zeros()).unwrap_or(0));
                        if differ != 0 {
                            break;
                        }
                    }
                }
            }
        }
        let load_all = |bytes: &[u8]| {
            let mut words = vec![0; layout.words];
            load(bytes, &mut words);
            words
        };
        let (mask, first, second) = (load_all(&mask_bytes), load_all(&pattern.first), load_all(&pattern.second));
        let mut words: Vec<u64> = first.iter().zip(&mask).map(|(first, mask)| first & mask).collect();
        words.push(0);
        for range in &layout.ranges {
            words.extend(range.chunks().map(|(at, len)| bits(&first, at, len)));
            words.extend(range.chunks().map(|(at, len)| bits(&second, at, len)));
        }
        // Without priorities (several lpm keys), the entry with more bits given wins.
        let rank = if layout.has_priorities { pattern.priority } else { set_bits };
        Self { mask: mask.into(), words, rank }
    }
}

/// What an entry matches.
pub fn pattern(schema: &Schema, layout: &Layout, record: &[AtomicU64], mask: &[u64]) -> Pattern {
    let record: Vec<u64> = record.iter().map(|word| word.load(Relaxed)).collect();
    let key = record[KEY..][..layout.words].iter().copied();
    let mut pattern = Pattern {
        first: unload(key, layout.bytes),
        second: unload(mask.iter().copied(), layout.bytes),
        priority: if layout.has_priorities { (record[STATE] >> 32) as u32 } else { 0 },
    };
    for (at, field) in schema.placed().filter(|(_, field)| field.kind == FieldKind::Exact) {
        let span = at..at + field.bytes();
        pattern.second[span.clone()].copy_from_slice(&pattern.first[span]);
    }
    let mut ends = record[layout.mask() + 1..].iter();
    for range in &layout.ranges {
        let start = (range.at / 8) as usize;
        for side in [&mut pattern.first, &mut pattern.second] {
            for (chunk, (_, len)) in range.chunks().enumerate() {
                let bytes = (len / 8) as usize;
                let word = ends.next().expect("a word per chunk").to_be_bytes();
                side[start + 8 * chunk..][..bytes].copy_from_slice(&word[8 - bytes..]);
            }
        }
    }
    pattern
}
