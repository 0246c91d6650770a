//! Match stores: what a table's keys find.
//!
//! Four structures behind one [`Table`]: a place for each value of a single short exact key, a hash for other exact keys,
//! a trie for exact keys with one longest-prefix key, and a tuple space (one hash per group of masks) for everything else. One [`Writer`] changes a table while any number of [`Reader`]s look keys up.
//!
//! Readers never wait: no lock, no reference count, no copy of the table. Everything a lookup touches is a word of
//! an arena that only grows ([`Segments`]); the writer publishes a change by one atomic store, and takes a replaced
//! word again only when no reader can still be looking at it ([`Epochs`]). All of it is safe Rust: a mistake in the
//! protocol could give a wrong answer, never a wild pointer. Maps with owned values (papaya, arc-swap) would need an
//! allocation and a pointer hop per entry, and have no trie.
//!
//! A table maps a key to a *slot*, a small number that is the entry's own as long as it lives, and a *body*, a number
//! that whoever owns the entries may change in one step. What they stand for is not this crate's affair.

mod blocks;
mod direct;
mod epoch;
mod hash;
mod key;
mod lpm;
mod segments;
mod slots;
pub mod sync;
mod table;
mod trie;
mod tuple;

pub use blocks::Blocks;
pub use epoch::{Epochs, Reader};
pub use key::{FieldKind, FieldSpec, Pattern, Schema};
pub use segments::{Segments, Words};
pub use slots::Slots;
pub use table::{Hit, InsertError, Recent, Table, Writer, table};
