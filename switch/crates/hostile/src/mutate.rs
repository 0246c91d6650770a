//! Changes bytes the way mistakes and attackers do.

use fastrand::Rng;

/// Bytes that lengths, tags and limits are made of.
const EDGES: [u8; 10] = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xf0, 0xfe, 0xff];
/// The longest piece that one change moves.
const PIECE: usize = 64;
/// Mutations stop making bytes longer here.
const LONGEST: usize = 1 << 16;

/// A copy of `bytes` with one to eight changes; `other` lends pieces.
pub fn mutated(random: &mut Rng, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.usize(..8) {
        change(random, &mut bytes, other);
    }
    bytes
}

fn change(random: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.usize(..bytes.len() + 1);
    let end = (at + 1 + random.usize(..PIECE)).min(bytes.len());
    match random.usize(..8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 if bytes.len() < LONGEST => {
            let piece = bytes[at..end].repeat(1 + random.usize(..4));
            bytes.splice(at..at, piece);
        }
        3 if bytes.len() < LONGEST => {
            let from = random.usize(..other.len() + 1);
            let piece = &other[from..(from + random.usize(..PIECE)).min(other.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        4 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.usize(..8);
            }
        }
        5 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = EDGES[random.usize(..EDGES.len())];
            }
        }
        6 => bytes[at..end].reverse(),
        _ => bytes.insert(at, random.u8(..)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_most_differ_from_the_first() {
        let many = |seed| {
            let mut random = Rng::with_seed(seed);
            (0..100).map(|_| mutated(&mut random, b"a program", b"another")).collect::<Vec<_>>()
        };
        assert_eq!(many(1), many(1));
        assert!(many(1).iter().filter(|bytes| *bytes != b"a program").count() > 90);
    }
}
