//! Integers as P4Runtime's binary strings (spec "Bytestrings").

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::Zero;

use crate::status::{Result, Status};

/// An unsigned value of at most `width` bits. Leading zeros are taken; an empty string is not.
pub fn decode(bytes: &[u8], width: u32) -> Result<BigUint> {
    if bytes.is_empty() {
        return Err(Status::out_of_range("has an empty value; zero is one zero byte"));
    }
    let value = BigUint::from_bytes_be(bytes);
    if value.bits() > u64::from(width) {
        return Err(Status::out_of_range(format!("is {value:#x}, which does not fit {width} bits")));
    }
    Ok(value)
}

/// A signed value, given back as the `width` bits of its two's complement.
pub fn decode_signed(bytes: &[u8], width: u32) -> Result<BigUint> {
    if bytes.is_empty() {
        return Err(Status::out_of_range("has an empty value; zero is one zero byte"));
    }
    let value = BigInt::from_signed_bytes_be(bytes);
    let half = BigInt::from(1) << (width.max(1) - 1);
    if value >= half || value < -&half {
        return Err(Status::out_of_range(format!("is {value}, which does not fit int<{width}>")));
    }
    let modulus = BigInt::from(1) << width;
    let wrapped = if value.sign() == Sign::Minus { value + modulus } else { value };
    Ok(wrapped.to_biguint().unwrap_or_default())
}

/// The shortest string for the value.
pub fn encode(value: &BigUint) -> Vec<u8> {
    value.to_bytes_be()
}

/// The shortest string for a value held as the `width` bits of its two's complement.
pub fn encode_signed(value: &BigUint, width: u32) -> Vec<u8> {
    let mut signed = BigInt::from(value.clone());
    if width > 0 && value.bit(u64::from(width) - 1) {
        signed -= BigInt::from(1) << width;
    }
    signed.to_signed_bytes_be()
}

/// All bits of a width.
pub fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

/// The mask of a prefix.
pub fn prefix_mask(prefix: u32, width: u32) -> BigUint {
    ones(width) ^ ones(width - prefix.min(width))
}

/// Whether no bit of `value` is set outside `mask`.
pub fn within_mask(value: &BigUint, mask: &BigUint) -> bool {
    (value & mask) == *value
}

/// Whether the value is zero.
pub fn is_zero(value: &BigUint) -> bool {
    value.is_zero()
}

#[cfg(test)]
mod tests {
    use proto::google::rpc::Code;

    use super::*;

    #[test]
    fn the_valid_examples_of_the_spec_are_taken_and_read_back_shortest() {
        let unsigned: [(u32, &[u8], u32, &[u8]); 5] = [
            (8, b"\x63", 99, b"\x63"),
            (16, b"\x00\x63", 99, b"\x63"),
            (16, b"\x00\x30\x64", 12388, b"\x30\x64"),
            (12, b"\x00\x00\x63", 99, b"\x63"),
            (16, b"\x00\x00", 0, b"\x00"),
        ];
        for (width, given, value, shortest) in unsigned {
            let decoded = decode(given, width).unwrap();
            assert_eq!(decoded, BigUint::from(value));
            assert_eq!(encode(&decoded), shortest);
        }
        let signed: [(u32, &[u8], &[u8]); 5] = [
            (8, b"\x63", b"\x63"),
            (8, b"\x9d", b"\x9d"),
            (8, b"\xff\x9d", b"\x9d"),
            (12, b"\xfd\x1d", b"\xfd\x1d"),
            (16, b"\x00\x00", b"\x00"),
        ];
        for (width, given, shortest) in signed {
            assert_eq!(encode_signed(&decode_signed(given, width).unwrap(), width), shortest);
        }
    }

    #[test]
    fn values_that_do_not_fit_are_out_of_range() {
        for (width, given) in [(8, &b"\x01\x63"[..]), (16, b""), (12, b"\x10\x00"), (1, b"\x02")] {
            assert_eq!(decode(given, width).unwrap_err().code, Code::OutOfRange, "{width} {given:?}");
        }
        for (width, given) in [(8, &b"\x00\x9d"[..]), (8, b"\xff\x63"), (12, b"\x08\x00"), (4, b"")] {
            assert_eq!(decode_signed(given, width).unwrap_err().code, Code::OutOfRange, "{width} {given:?}");
        }
        assert_eq!(decode(b"\x01\xff", 8).unwrap_err().message, "is 0x1ff, which does not fit 8 bits");
    }

    #[test]
    fn masks_of_prefixes() {
        assert_eq!(prefix_mask(0, 32), BigUint::from(0u8));
        assert_eq!(prefix_mask(9, 32), BigUint::from(0xff80_0000u32));
        assert_eq!(prefix_mask(32, 32), BigUint::from(u32::MAX));
    }
}
