//! Input that wants to break the switch: program texts, documents, packets and P4Runtime messages that nobody meant.
//!
//! Each module takes bytes and answers whether the switch kept its promises: it does not panic, all engines agree,
//! and what is refused changes nothing. The tests here feed them a bounded number of mutations ([`mutate`]) that are
//! the same in every run; the fuzz targets in `switch/fuzz` feed them what a fuzzer finds.

pub mod calls;
pub mod documents;
pub mod messages;
pub mod mutate;
pub mod packets;
pub mod programs;
pub mod seeds;
pub mod sources;
