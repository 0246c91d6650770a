//! Bit strings that grow by values of any width, most significant bit first: the input of hashes, checksums and digests.

/// Bits in wire order; the last byte is filled up with zeros.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitString {
    bytes: Vec<u8>,
    len: usize,
}

impl BitString {
    /// An empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the bits but keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.len = 0;
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits, first bit highest in the first byte.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends the low `width` bits of `value`, at most 128.
    pub fn push(&mut self, value: u128, width: u32) {
        if width == 0 {
            return;
        }
        let aligned = value << (128 - width);
        self.push_wire(&aligned.to_be_bytes()[..width.div_ceil(8) as usize], width as usize);
    }

    /// Appends the low `width` bits of a little-endian integer, the form of a wide value in the frame.
    pub fn push_le(&mut self, value: &[u8], width: u32) {
        let whole = width as usize / 8;
        let rest = width % 8;
        if rest != 0 {
            self.push(u128::from(value.get(whole).copied().unwrap_or(0)), rest);
        }
        for i in (0..whole).rev() {
            self.push_byte(value.get(i).copied().unwrap_or(0));
        }
    }

    /// Appends `width` bits given in wire order, left-aligned: the form of a varbit in the frame.
    pub fn push_wire(&mut self, bytes: &[u8], width: usize) {
        let whole = width / 8;
        if self.len.is_multiple_of(8) {
            self.bytes.extend_from_slice(&bytes[..whole]);
            self.len += whole * 8;
        } else {
            for &byte in &bytes[..whole] {
                self.push_byte(byte);
            }
        }
        let rest = width % 8;
        if rest != 0 {
            let before = self.len;
            self.push_byte(bytes[whole] & (0xffu8 << (8 - rest)));
            self.len = before + rest;
            self.bytes.truncate(self.len.div_ceil(8));
        }
    }

    fn push_byte(&mut self, byte: u8) {
        let shift = self.len % 8;
        if shift == 0 {
            self.bytes.push(byte);
        } else {
            *self.bytes.last_mut().expect("a started byte") |= byte >> shift;
            self.bytes.push(byte << (8 - shift));
        }
        self.len += 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_each_other_without_gaps() {
        let mut bits = BitString::new();
        bits.push(0b101, 3);
        bits.push(0x1ff, 9);
        bits.push(0, 1);
        bits.push(0b111, 3);
        assert_eq!(bits.len(), 16);
        assert_eq!(bits.bytes(), [0b1011_1111, 0b1111_0111]);
    }

    #[test]
    fn a_started_byte_ends_in_zeros() {
        let mut bits = BitString::new();
        bits.push(0x3, 2);
        bits.push_wire(&[0xff, 0xff], 9);
        assert_eq!((bits.len(), bits.bytes()), (11, &[0xff, 0b1110_0000][..]));
        bits.push(u128::MAX, 128);
        assert_eq!(bits.len(), 139);
        assert_eq!(bits.bytes().len(), 18);
        assert_eq!(bits.bytes()[17], 0b1110_0000);
    }

    #[test]
    fn all_forms_of_a_value_agree() {
        let value = 0x1_2345_6789_abcd_ef01_u128;
        let mut scalar = BitString::new();
        scalar.push(1, 1);
        scalar.push(value, 65);
        let mut wide = BitString::new();
        wide.push(1, 1);
        wide.push_le(&value.to_le_bytes(), 65);
        assert_eq!(scalar, wide);
        let mut wire = BitString::new();
        wire.push(1, 1);
        wire.push_wire(&(value << 63).to_be_bytes(), 65);
        assert_eq!(scalar, wire);
    }
}
