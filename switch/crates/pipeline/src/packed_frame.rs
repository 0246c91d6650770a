//! The frame of a packet that waits, without the room in its long varbits that is not used: mostly all of it.

use ir::{Frame, SymbolKind};

/// Shorter ones are kept with what is around them.
const LONG: usize = 64;

/// Where the long varbits of a program stand in the part of its frame that lives from block to block.
#[derive(Debug)]
pub struct Packing {
    /// Where the contents of each begin, behind their length in bits, and how many bytes have room; ascending.
    varbits: Vec<(usize, usize)>,
    /// The bytes of a frame whose long varbits are empty.
    least: usize,
}

impl Packing {
    pub fn new(frame: &Frame) -> Self {
        let persistent = frame.persistent as usize;
        let mut varbits = Vec::new();
        let mut end = 0;
        for symbol in &frame.symbols {
            let SymbolKind::Varbit(most) = symbol.kind else { continue };
            let (contents, room) = (symbol.offset as usize + 4, most.div_ceil(8) as usize);
            if room >= LONG && end <= symbol.offset as usize && contents + room <= persistent {
                varbits.push((contents, room));
                end = contents + room;
            }
        }
        let least = persistent - varbits.iter().map(|(_, room)| room).sum::<usize>();
        Self { varbits, least }
    }

    /// The frame's persistent part without what means nothing.
    pub fn pack(&self, frame: &[u8]) -> Box<[u8]> {
        let filled: usize = self.varbits.iter().map(|&(contents, room)| used(frame, contents, room)).sum();
        let mut packed = Vec::with_capacity(self.least + filled);
        let mut at = 0;
        for &(contents, room) in &self.varbits {
            packed.extend_from_slice(&frame[at..contents + used(frame, contents, room)]);
            at = contents + room;
        }
        packed.extend_from_slice(&frame[at..]);
        packed.into()
    }

    /// Puts what was packed where it was.
    pub fn unpack(&self, mut packed: &[u8], frame: &mut [u8]) {
        let mut take = |frame: &mut [u8]| {
            let (first, rest) = packed.split_at(frame.len());
            frame.copy_from_slice(first);
            packed = rest;
        };
        let mut at = 0;
        for &(contents, room) in &self.varbits {
            take(&mut frame[at..contents]);
            let used = used(frame, contents, room);
            take(&mut frame[contents..contents + used]);
            at = contents + room;
        }
        take(&mut frame[at..]);
    }
}

/// The bytes that a varbit holds now.
fn used(frame: &[u8], contents: usize, room: usize) -> usize {
    let bits: [u8; 4] = frame[contents - 4..contents].try_into().expect("four bytes");
    (u32::from_le_bytes(bits).div_ceil(8) as usize).min(room)
}

#[cfg(test)]
mod tests {
    use ir::Symbol;

    use super::*;

    fn frame() -> Frame {
        let symbol = |offset, kind| Symbol { name: String::new(), offset, kind };
        let symbols = vec![
            symbol(0, SymbolKind::Bits(8)),
            symbol(4, SymbolKind::Varbit(800)),
            symbol(108, SymbolKind::Varbit(80)),
            symbol(124, SymbolKind::Varbit(8000)),
        ];
        Frame { size: 1200, persistent: 1136, headers: 1136, symbols }
    }

    #[test]
    fn what_means_something_comes_back_and_nothing_else_is_kept() {
        let packing = Packing::new(&frame());
        for (short, long) in [(0_u32, 0_u32), (12, 0), (800, 17), (0, 8000), (u32::MAX, u32::MAX)] {
            let mut before: Vec<u8> = (0..1136_u32).map(|at| at as u8 | 1).collect();
            before[4..8].copy_from_slice(&short.to_le_bytes());
            before[124..128].copy_from_slice(&long.to_le_bytes());
            let packed = packing.pack(&before);
            let (first, second) = ((short.div_ceil(8) as usize).min(100), (long.div_ceil(8) as usize).min(1000));
            assert_eq!(packed.len(), 36 + first + second);
            let mut after = vec![0; 1136];
            packing.unpack(&packed, &mut after);
            for range in [0..8 + first, 108..128 + second, 1128..1136] {
                assert_eq!(after[range.clone()], before[range]);
            }
            assert!(after[8 + first..108].iter().chain(&after[128 + second..1128]).all(|byte| *byte == 0));
        }
    }
}
