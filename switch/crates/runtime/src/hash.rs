//! The hash and checksum algorithms of v1model, bit for bit as BMv2 computes them: over bytes, the last one filled up
//! with zeros.

use ir::HashAlgorithm;

/// Bytes that are looked up at once.
const AT_ONCE: usize = 8;

/// The remainders of each byte, with so many zero bytes behind it as the number of the table says.
type Tables = [[u32; 256]; AT_ONCE];

const fn reflected_tables(polynomial: u32) -> Tables {
    let mut tables = [[0; 256]; AT_ONCE];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 * AT_ONCE {
            remainder = if remainder & 1 == 1 { (remainder >> 1) ^ polynomial } else { remainder >> 1 };
            bit += 1;
            if bit % 8 == 0 {
                tables[bit / 8 - 1][byte] = remainder;
            }
        }
        byte += 1;
    }
    tables
}

/// x^16 + x^15 + x^2 + 1, lowest power first.
static CRC16: Tables = reflected_tables(0xa001);
/// The polynomial of Ethernet, lowest power first.
static CRC32: Tables = reflected_tables(0xedb8_8320);

fn crc(tables: &Tables, start: u32, parts: [&[u8]; 2]) -> u32 {
    let by_byte = |remainder: u32, byte: &u8| tables[0][usize::from(remainder as u8 ^ byte)] ^ (remainder >> 8);
    // The first byte has the most behind it.
    let by_word = |remainder: u32, word: &[u8; AT_ONCE]| {
        let word = (u64::from_le_bytes(*word) ^ u64::from(remainder)).to_le_bytes();
        word.iter().zip(tables.iter().rev()).fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)])
    };
    parts.iter().fold(start, |remainder, part| {
        let (words, rest) = part.as_chunks();
        rest.iter().fold(words.iter().fold(remainder, by_word), by_byte)
    })
}

/// One's complement sum of big-endian 16-bit words; an odd byte is the high half of a word.
fn ones_sum(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut sum: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    sum += rest.iter().zip([24, 16, 8]).map(|(byte, shift)| u64::from(*byte) << shift).sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// RFC 1071; a second part that starts at an odd byte is summed with its bytes swapped.
fn csum16(parts: [&[u8]; 2]) -> u16 {
    let second = ones_sum(parts[1]);
    let second = if parts[0].len().is_multiple_of(2) { second } else { second.swap_bytes() };
    let sum = u32::from(ones_sum(parts[0])) + u32::from(second);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

fn xor16(parts: [&[u8]; 2]) -> u16 {
    let bytes = parts.into_iter().flatten().enumerate();
    bytes.fold(0, |sum, (i, byte)| sum ^ if i % 2 == 0 { u16::from(*byte) << 8 } else { u16::from(*byte) })
}

/// The hash of the bytes of two parts, one after the other; `random` is the next random number.
pub(crate) fn hash(algorithm: HashAlgorithm, parts: [&[u8]; 2], random: impl FnOnce() -> u64) -> u64 {
    match algorithm {
        // The custom ones start out as the common ones; v1model has no call to change them.
        HashAlgorithm::Crc16 | HashAlgorithm::Crc16Custom => crc(&CRC16, 0, parts).into(),
        HashAlgorithm::Crc32 | HashAlgorithm::Crc32Custom => (!crc(&CRC32, u32::MAX, parts)).into(),
        HashAlgorithm::Csum16 => csum16(parts).into(),
        HashAlgorithm::Xor16 => xor16(parts).into(),
        HashAlgorithm::Identity => {
            parts.into_iter().flatten().take(8).fold(0, |value, byte| (value << 8) | u64::from(*byte))
        }
        HashAlgorithm::Random => random(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(algorithm: HashAlgorithm, bytes: &[u8]) -> u64 {
        let whole = hash(algorithm, [bytes, &[]], || 7);
        for cut in 0..bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(hash(algorithm, [first, second], || 7), whole, "cut at {cut}");
        }
        whole
    }

    #[test]
    fn check_values_of_the_catalogue() {
        // The published check values: the digits 1 to 9 as text.
        let digits = b"123456789";
        assert_eq!(of(HashAlgorithm::Crc16, digits), 0xbb3d);
        assert_eq!(of(HashAlgorithm::Crc16Custom, digits), 0xbb3d);
        assert_eq!(of(HashAlgorithm::Crc32, digits), 0xcbf4_3926);
        assert_eq!(of(HashAlgorithm::Crc32Custom, digits), 0xcbf4_3926);
    }

    #[test]
    fn many_bytes_at_once_are_what_they_are_one_by_one() {
        let bytes: Vec<u8> = (0..100_u32).map(|byte| (byte * byte + 7) as u8).collect();
        for length in 0..bytes.len() {
            let bit_by_bit = bytes[..length].iter().fold(u32::MAX, |remainder, byte| {
                (0..8).fold(remainder ^ u32::from(*byte), |remainder, _| {
                    (remainder >> 1) ^ if remainder & 1 == 1 { 0xedb8_8320 } else { 0 }
                })
            });
            assert_eq!(of(HashAlgorithm::Crc32, &bytes[..length]), u64::from(!bit_by_bit), "{length} bytes");
        }
    }

    #[test]
    fn the_checksum_of_an_ipv4_header() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00,
            0xc7,
        ];
        assert_eq!(of(HashAlgorithm::Csum16, &header), 0xb861);
        assert_eq!(of(HashAlgorithm::Csum16, &[0x12, 0x34, 0x56]), u64::from(!(0x1234u16 + 0x5600)));
        assert_eq!(of(HashAlgorithm::Csum16, &[]), 0xffff);
    }

    #[test]
    fn the_simple_ones() {
        assert_eq!(of(HashAlgorithm::Xor16, &[0x12, 0x34, 0x0f, 0x00, 0xff]), 0x1234 ^ 0x0f00 ^ 0xff00);
        assert_eq!(of(HashAlgorithm::Identity, &[1, 2, 3]), 0x0001_0203);
        assert_eq!(of(HashAlgorithm::Identity, &[1, 2, 3, 4, 5, 6, 7, 8, 9]), 0x0102_0304_0506_0708);
        assert_eq!(of(HashAlgorithm::Random, &[]), 7);
    }
}
