//! P4Runtime's entities on a loaded program, without any transport: what the gRPC service and the Python binding share.
//!
//! A [`Control`] is made from a P4Info message and a loaded program. It finds everything by P4Info id, checks what the
//! control plane writes against what P4Info and the program say, and reads it back in canonical form. Errors are a
//! canonical code and a text that names the table, the key or parameter, and the bound that was broken.

mod action;
mod agreement;
mod batch;
mod cell;
mod checks;
mod control;
mod data;
mod digest;
mod field;
mod mappings;
mod matching;
mod metered;
mod number;
mod packed;
mod packet;
mod profile;
mod reconcile;
mod references;
mod referring;
mod replication;
mod restrictions;
mod schema;
mod scope;
mod status;
mod table;
mod value_set;

pub use batch::Reading;
pub use checks::Checks;
pub use control::{Control, Loaded};
pub use replication::{Backup, CloneSession, Replica, Replication};
pub use scope::Scope;
pub use status::{Code, Result, Status};
