//! Changes to bytes that have no form.

use crate::Random;

/// Makes one change.
pub fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let end = at + random.below(bytes.len() - at + 1).min(32);
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        3 => {
            let len = random.below(24);
            bytes.splice(at..at, std::iter::repeat_with(|| random.edge() as u8).take(len));
        }
        _ if bytes.is_empty() => bytes.push(random.edge() as u8),
        4 => bytes[at] = random.edge() as u8,
        _ => bytes[at] ^= 1 << random.below(8),
    }
}
