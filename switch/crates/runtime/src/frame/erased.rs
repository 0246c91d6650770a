//! What of a frame becomes zero when a packet enters: only what the packet before it may have written. Most headers of a
//! large program are in no packet.

use std::ops::Range;

use ir::{Frame, SymbolKind};

/// Shorter varbits are zeroed with what is around them.
const LONG: usize = 64;
/// The most bytes of a piece.
pub(super) const PIECE: usize = 64;

/// The persistent part of a frame without the contents of long varbits, which mean nothing beyond their lengths.
#[derive(Debug, Clone)]
pub struct Erased {
    /// Metadata, which every packet writes.
    always: Vec<Range<usize>>,
    /// Headers, in ascending pieces.
    pieces: Vec<Range<usize>>,
    /// How many pieces, one after the other, share a bit.
    pieces_of_bit: usize,
}

impl Erased {
    /// That of a program's frame.
    pub fn new(frame: &Frame) -> Self {
        let (mut always, mut pieces) = (Vec::new(), Vec::new());
        for Range { start, end } in meaningful(frame) {
            let middle = (frame.headers as usize).clamp(start, end);
            pieces.extend((start..middle).step_by(PIECE).map(|at| at..middle.min(at + PIECE)));
            if middle < end {
                always.push(middle..end);
            }
        }
        let pieces_of_bit = pieces.len().div_ceil(64).max(1);
        Self { always, pieces, pieces_of_bit }
    }

    /// All that becomes zero.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.always.iter().chain(&self.pieces).cloned()
    }

    /// A bit for each place that a write of `bytes` at `offset` touches and that is zeroed only after such a write.
    pub fn bits(&self, offset: u32, bytes: u32) -> u64 {
        let (start, end) = (offset as usize, offset as usize + bytes as usize);
        let first = self.pieces.partition_point(|piece| piece.end <= start);
        let touched = self.pieces.iter().enumerate().skip(first).take_while(|(_, piece)| piece.start < end);
        touched.fold(0, |bits, (number, _)| bits | 1 << (number / self.pieces_of_bit))
    }

    /// Zeroes metadata, and headers by their bits. What stands behind a piece is zeroed with it: it becomes zero too when a
    /// packet enters, or means nothing.
    #[inline]
    pub fn erase(&self, frame: &mut [u8], mut bits: u64) {
        while bits != 0 {
            let first = bits.trailing_zeros() as usize * self.pieces_of_bit;
            for piece in self.pieces.iter().skip(first).take(self.pieces_of_bit) {
                // Faster than as many bytes as the piece has.
                let whole = frame[piece.start..].first_chunk_mut::<PIECE>();
                *whole.expect("a frame goes on for a piece behind its end") = [0; PIECE];
            }
            bits &= bits - 1;
        }
        for range in &self.always {
            frame[range.clone()].fill(0);
        }
    }

    /// Whether all of it is zero.
    pub fn is_zero(&self, frame: &[u8]) -> bool {
        self.ranges().all(|range| frame[range].iter().all(|byte| *byte == 0))
    }
}

fn meaningful(frame: &Frame) -> Vec<Range<usize>> {
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

#[cfg(test)]
mod tests {
    use ir::Symbol;

    use super::*;

    /// Headers of 10,000 bytes with a long varbit at 404, and metadata of 50.
    fn frame() -> Frame {
        let symbols = vec![Symbol { name: String::new(), offset: 400, kind: SymbolKind::Varbit(8 * 1000) }];
        Frame { size: 10_100, persistent: 10_050, headers: 10_000, symbols }
    }

    #[test]
    fn whatever_was_written_is_zeroed_by_its_bits() {
        let erased = Erased::new(&frame());
        for offset in (0..10_050_u32).filter(|offset| !(404..1404).contains(offset)) {
            let bytes = 16.min(10_050 - offset);
            let mut memory = vec![0; 10_100 + PIECE];
            memory[offset as usize..][..bytes as usize].fill(7);
            memory[404..1404].fill(7);
            erased.erase(&mut memory, erased.bits(offset, bytes));
            assert!(erased.is_zero(&memory), "{bytes} bytes at {offset}");
            assert_eq!(memory[404 + PIECE..1404], [7; 1000 - PIECE], "contents that mean nothing");
        }
    }

    #[test]
    fn metadata_and_the_contents_of_long_varbits_have_no_bits() {
        let erased = Erased::new(&frame());
        assert_eq!((erased.bits(10_000, 50), erased.bits(404, 1000), erased.bits(10_060, 8)), (0, 0, 0));
        assert_eq!(erased.bits(0, 10_050), (1 << erased.pieces.len().div_ceil(erased.pieces_of_bit)) - 1);
        assert!(erased.pieces_of_bit > 1, "there are more pieces than bits");
    }
}
