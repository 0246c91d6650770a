//! What values parts of the frame hold at a place in the code.

use cranelift_codegen::ir::{Type, Value};
use ir::TableId;

use super::zeros::Zeros;

/// More would cost more time to search than it saves.
const MOST: usize = 96;

/// Scalars in the frame whose values stand in registers too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    scalars: Vec<Scalar>,
    /// The table of the last lookup and the entry that it found, where that is known; no entry for the default one.
    pub found: Option<(TableId, Option<usize>)>,
    /// What of the frame is noted as written.
    pub written: u64,
    pub zeros: Zeros,
}

#[derive(Debug, Clone, Copy)]
struct Scalar {
    offset: u32,
    ty: Type,
    fact: Fact,
}

/// What is known of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    Value(Value),
    Constant(u128),
}

impl Known {
    /// Where nothing but this is known.
    pub fn only(zeros: Zeros) -> Self {
        Self { zeros, ..Self::default() }
    }

    /// What is known of the scalar at `offset`.
    pub fn get(&self, offset: u32, ty: Type) -> Option<Fact> {
        let mut same = self.scalars.iter().rev().filter(|scalar| scalar.offset == offset && scalar.ty == ty);
        let fact = same.next().map(|scalar| scalar.fact);
        fact.or_else(|| self.zeros.covers(offset, ty.bytes()).then_some(Fact::Constant(0)))
    }

    /// A value is this constant from here on.
    pub fn assume(&mut self, value: Value, is: u128) {
        for scalar in self.scalars.iter_mut().filter(|scalar| scalar.fact == Fact::Value(value)) {
            scalar.fact = Fact::Constant(is);
            if is == 0 {
                self.zeros.note(scalar.offset, scalar.ty.bytes(), true);
            }
        }
    }

    /// The scalar at `offset` was written.
    pub fn write(&mut self, offset: u32, ty: Type, fact: Fact) {
        self.forget(offset, ty.bytes());
        if fact == Fact::Constant(0) {
            self.zeros.note(offset, ty.bytes(), true);
        }
        self.learn(offset, ty, fact);
    }

    /// The scalar at `offset` was read.
    pub fn learn(&mut self, offset: u32, ty: Type, fact: Fact) {
        if self.scalars.len() == MOST {
            self.scalars.drain(..MOST / 2);
        }
        self.scalars.push(Scalar { offset, ty, fact });
    }

    /// Where two ways join: what is known on both. A value that is the same on both stood before they parted.
    pub fn join(&mut self, other: &Self) {
        self.scalars.retain(|scalar| other.get(scalar.offset, scalar.ty) == Some(scalar.fact));
        if self.found != other.found {
            self.found = None;
        }
        self.written &= other.written;
        self.zeros.join(&other.zeros);
    }

    /// These bytes were written in an unknown way.
    pub fn forget(&mut self, offset: u32, bytes: u32) {
        let end = offset + bytes;
        self.scalars.retain(|scalar| scalar.offset >= end || scalar.offset + scalar.ty.bytes() <= offset);
        self.zeros.note(offset, bytes, false);
    }
}
