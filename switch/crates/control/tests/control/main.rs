//! Requests of P4Runtime against the state that they are about. One program for all files, since each more would be linked with all dependencies again.

mod batches;
mod cells;
mod common;
mod full;
mod packets;
mod profiles;
mod reconcile;
mod references;
mod replication;
mod restrictions;
mod table_entries;
