//! The language of p4-constraints: what `@entry_restriction` and `@action_restriction` say of table entries.
//!
//! A [`Restriction`] is parsed and typed once, for the keys of a table or the parameters of an action, and then asked of
//! each entry. An entry that breaks it gets a [`Violation`]: the smallest part of the restriction that explains it.
//!
//! ```
//! use constraints::{Field, FieldKind, Form, Matched, Owner, Restriction};
//!
//! let keys = [Field { name: "hdr.ipv4.dst".into(), kind: FieldKind::Lpm, form: Form::Bits(32) }];
//! let restriction = Restriction::new("hdr.ipv4.dst::prefix_length <= 24;", Owner::Table, &keys)?;
//! let entry = |prefix: u32| [Matched::Lpm { value: 0xc000_0200_u32.into(), prefix }];
//! assert!(restriction.violation(&entry(24), 0).is_none());
//! assert!(restriction.violation(&entry(25), 0).is_some());
//! # Ok::<(), constraints::Error>(())
//! ```
//!
//! Beyond p4-constraints, a key or parameter that P4Runtime writes as a text (`@p4runtime_translation("", string)`)
//! compares with texts: `vrf_id != 'blue'`. There the number 0 stands for the empty text, as programs write it that were
//! made before texts could be compared.

mod address;
mod check;
mod error;
mod explain;
mod parser;
mod place;
mod token;
mod tree;
mod typed;
mod value;

pub use error::Error;
pub use explain::Violation;
pub use place::Place;
pub use value::{Datum, Matched};

use typed::Test;

/// The longest restriction: what a client sends is compiled before anyone asks who it is good for.
const MAX_BYTES: usize = 1 << 16;

/// A key of a table or a parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// As in P4Info.
    pub name: String,
    pub kind: FieldKind,
    pub form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    Exact,
    Ternary,
    Lpm,
    Range,
    Optional,
    /// A parameter of an action.
    Value,
    /// A match kind of the program's own, of which a restriction cannot speak.
    Other,
}

/// How P4Runtime writes the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Bits(u32),
    Text,
}

/// What a restriction is written at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Table,
    Action,
}

/// A restriction that is well formed for its table or action.
#[derive(Debug)]
pub struct Restriction {
    text: String,
    fields: Vec<Field>,
    test: Test,
}

impl Restriction {
    pub fn new(text: &str, owner: Owner, fields: &[Field]) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::too_long(MAX_BYTES));
        }
        let parsed = parser::parse(text)?;
        let test = check::check(text, owner, fields, &parsed)?;
        Ok(Self { text: text.to_owned(), fields: fields.to_vec(), test })
    }

    /// Why an entry breaks the restriction, if it does. `values` are those of the fields, in their order.
    ///
    /// # Panics
    /// If there are fewer values than fields.
    pub fn violation(&self, values: &[Matched], priority: i32) -> Option<Violation<'_>> {
        let entry = typed::Entry { values, priority };
        (!self.test.holds(&entry)).then(|| explain::explain(&self.text, &self.fields, &self.test, &entry))
    }
}

#[cfg(test)]
mod tests;
