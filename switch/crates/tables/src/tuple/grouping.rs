//! Which masks share a tuple.
//!
//! Two masks go together if what they have in common tells entries apart: bits enough to number them, and few entries
//! that then share a hash though they did not under their own masks. Each mask is tried with the groups that it has most
//! in common with, those of many bits first.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::key::hash;

/// Bits of a hash beyond those that number its entries: a lookup of something else meets one of them in 128 times or more.
/// To meet one costs as much as some ten tuples more.
const SPARE_BITS: u32 = 8;
/// So many more entries may share a hash than do so under their own masks.
const MORE: u32 = 8;
/// Groups that a mask is tried with.
const TRIED: usize = 3;

/// The entries of one mask.
pub struct Entries {
    pub mask: Box<[u64]>,
    /// The words of each, one behind the other.
    pub keys: Vec<u64>,
}

impl Entries {
    fn len(&self) -> usize {
        self.keys.len() / self.mask.len()
    }

    fn hashes<'e>(&'e self, mask: &'e [u64]) -> impl Iterator<Item = u32> + 'e {
        self.keys.chunks_exact(mask.len()).map(move |key| hash(&masked(key, mask)))
    }
}

/// Masks that share a tuple.
pub struct Group {
    /// What they have in common.
    pub mask: Box<[u64]>,
    /// Their places in what was given to [`group`].
    pub members: Vec<usize>,
    len: usize,
    crowd: Crowd,
    /// Pairs that share a hash, and the most entries that do, with each mask by itself.
    apart: (u64, u32),
}

/// How many entries have each hash.
#[derive(Default)]
struct Crowd {
    counts: HashMap<u32, u32>,
    pairs: u64,
    most: u32,
}

impl Crowd {
    fn of(entries: &Entries, mask: &[u64]) -> Self {
        let mut crowd = Self::default();
        crowd.add(entries, mask);
        crowd
    }

    fn add(&mut self, entries: &Entries, mask: &[u64]) {
        for hash in entries.hashes(mask) {
            let count = self.counts.entry(hash).or_default();
            self.pairs += u64::from(*count);
            *count += 1;
            self.most = self.most.max(*count);
        }
    }

    /// Takes out what was added; of what was said of all that is left to the caller.
    fn forget(&mut self, entries: &Entries, mask: &[u64]) {
        for hash in entries.hashes(mask) {
            *self.counts.get_mut(&hash).expect("it was added") -= 1;
        }
    }
}

impl Group {
    fn new(member: usize, entries: &Entries) -> Self {
        let crowd = Crowd::of(entries, &entries.mask);
        let apart = (crowd.pairs, crowd.most);
        Self { mask: entries.mask.clone(), members: vec![member], len: entries.len(), crowd, apart }
    }

    /// Takes a mask in; false if too many entries would share a hash.
    fn take(&mut self, member: usize, all: &[Entries]) -> bool {
        let entries = &all[member];
        let alone = Crowd::of(entries, &entries.mask);
        let apart = (self.apart.0 + alone.pairs, self.apart.1.max(alone.most));
        let len = self.len + entries.len();
        let fits = |crowd: &Crowd| crowd.pairs - apart.0 <= len as u64 / 4 && crowd.most <= apart.1 + MORE;
        let mask: Box<[u64]> = masked(&self.mask, &entries.mask).into();
        if mask == self.mask {
            let before = (self.crowd.pairs, self.crowd.most);
            self.crowd.add(entries, &mask);
            if !fits(&self.crowd) {
                self.crowd.forget(entries, &mask);
                (self.crowd.pairs, self.crowd.most) = before;
                return false;
            }
        } else {
            let mut crowd = Crowd::of(entries, &mask);
            self.members.iter().for_each(|&member| crowd.add(&all[member], &mask));
            if !fits(&crowd) {
                return false;
            }
            (self.crowd, self.mask) = (crowd, mask);
        }
        (self.len, self.apart) = (len, apart);
        self.members.push(member);
        true
    }
}

/// Puts masks that go together into groups.
pub fn group(all: &[Entries]) -> Vec<Group> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&member| Reverse(ones(&all[member].mask)));
    let mut groups: Vec<Group> = Vec::new();
    for member in order {
        let entries = &all[member];
        let mut fitting: Vec<(u32, usize)> = groups
            .iter()
            .map(|group| ones(&masked(&group.mask, &entries.mask)))
            .enumerate()
            .filter(|&(i, common)| common >= needed_bits((groups[i].len + entries.len()) as u64))
            .map(|(i, common)| (common, i))
            .collect();
        fitting.sort_unstable_by_key(|&fitting| Reverse(fitting));
        if !fitting.iter().take(TRIED).any(|&(_, i)| groups[i].take(member, all)) {
            groups.push(Group::new(member, entries));
        }
    }
    groups
}

/// Bits that masks must have in common to share a hash of so many entries.
pub fn needed_bits(entries: u64) -> u32 {
    entries.max(1).ilog2() + SPARE_BITS
}

pub fn ones(mask: &[u64]) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

pub fn masked(key: &[u64], mask: &[u64]) -> Vec<u64> {
    key.iter().zip(mask).map(|(key, mask)| key & mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(mask: u64, keys: impl Iterator<Item = u64>) -> Entries {
        Entries { mask: [mask].into(), keys: keys.map(|key| key & mask).collect() }
    }

    /// Numbers of 64 random bits, others for each seed.
    fn numbers(count: u64, seed: u64) -> impl Iterator<Item = u64> {
        (1..=count).map(move |i| (i + 1000 * seed).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn members(all: &[Entries]) -> Vec<Vec<usize>> {
        group(all).into_iter().map(|group| group.members).collect()
    }

    #[test]
    fn masks_go_together_by_the_bits_that_they_have_in_common() {
        let masks = [0xffff_ffff_0000_0000, 0xffff_fff0_0000_0000, 0x0000_0000_ffff_ffff, 0x0000_00ff_ffff_ffff];
        let all: Vec<_> = (0..4).map(|i| entries(masks[i as usize], numbers(100, i))).collect();
        assert_eq!(members(&all), [vec![3, 2], vec![0, 1]]);
        assert_eq!(group(&all)[1].mask[..], [0xffff_fff0_0000_0000]);
    }

    #[test]
    fn masks_stay_apart_whose_entries_are_alike_where_they_overlap() {
        let high = |mask, at: u32| entries(mask, (1..=100).map(move |i| 0x2001_0db8 << 32 | i << at));
        assert_eq!(members(&[high(u64::MAX, 0), high(0xffff_ffff_0000_ffff, 8)]), [[0, 1]]);
        assert_eq!(members(&[high(u64::MAX, 0), high(0xffff_ffff_ffff_0000, 16)]), [[0], [1]]);
    }

    #[test]
    fn entries_that_share_a_hash_in_any_case_do_not_keep_masks_apart() {
        // As ranges do under one mask.
        let alike = |mask| entries(mask, std::iter::repeat_n(u64::MAX, 100));
        assert_eq!(members(&[alike(u64::MAX), entries(u64::MAX << 8, numbers(100, 1))]), [[0, 1]]);
    }

    #[test]
    fn a_mask_of_nothing_is_alone() {
        let all = [entries(u64::MAX, numbers(9, 1)), entries(0, std::iter::once(0))];
        assert_eq!(members(&all), [[0], [1]]);
    }
}
