//! Random numbers from a seed (splitmix64): the same seed gives the same run, and one number tells all others. For packets of
//! tests and benchmarks, and for the losses of links.

/// The generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[allow(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn next_u128(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// Below `bound`, or 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below() {
        let mut random = Random::new(3);
        assert!((0..200).all(|_| random.below(3) < 3));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_seed_repeats() {
        let run = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next()]
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
