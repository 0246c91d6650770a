//! Ids and aliases of the objects that P4Info names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use syntax::diag::{Diagnostic, Diagnostics};
use syntax::source::Span;

use crate::annotation::Id;

/// The first byte of an id: P4Runtime's kind of object (spec "ID Allocation for P4Info Objects").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ControllerHeader = 0x04,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
    /// Of those that are for vendors (spec "ID Allocation for P4Info Objects").
    PacketBuffer = 0x81,
}

impl Kind {
    fn prefix(self) -> u32 {
        u32::from(self as u8) << 24
    }

    fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Table => "table",
            Self::ValueSet => "value set",
            Self::ControllerHeader => "controller header",
            Self::ActionProfile => "action profile",
            Self::Counter => "counter",
            Self::DirectCounter => "direct counter",
            Self::Meter => "meter",
            Self::DirectMeter => "direct meter",
            Self::Register => "register",
            Self::Digest => "digest",
            Self::PacketBuffer => "packet buffer",
        }
    }
}

/// Names of objects as they are met. Ids need all of them, so these come after, in [`Symbols`].
#[derive(Debug, Default)]
pub struct Collected {
    kinds: BTreeMap<Kind, BTreeMap<String, Option<u32>>>,
    taken: BTreeSet<u32>,
    /// Where the program gives each id that it gives.
    given: BTreeMap<u32, Span>,
}

impl Collected {
    /// Notes an object; `given` is its `@id`, with or without the kind's prefix.
    pub fn add(&mut self, kind: Kind, name: &str, given: Option<Id>, diagnostics: &mut Diagnostics) {
        if self.kinds.get(&kind).is_some_and(|names| names.contains_key(name)) {
            return;
        }
        let id = given.and_then(|given| match self.claim(kind, name, given) {
            Ok(id) => Some(id),
            Err(error) => {
                diagnostics.push(*error);
                None
            }
        });
        self.kinds.entry(kind).or_default().insert(name.to_owned(), id);
    }

    fn claim(&mut self, kind: Kind, name: &str, given: Id) -> Result<u32, Box<Diagnostic>> {
        let Id { number, span } = given;
        let id = number | kind.prefix();
        if number >> 24 != 0 && number >> 24 != kind.prefix() >> 24 {
            let what = format!("the id {number:#010x} of the {} `{name}` has the prefix of another kind", kind.name());
            let help = format!("give the number below 2^24 alone; ids of this kind begin with {:#04x}", kind as u8);
            return Err(Box::new(Diagnostic::error(span, what).help(help)));
        }
        if let Some(before) = self.given.insert(id, span) {
            let what = format!("the id {id} ({id:#010x}) of the {} `{name}` is given twice", kind.name());
            let help = "give one of them another number, or none: it then gets one of its own";
            return Err(Box::new(Diagnostic::error(span, what).label(before, "first given here").help(help)));
        }
        self.taken.insert(id);
        Ok(id)
    }

    /// Gives an id to each object that has none: a hash of its name or, if that is taken, the next free one. Names go
    /// in order, so the ids don't depend on the order of the program.
    pub fn finish(mut self) -> Symbols {
        let mut symbols = Symbols::default();
        for (kind, names) in self.kinds {
            for (name, given) in names {
                let id = given.unwrap_or_else(|| {
                    let first = hash(name.as_bytes());
                    let free = (0..=0x00ff_ffff)
                        .map(|step| kind.prefix() | (first.wrapping_add(step) & 0x00ff_ffff))
                        .find(|id| self.taken.insert(*id));
                    free.unwrap_or_default()
                });
                symbols.count_suffixes(&name);
                symbols.ids.insert((kind, name), id);
            }
        }
        symbols
    }
}

/// The ids and aliases of all objects.
#[derive(Debug, Default)]
pub struct Symbols {
    ids: BTreeMap<(Kind, String), u32>,
    names: BTreeSet<String>,
    /// How many names end in each run of whole components.
    suffixes: HashMap<String, u32>,
}

impl Symbols {
    /// The id of an object that was collected; 0, which no object has, for another.
    pub fn id(&self, kind: Kind, name: &str) -> u32 {
        self.ids.get(&(kind, name.to_owned())).copied().unwrap_or_default()
    }

    /// The shortest end of `name`, in whole components, that no other name has.
    pub fn alias<'n>(&self, name: &'n str) -> &'n str {
        suffixes(name).find(|suffix| self.suffixes.get(*suffix).is_none_or(|count| *count < 2)).unwrap_or(name)
    }

    /// Objects of different kinds may share a name; it counts once.
    fn count_suffixes(&mut self, name: &str) {
        if self.names.insert(name.to_owned()) {
            for suffix in suffixes(name) {
                *self.suffixes.entry(suffix.to_owned()).or_default() += 1;
            }
        }
    }
}

/// The ends of a name at its dots, shortest first, and the whole name.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    name.rmatch_indices('.').map(|(dot, _)| &name[dot + 1..]).chain([name])
}

/// Jenkins' one-at-a-time hash.
fn hash(key: &[u8]) -> u32 {
    let mut hash = 0u32;
    for byte in key {
        hash = hash.wrapping_add(u32::from(*byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// What is wrong with the ids that the fields of one object are given.
pub fn check_field_ids(given: &[Option<Id>], diagnostics: &mut Diagnostics) {
    let mut before: BTreeMap<u32, Span> = BTreeMap::new();
    for Id { number, span } in given.iter().copied().flatten() {
        if number == 0 {
            let error = Diagnostic::error(span, "0 is no id of a field");
            diagnostics.push(error.help("give it a number above 0"));
        } else if let Some(first) = before.insert(number, span) {
            let error = Diagnostic::error(span, format!("two fields have the id {number}"));
            diagnostics.push(error.label(first, "first given here").help("give one of them another number"));
        }
    }
}

/// Ids of match fields, parameters or metadata: what `@id` says, the rest counted from 1.
pub fn field_ids(given: &[Option<Id>]) -> Vec<u32> {
    let given: Vec<Option<u32>> = given.iter().map(|id| id.map(|id| id.number)).collect();
    let mut taken: BTreeSet<u32> = given.iter().copied().flatten().collect();
    let mut next = 1u32;
    given
        .iter()
        .map(|given| match given {
            // A given id also uses up a number, so the others stand where they would without it.
            Some(id) => {
                next += 1;
                *id
            }
            None => {
                while !taken.insert(next) {
                    next += 1;
                }
                next
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(number: u32) -> Option<Id> {
        Some(Id { number, span: Span::default() })
    }

    fn collect(objects: &[(Kind, &str, Option<u32>)]) -> (Symbols, Vec<String>) {
        let mut collected = Collected::default();
        let mut diagnostics = Diagnostics::new();
        for (kind, name, id) in objects {
            collected.add(*kind, name, id.and_then(given), &mut diagnostics);
        }
        (collected.finish(), diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect())
    }

    fn symbols(objects: &[(Kind, &str, Option<u32>)]) -> Symbols {
        let (symbols, errors) = collect(objects);
        assert!(errors.is_empty(), "{errors:?}");
        symbols
    }

    #[test]
    fn an_id_is_the_kind_and_a_hash_of_the_name() {
        let symbols = symbols(&[(Kind::Action, "NoAction", None), (Kind::Table, "ingress.t", None)]);
        assert_eq!(symbols.id(Kind::Action, "NoAction"), 21257015);
        assert_eq!(symbols.id(Kind::Table, "ingress.t"), 34728461);
        assert_eq!(symbols.id(Kind::Counter, "ingress.t"), 0);
    }

    #[test]
    fn a_taken_id_moves_to_the_next() {
        let symbols = symbols(&[(Kind::Action, "other", Some(21257015)), (Kind::Action, "NoAction", None)]);
        assert_eq!(symbols.id(Kind::Action, "other"), 21257015);
        assert_eq!(symbols.id(Kind::Action, "NoAction"), 21257016);
    }

    #[test]
    fn a_given_id_gets_its_prefix() {
        let symbols = symbols(&[
            (Kind::Table, "a", Some(7)),
            (Kind::Table, "b", Some(0x0200_0008)),
            (Kind::Table, "zero", Some(0)),
            (Kind::Action, "a", Some(7)),
        ]);
        assert_eq!(symbols.id(Kind::Table, "a"), 0x0200_0007);
        assert_eq!(symbols.id(Kind::Table, "b"), 0x0200_0008);
        assert_eq!(symbols.id(Kind::Table, "zero"), 0x0200_0000);
        assert_eq!(symbols.id(Kind::Action, "a"), 0x0100_0007);
    }

    #[test]
    fn an_id_of_another_kind_or_of_another_object_is_an_error() {
        let (_, errors) = collect(&[
            (Kind::Table, "a", Some(7)),
            (Kind::Table, "wrong", Some(0x0100_0009)),
            (Kind::Table, "late", Some(0x0200_0007)),
            // The same object once more, of another control.
            (Kind::Table, "a", Some(7)),
        ]);
        let expected = [
            "the id 0x01000009 of the table `wrong` has the prefix of another kind",
            "the id 33554439 (0x02000007) of the table `late` is given twice",
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn an_alias_is_the_shortest_end_that_is_unique() {
        let names = ["ingress.t", "egress.t", "ingress.sub.u", "drop", "ingress.drop", "same", "same"];
        let objects: Vec<_> = names.iter().map(|name| (Kind::Table, *name, None)).collect();
        let symbols = symbols(&objects);
        let aliases: Vec<&str> = names[..6].iter().map(|name| symbols.alias(name)).collect();
        assert_eq!(aliases, ["ingress.t", "egress.t", "u", "drop", "ingress.drop", "same"]);
    }

    #[test]
    fn one_name_of_two_kinds_is_one_name() {
        let symbols = symbols(&[(Kind::Table, "a.x", None), (Kind::Action, "a.x", None)]);
        assert_eq!(symbols.alias("a.x"), "x");
    }

    #[test]
    fn fields_are_counted_around_the_given_ids() {
        assert_eq!(field_ids(&[None, None, None]), [1, 2, 3]);
        assert_eq!(field_ids(&[None, given(1), None]), [2, 1, 3]);
        assert_eq!(field_ids(&[given(10), None, given(3), None]), [10, 2, 3, 4]);
    }
}
