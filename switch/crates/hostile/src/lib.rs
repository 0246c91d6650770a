//! Hostile input: what the fuzz targets in `switch/fuzz` and the tests of crate `loader` run.
//!
//! A target is a module with `seeds()`, inputs from which others are made, and `run(bytes)`, which takes any input at
//! all and panics when the switch breaks a promise. Its `mutate` knows the form of its input, so that what it makes
//! gets past the first check more often than random bytes do.

mod bytes;
pub mod compiler;
pub mod messages;
pub mod packets;
mod plant;
mod random;
mod sample;
mod wire;

pub use random::Random;

/// Runs a target on its seeds and on `inputs` mutants of them, the same ones every time.
pub fn bounded(seeds: &[Vec<u8>], mutate: fn(&[u8], &mut Random) -> Vec<u8>, run: fn(&[u8]), inputs: u64) {
    seeds.iter().for_each(|seed| run(seed));
    let mut random = Random::new(inputs);
    let mut input = Vec::new();
    for _ in 0..inputs {
        // Mostly a seed afresh, now and then one change more.
        if input.is_empty() || random.below(3) > 0 {
            input = random.of(seeds).clone();
        }
        input = mutate(&input, &mut random);
        run(&input);
    }
}
