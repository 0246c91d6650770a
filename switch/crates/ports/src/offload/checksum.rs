//! The Internet checksum (RFC 1071).

/// The one's complement sum of the bytes, as words of network order; an odd last byte is the high one of its word.
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<8>();
    // Whatever the byte order in which the words are added, only that of the sum depends on it (section 2 (B)); and
    // 2^16 = 1 in this arithmetic, so words of any length may be added. Two halves of a word leave room for carries.
    let (mut low, mut high) = (0u64, 0u64);
    for word in words {
        let word = u64::from_ne_bytes(*word);
        low += word & 0xffff_ffff;
        high += word >> 32;
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = u64::from_ne_bytes(last);
    let total = fold(low).wrapping_add(fold(high)) + fold(last);
    u16::from_be(fold(total) as u16)
}

/// Adds carries to the low 16 bits until there are none.
fn fold(mut sum: u64) -> u64 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

pub(crate) fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Replaces the sum of the pseudo header, which stands where the checksum goes, by the checksum.
pub(crate) fn finish(frame: &mut [u8], start: usize, offset: usize) {
    let Some(covered) = frame.get_mut(start..) else { return };
    let sum = sum(covered);
    // Zero means that there is none in UDP, and is the same number as this one.
    let checksum = if sum == 0xffff { 0xffff } else { !sum };
    if let Some(field) = covered.get_mut(offset..offset + 2) {
        field.copy_from_slice(&checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_sum_is_that_of_its_words(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            let words = bytes.chunks(2).map(|word| u64::from(word[0]) << 8 | word.get(1).map_or(0, |low| u64::from(*low)));
            prop_assert_eq!(u64::from(sum(&bytes)), fold(words.sum()));
        }
    }

    /// A UDP datagram of three bytes from 10.0.0.1 to 10.0.0.2, with the sum of its pseudo header.
    #[test]
    fn a_checksum_completes_the_sum_to_all_ones() {
        let pseudo = [10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 11];
        let [high, low] = sum(&pseudo).to_be_bytes();
        let mut frame = vec![0xee; 34];
        frame.extend([0x30, 0x39, 0x00, 0x50, 0, 11, high, low, 0x61, 0xb2, 0xc3]);
        finish(&mut frame, 34, 6);
        assert_eq!(sum(&[&pseudo[..], &frame[34..]].concat()), 0xffff);
        assert_eq!(frame[..34], [0xee; 34]);
    }

    #[test]
    fn a_checksum_outside_the_frame_is_left() {
        let mut frame = [1, 2, 3];
        finish(&mut frame, 2, 6);
        finish(&mut frame, 9, 0);
        assert_eq!(frame, [1, 2, 3]);
    }
}
