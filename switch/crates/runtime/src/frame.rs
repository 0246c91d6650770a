//! The memory of one packet's variables, in the layout of [`ir::Frame`].

mod erased;

use std::mem;

use ir::{Frame, storage_size};

pub use self::erased::Erased;

/// Bytes after the frame that code may touch when it moves whole words at its end, or zeroes whole pieces.
const SLACK: usize = erased::PIECE;

/// A zeroed, 8-byte aligned piece of memory with a program's frame in it.
#[derive(Debug, Clone)]
pub struct FrameMemory {
    words: Vec<u64>,
    persistent: usize,
    headers: usize,
    erased: Erased,
    /// Which headers were written since they were zeroed, as [`Erased::bits`] says it, or more of them.
    written: u64,
}

impl FrameMemory {
    /// Zeroed memory for the frame.
    pub fn new(frame: &Frame) -> Self {
        let words = vec![0; (frame.size as usize + SLACK).div_ceil(8)];
        let (persistent, headers) = (frame.persistent as usize, frame.headers as usize);
        Self { words, persistent, headers, erased: Erased::new(frame), written: 0 }
    }

    /// All of it.
    #[inline]
    pub fn all(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// All of it, to change.
    #[inline]
    pub fn all_mut(&mut self) -> &mut [u8] {
        self.written = u64::MAX;
        bytemuck::cast_slice_mut(&mut self.words)
    }

    /// Where it starts, for compiled code, which says itself what it writes ([`Self::set_written`]).
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Which headers were written since they were zeroed, or more: bits as those of [`Erased::bits`].
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Sets what [`Self::written`] answers.
    #[inline]
    pub fn set_written(&mut self, bits: u64) {
        self.written = bits;
    }

    /// To be called before something is written at `offset`.
    #[inline]
    fn writes(&mut self, offset: u32) -> &mut [u8] {
        if (offset as usize) < self.headers {
            self.written = u64::MAX;
        }
        &mut bytemuck::cast_slice_mut(&mut self.words)[offset as usize..]
    }

    /// `len` bytes at `offset`.
    pub fn bytes(&self, offset: u32, len: u32) -> &[u8] {
        &self.all()[offset as usize..][..len as usize]
    }

    /// `len` bytes at `offset`, to change.
    pub fn bytes_mut(&mut self, offset: u32, len: u32) -> &mut [u8] {
        &mut self.writes(offset)[..len as usize]
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
        self.writes(offset)[..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    /// Zeroes the part that lives from block to block, so that all headers are invalid, all varbits empty and all
    /// scalars 0; done when a packet enters.
    pub fn zero_persistent(&mut self) {
        self.erased.erase(bytemuck::cast_slice_mut(&mut self.words), mem::take(&mut self.written));
    }

    /// Whether it is as [`Self::zero_persistent`] leaves it.
    pub fn is_zeroed(&self) -> bool {
        self.erased.is_zero(self.all())
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
    fn whatever_writes_headers_has_them_zeroed() {
        let writes: [fn(&mut FrameMemory); 4] = [
            |memory| memory.write(40, 8, 7),
            |memory| memory.bytes_mut(40, 1).fill(7),
            |memory| memory.all_mut()[40] = 7,
            |memory| memory.persistent_mut()[40] = 7,
        ];
        for write in writes {
            let frame = Frame { size: 256, persistent: 256, headers: 200, ..Frame::default() };
            let mut memory = FrameMemory::new(&frame);
            write(&mut memory);
            assert!(!memory.is_zeroed());
            memory.zero_persistent();
            assert!(memory.is_zeroed());
        }
    }
}
