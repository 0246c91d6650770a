//! Values as P4Runtime carries them.

use num_bigint::BigInt;

/// The value in as many bytes as its width takes, first byte first, as p4c writes it: valid, though not the shortest
/// form (spec "Bytestrings").
pub fn padded(value: &BigInt, width: u32) -> Vec<u8> {
    let size = width.div_ceil(8);
    let mask: BigInt = (BigInt::from(1) << width) - 1;
    let cut: BigInt = value & mask;
    let (_, bytes) = cut.to_bytes_be();
    let mut out = vec![0; (size as usize).saturating_sub(bytes.len())];
    out.extend(bytes.into_iter().take(size as usize));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_of_the_width_are_there() {
        assert_eq!(padded(&BigInt::from(5), 9), [0, 5]);
        assert_eq!(padded(&BigInt::from(0), 32), [0, 0, 0, 0]);
        assert_eq!(padded(&BigInt::from(-1), 12), [0x0f, 0xff]);
        assert_eq!(padded(&BigInt::from(0x1234), 16), [0x12, 0x34]);
        assert!(padded(&BigInt::from(0), 0).is_empty());
    }
}
