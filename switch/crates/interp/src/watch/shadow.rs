//! Of which bits of the packet a value is made.

use flow_cache::{Form, Number, Octets, TIME, WINDOW};

/// What a value depends on. The default depends on nothing but what the run looked at already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shadow {
    /// A number in [`Sets`]; 0 of a copy.
    set: u32,
    /// The packet's bit that the value begins with, and one; 0 if it is not a copy of bits of the packet.
    copied: u32,
    /// Bits that are copied: the low ones, those above are 0. Not of a copy: [`SUM`] if the value is the sum of its set, and
    /// [`FORM`] and its bits if it is the form of its set.
    width: u32,
}

const SUM: u32 = 1;
const FORM: u32 = 1 << 8;
/// Sums stay below, for whatever packet, so that none ever wraps; and so does a packet's length.
const SUMS_END: u128 = 1 << 32;

/// Everything that a value may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Set {
    pub octets: Octets,
    /// The packet's length.
    pub length: bool,
    /// What is another thing for each packet, such as the time.
    pub unstable: bool,
    /// What stood in cells of registers: a bit for each, by number.
    pub cells: u32,
    /// What the values are that are no more than a sum.
    sum: Option<Sum>,
    /// Or a form.
    form: Option<Form>,
}

/// Something of the packet and a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    pub of: Term,
    pub constant: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// The packet's length.
    Length,
    Number(Number),
}

impl Set {
    /// Whether what depends on the other one too depends on no more.
    fn contains(&self, other: &Self) -> bool {
        let has_cells = self.cells & other.cells == other.cells;
        self.unstable
            || !other.unstable && has_cells && (self.length || !other.length) && self.octets.contains(&other.octets)
    }
}

/// The sets of one run.
#[derive(Debug)]
pub struct Sets {
    sets: Vec<Set>,
    /// Those of copies that were asked for last: a run asks for the same again and again.
    of_copies: [(Shadow, u32); COPIES],
}

/// Sets of a run at most.
const MOST: usize = 1 << 13;
const COPIES: usize = 64;
const UNSTABLE: u32 = 1;
const LENGTH: u32 = 2;
const TIMES: u32 = 3;
const TIME_WIDTH: u32 = 48;

impl Default for Sets {
    fn default() -> Self {
        let unstable = Set { unstable: true, ..Set::default() };
        let length = Set { length: true, sum: Some(Sum { of: Term::Length, constant: 0 }), ..Set::default() };
        let time = Set { unstable: true, form: Some(Form::value(TIME, TIME_WIDTH)), ..Set::default() };
        Self { sets: vec![Set::default(), unstable, length, time], of_copies: [Default::default(); COPIES] }
    }
}

impl Shadow {
    pub const LENGTH: Self = Self { set: LENGTH, copied: 0, width: SUM };
    pub const UNSTABLE: Self = Self { set: UNSTABLE, copied: 0, width: 0 };
    /// When the packet came.
    pub const TIME: Self = Self { set: TIMES, copied: 0, width: FORM + TIME_WIDTH };

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

    /// Bits of a value that is a form.
    fn form_width(self) -> Option<u32> {
        (self.copied == 0).then(|| self.width.checked_sub(FORM)).flatten()
    }

    pub fn is_fixed(self) -> bool {
        self == Self::default()
    }

    /// Another value that depends on the same.
    fn vague(self) -> Self {
        Self { width: 0, ..self }
    }

    /// Bits `hi..=lo` of the value.
    pub fn slice(self, hi: u32, lo: u32) -> Self {
        match self.copied() {
            None => {
                let keeps_all = match self.form_width() {
                    Some(width) => hi + 1 >= width,
                    None => 1 << hi.min(64) << 1 >= SUMS_END,
                };
                if lo == 0 && keeps_all { self } else { self.vague() }
            }
            Some((_, width)) if lo >= width => Self::default(),
            Some((first, width)) => {
                let hi = hi.min(width - 1);
                Self::copy(first + (width - 1 - hi) as usize, hi - lo + 1)
            }
        }
    }
}

impl Sets {
    /// What a value asks for, in order: nothing, the packet, registers or the time, what is another thing for each packet.
    pub fn asks(&mut self, shadow: Shadow) -> u8 {
        let set = self.get(shadow);
        match shadow {
            _ if set.unstable => 3,
            _ if set.cells != 0 || set.form.is_some() => 2,
            _ => u8::from(!shadow.is_fixed()),
        }
    }

    /// The sum that a value is, if it is one.
    pub fn sum(&self, shadow: Shadow) -> Option<Sum> {
        match shadow.copied() {
            None if shadow.width == SUM => self.sets[shadow.set as usize].sum,
            Some((first, width)) if (1..=32).contains(&width) && first + width as usize <= 8 * WINDOW => {
                Some(Sum { of: Term::Number(Number { first, width }), constant: 0 })
            }
            _ => None,
        }
    }

    /// A value of so many bits and a constant; what it depends on, where their sum may wrap.
    pub fn plus(&mut self, shadow: Shadow, constant: u128, width: u32) -> Shadow {
        let sum = self.sum(shadow).and_then(|sum| {
            let Term::Number(number) = sum.of else { return None };
            let most = sum.constant as u128 + ((1 << number.width) - 1);
            let fits = most.checked_add(constant)? < SUMS_END.min(1 << width.min(64));
            fits.then(|| Sum { constant: sum.constant + constant as i64, ..sum })
        });
        let Some(sum) = sum else { return self.join([shadow]) };
        let set = Set { sum: Some(sum), ..self.get(shadow).clone() };
        match self.add(set) {
            UNSTABLE => Shadow::UNSTABLE,
            set => Shadow { set, copied: 0, width: SUM },
        }
    }

    /// The form that a value is, if it is one.
    pub fn form(&self, shadow: Shadow) -> Option<Form> {
        shadow.form_width().and_then(|_| self.sets[shadow.set as usize].form)
    }

    /// What stands in a cell of so many bits, if these are few.
    pub fn cell(&mut self, number: usize, form: Form, width: u32) -> Shadow {
        let form = (width <= 64).then_some(form);
        self.add_form(Set { cells: 1 << number, ..Set::default() }, form, width)
    }

    /// The sum or the difference of two values of which at least one is a form; of others only what it depends on.
    pub fn combined(&mut self, shadows: [Shadow; 2], forms: [Option<Form>; 2], subtract: bool, width: u32) -> Shadow {
        let joined = self.join(shadows);
        let [Some(a), Some(b)] = forms else { return joined };
        match a.combined(b, subtract, width) {
            Some(form) if form.fixed().is_some() => Shadow::default(),
            Some(form) => self.add_form(self.sets[joined.set as usize].clone(), Some(form), width),
            None => joined,
        }
    }

    fn add_form(&mut self, set: Set, form: Option<Form>, width: u32) -> Shadow {
        if self.sets.len() == MOST {
            return Shadow::UNSTABLE;
        }
        self.sets.push(Set { form, ..set });
        let kind = form.map_or(0, |_| FORM + width);
        Shadow { set: self.sets.len() as u32 - 1, copied: 0, width: kind }
    }

    /// Forgets those of a run but keeps the memory.
    pub fn clear(&mut self) {
        self.sets.truncate(TIMES as usize + 1);
        self.of_copies.fill(Default::default());
    }

    fn add(&mut self, set: Set) -> u32 {
        if set.unstable || self.sets.len() == MOST {
            return UNSTABLE;
        }
        self.sets.push(set);
        self.sets.len() as u32 - 1
    }

    /// The set of what a value depends on.
    fn set_of(&mut self, shadow: Shadow) -> u32 {
        let Some((first, width)) = shadow.copied() else { return shadow.set };
        let at = (first + width as usize) % COPIES;
        let (known, number) = self.of_copies[at];
        if known == shadow {
            return number;
        }
        let mut set = Set::default();
        set.unstable = !set.octets.add_bits(first, width as usize);
        let number = self.add(set);
        self.of_copies[at] = (shadow, number);
        number
    }

    pub fn get(&mut self, shadow: Shadow) -> &Set {
        let set = self.set_of(shadow);
        &self.sets[set as usize]
    }

    /// What is computed from values.
    pub fn join(&mut self, shadows: impl IntoIterator<Item = Shadow>) -> Shadow {
        let mut all = 0;
        for shadow in shadows {
            let set = self.set_of(shadow);
            if set == all || set == 0 {
                continue;
            }
            let (one, other) = (&self.sets[all as usize], &self.sets[set as usize]);
            if one.contains(other) {
                continue;
            }
            if other.contains(one) {
                all = set;
                continue;
            }
            let mut joined = one.clone();
            joined.octets.add(&other.octets);
            joined.length |= other.length;
            joined.unstable |= other.unstable;
            joined.cells |= other.cells;
            (joined.sum, joined.form) = (None, None);
            all = self.add(joined);
        }
        Shadow { set: all, copied: 0, width: 0 }
    }

    /// The bits of a value that a mask leaves.
    pub fn masked(&mut self, shadow: Shadow, mask: u128) -> Shadow {
        let Some((first, width)) = shadow.copied() else { return shadow.vague() };
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
    fn what_depends_on_no_more_takes_no_other_set() {
        let mut sets = Sets::default();
        let joined = sets.join([Shadow::copy(0, 16), Shadow::LENGTH]);
        let count = sets.sets.len();
        assert_eq!(sets.join([Shadow::copy(0, 16), joined, Shadow::copy(0, 16)]), joined);
        assert_eq!(sets.join([Shadow::LENGTH, joined]), joined);
        assert_eq!(sets.sets.len(), count);
        assert_ne!(sets.join([joined, Shadow::copy(80, 1)]), joined);
    }

    #[test]
    fn a_sum_is_known_as_long_as_it_cannot_wrap() {
        let mut sets = Sets::default();
        let number = Number { first: 8, width: 16 };
        let sum = sets.plus(Shadow::copy(8, 16), 54, 32);
        assert_eq!(sets.sum(sum), Some(Sum { of: Term::Number(number), constant: 54 }));
        let more = sets.plus(sum.slice(63, 0), 4, 32);
        assert_eq!(sets.sum(more), Some(Sum { of: Term::Number(number), constant: 58 }));
        assert_eq!(bits(&mut sets, more), (8..24).collect::<Vec<_>>());
        let wraps = sets.plus(Shadow::copy(8, 16), 1, 16);
        assert_eq!(
            (sets.sum(wraps), sets.sum(more.slice(30, 0)), sets.sum(Shadow::LENGTH.slice(15, 0))),
            (None, None, None)
        );
        let (masked, joined) = (sets.masked(Shadow::LENGTH, 0xffff), sets.join([more]));
        assert_eq!((sets.sum(masked), sets.sum(joined)), (None, None));
        assert!(sets.get(masked).length);
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
