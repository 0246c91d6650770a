#![no_main]

use hostile::packets;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| packets::run(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    switch_fuzz::mutated(data, size, max_size, seed, packets::mutate)
});
