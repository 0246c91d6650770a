//! What every part of the translation shares: the document, the function that is being written, and how names are
//! found.

use std::collections::HashMap;

use ir::{BlockId, FieldListId, HeaderTypeId, Inst, NoteKind, Operand, Place};
use lower::Builder;
use lower::value::{FALSE, TRUE, Value, Values};
use num_bigint::BigInt;

use crate::error::{Error, Result, fail};
use crate::expr::Expr;
use crate::layout::{Header, Layout, Stack};
use crate::model::{self, Document, SourceInfo};

/// An argument of the action that is being written.
#[derive(Debug, Clone)]
pub enum Argument {
    /// In the data of the entry that was found.
    Entry {
        offset: u32,
        width: u32,
    },
    Constant(BigInt, u32),
}

/// Where a field or a number stands.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    pub place: Place,
    pub width: u32,
    pub signed: bool,
    pub varbit: bool,
}

/// Where a header stands.
#[derive(Debug, Clone)]
pub struct HeaderSpot {
    pub place: Place,
    pub header: Header,
}

/// What each name and number of the document became in the flat form.
#[derive(Default)]
pub struct Objects {
    pub actions: HashMap<u32, ir::ActionId>,
    pub tables: HashMap<String, ir::TableId>,
    pub profiles: HashMap<String, ir::ProfileId>,
    pub counters: HashMap<String, ir::CounterId>,
    pub meters: HashMap<String, ir::MeterId>,
    pub registers: HashMap<String, ir::RegisterId>,
    pub value_sets: HashMap<String, ir::ValueSetId>,
    pub digests: HashMap<u32, ir::DigestId>,
    pub field_lists: HashMap<u32, FieldListId>,
}

pub struct Translation<'d> {
    pub document: &'d Document,
    pub out: ir::Program,
    pub layout: Layout,
    pub objects: Objects,
    pub b: Builder,
    /// Where `exit` goes, and a packet that the parser rejects.
    pub end: BlockId,
    pub in_parser: bool,
    pub arguments: Vec<Argument>,
}

impl Values for Translation<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }
}

impl<'d> Translation<'d> {
    pub fn header(&self, name: &str) -> Result<&Header> {
        self.layout.headers.get(name).ok_or_else(|| Error::new(format!("there is no header {name}")))
    }

    pub fn stack(&self, name: &str) -> Result<Stack> {
        self.layout.stacks.get(name).cloned().ok_or_else(|| Error::new(format!("there is no header stack {name}")))
    }

    pub fn action(&self, id: u32) -> Result<&'d model::Action> {
        let found = self.document.actions.iter().find(|action| action.id == id);
        found.ok_or_else(|| Error::new(format!("there is no action {id}")))
    }

    pub fn field(&self, header: &str, field: &str) -> Result<Spot> {
        let header = self.header(header)?.clone();
        field_of(&HeaderSpot { place: Place::at(header.offset), header }, field)
    }

    /// The header that an expression names.
    pub fn header_spot(&mut self, expr: &Expr) -> Result<HeaderSpot> {
        match expr {
            Expr::Header(name) => {
                let header = self.header(name)?.clone();
                Ok(HeaderSpot { place: Place::at(header.offset), header })
            }
            // So p4c writes `stack.last` where a header stands.
            Expr::StackField(stack, last) if last == "last" => Ok(self.last(stack)?.swap_remove(0)),
            Expr::Op(op) if op.name == "dereference_header_stack" => {
                let Some(Expr::HeaderStack(name)) = &op.left else { return fail("only a header stack has elements") };
                self.indexed(name, &op.right)?.into_iter().next().ok_or_else(|| Error::new("an empty stack"))
            }
            Expr::Op(op) if op.name == "access_union_header" => {
                let Some(union) = &op.left else { return fail("`access_union_header` needs a header union") };
                let Expr::Number(member) = &op.right else { return fail("the member of a union is a number") };
                let member = usize::try_from(member).unwrap_or(usize::MAX);
                let members = self.union_spot(union)?;
                members.into_iter().nth(member).ok_or_else(|| Error::new("the union has fewer members"))
            }
            _ => fail(format!("no header can be found by {expr:?}")),
        }
    }

    /// The members of the union that an expression names.
    pub fn union_spot(&mut self, expr: &Expr) -> Result<Vec<HeaderSpot>> {
        match expr {
            Expr::HeaderUnion(name) => {
                let members = self.layout.unions.get(name);
                let members = members.ok_or_else(|| Error::new(format!("there is no header union {name}")))?;
                let spot = |header: &Header| HeaderSpot { place: Place::at(header.offset), header: header.clone() };
                Ok(members.iter().map(spot).collect())
            }
            Expr::Op(op) if op.name == "dereference_union_stack" => match &op.left {
                Some(Expr::HeaderUnionStack(name)) => self.indexed(name, &op.right),
                _ => fail("only a stack of header unions has elements"),
            },
            _ => fail(format!("no header union can be found by {expr:?}")),
        }
    }

    fn indexed(&mut self, stack: &str, index: &Expr) -> Result<Vec<HeaderSpot>> {
        let stack = self.stack(stack)?;
        let index = self.index(index, u128::from(stack.count))?;
        Ok(self.element_at(&stack, index))
    }

    /// The members of a stack's element.
    pub fn element_at(&mut self, stack: &Stack, index: Operand) -> Vec<HeaderSpot> {
        let first = stack.offset + Stack::FIRST;
        let members = stack.members.iter().map(|member| {
            let base = Place::at(first + (member.offset - stack.members[0].offset));
            (base, member.clone())
        });
        let members: Vec<_> = members.collect();
        let spots = members.into_iter().map(|(base, header)| HeaderSpot {
            place: Values::element(self, base, 0, stack.stride, stack.count, index),
            header,
        });
        spots.collect()
    }

    /// The counter of elements in use.
    pub fn next_of(stack: &Stack) -> Place {
        Place::at(stack.offset)
    }

    /// The last element in use of a stack; in a parser there must be one.
    pub fn last(&mut self, stack: &str) -> Result<Vec<HeaderSpot>> {
        let stack = self.stack(stack)?;
        let next = self.b.load(Self::next_of(&stack), 32);
        let index = self.b.binary(ir::BinaryOp::Sub, 32, next, Operand::Imm(1));
        self.require_inside(index, stack.count);
        Ok(self.element_at(&stack, index))
    }

    /// In a parser, an index past the stack's end is an error.
    pub fn require_inside(&mut self, index: Operand, count: u32) {
        if self.in_parser {
            let inside = self.b.compare(ir::CompareOp::LtU, 32, index, Operand::Imm(count.into()));
            self.require(inside, "StackOutOfBounds");
        }
    }

    /// Makes a header valid, and the other members of its union invalid.
    pub fn set_valid(&mut self, spot: &HeaderSpot) {
        self.b.store(spot.place, 1, TRUE);
        for sibling in siblings(spot) {
            self.b.store(sibling, 1, FALSE);
        }
    }

    /// Goes on only if `ok`; otherwise the parser ends with the named error.
    pub fn require(&mut self, ok: Operand, error: &str) {
        let error = self.out.errors.iter().position(|known| known == error).unwrap_or(0);
        self.require_or(ok, Operand::Imm(error as u128));
    }

    /// Goes on only if `ok`; otherwise the parser ends with the error.
    pub fn require_or(&mut self, ok: Operand, error: Operand) {
        let (good, bad) = (self.b.block(), self.b.block());
        self.b.branch(ok, good, bad);
        self.b.enter(bad);
        self.b.store(Place::at(self.out.standard_metadata.parser_error), 32, error);
        self.b.jump(self.end);
        self.b.enter(good);
    }

    /// Takes a step of the loop budget; without one the parser times out, and a control is left.
    pub fn fuel(&mut self) {
        let dst = self.b.temp(1);
        self.b.push(Inst::Fuel { dst });
        let go = self.b.not(Operand::Temp(dst));
        if self.in_parser {
            self.require(go, "ParserTimeout");
        } else {
            let on = self.b.block();
            self.b.branch(go, on, self.end);
            self.b.enter(on);
        }
    }

    /// Writes a value to where a field stands.
    pub fn put(&mut self, spot: Spot, value: &Value) {
        self.store(spot.place, spot.width, value);
    }

    /// A place in the P4 source, for traces.
    pub fn note(&mut self, kind: NoteKind, text: &str, source: &SourceInfo) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let note = ir::Note { kind, text, file: source.filename.clone(), line: source.line };
        let note = self.out.notes.push(note);
        self.b.push(Inst::Note(note));
    }

    /// The header type must fill whole bytes to be on the wire.
    pub fn whole_bytes(&self, ty: HeaderTypeId) -> Result<()> {
        let ty = &self.layout.types[ty];
        if ty.fixed_bits().is_multiple_of(8) {
            return Ok(());
        }
        fail(format!("header type {} has {} bits, which is no number of whole bytes", ty.name, ty.fixed_bits()))
    }
}

/// The other members of a header's union.
pub fn siblings(spot: &HeaderSpot) -> Vec<Place> {
    let at = |by: &i64| Place { offset: (i64::from(spot.place.offset) + by) as u32, ..spot.place };
    spot.header.siblings.iter().map(at).collect()
}

/// A field of a header by name.
pub fn field_of(spot: &HeaderSpot, name: &str) -> Result<Spot> {
    if name == "$valid$" {
        return Ok(Spot { place: spot.place, width: 1, signed: false, varbit: false });
    }
    let index = spot.header.ty.fields.iter().position(|field| field.name == name);
    let index = index.ok_or_else(|| Error::new(format!("header type {} has no field {name}", spot.header.ty.name)))?;
    field_at(spot, index)
}

/// A field of a header by number.
pub fn field_at(spot: &HeaderSpot, index: usize) -> Result<Spot> {
    let ty = &spot.header.ty;
    let field = ty.fields.get(index);
    let field = field.ok_or_else(|| Error::new(format!("header type {} has no field {index}", ty.name)))?;
    let place = Place { offset: spot.place.offset + field.offset, ..spot.place };
    Ok(Spot { place, width: field.width, signed: field.signed, varbit: field.varbit })
}
