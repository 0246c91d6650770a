//! Between the packet's bytes and the frame: the general way, for any layout of fields.

use ir::{HeaderTypeId, storage_size};

use crate::context::Context;

/// `width` bits (at most 128) from bit `at` on, counted from the first byte's highest.
fn read_bits(bytes: &[u8], at: usize, width: usize) -> u128 {
    if width == 0 {
        return 0;
    }
    let (first, skip) = (at / 8, at % 8);
    let end = (at + width).div_ceil(8);
    // Up to 17 bytes: the last one is added after the bits in front are cut.
    let span = &bytes[first..end];
    let head = span.len().min(16);
    let mut value = span[..head].iter().fold(0u128, |value, byte| (value << 8) | u128::from(*byte));
    let kept = 8 * head - skip;
    if kept < 128 {
        value &= (1 << kept) - 1;
    }
    if kept >= width {
        value >> (kept - width)
    } else {
        let missing = width - kept;
        (value << missing) | u128::from(span[16] >> (8 - missing))
    }
}

/// Puts `width` bits (at most 128) at bit `at`, where zeros stand.
fn write_bits(bytes: &mut [u8], at: usize, width: usize, value: u128) {
    let mut left = width;
    let mut at = at;
    while left > 0 {
        let room = 8 - at % 8;
        let count = room.min(left);
        let part = (value >> (left - count)) as u8 & (0xff >> (8 - count));
        bytes[at / 8] |= part << (room - count);
        at += count;
        left -= count;
    }
}

/// Reads a value of any width into the little-endian form of the frame.
fn read_scalar(bytes: &[u8], at: usize, width: usize, out: &mut [u8]) {
    let mut left = width;
    for word in out.chunks_mut(16) {
        let count = left.min(128);
        left -= count;
        let value = read_bits(bytes, at + left, count).to_le_bytes();
        let len = word.len();
        word.copy_from_slice(&value[..len]);
    }
}

/// Writes a value of any width from the little-endian form of the frame.
fn write_scalar(bytes: &mut [u8], at: usize, width: usize, value: &[u8]) {
    let mut left = width;
    for word in value.chunks(16) {
        let count = left.min(128);
        left -= count;
        let mut whole = [0; 16];
        whole[..word.len()].copy_from_slice(word);
        write_bits(bytes, at + left, count, u128::from_le_bytes(whole));
    }
}

impl Context<'_> {
    /// Takes a header off the packet at the cursor into the frame at `offset` and makes it valid. `varbit_bits` is the
    /// length of its varbit field. With `peek` the cursor stands. Answers 0 or the index of the error; then nothing
    /// changed.
    pub fn extract(&mut self, header: HeaderTypeId, offset: u32, varbit_bits: Option<u32>, peek: bool) -> u32 {
        let info = &self.device.program().header_types[header];
        let errors = self.device.errors;
        let varbit = varbit_bits.unwrap_or(0) as usize;
        let bits = info.fixed_bits() as usize + varbit;
        // The order of the checks is that of P4_16, 12.8.2.
        if !bits.is_multiple_of(8) {
            return errors.invalid_argument;
        }
        if bits / 8 > self.packet.len() - self.cursor {
            return errors.packet_too_short;
        }
        let most = info.fields.iter().find(|field| field.varbit).map_or(0, |field| field.width as usize);
        if varbit > most {
            return errors.header_too_short;
        }
        let bytes = &self.packet.bytes()[self.cursor..];
        let mut at = 0;
        for field in &info.fields {
            let place = offset + field.offset;
            if field.varbit {
                self.frame.write(place, 32, varbit as u128);
                let value = self.frame.bytes_mut(place + 4, field.width.div_ceil(8));
                for (i, byte) in value[..varbit.div_ceil(8)].iter_mut().enumerate() {
                    let count = (varbit - 8 * i).min(8);
                    *byte = (read_bits(bytes, at + 8 * i, count) as u8) << (8 - count);
                }
                at += varbit;
            } else {
                let width = field.width as usize;
                read_scalar(bytes, at, width, self.frame.bytes_mut(place, storage_size(field.width)));
                at += width;
            }
        }
        self.frame.write(offset, 1, 1);
        if !peek {
            self.cursor += bits / 8;
        }
        0
    }

    /// The next `bits` bits as a little-endian integer in `out`, without moving the cursor. Answers 0 or the index of
    /// the error.
    pub fn lookahead_bytes(&mut self, bits: u32, out: &mut [u8]) -> u32 {
        let bytes = &self.packet.bytes()[self.cursor..];
        if bits as usize > 8 * bytes.len() {
            return self.device.errors.packet_too_short;
        }
        read_scalar(bytes, 0, bits as usize, out);
        0
    }

    /// The next `bits` bits, at most 128, or the index of the error.
    pub fn lookahead(&mut self, bits: u32) -> Result<u128, u32> {
        let bytes = &self.packet.bytes()[self.cursor..];
        match bits as usize > 8 * bytes.len() {
            true => Err(self.device.errors.packet_too_short),
            false => Ok(read_bits(bytes, 0, bits as usize)),
        }
    }

    /// Moves the cursor. Answers 0 or the index of the error.
    pub fn advance(&mut self, bits: u32) -> u32 {
        if !bits.is_multiple_of(8) {
            return self.device.errors.invalid_argument;
        }
        if bits as usize / 8 > self.packet.len() - self.cursor {
            return self.device.errors.packet_too_short;
        }
        self.cursor += bits as usize / 8;
        0
    }

    /// Bytes of the packet.
    pub fn packet_length(&self) -> u32 {
        self.packet.len() as u32
    }

    /// Appends the header in the frame at `offset` to the output, if it is valid.
    pub fn emit(&mut self, header: HeaderTypeId, offset: u32) {
        if self.frame.read(offset, 1) == 0 {
            return;
        }
        let info = &self.device.program().header_types[header];
        let start = self.out.len();
        let length = |place: u32, most: u32| (self.frame.read(place, 32) as u32).min(most) as usize;
        let varbit: usize =
            info.fields.iter().filter(|field| field.varbit).map(|f| length(offset + f.offset, f.width)).sum();
        let bits = info.fixed_bits() as usize + varbit;
        self.out.resize(start + bits.div_ceil(8), 0);
        let out = &mut self.out[start..];
        let mut at = 0;
        for field in &info.fields {
            let place = offset + field.offset;
            if field.varbit {
                let value = self.frame.bytes(place + 4, field.width.div_ceil(8));
                for (i, byte) in value[..varbit.div_ceil(8)].iter().enumerate() {
                    let count = (varbit - 8 * i).min(8);
                    write_bits(out, at + 8 * i, count, u128::from(byte >> (8 - count)));
                }
                at += varbit;
            } else {
                let width = field.width as usize;
                write_scalar(out, at, width, self.frame.bytes(place, storage_size(field.width)));
                at += width;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_any_place_and_width_come_back() {
        let value = 0x0123_4567_89ab_cdef_1122_3344_5566_7788_u128;
        for at in 0..17 {
            for width in 0..=128 {
                let value = if width == 0 { 0 } else { value >> (128 - width) };
                let mut bytes = [0; 20];
                write_bits(&mut bytes, at, width, value);
                assert_eq!(read_bits(&bytes, at, width), value, "{width} bits at {at}");
                assert_eq!(read_bits(&bytes, 0, at), 0);
                assert_eq!(read_bits(&bytes, at + width, 12), 0);
            }
        }
    }

    #[test]
    fn wide_values_stand_in_the_frame_little_endian() {
        let wire: Vec<u8> = (1..=40).collect();
        let mut value = [0; 40];
        read_scalar(&wire, 0, 320, &mut value);
        let mut reversed = wire.clone();
        reversed.reverse();
        assert_eq!(value.as_slice(), reversed);
        let mut back = [0; 41];
        write_scalar(&mut back, 3, 317, &value);
        let mut again = [0; 40];
        read_scalar(&back, 3, 317, &mut again);
        value[39] &= 0x1f;
        assert_eq!(again, value);
    }
}
