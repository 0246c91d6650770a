//! Which bytes of the frame are zero: those that nothing wrote since the packet entered. Most metadata belongs to features
//! that a packet does not meet, so most questions about it are answered when code is compiled.

use std::ops::Range;
use std::rc::Rc;

use ir::{FunctionId, Program};
use runtime::frame::Erased;

use super::memory::span;

/// A bit for each byte of the persistent part of the frame that is known to be zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Zeros(Rc<[u64]>);

impl Zeros {
    /// What is zero when a block of v1model begins, whatever the packet met before: what no block before it writes, nor
    /// the architecture. Of other functions nothing is known.
    pub fn at_start(program: &Program, erased: &Erased, id: FunctionId) -> Self {
        let order = program.blocks.in_order();
        let mut places = order.iter().enumerate().filter(|(_, block)| **block == id).map(|(place, _)| place);
        let (Some(place), None, None) = (places.next(), places.next(), &program.psa) else { return Self::default() };
        let mut zeros = Self(vec![0; (program.frame.persistent as usize).div_ceil(64)].into());
        erased.ranges().for_each(|range| zeros.set(range, true));
        let mut written = |start: u32, bytes: u32| zeros.set(start as usize..(start + bytes) as usize, false);
        // The architecture's own, none of which has more than 64 bits.
        program.standard_metadata.offsets().into_iter().for_each(|offset| written(offset, 8));
        // A packet that goes round brings them along.
        program
            .field_lists
            .iter()
            .flat_map(|(_, list)| &list.places)
            .for_each(|(offset, bytes)| written(*offset, *bytes));
        let before = order[..place].iter().flat_map(|block| program.functions[*block].blocks.iter());
        for inst in before.flat_map(|(_, block)| &block.insts) {
            inst.writes(program, |place, bytes| written(place.offset, span(place) + bytes));
        }
        zeros
    }

    /// Whether all these bytes are zero.
    pub fn covers(&self, offset: u32, bytes: u32) -> bool {
        let mut range = offset as usize..(offset + bytes) as usize;
        range.end <= self.0.len() * 64 && range.all(|at| self.0[at / 64] >> (at % 64) & 1 == 1)
    }

    /// Notes whether these bytes are zero from here on.
    pub fn note(&mut self, offset: u32, bytes: u32, are_zero: bool) {
        let (start, end) = (offset as usize, ((offset + bytes) as usize).min(self.0.len() * 64));
        if start < end && (are_zero || (start..end).any(|at| self.0[at / 64] >> (at % 64) & 1 == 1)) {
            self.set(start..end, are_zero);
        }
    }

    /// Where two ways join: what is zero on both.
    pub fn join(&mut self, other: &Self) {
        if Rc::ptr_eq(&self.0, &other.0) {
            return;
        }
        for (word, other) in Rc::make_mut(&mut self.0).iter_mut().zip(&*other.0) {
            *word &= other;
        }
    }

    fn set(&mut self, range: Range<usize>, are_zero: bool) {
        let words = Rc::make_mut(&mut self.0);
        for at in range.start..range.end.min(words.len() * 64) {
            let bit = 1 << (at % 64);
            words[at / 64] = if are_zero { words[at / 64] | bit } else { words[at / 64] & !bit };
        }
    }
}
