//! What a packet's length and numbers in it have to be, where a run only compared them.

/// Bits of the packet, read as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    /// The packet's first bit of it.
    pub first: usize,
    /// 1 to 32.
    pub width: u32,
}

/// The packet's length, less a number in it, lies between two values; or one of the two alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub of_length: bool,
    pub less: Option<Number>,
    pub least: i64,
    pub most: i64,
}

impl Number {
    /// Of a packet; none of one that is too short.
    #[inline]
    fn of(self, packet: &[u8]) -> Option<i64> {
        let at = self.first / 8;
        let eight = match packet.get(at..at + 8) {
            Some(eight) => eight.try_into().expect("eight octets"),
            None => last_octets(packet.get(at..)?, self.first % 8 + self.width as usize)?,
        };
        Some((u64::from_be_bytes(eight) << (self.first % 8) >> (64 - self.width)) as i64)
    }
}

/// A packet's last octets with zeros behind them; none if they have fewer bits than wanted.
#[cold]
fn last_octets(octets: &[u8], bits: usize) -> Option<[u8; 8]> {
    let mut eight = [0; 8];
    eight[..octets.len()].copy_from_slice(octets);
    (8 * octets.len() >= bits).then_some(eight)
}

impl Range {
    /// Whether the packet is within it.
    #[inline]
    pub fn holds(&self, packet: &[u8]) -> bool {
        let length = if self.of_length { packet.len() as i64 } else { 0 };
        let number = self.less.map_or(Some(0), |number| number.of(packet));
        number.is_some_and(|number| (self.least..=self.most).contains(&(length - number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_at_any_bit() {
        let packet = [0x12, 0x34, 0x56, 0x78, 0x9a];
        let of = |first, width| Number { first, width }.of(&packet);
        assert_eq!([of(0, 8), of(4, 12), of(6, 5), of(4, 32)], [0x12, 0x234, 0b10001, 0x2345_6789].map(Some));
        assert_eq!(of(33, 8), None);
    }

    #[test]
    fn the_length_is_compared_with_the_number_in_the_packet() {
        let range = Range { of_length: true, less: Some(Number { first: 0, width: 8 }), least: 4, most: 6 };
        let holds = |number: u8, length| {
            let mut packet = vec![0; length];
            packet[0] = number;
            range.holds(&packet)
        };
        assert_eq!([3, 4, 6, 7].map(|length| holds(0, length)), [false, true, true, false]);
        assert_eq!([12, 13, 15, 16].map(|length| holds(9, length)), [false, true, true, false]);
        let number = Range { of_length: false, ..range };
        assert!(!number.holds(&[1; 9]));
        let number = Range { least: -1, most: -1, ..number };
        assert!(number.holds(&[1; 3]) && !number.holds(&[2; 3]));
        let alone = Range { of_length: true, less: None, least: i64::MIN, most: 2 };
        assert!(alone.holds(&[0; 2]) && !alone.holds(&[0; 3]));
    }
}
