//! Random numbers from a seed (splitmix64): the same seed gives the same run.

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

    /// Uniform in `lo..=hi`; `lo` when they are the wrong way round.
    pub fn between(&mut self, lo: u128, hi: u128) -> u128 {
        let Some(span) = hi.checked_sub(lo) else { return lo };
        let value = self.next_u128();
        match span.checked_add(1) {
            // The remainder's bias is below 2^-64 for spans of up to 64 bits.
            Some(count) => lo + value % count,
            None => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_between_and_reach_the_ends() {
        let mut random = Random::new(3);
        let drawn: Vec<_> = (0..200).map(|_| random.between(10, 13)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&10), Some(&13)));
        assert_eq!(random.between(5, 5), 5);
        assert_eq!(random.between(6, 5), 6);
        assert_ne!(random.between(0, u128::MAX), random.between(0, u128::MAX));
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
