//! The memory of one packet's variables, in the layout of [`ir::Frame`].

use std::ops::Range;

use ir::{Frame, SymbolKind, storage_size};

/// Bytes after the frame that code may touch when it moves whole words at its end.
const SLACK: usize = 64;
/// Shorter varbits are zeroed with what is around them.
const LONG: usize = 64;

/// A zeroed, 8-byte aligned piece of memory with a program's frame in it.
#[derive(Debug, Clone)]
pub struct FrameMemory {
    words: Vec<u64>,
    persistent: usize,
    /// The persistent part without the contents of long varbits, which mean nothing beyond their lengths.
    zeroed: Vec<Range<usize>>,
}

impl FrameMemory {
    /// Zeroed memory for the frame.
    pub fn new(frame: &Frame) -> Self {
        let words = vec![0; (frame.size as usize + SLACK).div_ceil(8)];
        Self { words, persistent: frame.persistent as usize, zeroed: zeroed(frame) }
    }

    /// All of it.
    #[inline]
    pub fn all(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// All of it, to change.
    #[inline]
    pub fn all_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    /// Where it starts, for compiled code.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// `len` bytes at `offset`.
    pub fn bytes(&self, offset: u32, len: u32) -> &[u8] {
        &self.all()[offset as usize..][..len as usize]
    }

    /// `len` bytes at `offset`, to change.
    pub fn bytes_mut(&mut self, offset: u32, len: u32) -> &mut [u8] {
        &mut self.all_mut()[offset as usize..][..len as usize]
    }

    /// The scalar of `width` bits, at most 128, at `offset`.
    #[inline]
    pub fn read(&self, offset: u32, width: u32) -> u128 {
        let at = &self.all()[offset as usize..];
        match storage_size(width) {
            1 => u128::from(at[0]),
            2 => u128::from(u16::from_le_bytes(first(at))),
            4 => u128::from(u32::from_le_bytes(first(at))),
            8 => u128::from(u64::from_le_bytes(first(at))),
            _ => u128::from_le_bytes(first(at)),
        }
    }

    /// Stores the scalar of `width` bits, at most 128; `value` must fit.
    #[inline]
    pub fn write(&mut self, offset: u32, width: u32, value: u128) {
        let size = storage_size(width).min(16) as usize;
        self.all_mut()[offset as usize..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    /// Zeroes the part that lives from block to block, so that all headers are invalid, all varbits empty and all
    /// scalars 0; done when a packet enters.
    pub fn zero_persistent(&mut self) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        for range in &self.zeroed {
            zero(&mut bytes[range.clone()]);
        }
    }

    /// The part that lives from block to block; a copy of a packet takes it along.
    pub fn persistent(&self) -> &[u8] {
        &self.all()[..self.persistent]
    }

    /// The same, to change.
    pub fn persistent_mut(&mut self) -> &mut [u8] {
        let persistent = self.persistent;
        &mut self.all_mut()[..persistent]
    }
}

/// The ranges that [`FrameMemory::zero_persistent`] zeroes.
fn zeroed(frame: &Frame) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for symbol in &frame.symbols {
        let SymbolKind::Varbit(most) = symbol.kind else { continue };
        let contents = symbol.offset as usize + 4;
        let end = contents + most.div_ceil(8) as usize;
        if end - contents >= LONG && start <= contents && end <= frame.persistent as usize {
            ranges.push(start..contents);
            start = end;
        }
    }
    ranges.push(start..frame.persistent as usize);
    ranges
}

/// Most ranges lie between two long varbits and are so short that a call of the library would take longer than the stores.
#[inline]
fn zero(bytes: &mut [u8]) {
    match bytes.len() {
        8..=16 => zero_ends::<8>(bytes),
        17..=32 => zero_ends::<16>(bytes),
        33..=64 => zero_ends::<32>(bytes),
        _ => bytes.fill(0),
    }
}

/// For at most twice N bytes.
#[inline]
fn zero_ends<const N: usize>(bytes: &mut [u8]) {
    if let Some(first) = bytes.first_chunk_mut::<N>() {
        *first = [0; N];
    }
    if let Some(last) = bytes.last_chunk_mut::<N>() {
        *last = [0; N];
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes[..N].try_into().expect("N bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_of_every_size_come_back() {
        let mut memory = FrameMemory::new(&Frame { size: 64, persistent: 64, ..Frame::default() });
        for (offset, width) in [(0, 1), (1, 8), (2, 9), (4, 17), (8, 48), (16, 65), (32, 128)] {
            memory.write(offset, width, u128::MAX >> (128 - width));
        }
        for (offset, width) in [(0, 1), (1, 8), (2, 9), (4, 17), (8, 48), (16, 65), (32, 128)] {
            assert_eq!(memory.read(offset, width), u128::MAX >> (128 - width), "width {width}");
        }
        assert_eq!(memory.bytes(48, 1), [0]);
    }

    #[test]
    fn only_the_persistent_part_is_zeroed() {
        let mut memory = FrameMemory::new(&Frame { size: 16, persistent: 8, ..Frame::default() });
        memory.all_mut()[..16].fill(7);
        memory.zero_persistent();
        assert_eq!(memory.persistent(), [0; 8]);
        assert_eq!(memory.bytes(8, 8), [7; 8]);
    }

    #[test]
    fn ranges_of_every_length_are_zeroed_and_nothing_beside_them() {
        for length in 0..=200 {
            let mut bytes = vec![7; length + 2];
            zero(&mut bytes[1..=length]);
            let expected = [&[7][..], &vec![0; length], &[7]].concat();
            assert_eq!(bytes, expected, "{length} bytes");
        }
    }

    #[test]
    fn long_varbits_are_emptied_but_not_zeroed() {
        let symbol = |offset, kind| ir::Symbol { name: String::new(), offset, kind };
        let symbols =
            vec![symbol(0, SymbolKind::Bool), symbol(4, SymbolKind::Varbit(800)), symbol(108, SymbolKind::Bits(8))];
        let mut memory = FrameMemory::new(&Frame { size: 112, persistent: 112, symbols, ..Frame::default() });
        memory.all_mut()[..112].fill(7);
        memory.zero_persistent();
        assert_eq!((memory.bytes(0, 8), memory.bytes(108, 4)), (&[0; 8][..], &[0; 4][..]));
        assert_eq!(memory.bytes(8, 100), [7; 100]);
    }
}
