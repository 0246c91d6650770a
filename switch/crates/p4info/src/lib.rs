//! P4Info of a program, as p4c writes it: ids, names, order and text.

mod annotation;
mod bytes;
mod difference;
mod entries;
mod ids;
mod key_name;
mod message;
mod object;
mod table;
mod text;
mod types;
mod visible;

use compiler::{Compiled, Failure};
pub use difference::difference;
use prost::Message;
use proto::p4::config::v1::P4Info;
use proto::p4::v1::WriteRequest;
pub use text::{TextError, entries_text, parse_entries, parse_text, to_text};

/// What the control plane sees of a program; an error where the program gives ids or names that it can't have.
pub fn p4info(compiled: &Compiled) -> Result<P4Info, Box<Failure>> {
    let built = message::Builder::new(&compiled.hir, &compiled.instances).build();
    built.map_err(|diagnostics| Box::new(Failure { diagnostics, sources: compiled.sources.clone() }))
}

/// The entries that stand in the program, as writes.
pub fn entries(compiled: &Compiled) -> WriteRequest {
    entries::Entries::new(&compiled.hir, &compiled.instances).build()
}

/// The binary form.
pub fn to_binary(p4info: &P4Info) -> Vec<u8> {
    p4info.encode_to_vec()
}
