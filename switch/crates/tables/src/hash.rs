//! A hash over records, read while it is changed and grown one bucket at a time.

use std::sync::atomic::Ordering::{Acquire, Release};

use crate::segments::Words;
use crate::sync::{AtomicU32, AtomicU64};

/// Buckets per entry.
const SPREAD: u64 = 2;

/// Chains of records, sorted by their hash. A link (the bucket's, or the word `at` of a record, which callers give) is
/// `hash << 32 | slot + 1` of the record it leads to, or 0; so most records that are not meant are not even touched.
///
/// The bucket is taken from the hash's high bits, mirrored. So when a bucket splits, the records of the new one are the
/// second half of the old one's sorted chain (Shalev and Shavit's split-ordered lists): nothing is moved, the chain
/// is cut once. A reader that ran into the cut sees that its key has another bucket now and goes there.
#[derive(Debug)]
pub(crate) struct HashIndex {
    heads: Words,
    buckets: AtomicU32,
}

#[inline]
fn link(hash: u32, slot: u32) -> u64 {
    (u64::from(hash) << 32) | u64::from(slot + 1)
}

#[inline]
fn hash_of(link: u64) -> u32 {
    (link >> 32) as u32
}

#[inline]
fn slot_of(link: u64) -> u32 {
    link as u32 - 1
}

#[inline]
fn bucket_of(hash: u32, buckets: u32) -> u32 {
    let mirrored = hash.reverse_bits();
    let mask = u32::MAX >> (buckets - 1).leading_zeros().min(31);
    let bucket = if buckets == 1 { 0 } else { mirrored & mask };
    if bucket < buckets { bucket } else { bucket & (mask >> 1) }
}

impl HashIndex {
    pub fn new() -> Self {
        let heads = Words::new(3, 1);
        heads.ensure(0);
        Self { heads, buckets: AtomicU32::new(1) }
    }

    /// The first record with this hash that `accept` takes.
    #[inline]
    pub fn find<'r>(
        &self,
        records: &'r Words,
        at: usize,
        hash: u32,
        mut accept: impl FnMut(&'r [AtomicU64]) -> bool,
    ) -> Option<(u32, &'r [AtomicU64])> {
        let mut bucket = bucket_of(hash, self.buckets.load(Acquire));
        loop {
            let mut link = self.heads.record(bucket)[0].load(Acquire);
            while link != 0 && hash_of(link) <= hash {
                let record = records.record(slot_of(link));
                if hash_of(link) == hash && accept(record) {
                    return Some((slot_of(link), record));
                }
                link = record[at].load(Acquire);
            }
            // A split may have cut the chain on the way; a key's bucket changes at most once per doubling.
            let now = bucket_of(hash, self.buckets.load(Acquire));
            if now == bucket {
                return None;
            }
            bucket = now;
        }
    }

    /// The link that leads to the first record for which `stop(link)` holds, or to none.
    fn link_before<'r>(
        &'r self,
        records: &'r Words,
        at: usize,
        bucket: u32,
        mut stop: impl FnMut(u64) -> bool,
    ) -> &'r AtomicU64 {
        let mut place = &self.heads.record(bucket)[0];
        loop {
            let link = place.load(Acquire);
            if link == 0 || stop(link) {
                return place;
            }
            place = &records.record(slot_of(link))[at];
        }
    }

    /// Empties it, with buckets for so many records. Only for the writer, while no reader can be there.
    pub fn clear(&self, records: u64) {
        let buckets = u32::try_from((records * SPREAD).max(1)).expect("fewer than 2^31 records");
        for bucket in 0..buckets {
            self.heads.ensure(bucket);
            self.heads.record(bucket)[0].store(0, Release);
        }
        self.buckets.store(buckets, Release);
    }

    /// Links a filled record in, among those of the same hash before the first that `after` takes; `len` is the number
    /// of records then in the index. Only for the writer.
    pub fn insert(
        &self,
        records: &Words,
        at: usize,
        hash: u32,
        slot: u32,
        len: u64,
        after: impl Fn(&[AtomicU64]) -> bool,
    ) {
        let bucket = bucket_of(hash, self.buckets.load(Acquire));
        let place = self.link_before(records, at, bucket, |link| {
            hash_of(link) > hash || (hash_of(link) == hash && after(records.record(slot_of(link))))
        });
        records.record(slot)[at].store(place.load(Acquire), Release);
        place.store(link(hash, slot), Release);
        while u64::from(self.buckets.load(Acquire)) < len * SPREAD {
            self.split(records, at);
        }
    }

    /// Takes a record out. Only for the writer.
    pub fn remove(&self, records: &Words, at: usize, hash: u32, slot: u32) {
        let bucket = bucket_of(hash, self.buckets.load(Acquire));
        let target = link(hash, slot);
        let place = self.link_before(records, at, bucket, |link| link == target);
        place.store(records.record(slot)[at].load(Acquire), Release);
    }

    fn split(&self, records: &Words, at: usize) {
        let new = self.buckets.load(Acquire);
        let level = new.ilog2();
        let old = new - (1 << level);
        let second_half = 1 << (31 - level);
        let cut = self.link_before(records, at, old, |link| hash_of(link) & second_half != 0);
        let rest = cut.load(Acquire);
        self.heads.ensure(new);
        self.heads.record(new)[0].store(rest, Release);
        // The cut comes last: who sees it also sees that there is another bucket.
        self.buckets.store(new + 1, Release);
        if rest != 0 {
            cut.store(0, Release);
        }
    }

    /// Hash and slot of all records. Only for the writer.
    pub fn each(&self, records: &Words, at: usize, mut each: impl FnMut(u32, u32)) {
        for bucket in 0..self.buckets.load(Acquire) {
            self.link_before(records, at, bucket, |link| {
                each(hash_of(link), slot_of(link));
                false
            });
        }
    }

    /// How many records have this hash, up to `most`. Only for the writer.
    pub fn count(&self, records: &Words, at: usize, hash: u32, most: u32) -> u32 {
        let mut count = 0;
        self.link_before(records, at, bucket_of(hash, self.buckets.load(Acquire)), |link| {
            count += u32::from(hash_of(link) == hash);
            hash_of(link) > hash || count == most
        });
        count
    }

    /// Bytes of the buckets.
    pub fn memory(&self) -> usize {
        self.buckets.load(Acquire) as usize * 8
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn buckets_split_without_losing_anyone() {
        let (index, records) = (HashIndex::new(), Words::new(2, 2));
        let hash_for = |i: u32| i.wrapping_mul(0x9e37_79b9) & if i.is_multiple_of(3) { 0xff00_0000 } else { u32::MAX };
        for slot in 0..3000 {
            records.ensure(slot);
            records.record(slot)[1].store(u64::from(slot), Relaxed);
            index.insert(&records, 0, hash_for(slot), slot, u64::from(slot) + 1, |_| true);
            if slot % 7 == 3 {
                index.remove(&records, 0, hash_for(slot - 2), slot - 2);
            }
        }
        for slot in 0..3000u32 {
            let found = index.find(&records, 0, hash_for(slot), |record| record[1].load(Relaxed) == u64::from(slot));
            let removed = slot % 7 == 1 && slot + 2 < 3000;
            assert_eq!(found.map(|(slot, _)| slot), (!removed).then_some(slot));
        }
        assert_eq!(index.buckets.load(Relaxed), 6000);
    }

    #[test]
    fn every_bucket_number_has_a_place() {
        for buckets in 1..200 {
            for hash in (0..=u32::MAX).step_by(0x0101_0101) {
                let bucket = bucket_of(hash, buckets);
                assert!(bucket < buckets);
                let next = bucket_of(hash, buckets + 1);
                assert!(next == bucket || next == buckets, "a split moves keys to the new bucket only");
            }
        }
    }
}
