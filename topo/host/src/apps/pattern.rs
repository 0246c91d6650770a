//! The bytes of a bulk transfer: each depends on its place alone, so that a sink finds what is lost, doubled or moved.

/// Odd, with its bits well mixed.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

fn word(index: u64) -> [u8; 8] {
    index.wrapping_add(1).wrapping_mul(FACTOR).to_be_bytes()
}

/// The pieces of words that a range covers: where each is in the range, and its bytes.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (std::ops::Range<usize>, [u8; 8], usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let place = offset + at as u64;
        let skip = (place % 8) as usize;
        let range = at..length.min(at + 8 - skip);
        at = range.end;
        (!range.is_empty()).then(|| (range, word(place / 8), skip))
    })
}

/// Writes the bytes from `offset` on.
pub fn fill(offset: u64, buffer: &mut [u8]) {
    for (range, word, skip) in pieces(offset, buffer.len()) {
        let length = range.len();
        buffer[range].copy_from_slice(&word[skip..skip + length]);
    }
}

/// Whether these are the bytes from `offset` on.
pub fn matches(offset: u64, bytes: &[u8]) -> bool {
    pieces(offset, bytes.len()).all(|(range, word, skip)| {
        let length = range.len();
        bytes[range] == word[skip..skip + length]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_transfer_fit_together() {
        let mut whole = [0; 100];
        fill(0, &mut whole);
        for (start, end) in [(0, 1), (3, 5), (7, 9), (8, 16), (13, 100)] {
            let mut part = vec![0; end - start];
            fill(start as u64, &mut part);
            assert_eq!(part, whole[start..end]);
            assert!(matches(start as u64, &part));
        }
    }

    #[test]
    fn a_change_a_shift_and_a_hole_are_found() {
        let mut bytes = [0; 64];
        fill(40, &mut bytes);
        assert!(!matches(41, &bytes) && !matches(48, &bytes) && !matches(32, &bytes));
        let mut hole = bytes[..20].to_vec();
        hole.extend(&bytes[28..]);
        assert!(!matches(40, &hole));
        bytes[63] ^= 1;
        assert!(!matches(40, &bytes));
    }
}
