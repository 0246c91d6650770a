//! Restrictions whose types are right, and what they make of an entry.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::One;

use crate::place::Span;
use crate::tree::{Comparison, Logic};
use crate::value::{Datum, Matched};

/// What a restriction is asked of.
pub struct Entry<'e> {
    /// Of each field.
    pub values: &'e [Matched],
    pub priority: i32,
}

/// Something that is true or false of an entry.
#[derive(Debug)]
pub struct Test {
    pub kind: TestKind,
    pub span: Span,
    /// Tests within it, itself counted.
    pub size: usize,
}

#[derive(Debug)]
pub enum TestKind {
    Constant(bool),
    Not(Box<Test>),
    Logic(Logic, Box<[Test; 2]>),
    /// Whether two tests agree.
    Agree(Box<[Test; 2]>),
    Compare(Comparison, Operand, Operand),
    /// Whether a field's whole match is that of another field.
    SameMatch(usize, usize),
    /// Whether a field's match is one of nothing but this value.
    Only {
        field: usize,
        value: Operand,
        width: u32,
    },
}

#[derive(Debug)]
pub enum Operand {
    Constant(Datum),
    /// The value of a field, or the low end of its range.
    Value(usize),
    Mask(usize),
    PrefixLength(usize),
    High(usize),
    Priority,
    Minus(Box<Operand>),
    /// A number in so many bits.
    Wrapped(Box<Operand>, u32),
}

impl Test {
    pub fn holds(&self, entry: &Entry<'_>) -> bool {
        match &self.kind {
            TestKind::Constant(value) => *value,
            TestKind::Not(test) => !test.holds(entry),
            TestKind::Logic(Logic::And, tests) => tests[0].holds(entry) && tests[1].holds(entry),
            TestKind::Logic(Logic::Or, tests) => tests[0].holds(entry) || tests[1].holds(entry),
            TestKind::Logic(Logic::Implies, tests) => !tests[0].holds(entry) || tests[1].holds(entry),
            TestKind::Agree(tests) => tests[0].holds(entry) == tests[1].holds(entry),
            TestKind::Compare(comparison, left, right) => compare(*comparison, &left.of(entry), &right.of(entry)),
            TestKind::SameMatch(one, other) => entry.values[*one] == entry.values[*other],
            TestKind::Only { field, value, width } => is_only(&entry.values[*field], &value.of(entry), *width),
        }
    }
}

impl Operand {
    fn of(&self, entry: &Entry<'_>) -> Datum {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Value(field) => entry.values[*field].value().clone(),
            Self::Mask(field) => match &entry.values[*field] {
                Matched::Ternary { mask, .. } => mask.clone().into(),
                _ => 0.into(),
            },
            Self::PrefixLength(field) => match &entry.values[*field] {
                Matched::Lpm { prefix, .. } => (*prefix).into(),
                _ => 0.into(),
            },
            Self::High(field) => match &entry.values[*field] {
                Matched::Range { high, .. } => high.clone(),
                _ => 0.into(),
            },
            Self::Priority => Datum::Int(entry.priority.into()),
            Self::Minus(operand) => match operand.of(entry) {
                Datum::Int(value) => Datum::Int(-value),
                text => text,
            },
            Self::Wrapped(operand, width) => match operand.of(entry) {
                Datum::Int(value) => Datum::Int(wrapped(&value, *width)),
                text => text,
            },
        }
    }
}

fn compare(comparison: Comparison, left: &Datum, right: &Datum) -> bool {
    match (comparison, left, right) {
        (Comparison::Eq, ..) => left == right,
        (Comparison::Ne, ..) => left != right,
        (Comparison::Gt, Datum::Int(left), Datum::Int(right)) => left > right,
        (Comparison::Ge, Datum::Int(left), Datum::Int(right)) => left >= right,
        (Comparison::Lt, Datum::Int(left), Datum::Int(right)) => left < right,
        (Comparison::Le, Datum::Int(left), Datum::Int(right)) => left <= right,
        // Texts have no order; no restriction that asks for one has the right types.
        _ => false,
    }
}

fn is_only(matched: &Matched, value: &Datum, width: u32) -> bool {
    match matched {
        Matched::Exact(found) => found == value,
        Matched::Ternary { value: found, mask } => found == value && *mask == ones(width),
        Matched::Lpm { value: found, prefix } => found == value && *prefix == width,
        Matched::Range { low, high } => low == value && high == value,
    }
}

/// The value modulo 2 to the power of the width.
fn wrapped(value: &BigInt, width: u32) -> BigInt {
    let mask = BigInt::from_biguint(Sign::Plus, ones(width));
    value & mask
}

pub fn ones(width: u32) -> BigUint {
    (BigUint::one() << width) - BigUint::one()
}
