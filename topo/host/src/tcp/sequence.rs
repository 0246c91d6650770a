//! Sequence numbers (RFC 9293, section 3.4): 32 bits on the wire, positions that never wrap inside.

use std::net::SocketAddrV6;

use sha1::{Digest, Sha1};

/// The position of a SYN. Positions before it, which old segments may have, are above 0.
pub const START: u64 = 1 << 32;

/// One direction's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence {
    pub initial: u32,
}

impl Sequence {
    pub fn wire(self, position: u64) -> u32 {
        self.initial.wrapping_add(position as u32)
    }

    /// The position with this number that is next to another one.
    pub fn position(self, wire: u32, near: u64) -> u64 {
        let offset = wire.wrapping_sub(self.wire(near)).cast_signed();
        near.wrapping_add_signed(offset.into())
    }
}

/// The first number of a connection (RFC 6528): it grows every four microseconds, from where only this host knows.
pub fn initial(secret: u64, local: SocketAddrV6, remote: SocketAddrV6, now: u64) -> u32 {
    let mut hash = Sha1::new();
    hash.update(secret.to_be_bytes());
    for end in [local, remote] {
        hash.update(end.ip().octets());
        hash.update(end.port().to_be_bytes());
    }
    let digest = hash.finalize();
    let offset = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    offset.wrapping_add((now / 4000) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_positions_do_not() {
        let sequence = Sequence { initial: u32::MAX - 10 };
        assert_eq!(sequence.wire(START), u32::MAX - 10);
        assert_eq!(sequence.wire(START + 11), 0);
        assert_eq!(sequence.position(5, START), START + 16);
        assert_eq!(sequence.position(u32::MAX - 20, START + 16), START - 10);
        let later = START + (5 << 32) + 7;
        assert_eq!(sequence.position(sequence.wire(later), later - 1_000_000), later);
    }

    #[test]
    fn first_numbers_grow_with_time_and_differ_by_connection() {
        let (a, b) = ("[2001:db8::1]:1".parse().unwrap(), "[2001:db8::2]:2".parse().unwrap());
        assert_eq!(initial(1, a, b, 8_000_000).wrapping_sub(initial(1, a, b, 0)), 2000);
        assert_ne!(initial(1, a, b, 0), initial(1, b, a, 0));
        assert_ne!(initial(1, a, b, 0), initial(2, a, b, 0));
    }
}
