//! Arrays of cells whose pages come into being when they are first written. What is never touched takes no memory.

use std::sync::atomic::Ordering::Relaxed;

use crate::error::WriteError;
use tables::sync::{AtomicU64, OnceLock, zeroed};

/// Cells of a page.
pub const PAGE: u64 = 4096;
/// P4 counts cells in 32 bits.
const MOST: u64 = 1 << 32;

/// How many pages so many cells have.
pub(crate) fn pages(size: u64) -> usize {
    size.min(MOST).div_ceil(PAGE) as usize
}

/// An array whose pages come into being when they are first written.
pub(crate) struct Paged<T> {
    pub name: String,
    pub size: u64,
    pages: Vec<OnceLock<Box<[T]>>>,
}

impl<T> Paged<T> {
    pub fn new(name: &str, size: u64) -> Self {
        let pages = (0..pages(size)).map(|_| OnceLock::new()).collect();
        Self { name: name.to_owned(), size: size.min(MOST), pages }
    }

    /// The `stride` items of a cell, if its page exists.
    pub fn get(&self, index: u64, stride: usize) -> Option<&[T]> {
        let page = self.pages.get((index / PAGE) as usize)?.get()?;
        page.get((index % PAGE) as usize * stride..)?.get(..stride)
    }

    /// The items of a cell; none beyond the end.
    pub fn make(&self, index: u64, stride: usize, page: impl FnOnce(usize) -> Box<[T]>) -> Option<&[T]> {
        if index >= self.size {
            return None;
        }
        let first = index / PAGE * PAGE;
        let cells = (self.size - first).min(PAGE) as usize;
        let page = self.pages[(index / PAGE) as usize].get_or_init(|| page(cells * stride));
        page.get((index % PAGE) as usize * stride..)?.get(..stride)
    }

    pub fn check(&self, index: u64) -> Result<(), WriteError> {
        if index < self.size {
            return Ok(());
        }
        Err(WriteError::BadIndex { object: self.name.clone(), index, size: self.size })
    }
}

impl Paged<AtomicU64> {
    /// The pages that exist, by their numbers.
    pub fn touched(&self) -> impl Iterator<Item = (usize, &[AtomicU64])> {
        let pages = self.pages.iter().enumerate();
        pages.filter_map(|(number, page)| Some((number, &page.get()?[..])))
    }

    /// Fills a page with little-endian words; false if it has not that many, or is not there.
    pub fn fill(&self, page: usize, stride: usize, words: &[u8]) -> bool {
        let cells =
            (page as u64).checked_mul(PAGE).and_then(|first| self.size.checked_sub(first)).unwrap_or(0).min(PAGE);
        let len = cells as usize * stride;
        if len == 0 || words.len() != 8 * len {
            return false;
        }
        let page = self.pages[page].get_or_init(|| zeroed(len));
        for (word, bytes) in page.iter().zip(words.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
        true
    }
}
