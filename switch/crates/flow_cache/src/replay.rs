//! What a way does with registers and the time: what it asks of them, and what it writes.
//!
//! Comparisons are guards, as those of a recorded trace: a run reads cells of registers and the time of the packet. What it came to holds as long as those cells of which
//! something was decided have their values, and what it compared compares alike. What it wrote is the same for all packets, or a
//! cell or the time with a constant added, or the difference of two of these: a [`Form`].

use ir::RegisterId;
use runtime::RegisterAccess;

/// Cells at most whose values a way needs.
pub const MOST_CELLS: usize = 30;
/// By number: 0, the time of the packet, and what stood in cells before.
pub type Values = [u64; MOST_CELLS + 2];
/// The number of the packet's time, and that of the first cell.
pub const TIME: u8 = 1;
pub const FIRST_CELL: u8 = 2;

/// A value less another one, with a constant, modulo a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The number of a value; 0 is that of zero.
    plus: u8,
    minus: u8,
    /// Of so many bits, at most 64.
    width: u8,
    constant: u64,
}

/// One thing that a way does, in order: cells are read, then asked for, and written last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The cell's value gets the next number.
    Read {
        register: RegisterId,
        index: u32,
    },
    /// It takes another way if the cell has another value.
    Is {
        register: RegisterId,
        index: u32,
        value: u64,
    },
    /// The same for a cell of more than 64 bits.
    IsWide {
        register: RegisterId,
        index: u32,
        words: Box<[u64]>,
    },
    /// Or if the two compare otherwise.
    Compares {
        relation: Relation,
        forms: [Form; 2],
        holds: bool,
    },
    Write {
        register: RegisterId,
        index: u32,
        form: Form,
    },
    WriteWide {
        register: RegisterId,
        index: u32,
        words: Box<[u64]>,
    },
}

/// Of two numbers without a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Equal,
    Less,
    LessOrEqual,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay(pub Box<[Step]>);

impl Step {
    /// The same with other forms.
    pub fn with_forms(self, other: impl Fn(Form) -> Form) -> Self {
        match self {
            Self::Compares { relation, forms, holds } => Self::Compares { relation, forms: forms.map(other), holds },
            Self::Write { register, index, form } => Self::Write { register, index, form: other(form) },
            step => step,
        }
    }

    pub fn forms(&self) -> &[Form] {
        match self {
            Self::Compares { forms, .. } => forms,
            Self::Write { form, .. } => std::slice::from_ref(form),
            _ => &[],
        }
    }
}

impl Form {
    pub fn constant(constant: u64) -> Self {
        Self { plus: 0, minus: 0, width: 64, constant }
    }

    /// The value of a number, of so many bits.
    pub fn value(number: u8, width: u32) -> Self {
        Self { plus: number, minus: 0, width: width as u8, constant: 0 }
    }

    /// What is the same for all packets.
    pub fn fixed(self) -> Option<u64> {
        (self.plus == 0 && self.minus == 0).then_some(self.constant)
    }

    /// The number of the value that it is.
    pub fn bare(self) -> Option<u8> {
        (self.plus != 0 && self.minus == 0 && self.constant == 0).then_some(self.plus)
    }

    /// Numbers of the values that it needs.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        [self.plus, self.minus].into_iter().filter(|number| *number != 0)
    }

    /// The sum, or the difference, of two as numbers of so many bits; none where it needs more values, or one of the two
    /// may have wrapped at fewer bits before.
    pub fn combined(self, other: Self, subtract: bool, width: u32) -> Option<Self> {
        let (Self { plus, minus, constant, .. }, mut other) = (self.at_width(width)?, other.at_width(width)?);
        if subtract {
            (other.plus, other.minus) = (other.minus, other.plus);
            other.constant = other.constant.wrapping_neg();
        }
        let mut sides = [[plus, other.plus], [minus, other.minus]];
        // What is added and subtracted again goes.
        for (one, another) in [(0, 1), (1, 0)] {
            if sides[0][one] == sides[1][another] {
                (sides[0][one], sides[1][another]) = (0, 0);
            }
        }
        let [plus, minus] = sides.map(|side| match side {
            [number, 0] | [0, number] => Some(number),
            _ => None,
        });
        let constant = constant.wrapping_add(other.constant);
        Some(Self { plus: plus?, minus: minus?, width: width as u8, constant }.cut())
    }

    /// The same number where numbers have so many bits.
    fn at_width(self, width: u32) -> Option<Self> {
        let never_wraps = self.minus == 0 && (self.plus == 0 || self.constant == 0) && u32::from(self.width) <= width;
        let fits = width <= 64 && (never_wraps || u32::from(self.width) == width || self.fixed().is_some());
        fits.then_some(Self { width: width as u8, ..self })
    }

    fn cut(self) -> Self {
        Self { constant: self.constant & self.mask(), ..self }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The same with the value of a number known.
    pub fn with(self, number: u8, value: u64) -> Self {
        let mut form = self;
        if form.plus == number {
            form = Self { plus: 0, constant: form.constant.wrapping_add(value), ..form };
        }
        if form.minus == number {
            form = Self { minus: 0, constant: form.constant.wrapping_sub(value), ..form };
        }
        form.cut()
    }

    /// The same where values have other numbers.
    pub fn renumbered(self, number: impl Fn(u8) -> u8) -> Self {
        Self { plus: number(self.plus), minus: number(self.minus), ..self }
    }

    #[inline]
    pub fn of(self, values: &Values) -> u64 {
        let [plus, minus] = [self.plus, self.minus].map(|number| values[usize::from(number)]);
        plus.wrapping_sub(minus).wrapping_add(self.constant) & self.mask()
    }
}

impl Replay {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a packet of this time takes the way, as cells are now. `values` are for [`Self::write`] if it does.
    pub fn holds(&self, time: u64, registers: &mut RegisterAccess<'_>, values: &mut Values) -> bool {
        values[usize::from(TIME)] = time;
        let mut next = usize::from(FIRST_CELL);
        for step in &self.0 {
            let holds = match step {
                Step::Read { register, index } => {
                    values[next] = registers.read(*register, *index) as u64;
                    next += 1;
                    true
                }
                Step::Is { register, index, value } => registers.read(*register, *index) == u128::from(*value),
                Step::IsWide { register, index, words } => registers.is(*register, *index, words),
                Step::Compares { relation, forms: [a, b], holds } => {
                    relation.holds(a.of(values), b.of(values)) == *holds
                }
                Step::Write { .. } | Step::WriteWide { .. } => return true,
            };
            if !holds {
                return false;
            }
        }
        true
    }

    /// What stands in cells afterwards: words, the lowest first.
    pub fn written(&self, values: &Values) -> Vec<(RegisterId, u32, Vec<u64>)> {
        let written = self.0.iter().filter_map(|step| match step {
            Step::Write { register, index, form } => Some((*register, *index, vec![form.of(values)])),
            Step::WriteWide { register, index, words } => Some((*register, *index, words.to_vec())),
            _ => None,
        });
        written.collect()
    }

    /// Writes what packets of the way do.
    #[inline]
    pub fn write(&self, registers: &mut RegisterAccess<'_>, values: &Values) {
        for step in self.0.iter().rev() {
            match step {
                Step::Write { register, index, form } => registers.write(*register, *index, form.of(values).into()),
                Step::WriteWide { register, index, words } => {
                    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    registers.write_wide(*register, *index, &bytes);
                }
                _ => return,
            }
        }
    }
}

impl Relation {
    #[inline]
    pub fn holds(self, a: u64, b: u64) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const WIDTHS: [u32; 4] = [3, 8, 48, 64];

    fn cut(value: u64, width: u32) -> u64 {
        value & u64::MAX >> (64 - width)
    }

    /// By trial: what is added and subtracted comes to what the form comes to.
    #[test]
    fn a_form_is_what_numbers_of_its_bits_come_to() {
        let mut numbers = Rng::new();
        let seed = numbers.get_seed();
        let mut forms = 0;
        for _ in 0..2000 {
            let mut values = Values::default();
            let widths: Vec<u32> = (0..4).map(|_| WIDTHS[numbers.usize(..4)]).collect();
            for (value, width) in values[1..].iter_mut().zip(&widths) {
                *value = cut(numbers.u64(..), *width);
            }
            let start = |numbers: &mut Rng| match numbers.usize(..5) {
                4 => {
                    let constant = numbers.u64(..100).wrapping_sub(50);
                    (Form::constant(constant), constant, 64)
                }
                at => (Form::value(1 + at as u8, widths[at]), values[1 + at], widths[at]),
            };
            let (mut form, mut expected, mut width) = start(&mut numbers);
            for _ in 0..3 {
                let (other, value, others_width) = start(&mut numbers);
                // As the compiler has it: a narrower one is made longer, a constant has the width of the other one.
                let of_values =
                    [(form, width), (other, others_width)].into_iter().filter(|(form, _)| form.fixed().is_none());
                let Some(at) = of_values.map(|(_, width)| width).max() else { break };
                let [a, b] = [expected, value].map(|value| cut(value, at));
                let subtract = numbers.bool();
                let Some(next) = form.combined(other, subtract, at) else { break };
                expected = cut(if subtract { a.wrapping_sub(b) } else { a.wrapping_add(b) }, at);
                (form, width) = (next, at);
                assert_eq!(cut(form.of(&values), at), expected, "{form:?} of {values:?}, seed {seed}");
                let known = form.numbers().next().unwrap_or(TIME);
                let mut others = values;
                others[usize::from(known)] = 0;
                let folded = form.with(known, values[usize::from(known)]);
                assert_eq!(folded.of(&others), form.of(&values), "{form:?} of {values:?}, seed {seed}");
                forms += 1;
            }
        }
        assert!(forms > 1000, "{forms}");
    }

    #[test]
    fn a_sum_that_may_have_wrapped_is_none_of_more_bits() {
        let sum = Form::value(TIME, 8).combined(Form::constant(1), false, 8).expect("it is of one value");
        assert_eq!(sum.combined(Form::constant(1), false, 48), None);
        assert!(Form::value(TIME, 8).combined(Form::constant(1), false, 48).is_some());
        assert_eq!(Form::value(TIME, 48).combined(Form::constant(1), false, 8), None, "nor of fewer");
        let twice = Form::value(TIME, 8).combined(Form::value(TIME, 8), false, 8);
        assert_eq!(twice, None, "two values are added");
        let nothing = Form::value(TIME, 8).combined(Form::value(TIME, 8), true, 8);
        assert_eq!(nothing.and_then(Form::fixed), Some(0));
    }
}
