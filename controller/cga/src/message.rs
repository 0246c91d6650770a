//! What Hash2 is made of, ready for SHA-1 (RFC 3972, section 4, step 2):
//!
//! ```text
//! | modifier (16 octets) | 9 zero octets | public key and extension fields | padding of SHA-1 |
//! ```
//!
//! Only the modifier changes from try to try, so the blocks are laid out once.

use sha1::block_api::compress;

const MODIFIER_BYTES: usize = 16;
const ZERO_BYTES: usize = 9;
const BLOCK_BYTES: usize = 64;
const LENGTH_BYTES: usize = 8;

const SHA1_INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

#[derive(Clone)]
pub struct Message {
    blocks: Vec<[u8; BLOCK_BYTES]>,
}

impl Message {
    /// `tail` is the encoded public key and the extension fields.
    pub fn new(tail: &[u8]) -> Message {
        let length = MODIFIER_BYTES + ZERO_BYTES + tail.len();
        let padded = (length + 1 + LENGTH_BYTES).next_multiple_of(BLOCK_BYTES);
        let mut bytes = vec![0; padded];
        bytes[MODIFIER_BYTES + ZERO_BYTES..length].copy_from_slice(tail);
        bytes[length] = 0x80;
        bytes[padded - LENGTH_BYTES..].copy_from_slice(&(length as u64 * 8).to_be_bytes());
        let (blocks, _) = bytes.as_chunks();
        Message { blocks: blocks.to_vec() }
    }

    /// The 112 leftmost bits of the hash with this modifier, above 16 zero bits.
    pub fn hash2(&mut self, modifier: u128) -> u128 {
        self.blocks[0][..MODIFIER_BYTES].copy_from_slice(&modifier.to_be_bytes());
        let mut state = SHA1_INITIAL;
        compress(&mut state, &self.blocks);
        let hash = state[..4].iter().fold(0, |hash, &word| hash << 32 | u128::from(word));
        hash >> 16 << 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha1::{Digest, Sha1};

    #[test]
    fn it_is_sha1_over_the_concatenation_for_every_length_of_the_tail() {
        for length in 0..300 {
            let tail: Vec<u8> = (0..length).map(|index| (index * 7 + 1) as u8).collect();
            let modifier = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10 + length as u128;
            let mut whole = modifier.to_be_bytes().to_vec();
            whole.extend([0; ZERO_BYTES]);
            whole.extend(&tail);
            let expected = Sha1::digest(&whole);
            let hash = Message::new(&tail).hash2(modifier).to_be_bytes();
            assert_eq!(hash[..14], expected[..14], "tail of {length}");
            assert_eq!(hash[14..], [0, 0]);
        }
    }
}
