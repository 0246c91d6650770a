//! What becomes of a packet's bytes.

use runtime::Packet;

/// In place of a packet's bit: the bit is the same for all packets of the way.
pub const LITERAL: u32 = u32::MAX;

/// Replaces the first octets of a packet. Some of the new ones are the same for all packets of the way, others come from
/// the packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edit {
    pub(crate) plan: Plan,
    pub(crate) words: Box<[u64]>,
}

/// What the words of an edit are. They stand with the rest of a way that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    /// Where nothing moves, the words are three for each eight octets that change: where they stand, which of their bits stay,
    /// and the others. Otherwise two for each run, two for each mixed octet, and then what is the same for all packets.
    moved: Option<Moved>,
}

/// Where octets move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moved {
    /// Octets that are replaced.
    taken: u32,
    /// Those that take their place; zeros where octets of the packet come.
    literal: u32,
    /// Octets of the packet that they come from.
    sources: u32,
    runs: u16,
    mixed: u16,
}

/// Octets of the packet that stand somewhere else afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    from: usize,
    to: usize,
    len: usize,
}

/// An octet of which some bits are the packet's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mixed {
    from: usize,
    to: usize,
    mask: u8,
}

/// Where octets come from and go to, and how many there are, or which bits, as two words.
fn packed(from: usize, to: usize, what: u32) -> [u64; 2] {
    [from as u64, (to as u64) << 32 | u64::from(what)]
}

/// The same of many, from their words.
fn unpacked(words: &[u64]) -> impl Iterator<Item = (usize, usize, u32)> {
    let (pairs, _) = words.as_chunks();
    pairs.iter().map(|[from, rest]| (*from as usize, (rest >> 32) as usize, *rest as u32))
}

/// Where an octet comes from.
enum Source {
    Literal,
    Packet {
        from: usize,
        mask: u8,
    },
    /// Its bits stand elsewhere in the packet's octets.
    Shifted,
}

impl Edit {
    /// `out` takes the place of the first `taken` octets; `sources` has the number of the packet's bit that each bit of it
    /// is a copy of, or [`LITERAL`]. Copies that are not whole octets, or bits in their place, go to `fixed`: they have to
    /// be part of the key.
    pub fn new(taken: usize, out: &[u8], sources: &[u32], mut fixed: impl FnMut(u32)) -> Self {
        let mut literal = out.to_vec();
        let (mut runs, mut mixed): (Vec<Run>, Vec<Mixed>) = Default::default();
        for (to, bits) in sources.chunks(8).enumerate() {
            match source(bits) {
                Source::Literal => {}
                Source::Shifted => bits.iter().filter(|bit| **bit != LITERAL).for_each(|bit| fixed(*bit)),
                Source::Packet { from, mask } => {
                    literal[to] &= !mask;
                    match runs.last_mut() {
                        Some(last) if mask == 0xff && last.from + last.len == from && last.to + last.len == to => {
                            last.len += 1;
                        }
                        _ if mask == 0xff => runs.push(Run { from, to, len: 1 }),
                        _ => mixed.push(Mixed { from, to, mask }),
                    }
                }
            }
        }
        let mut taken = taken;
        // What stands before the payload as it stood need not be replaced.
        if let Some(last) = runs.last().copied()
            && (last.from + last.len, last.to + last.len) == (taken, out.len())
        {
            runs.pop();
            taken = last.from;
            literal.truncate(last.to);
        }
        if let Some(words) = in_place(taken, &literal, &runs, &mixed) {
            return Self { plan: Plan { moved: None }, words };
        }
        let ends = runs.iter().map(|run| run.from + run.len).chain(mixed.iter().map(|octet| octet.from + 1));
        let moved = Moved {
            taken: taken as u32,
            literal: literal.len() as u32,
            sources: ends.max().unwrap_or(0) as u32,
            runs: runs.len() as u16,
            mixed: mixed.len() as u16,
        };
        literal.resize(literal.len().next_multiple_of(8), 0);
        let runs = runs.into_iter().map(|Run { from, to, len }| packed(from, to, len as u32));
        let mixed = mixed.into_iter().map(|Mixed { from, to, mask }| packed(from, to, mask.into()));
        let words = runs.chain(mixed).flatten().chain(bytemuck::pod_collect_to_vec::<u8, u64>(&literal)).collect();
        Self { plan: Plan { moved: Some(moved) }, words }
    }

    /// What becomes of a packet.
    pub fn applied(&self, packet: &[u8]) -> Vec<u8> {
        let mut packet = Packet::new(0, packet);
        self.plan.apply(&self.words, &mut packet, &mut Vec::new(), 0);
        packet.bytes().to_vec()
    }

    /// Eight octets each that change where they stand: where that is, which of their bits stay, and the others; none if
    /// octets would move.
    pub fn in_place(&self) -> Option<impl Iterator<Item = (usize, [u8; 8], [u8; 8])>> {
        let words = self.plan.moved.is_none().then(|| changes(&self.words))?;
        Some(words.map(|(at, keep, set)| (at, keep.to_le_bytes(), set.to_le_bytes())))
    }
}

/// Words of which the last two may overlap; none if something moves, or it is less than a word.
fn in_place(taken: usize, literal: &[u8], runs: &[Run], mixed: &[Mixed]) -> Option<Box<[u64]>> {
    let moves = taken != literal.len()
        || runs.iter().any(|run| run.from != run.to)
        || mixed.iter().any(|octet| octet.from != octet.to);
    let last = taken.checked_sub(8).filter(|_| !moves)?;
    let mut keep = vec![0; taken];
    runs.iter().for_each(|run| keep[run.to..run.to + run.len].fill(0xff));
    mixed.iter().for_each(|octet| keep[octet.to] = octet.mask);
    let word = |octets: &[u8], at: usize| u64::from_le_bytes(octets[at..at + 8].try_into().expect("eight octets"));
    // What the packet has there is not in the literal octets.
    let words = (0..taken).step_by(8).map(|at| at.min(last)).map(|at| [at as u64, word(&keep, at), word(literal, at)]);
    Some(words.filter(|[_, keep, _]| *keep != u64::MAX).flatten().collect())
}

impl Plan {
    /// Changes a packet, and takes memory for that from `copied`. It has so much in reserve for headers that it may gain.
    #[inline]
    pub fn apply(self, words: &[u64], packet: &mut Packet, copied: &mut Vec<u8>, reserve: usize) {
        match self.moved {
            None => change(words, packet.bytes_mut()),
            Some(moved) => moved.apply(words, packet, copied, reserve),
        }
    }
}

impl Moved {
    #[inline]
    fn apply(self, words: &[u64], packet: &mut Packet, copied: &mut Vec<u8>, reserve: usize) {
        let Self { taken, literal, sources, runs, mixed } = self;
        copied.clear();
        copied.extend_from_slice(&packet.bytes()[..sources as usize]);
        let (runs, words) = words.split_at(2 * usize::from(runs));
        let (mixed, words) = words.split_at(2 * usize::from(mixed));
        let out = packet.open_front(taken as usize, literal as usize, reserve);
        out.copy_from_slice(&bytemuck::cast_slice(words)[..literal as usize]);
        for (from, to, len) in unpacked(runs) {
            let len = len as usize;
            out[to..to + len].copy_from_slice(&copied[from..from + len]);
        }
        for (from, to, mask) in unpacked(mixed) {
            out[to] |= copied[from] & mask as u8;
        }
        copied.clear();
    }
}

/// Where, and which bits stay, and the others.
fn changes(words: &[u64]) -> impl Iterator<Item = (usize, u64, u64)> {
    let (words, _) = words.as_chunks();
    words.iter().map(|[at, keep, set]| (*at as usize, *keep, *set))
}

/// Changes a packet where it stands.
#[inline]
fn change(words: &[u64], packet: &mut [u8]) {
    for (at, keep, set) in changes(words) {
        let octets = &mut packet[at..at + 8];
        let before = u64::from_le_bytes((&*octets).try_into().expect("eight octets"));
        octets.copy_from_slice(&((before & keep) | set).to_le_bytes());
    }
}

fn source(bits: &[u32]) -> Source {
    let Some(first) = bits.iter().position(|bit| *bit != LITERAL) else { return Source::Literal };
    let from = bits[first] as usize / 8;
    let mut mask = 0;
    for (place, bit) in bits.iter().enumerate() {
        if *bit == LITERAL {
            continue;
        }
        if *bit as usize != 8 * from + place {
            return Source::Shifted;
        }
        mask |= 0x80 >> place;
    }
    Source::Packet { from, mask }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(first: u32) -> impl Iterator<Item = u32> {
        8 * first..8 * first + 8
    }

    #[test]
    fn octets_are_copied_overwritten_inserted_and_removed() {
        // Octets 1 and 2 change places with 9 between them, the low half of octet 3 becomes 7, octet 0 goes.
        let mut sources: Vec<u32> = octets(2).chain([LITERAL; 8]).chain(octets(1)).chain(octets(3)).collect();
        sources[28..].fill(LITERAL);
        let edit = Edit::new(4, &[0xcc, 9, 0xbb, 0xd7], &sources, |_| panic!("all stand in their places"));
        assert_eq!(edit.applied(&[0xaa, 0xbb, 0xcc, 0xdd, 1]), [0xcc, 9, 0xbb, 0xd7, 1]);
        assert_eq!(edit.applied(&[1, 2, 3, 0x45, 6, 7]), [3, 9, 2, 0x47, 6, 7]);
    }

    #[test]
    fn where_nothing_moves_a_packet_changes_in_its_place() {
        for len in 8..=40 {
            // Every third octet is set, of every fifth the high half stays.
            let mut sources: Vec<u32> = octets(0).chain((1..len).flat_map(octets)).collect();
            for at in 0..len as usize {
                let bits = &mut sources[8 * at..8 * at + 8];
                match at {
                    at if at % 3 == 0 || at + 1 == len as usize => bits.fill(LITERAL),
                    at if at % 5 == 0 => bits[4..].fill(LITERAL),
                    _ => {}
                }
            }
            let out: Vec<u8> = (0..len as u8).map(|at| at ^ 0x5a).collect();
            let edit = Edit::new(len as usize, &out, &sources, |_| panic!("all stand in their places"));
            let packet: Vec<u8> = (0..len as u8 + 3).map(|at| at.wrapping_mul(37)).collect();
            let expected = (0..).zip(&packet).map(|(at, octet)| match at {
                at if at >= len => *octet,
                at if at % 3 == 0 || at + 1 == len => at as u8 ^ 0x5a,
                at if at % 5 == 0 => octet & 0xf0 | (at as u8 ^ 0x5a) & 0x0f,
                _ => *octet,
            });
            let expected: Vec<u8> = expected.collect();
            assert_eq!((edit.applied(&packet), edit.plan.moved), (expected, None), "{len} octets");
        }
        let moved = Edit::new(9, &[1; 8], &[LITERAL; 64], |_| panic!("all stand in their places"));
        assert!(moved.in_place().is_none(), "the packet becomes shorter");
    }

    #[test]
    fn octets_move_though_others_take_their_place() {
        // Three octets more in front, and none of the first two stays where it was.
        let sources: Vec<u32> = octets(1).chain([LITERAL; 24]).chain(octets(0)).collect();
        let edit = Edit::new(2, &[2, 7, 8, 9, 1], &sources, |_| panic!("all stand in their places"));
        for (headroom, reserve) in [(3, 0), (0, 3), (9, 0)] {
            let (mut packet, mut copied) = (Packet::new(headroom, &[5, 6, 3]), vec![]);
            edit.plan.apply(&edit.words, &mut packet, &mut copied, reserve);
            assert_eq!((packet.bytes(), copied.len()), (&[6, 7, 8, 9, 5, 3][..], 0));
        }
    }

    #[test]
    fn what_stays_before_the_payload_is_left_alone() {
        let sources: Vec<u32> = [LITERAL; 8].into_iter().chain(octets(1)).chain(octets(2)).collect();
        let edit = Edit::new(3, &[5, 1, 2], &sources, |_| panic!("all stand in their places"));
        let moved = Moved { taken: 1, literal: 1, sources: 0, runs: 0, mixed: 0 };
        assert_eq!(edit.plan, Plan { moved: Some(moved) });
        assert_eq!(edit.applied(&[0, 8, 9, 4]), [5, 8, 9, 4]);
    }

    #[test]
    fn shifted_bits_belong_to_the_key() {
        let sources: Vec<u32> = (4..12).collect();
        let mut fixed = Vec::new();
        let edit = Edit::new(2, &[0x23], &sources, |bit| fixed.push(bit));
        assert_eq!(fixed, (4..12).collect::<Vec<_>>());
        assert_eq!(edit.applied(&[0x12, 0x34, 5]), [0x23, 5]);
    }
}
