//! Where compiled code finds the cells of registers without a call.

use std::sync::atomic::Ordering::Release;

use ir::Program;
use num_bigint::BigUint;
use tables::sync::{AtomicPtr, AtomicU64, zeroed};

use crate::paged::{PAGE, pages};

/// The pages of all registers of a program whose cells are single words that begin as zero, register by register.
///
/// The first page is for nobody: it is blank, and so is whatever was not written yet. A read of any cell is a load from
/// its page, or from the blank one; a write needs a page that is not blank.
pub struct PageTable {
    /// The first cell of each page.
    pages: Box<[AtomicPtr<AtomicU64>]>,
    /// Nobody writes to it.
    _blank: Box<[AtomicU64]>,
}

impl PageTable {
    pub(crate) fn new(count: usize) -> Self {
        let blank: Box<[AtomicU64]> = zeroed(PAGE as usize);
        let first = blank.as_ptr().cast_mut();
        Self { pages: (0..=count).map(|_| AtomicPtr::new(first)).collect(), _blank: blank }
    }

    /// By register the number of its first page, if its cells are found here, and how many pages there are in all.
    pub fn places(program: &Program) -> (Vec<Option<usize>>, usize) {
        let mut count = 0;
        let places = program.registers.iter().map(|(_, register)| {
            let is_here = (1..=64).contains(&register.width) && register.initial == BigUint::ZERO;
            let first = 1 + count;
            count += if is_here { pages(register.size) } else { 0 };
            is_here.then_some(first)
        });
        (places.collect(), count)
    }

    /// By number: where the first cell of each page is.
    #[inline]
    pub fn pages(&self) -> &[AtomicPtr<AtomicU64>] {
        &self.pages
    }

    /// From now on a page is found; it must not move.
    pub(crate) fn show(&self, number: usize, page: &[AtomicU64]) {
        self.pages[number].store(page.as_ptr().cast_mut(), Release);
    }
}
