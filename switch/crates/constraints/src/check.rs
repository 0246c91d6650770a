//! Types: which fields there are, and what compares with what.

use num_bigint::BigInt;
use num_traits::Zero;

use crate::error::Error;
use crate::place::Span;
use crate::tree::{Comparison, Node, NodeKind};
use crate::typed::{Operand, Test, TestKind};
use crate::value::Datum;
use crate::{Field, FieldKind, Form, Owner};

/// The test that a restriction is, its names found and its types compared.
pub fn check(text: &str, owner: Owner, fields: &[Field], node: &Node) -> Result<Test, Error> {
    Checker { text, owner, fields }.test(node)
}

struct Checker<'a> {
    text: &'a str,
    owner: Owner,
    fields: &'a [Field],
}

enum Typed {
    Test(Test),
    Operand(Operand, Type),
    /// A key's whole match.
    Match(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Int,
    Bits(u32),
    Text,
}

impl Type {
    fn of(form: Form) -> Self {
        match form {
            Form::Bits(width) => Self::Bits(width),
            Form::Text => Self::Text,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Int => "int".to_owned(),
            Self::Bits(width) => format!("bit<{width}>"),
            Self::Text => "a text".to_owned(),
        }
    }
}

impl Checker<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Error {
        Error::new(self.text, span, message)
    }

    fn test(&self, node: &Node) -> Result<Test, Error> {
        match self.typed(node)? {
            Typed::Test(test) => Ok(test),
            other => Err(self.error(node.span, format!("expected bool, found {}", self.name(&other)))),
        }
    }

    fn typed(&self, node: &Node) -> Result<Typed, Error> {
        let operand = |operand, ty| Ok(Typed::Operand(operand, ty));
        let test = |kind, size| Ok(Typed::Test(Test { kind, span: node.span, size }));
        match &node.kind {
            NodeKind::Bool(value) => test(TestKind::Constant(*value), 1),
            NodeKind::Int(value) => operand(Operand::Constant(Datum::Int(value.clone())), Type::Int),
            NodeKind::Text(text) => operand(Operand::Constant(Datum::Text(text.clone())), Type::Text),
            NodeKind::Name(name) => self.field(node.span, name),
            NodeKind::Attribute(name) if name == "priority" && self.owner == Owner::Table => {
                operand(Operand::Priority, Type::Int)
            }
            NodeKind::Attribute(name) => {
                let known = match self.owner {
                    Owner::Table => "an entry has `::priority`",
                    Owner::Action => "an action has none",
                };
                Err(self.error(node.span, format!("there is no `::{name}`; {known}")))
            }
            NodeKind::Part(of, part) => self.part(node.span, of, part),
            NodeKind::Not(operand) => {
                let operand = self.test(operand)?;
                let size = operand.size + 1;
                test(TestKind::Not(Box::new(operand)), size)
            }
            NodeKind::Minus(inner) => match self.typed(inner)? {
                Typed::Operand(value, Type::Int) => operand(Operand::Minus(Box::new(value)), Type::Int),
                other => Err(self.error(inner.span, format!("expected int, found {}", self.name(&other)))),
            },
            NodeKind::Logic(logic, nodes) => {
                let tests = [self.test(&nodes[0])?, self.test(&nodes[1])?];
                let size = tests[0].size + tests[1].size + 1;
                test(TestKind::Logic(*logic, Box::new(tests)), size)
            }
            NodeKind::Compare(comparison, nodes) => {
                let sides = (self.typed(&nodes[0])?, self.typed(&nodes[1])?);
                self.compare(node.span, *comparison, sides).map(Typed::Test)
            }
        }
    }

    fn field(&self, span: Span, name: &str) -> Result<Typed, Error> {
        let what = match self.owner {
            Owner::Table => "key",
            Owner::Action => "parameter",
        };
        let Some(at) = self.fields.iter().position(|field| field.name == name) else {
            let known: Vec<&str> = self.fields.iter().map(|field| &*field.name).collect();
            let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
            return Err(self.error(span, format!("there is no {what} `{name}`; known: {known}")));
        };
        match self.fields[at].kind {
            FieldKind::Other => Err(self.error(span, format!("{what} `{name}` has a match kind of the program's own"))),
            FieldKind::Value => Ok(Typed::Operand(Operand::Value(at), Type::of(self.fields[at].form))),
            _ => Ok(Typed::Match(at)),
        }
    }

    fn part(&self, span: Span, of: &Node, part: &str) -> Result<Typed, Error> {
        let typed = self.typed(of)?;
        let Typed::Match(at) = typed else {
            return Err(self.error(span, format!("{} has no `::{part}`; only keys have", self.name(&typed))));
        };
        let field = &self.fields[at];
        let value = Type::of(field.form);
        let mask = match field.form {
            Form::Bits(width) => Type::Bits(width),
            Form::Text => Type::Bits(1),
        };
        let (operand, ty) = match (field.kind, part) {
            (FieldKind::Range, "low") => (Operand::Value(at), value),
            (FieldKind::Range, "high") => (Operand::High(at), value),
            (FieldKind::Exact | FieldKind::Ternary | FieldKind::Optional | FieldKind::Lpm, "value") => {
                (Operand::Value(at), value)
            }
            (FieldKind::Ternary | FieldKind::Optional, "mask") => (Operand::Mask(at), mask),
            (FieldKind::Lpm, "prefix_length") => (Operand::PrefixLength(at), Type::Int),
            (kind, _) => {
                let known = match kind {
                    FieldKind::Ternary | FieldKind::Optional => "`::value` and `::mask`",
                    FieldKind::Lpm => "`::value` and `::prefix_length`",
                    FieldKind::Range => "`::low` and `::high`",
                    _ => "`::value`",
                };
                return Err(self.error(span, format!("key `{}` has no `::{part}`; it has {known}", field.name)));
            }
        };
        Ok(Typed::Operand(operand, ty))
    }

    fn compare(&self, span: Span, comparison: Comparison, sides: (Typed, Typed)) -> Result<Test, Error> {
        let is_order = !matches!(comparison, Comparison::Eq | Comparison::Ne);
        let no_order = |what: &str| Err(self.error(span, format!("{what} have no order; compare with == or !=")));
        let mismatch = |left: &Typed, right: &Typed| {
            let names = (self.name(left), self.name(right));
            Err(self.error(span, format!("{} does not compare with {}", names.0, names.1)))
        };
        let positive = |kind, size| {
            let test = Test { kind, span, size };
            if comparison == Comparison::Ne { Test { size, span, kind: TestKind::Not(Box::new(test)) } } else { test }
        };
        match sides {
            (Typed::Test(_), Typed::Test(_)) if is_order => no_order("bools"),
            (Typed::Test(left), Typed::Test(right)) => {
                let size = left.size + right.size + 1;
                Ok(positive(TestKind::Agree(Box::new([left, right])), size))
            }
            (Typed::Match(left), Typed::Match(right)) => {
                let (a, b) = (&self.fields[left], &self.fields[right]);
                if (a.kind, a.form) != (b.kind, b.form) {
                    mismatch(&Typed::Match(left), &Typed::Match(right))
                } else if a.kind == FieldKind::Exact {
                    let value = |at| Typed::Operand(Operand::Value(at), Type::of(a.form));
                    self.compare(span, comparison, (value(left), value(right)))
                } else if is_order {
                    no_order("matches")
                } else {
                    Ok(positive(TestKind::SameMatch(left, right), 1))
                }
            }
            (Typed::Match(at), Typed::Operand(operand, ty)) | (Typed::Operand(operand, ty), Typed::Match(at))
                if self.fields[at].kind != FieldKind::Exact =>
            {
                if is_order {
                    return no_order("matches");
                }
                let width = match self.fields[at].form {
                    Form::Bits(width) => width,
                    Form::Text => 1,
                };
                match fitted(operand, ty, Type::of(self.fields[at].form)) {
                    Ok(value) => Ok(positive(TestKind::Only { field: at, value, width }, 1)),
                    Err(operand) => mismatch(&Typed::Match(at), &Typed::Operand(operand, ty)),
                }
            }
            (Typed::Match(at), right @ Typed::Operand(..)) => {
                let left = Typed::Operand(Operand::Value(at), Type::of(self.fields[at].form));
                self.compare(span, comparison, (left, right))
            }
            (left @ Typed::Operand(..), Typed::Match(at)) => {
                let right = Typed::Operand(Operand::Value(at), Type::of(self.fields[at].form));
                self.compare(span, comparison, (left, right))
            }
            (Typed::Operand(left, left_type), Typed::Operand(right, right_type)) => {
                let fit = if left_type == Type::Int {
                    fitted(left, left_type, right_type).map(|left| (left, right, right_type))
                } else {
                    fitted(right, right_type, left_type).map(|right| (left, right, left_type))
                };
                match fit {
                    Ok((.., Type::Text)) if is_order => no_order("texts"),
                    Ok((left, right, _)) => {
                        Ok(Test { kind: TestKind::Compare(comparison, left, right), span, size: 1 })
                    }
                    Err(_) => {
                        let (left, right) = (left_type.name(), right_type.name());
                        Err(self.error(span, format!("{left} does not compare with {right}")))
                    }
                }
            }
            (left, right) => mismatch(&left, &right),
        }
    }

    fn name(&self, typed: &Typed) -> String {
        match typed {
            Typed::Test(_) => "bool".to_owned(),
            Typed::Operand(_, ty) => ty.name(),
            Typed::Match(at) => {
                let field = &self.fields[*at];
                let kind = match field.kind {
                    FieldKind::Exact => "exact",
                    FieldKind::Ternary => "ternary",
                    FieldKind::Lpm => "lpm",
                    FieldKind::Range => "range",
                    FieldKind::Optional => "optional",
                    FieldKind::Value | FieldKind::Other => "value",
                };
                format!("the {kind} match of {}", Type::of(field.form).name())
            }
        }
    }
}

/// The operand as one of the type it is compared with, or itself if it is none.
fn fitted(operand: Operand, from: Type, to: Type) -> Result<Operand, Operand> {
    match (from, to) {
        _ if from == to => Ok(operand),
        (Type::Int, Type::Bits(width)) => Ok(Operand::Wrapped(Box::new(operand), width)),
        (Type::Int, Type::Text) if is_zero(&operand) => Ok(Operand::Constant("".into())),
        _ => Err(operand),
    }
}

fn is_zero(operand: &Operand) -> bool {
    matches!(operand, Operand::Constant(Datum::Int(value)) if *value == BigInt::zero())
}
