//! Where ways stand: a hash table in which a few share a place, without more memory than it has.

use crate::Kept;
use crate::reads::{Read, Reads};

/// Ways that share a place.
pub const WAYS: usize = 8;
/// Ways of one key at most, which ask different things of registers, the time or lengths.
const MOST_ALIKE: usize = 4;

/// Ways by hashes of their keys.
pub struct Places {
    /// Halves of hashes, 0 where nothing is kept.
    marks: Box<[[u32; WAYS]]>,
    /// By place a bit for each way that was taken since another one wanted its room.
    used: Box<[u8]>,
    ways: Box<[[Option<Box<Kept>>; WAYS]]>,
    /// Where it is looked next for ways that are void.
    swept: usize,
}

/// Where a way stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    place: usize,
    way: usize,
}

impl Places {
    /// For so many ways, rounded up to a power of two.
    pub fn new(ways: usize) -> Self {
        let places = ways.div_ceil(WAYS).next_power_of_two();
        Self {
            marks: vec![[0; WAYS]; places].into(),
            used: vec![0; places].into(),
            ways: (0..places).map(|_| Default::default()).collect(),
            swept: 0,
        }
    }

    /// The place of a hash, and what says that a way is of it.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u32) {
        (hash as usize & (self.marks.len() - 1), (hash >> 32) as u32 | 1)
    }

    /// The other place where a way may stand, from either of its two (partial-key cuckoo hashing, Fan et al. 2014): with one,
    /// many places would be full long before there are as many ways as there is room for.
    #[inline]
    fn other(&self, place: usize, mark: u32) -> usize {
        let differ = mark.wrapping_mul(0x9e37_79b1) >> 8 | 1;
        (place ^ differ as usize) & (self.marks.len() - 1)
    }

    /// The first way of a key that holds still, and agrees. Those that do not hold go.
    #[inline]
    pub fn find(
        &mut self,
        hash: u64,
        shape: u32,
        words: &[u64],
        mut holds: impl FnMut(Read) -> bool,
        mut agrees: impl FnMut(&Kept) -> bool,
    ) -> Option<At> {
        let (first, mark) = self.place(hash);
        for place in [first, self.other(first, mark)] {
            for at in 0..WAYS {
                if self.marks[place][at] != mark {
                    continue;
                }
                let way = &mut self.ways[place][at];
                let Some(kept) = way.as_deref().filter(|kept| kept.is_of(shape, words)) else { continue };
                if !holds(kept.read) {
                    (*way, self.marks[place][at]) = (None, 0);
                } else if agrees(kept) {
                    return Some(At { place, way: at });
                }
            }
        }
        None
    }

    /// What was found there just before.
    #[inline]
    pub fn at(&mut self, at: At) -> &mut Kept {
        self.ways[at.place][at.way].as_deref_mut().expect("it was found there")
    }

    /// A packet took the way.
    #[inline]
    pub fn note_taken(&mut self, at: At) {
        self.used[at.place] |= 1 << at.way;
    }

    /// Where another way of a hash may stand: in place of one that is void or else little used, of one of the same key if
    /// there are enough of these. None if all were taken lately.
    pub fn room(&mut self, hash: u64, shape: u32, words: &[u64], reads: &Reads) -> Option<At> {
        let (first, mark) = self.place(hash);
        let places = [first, self.other(first, mark)];
        let all = places.into_iter().flat_map(|place| (0..WAYS).map(move |way| At { place, way }));
        let is_alike = |at: &At| {
            let kept = self.ways[at.place][at.way].as_deref();
            self.marks[at.place][at.way] == mark
                && kept.is_some_and(|kept| !reads.is_void(kept.read) && kept.is_of(shape, words))
        };
        let alike: Vec<At> = all.filter(is_alike).collect();
        if alike.len() >= MOST_ALIKE {
            let unused = alike.iter().find(|at| self.used[at.place] >> at.way & 1 == 0);
            let at = *unused.unwrap_or(&alike[0]);
            alike.iter().for_each(|at| self.used[at.place] &= !(1 << at.way));
            return Some(at);
        }
        let free = places.into_iter().find_map(|place| self.free(place, reads));
        let free = free.or_else(|| places.into_iter().find_map(|place| self.make_free(place, reads)));
        free.or_else(|| places.into_iter().find_map(|place| self.least_used(place)))
    }

    /// What has no way that holds.
    fn free(&self, place: usize, reads: &Reads) -> Option<At> {
        let is_free = |kept: &Option<Box<Kept>>| kept.as_ref().is_none_or(|kept| reads.is_void(kept.read));
        self.ways[place].iter().position(is_free).map(|way| At { place, way })
    }

    /// Moves one of its ways to the other place where it may stand, if there is room.
    fn make_free(&mut self, place: usize, reads: &Reads) -> Option<At> {
        let (way, to) = (0..WAYS).find_map(|way| {
            let other = self.other(place, self.marks[place][way]);
            self.free(other, reads).map(|to| (way, to))
        })?;
        self.marks[to.place][to.way] = self.marks[place][way];
        self.ways[to.place][to.way] = self.ways[place][way].take();
        let used = self.used[place] >> way & 1;
        self.used[to.place] = self.used[to.place] & !(1 << to.way) | used << to.way;
        Some(At { place, way })
    }

    /// A way that was not taken since another one wanted its room; where there is none, all have to be taken again until
    /// the next one wants it.
    fn least_used(&mut self, place: usize) -> Option<At> {
        let used = std::mem::take(&mut self.used[place]);
        let way = used.trailing_ones() as usize;
        (way < WAYS).then_some(At { place, way })
    }

    /// Keeps a way of a hash where there is room; answers which stood there before.
    pub fn put(&mut self, at: At, hash: u64, kept: Kept) -> Option<Box<Kept>> {
        let (_, mark) = self.place(hash);
        self.marks[at.place][at.way] = mark;
        self.ways[at.place][at.way].replace(Box::new(kept))
    }

    /// Lets go of ways that are void in one place, and in the next one when it is called again.
    pub fn sweep(&mut self, reads: &Reads) {
        self.swept = (self.swept + 1) % self.marks.len();
        for (way, mark) in self.ways[self.swept].iter_mut().zip(&mut self.marks[self.swept]) {
            if way.as_ref().is_some_and(|kept| reads.is_void(kept.read)) {
                (*way, *mark) = (None, 0);
            }
        }
    }
}
