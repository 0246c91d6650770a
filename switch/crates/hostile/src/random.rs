//! Random numbers that are the same everywhere (splitmix64).

/// A generator; a seed gives the same numbers every time.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the bound; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    /// One of the items, of which there is at least one.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A number of the kind that breaks things: small, full, or beside a power of two.
    pub fn edge(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(8) as u64,
            1 => (1 << self.below(64)) as u64,
            2 => (1u64 << self.below(64)).wrapping_sub(1),
            _ => self.number(),
        }
    }
}
