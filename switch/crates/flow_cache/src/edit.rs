//! What becomes of a packet's bytes.

/// In place of a packet's bit: the bit is the same for all packets of the way.
pub const LITERAL: u32 = u32::MAX;

/// Replaces the first octets of a packet. Some of the new ones are the same for all packets of the way, others come from
/// the packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edit {
    /// Octets that are replaced.
    taken: usize,
    /// What replaces them; zeros where octets of the packet come.
    literal: Box<[u8]>,
    copies: Box<[Run]>,
    mixed: Box<[Mixed]>,
    /// The same where nothing moves.
    in_place: Option<Box<[Masked]>>,
}

/// Eight octets that stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Masked {
    at: u32,
    keep: u64,
    set: u64,
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
        let mut edit = Self { taken, literal: out.into(), ..Self::default() };
        let (mut copies, mut mixed): (Vec<Run>, Vec<Mixed>) = Default::default();
        for (to, bits) in sources.chunks(8).enumerate() {
            match source(bits) {
                Source::Literal => {}
                Source::Shifted => bits.iter().filter(|bit| **bit != LITERAL).for_each(|bit| fixed(*bit)),
                Source::Packet { from, mask } => {
                    edit.literal[to] &= !mask;
                    match copies.last_mut() {
                        Some(last) if mask == 0xff && last.from + last.len == from && last.to + last.len == to => {
                            last.len += 1;
                        }
                        _ if mask == 0xff => copies.push(Run { from, to, len: 1 }),
                        _ => mixed.push(Mixed { from, to, mask }),
                    }
                }
            }
        }
        // What stands before the payload as it stood need not be replaced.
        if let Some(last) = copies.last().copied()
            && (last.from + last.len, last.to + last.len) == (taken, out.len())
        {
            copies.pop();
            edit.taken = last.from;
            edit.literal = edit.literal[..last.to].into();
        }
        edit.copies = copies.into();
        edit.mixed = mixed.into();
        edit.in_place = edit.masked();
        edit
    }

    /// By words, of which the last two may overlap; none if something moves, or it is less than a word.
    fn masked(&self) -> Option<Box<[Masked]>> {
        let moves = self.taken != self.literal.len()
            || self.copies.iter().any(|run| run.from != run.to)
            || self.mixed.iter().any(|octet| octet.from != octet.to);
        let last = self.taken.checked_sub(8).filter(|_| !moves)?;
        let mut keep = vec![0; self.taken];
        self.copies.iter().for_each(|run| keep[run.to..run.to + run.len].fill(0xff));
        self.mixed.iter().for_each(|octet| keep[octet.to] = octet.mask);
        let word = |octets: &[u8], at: usize| u64::from_le_bytes(octets[at..at + 8].try_into().expect("eight octets"));
        let words = (0..self.taken).step_by(8).map(|at| at.min(last));
        let masked = words.map(|at| Masked { at: at as u32, keep: word(&keep, at), set: word(&self.literal, at) });
        // What the packet has there is not in the literal octets.
        Some(masked.filter(|word| word.keep != u64::MAX).collect())
    }

    /// Changes a packet where it stands; false if octets would move.
    #[inline]
    pub fn change(&self, packet: &mut [u8]) -> bool {
        let Some(words) = &self.in_place else { return false };
        for Masked { at, keep, set } in words {
            let at = *at as usize;
            let octets = &mut packet[at..at + 8];
            let before = u64::from_le_bytes((&*octets).try_into().expect("eight octets"));
            octets.copy_from_slice(&((before & keep) | set).to_le_bytes());
        }
        true
    }

    /// Eight octets each that change where they stand: where that is, which of their bits stay, and the others; none if
    /// octets would move.
    pub fn in_place(&self) -> Option<impl Iterator<Item = (usize, [u8; 8], [u8; 8])>> {
        let words = self.in_place.as_ref()?;
        Some(words.iter().map(|Masked { at, keep, set }| (*at as usize, keep.to_le_bytes(), set.to_le_bytes())))
    }

    /// Octets of a packet that [`Self::write`] replaces.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Writes what takes their place.
    #[inline]
    pub fn write(&self, packet: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.literal);
        for Run { from, to, len } in &self.copies {
            out[*to..to + len].copy_from_slice(&packet[*from..from + len]);
        }
        for Mixed { from, to, mask } in &self.mixed {
            out[*to] |= packet[*from] & mask;
        }
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

    fn applied(edit: &Edit, packet: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        edit.write(packet, &mut out);
        out.extend_from_slice(&packet[edit.taken()..]);
        out
    }

    #[test]
    fn octets_are_copied_overwritten_inserted_and_removed() {
        // Octets 1 and 2 change places with 9 between them, the low half of octet 3 becomes 7, octet 0 goes.
        let mut sources: Vec<u32> = octets(2).chain([LITERAL; 8]).chain(octets(1)).chain(octets(3)).collect();
        sources[28..].fill(LITERAL);
        let edit = Edit::new(4, &[0xcc, 9, 0xbb, 0xd7], &sources, |_| panic!("all stand in their places"));
        assert_eq!(applied(&edit, &[0xaa, 0xbb, 0xcc, 0xdd, 1]), [0xcc, 9, 0xbb, 0xd7, 1]);
        assert_eq!(applied(&edit, &[1, 2, 3, 0x45, 6, 7]), [3, 9, 2, 0x47, 6, 7]);
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
            let mut changed = packet.clone();
            assert!(edit.change(&mut changed));
            assert_eq!(changed, applied(&edit, &packet), "{len} octets");
        }
        let moved = Edit::new(9, &[1; 8], &[LITERAL; 64], |_| panic!("all stand in their places"));
        assert!(!moved.change(&mut [0; 9]), "the packet becomes shorter");
    }

    #[test]
    fn what_stays_before_the_payload_is_left_alone() {
        let sources: Vec<u32> = [LITERAL; 8].into_iter().chain(octets(1)).chain(octets(2)).collect();
        let edit = Edit::new(3, &[5, 1, 2], &sources, |_| panic!("all stand in their places"));
        assert_eq!((edit.taken(), &edit.literal[..], edit.copies.len()), (1, &[5][..], 0));
        assert_eq!(applied(&edit, &[0, 8, 9, 4]), [5, 8, 9, 4]);
    }

    #[test]
    fn shifted_bits_belong_to_the_key() {
        let sources: Vec<u32> = (4..12).collect();
        let mut fixed = Vec::new();
        let edit = Edit::new(2, &[0x23], &sources, |bit| fixed.push(bit));
        assert_eq!(fixed, (4..12).collect::<Vec<_>>());
        assert_eq!(applied(&edit, &[0x12, 0x34, 5]), [0x23, 5]);
    }
}
