//! What values parts of the frame hold at a place in the code.

use cranelift_codegen::ir::{Type, Value};
use ir::TableId;

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
}

#[derive(Debug, Clone, Copy)]
struct Scalar {
    offset: u32,
    ty: Type,
    value: Value,
}

impl Known {
    /// The value of the scalar at `offset`, if it is known.
    pub fn get(&self, offset: u32, ty: Type) -> Option<Value> {
        self.scalars.iter().rev().find(|scalar| scalar.offset == offset && scalar.ty == ty).map(|scalar| scalar.value)
    }

    /// The scalar at `offset` was written.
    pub fn write(&mut self, offset: u32, ty: Type, value: Value) {
        self.forget(offset, ty.bytes());
        self.learn(offset, ty, value);
    }

    /// The scalar at `offset` was read.
    pub fn learn(&mut self, offset: u32, ty: Type, value: Value) {
        if self.scalars.len() == MOST {
            self.scalars.drain(..MOST / 2);
        }
        self.scalars.push(Scalar { offset, ty, value });
    }

    /// These bytes were written in an unknown way.
    pub fn forget(&mut self, offset: u32, bytes: u32) {
        let end = offset + bytes;
        self.scalars.retain(|scalar| scalar.offset >= end || scalar.offset + scalar.ty.bytes() <= offset);
    }
}
