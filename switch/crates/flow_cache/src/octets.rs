//! Bits of a packet's first octets.

/// Octets of a packet that a key may hold: Ethernet, IPv6, a list of segments and the packet inside.
pub const WINDOW: usize = 256;

/// A set of bits, as a mask of each octet; the first bit of an octet is its highest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Octets([u8; WINDOW]);

impl Default for Octets {
    fn default() -> Self {
        Self([0; WINDOW])
    }
}

impl Octets {
    /// Adds `count` bits from `first` on; false if some are beyond the window.
    pub fn add_bits(&mut self, first: usize, count: usize) -> bool {
        if first + count > 8 * WINDOW {
            return false;
        }
        for bit in first..first + count {
            self.0[bit / 8] |= 0x80 >> (bit % 8);
        }
        true
    }

    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mask, more)| *mask |= more);
    }

    /// Whether all bits of the other set are in this one.
    pub fn contains(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |more, (mask, other)| more | (other & !mask)) == 0
    }

    /// Mask by octet.
    pub fn masks(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_count_from_the_highest_of_an_octet() {
        let mut octets = Octets::default();
        assert!(octets.add_bits(4, 8));
        assert_eq!(octets.masks()[..3], [0x0f, 0xf0, 0]);
        let mut more = Octets::default();
        assert!(more.add_bits(8 * WINDOW - 1, 1));
        octets.add(&more);
        assert_eq!((octets.masks()[0], octets.masks()[WINDOW - 1]), (0x0f, 1));
        assert!(octets.contains(&more) && !more.contains(&octets));
        assert!(!octets.add_bits(8 * WINDOW - 1, 2));
    }
}
