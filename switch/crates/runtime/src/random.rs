//! The program's random numbers: ChaCha12. A peer that sees some of them knows no others.

use std::io;

use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng, TryRng};

/// Where random numbers begin.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// From the operating system.
    pub fn from_system() -> io::Result<Self> {
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed).map_err(io::Error::other)?;
        Ok(Self(seed))
    }
}

/// The same number gives the same run, and whoever knows it knows all that follows: for tests and labs.
impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Self(seed)
    }
}

/// The generator.
pub struct Random(StdRng);

impl Random {
    pub fn new(seed: Seed) -> Self {
        Self(StdRng::from_seed(seed.0))
    }

    #[allow(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Where another generator begins.
    pub fn fork(&mut self) -> Seed {
        let mut seed = [0; 32];
        self.0.fill_bytes(&mut seed);
        Seed(seed)
    }

    /// Uniform in `lo..=hi`; `lo` when they are the wrong way round.
    pub(crate) fn between(&mut self, lo: u128, hi: u128) -> u128 {
        let Some(span) = hi.checked_sub(lo) else { return lo };
        let value = u128::from(self.next()) << 64 | u128::from(self.next());
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
        let mut random = Random::new(3.into());
        let drawn: Vec<_> = (0..200).map(|_| random.between(10, 13)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&10), Some(&13)));
        assert_eq!(random.between(5, 5), 5);
        assert_eq!(random.between(6, 5), 6);
        assert_ne!(random.between(0, u128::MAX), random.between(0, u128::MAX));
    }

    #[test]
    fn a_number_repeats_and_the_system_does_not() {
        let run = |seed: Seed| {
            let mut random = Random::new(seed);
            let fork = random.fork();
            [random.next(), random.next(), Random::new(fork).next()]
        };
        assert_eq!(run(1.into()), run(1.into()));
        assert_ne!(run(1.into()), run(2.into()));
        assert_ne!(run(Seed::from_system().unwrap()), run(Seed::from_system().unwrap()));
    }
}
