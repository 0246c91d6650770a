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

    /// The place of a hash, and what says that a way there is of it.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u32) {
        (hash as usize & (self.marks.len() - 1), (hash >> 32) as u32 | 1)
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
        let (place, mark) = self.place(hash);
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
        let (place, mark) = self.place(hash);
        let is_void = |way: usize| self.ways[place][way].as_ref().is_none_or(|kept| reads.is_void(kept.read));
        let is_alike = |way: &usize| {
            let kept = self.ways[place][*way].as_deref();
            self.marks[place][*way] == mark && !is_void(*way) && kept.is_some_and(|kept| kept.is_of(shape, words))
        };
        let alike: Vec<usize> = (0..WAYS).filter(is_alike).collect();
        if alike.len() >= MOST_ALIKE {
            let unused = alike.iter().find(|way| self.used[place] >> **way & 1 == 0);
            let way = *unused.unwrap_or(&alike[0]);
            alike.iter().for_each(|way| self.used[place] &= !(1 << way));
            return Some(At { place, way });
        }
        let free = (0..WAYS).find(|way| is_void(*way));
        free.or_else(|| self.least_used(place)).map(|way| At { place, way })
    }

    /// A way that was not taken since another one wanted its room; where there is none, all have to be taken again until
    /// the next one wants it.
    fn least_used(&mut self, place: usize) -> Option<usize> {
        let used = std::mem::take(&mut self.used[place]);
        let way = used.trailing_ones() as usize;
        (way < WAYS).then_some(way)
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
