//! What ways read: the tables, profiles and value sets that their runs looked into. A way holds as long as none of them is
//! written. Many ways read the same objects, so what each of a few sets of objects came to is looked at for all of its
//! ways together, and only when something was written at all.

use runtime::Writes;

/// Sets at most: where there are more, the one with the fewest ways makes room.
const MOST: usize = 64;

/// The sets that ways read.
#[derive(Default)]
pub struct Reads {
    sets: Vec<Set>,
    /// The last one, of whatever set.
    era: u64,
    void: u64,
}

/// What a way read, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    set: u32,
    era: u64,
}

/// Objects that ways read.
struct Set {
    /// Writes that had begun, of any object, when the versions were last found to be those of now.
    begun: u64,
    /// It changes when an object is written: ways of earlier eras are void.
    era: u64,
    objects: Box<[u32]>,
    versions: Box<[u64]>,
    /// Of this era.
    ways: usize,
}

impl Reads {
    /// Whether a way that read this holds still.
    #[inline]
    pub fn holds(&mut self, read: Read, writes: &Writes) -> bool {
        let set = &mut self.sets[read.set as usize];
        // Before the versions are looked at.
        let begun = writes.begun();
        set.era == read.era && (set.begun == begun || self.still_holds(read.set as usize, begun, writes))
    }

    #[inline(never)]
    fn still_holds(&mut self, number: usize, begun: u64, writes: &Writes) -> bool {
        let set = &mut self.sets[number];
        let still = writes.are_still(&set.objects, &set.versions);
        match still {
            true => set.begun = begun,
            false => self.make_void(number),
        }
        still
    }

    /// Whether the way is of a set that was found written: it needs no further look.
    pub fn is_void(&self, read: Read) -> bool {
        self.sets[read.set as usize].era != read.era
    }

    /// The objects that a way read which holds, and their versions.
    pub fn of(&self, read: Read) -> (&[u32], &[u64]) {
        let set = &self.sets[read.set as usize];
        (&set.objects, &set.versions)
    }

    fn make_void(&mut self, number: usize) {
        self.era += 1;
        let set = &mut self.sets[number];
        set.era = self.era;
        self.void += std::mem::take(&mut set.ways) as u64;
    }

    /// Another way read the objects while they had these versions; none if one of them was written meanwhile, or is now.
    pub fn add(&mut self, objects: &[u32], versions: &[u64], writes: &Writes) -> Option<Read> {
        let begun = writes.begun();
        if !writes.are_still(objects, versions) {
            return None;
        }
        let number = self.sets.iter().position(|set| *set.objects == *objects);
        let number = number.unwrap_or_else(|| self.make_room(objects));
        if *self.sets[number].versions != *versions {
            self.make_void(number);
            self.sets[number].versions = versions.into();
        }
        let set = &mut self.sets[number];
        set.begun = begun;
        set.ways += 1;
        Some(Read { set: number as u32, era: set.era })
    }

    /// A set for these objects, whose versions are not known yet.
    fn make_room(&mut self, objects: &[u32]) -> usize {
        let number = match self.sets.len() {
            MOST => {
                let ways = |number: &usize| self.sets[*number].ways;
                (0..MOST).min_by_key(ways).expect("there are some")
            }
            number => {
                let set = Set { begun: 0, era: 0, objects: [].into(), versions: [].into(), ways: 0 };
                self.sets.push(set);
                number
            }
        };
        self.make_void(number);
        let set = &mut self.sets[number];
        (set.objects, set.versions) = (objects.into(), [].into());
        number
    }

    /// A way that is not void is kept no more.
    pub fn remove(&mut self, read: Read) {
        self.sets[read.set as usize].ways -= 1;
    }

    /// Ways that became void since this was last asked.
    pub fn find_void(&mut self, writes: &Writes) -> u64 {
        for number in 0..self.sets.len() {
            let begun = writes.begun();
            if self.sets[number].ways > 0 && self.sets[number].begun != begun {
                self.still_holds(number, begun, writes);
            }
        }
        std::mem::take(&mut self.void)
    }

    /// Ways that are not known to be void.
    pub fn ways(&self) -> usize {
        self.sets.iter().map(|set| set.ways).sum()
    }
}
