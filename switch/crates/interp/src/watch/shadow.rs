//! Of which bits of the packet a value is made.

use flow_cache::Octets;

/// What a value depends on. The default depends on nothing but what the run looked at already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shadow {
    /// A number in [`Sets`]; 0 of a copy.
    set: u32,
    /// The packet's bit that the value begins with, and one; 0 if it is not a copy of bits of the packet.
    copied: u32,
    /// Bits that are copied: the low ones, those above are 0.
    width: u32,
}

/// Everything that a value may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Set {
    pub octets: Octets,
    /// The packet's length.
    pub length: bool,
    /// What is another thing for each packet, such as the time.
    pub unstable: bool,
}

/// The sets of one run.
#[derive(Debug)]
pub struct Sets(Vec<Set>);

/// Sets of a run at most.
const MOST: usize = 1 << 13;
const UNSTABLE: u32 = 1;
const LENGTH: u32 = 2;

impl Default for Sets {
    fn default() -> Self {
        let unstable = Set { unstable: true, ..Set::default() };
        let length = Set { length: true, ..Set::default() };
        Self(vec![Set::default(), unstable, length])
    }
}

impl Shadow {
    pub const LENGTH: Self = Self { set: LENGTH, copied: 0, width: 0 };
    pub const UNSTABLE: Self = Self { set: UNSTABLE, copied: 0, width: 0 };

    /// Bits of the packet, and zeros above them.
    pub fn copy(first: usize, width: u32) -> Self {
        match u32::try_from(first + 1) {
            _ if width == 0 => Self::default(),
            Ok(copied) => Self { set: 0, copied, width },
            Err(_) => Self::UNSTABLE,
        }
    }

    /// The packet's first bit of a copy, and how many.
    pub fn copied(self) -> Option<(usize, u32)> {
        (self.copied > 0).then(|| (self.copied as usize - 1, self.width))
    }

    pub fn is_fixed(self) -> bool {
        self == Self::default()
    }

    /// Bits `hi..=lo` of the value.
    pub fn slice(self, hi: u32, lo: u32) -> Self {
        match self.copied() {
            None => self,
            Some((_, width)) if lo >= width => Self::default(),
            Some((first, width)) => {
                let hi = hi.min(width - 1);
                Self::copy(first + (width - 1 - hi) as usize, hi - lo + 1)
            }
        }
    }
}

impl Sets {
    /// Forgets those of a run but keeps the memory.
    pub fn clear(&mut self) {
        self.0.truncate(LENGTH as usize + 1);
    }

    fn add(&mut self, set: Set) -> u32 {
        if set.unstable || self.0.len() == MOST {
            return UNSTABLE;
        }
        self.0.push(set);
        self.0.len() as u32 - 1
    }

    /// The set of what a value depends on.
    fn set_of(&mut self, shadow: Shadow) -> u32 {
        let Some((first, width)) = shadow.copied() else { return shadow.set };
        let mut set = Set::default();
        set.unstable = !set.octets.add_bits(first, width as usize);
        self.add(set)
    }

    pub fn get(&mut self, shadow: Shadow) -> &Set {
        let set = self.set_of(shadow);
        &self.0[set as usize]
    }

    /// What is computed from values.
    pub fn join(&mut self, shadows: impl IntoIterator<Item = Shadow>) -> Shadow {
        let mut all = 0;
        for shadow in shadows {
            let set = self.set_of(shadow);
            if set == all || set == 0 {
                continue;
            }
            if all == 0 {
                all = set;
                continue;
            }
            let (Some(one), Some(other)) = (self.0.get(all as usize), self.0.get(set as usize)) else { continue };
            let mut joined = one.clone();
            joined.octets.add(&other.octets);
            joined.length |= other.length;
            joined.unstable |= other.unstable;
            all = self.add(joined);
        }
        Shadow { set: all, copied: 0, width: 0 }
    }

    /// The bits of a value that a mask leaves.
    pub fn masked(&mut self, shadow: Shadow, mask: u128) -> Shadow {
        let Some((first, width)) = shadow.copied() else { return shadow };
        if mask.wrapping_add(1) & mask == 0 {
            return if mask == 0 { Shadow::default() } else { shadow.slice(127 - mask.leading_zeros(), 0) };
        }
        let mut set = Set::default();
        for bit in 0..width.min(128) {
            if mask >> bit & 1 == 1 {
                set.unstable |= !set.octets.add_bits(first + (width - 1 - bit) as usize, 1);
            }
        }
        Shadow { set: self.add(set), copied: 0, width: 0 }
    }

    /// `high` followed by `low` of `width` bits.
    pub fn concat(&mut self, high: Shadow, low: Shadow, width: u32, high_is_zero: bool) -> Shadow {
        if high_is_zero && high.is_fixed() {
            return low;
        }
        match (high.copied(), low.copied()) {
            (Some((first, bits)), Some((second, more))) if first + bits as usize == second && more == width => {
                Shadow::copy(first, bits + more)
            }
            _ => self.join([high, low]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(sets: &mut Sets, shadow: Shadow) -> Vec<usize> {
        let octets = sets.get(shadow).octets.clone();
        (0..64).filter(|bit| octets.masks()[bit / 8] & (0x80 >> (bit % 8)) != 0).collect()
    }

    #[test]
    fn a_part_of_a_copy_is_a_copy_of_those_bits() {
        let copy = Shadow::copy(16, 16);
        assert_eq!(copy.slice(3, 0), Shadow::copy(28, 4));
        assert_eq!(copy.slice(15, 12), Shadow::copy(16, 4));
        assert_eq!(copy.slice(30, 12), Shadow::copy(16, 4), "zeros above");
        assert!(copy.slice(31, 16).is_fixed());
        let mut sets = Sets::default();
        assert_eq!(sets.masked(copy, 0xff), Shadow::copy(24, 8));
        let masked = sets.masked(copy, 0x8001);
        assert_eq!(bits(&mut sets, masked), [16, 31]);
    }

    #[test]
    fn what_is_computed_depends_on_all_it_is_computed_from() {
        let mut sets = Sets::default();
        let joined = sets.join([Shadow::copy(0, 2), Shadow::default(), Shadow::LENGTH, Shadow::copy(9, 1)]);
        assert_eq!(bits(&mut sets, joined), [0, 1, 9]);
        assert!(sets.get(joined).length && !sets.get(joined).unstable);
        let unstable = sets.join([joined, Shadow::UNSTABLE]);
        assert!(sets.get(unstable).unstable);
        let far = Shadow::copy(8 * flow_cache::WINDOW, 8);
        assert!(sets.get(far).unstable);
    }

    #[test]
    fn neighbours_in_the_packet_are_one_copy() {
        let mut sets = Sets::default();
        assert_eq!(sets.concat(Shadow::copy(8, 8), Shadow::copy(16, 4), 4, false), Shadow::copy(8, 12));
        let apart = sets.concat(Shadow::copy(8, 8), Shadow::copy(17, 4), 4, false);
        assert_eq!(apart.copied(), None);
        // The low part has zeros above its copy.
        assert_eq!(sets.concat(Shadow::copy(8, 8), Shadow::copy(16, 4), 8, false).copied(), None);
        assert_eq!(sets.concat(Shadow::default(), Shadow::copy(16, 4), 8, true), Shadow::copy(16, 4));
    }
}
