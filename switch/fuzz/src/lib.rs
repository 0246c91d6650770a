//! What the fuzz targets share with libFuzzer.

use hostile::Random;

/// Changes `data[..size]` in place and gives its new size: half of the time as libFuzzer does, which knows what the
/// program compares with what, and half of the time as `mutate` does, which knows the form of the input.
pub fn mutated(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    mutate: fn(&[u8], &mut Random) -> Vec<u8>,
) -> usize {
    if seed % 2 == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let changed = mutate(&data[..size], &mut Random::new(seed.into()));
    let size = changed.len().min(max_size);
    data[..size].copy_from_slice(&changed[..size]);
    size
}
