//! Why an entry breaks a restriction.

use std::fmt;

use crate::Field;
use crate::place::{Place, quote};
use crate::tree::Logic;
use crate::typed::{Entry, Operand, Test, TestKind};

/// The part of a restriction that an entry breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation<'r> {
    pub place: Place,
    /// The lines of the part, with the part marked.
    pub quote: String,
    /// What the part was for the entry; an entry may also break a restriction by what is true of it.
    pub held: bool,
    /// The fields that the part names, with what the entry has there.
    pub values: Vec<(&'r str, String)>,
    /// If the part names it.
    pub priority: Option<i32>,
}

impl fmt::Display for Violation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.held { "must not" } else { "must" };
        write!(f, "line {}, column {}: it {verb} satisfy\n{}", self.place.line, self.place.column, self.quote)?;
        let values = self.values.iter().map(|(name, value)| format!("{name} is {value}"));
        let priority = self.priority.map(|priority| format!("the priority is {priority}"));
        let all: Vec<String> = values.chain(priority).collect();
        if all.is_empty() { Ok(()) } else { write!(f, "\nbut {}", all.join(", ")) }
    }
}

pub fn explain<'r>(text: &str, fields: &'r [Field], test: &Test, entry: &Entry<'_>) -> Violation<'r> {
    let reason = smallest(test, entry);
    let mut names = Names::default();
    names.of_test(reason);
    names.fields.sort_unstable();
    names.fields.dedup();
    Violation {
        place: Place::of(text, reason.span.start),
        quote: quote(text, reason.span),
        held: reason.holds(entry),
        values: names.fields.iter().map(|at| (&*fields[*at].name, entry.values[*at].to_string())).collect(),
        priority: names.priority.then_some(entry.priority),
    }
}

/// The smallest part that makes the test what it is.
fn smallest<'t>(test: &'t Test, entry: &Entry<'_>) -> &'t Test {
    match &test.kind {
        // `a != b` is one comparison, though it is typed as the opposite of another.
        TestKind::Not(inner) if inner.span == test.span => test,
        TestKind::Not(inner) => smallest(inner, entry),
        TestKind::Logic(logic, tests) => {
            let held = [tests[0].holds(entry), tests[1].holds(entry)];
            let decides = match logic {
                Logic::And => held.map(|held| !held),
                Logic::Or => held,
                Logic::Implies => [!held[0], held[1]],
            };
            match decides {
                [true, true] => {
                    let parts = [smallest(&tests[0], entry), smallest(&tests[1], entry)];
                    if parts[1].size < parts[0].size { parts[1] } else { parts[0] }
                }
                [true, false] => smallest(&tests[0], entry),
                [false, true] => smallest(&tests[1], entry),
                [false, false] => test,
            }
        }
        _ => test,
    }
}

/// What a part speaks of.
#[derive(Default)]
struct Names {
    fields: Vec<usize>,
    priority: bool,
}

impl Names {
    fn of_test(&mut self, test: &Test) {
        match &test.kind {
            TestKind::Constant(_) => {}
            TestKind::Not(inner) => self.of_test(inner),
            TestKind::Logic(_, tests) | TestKind::Agree(tests) => tests.iter().for_each(|test| self.of_test(test)),
            TestKind::Compare(_, left, right) => {
                self.of_operand(left);
                self.of_operand(right);
            }
            TestKind::SameMatch(one, other) => self.fields.extend([one, other]),
            TestKind::Only { field, value, .. } => {
                self.fields.push(*field);
                self.of_operand(value);
            }
        }
    }

    fn of_operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Constant(_) => {}
            Operand::Priority => self.priority = true,
            Operand::Value(at) | Operand::Mask(at) | Operand::PrefixLength(at) | Operand::High(at) => {
                self.fields.push(*at);
            }
            Operand::Minus(inner) | Operand::Wrapped(inner, _) => self.of_operand(inner),
        }
    }
}
