//! P4Runtime over the loopback. One program for all files, since each more would be linked with all dependencies again.

mod common;
mod limits;
mod pipelines;
mod state;
mod streams;
mod tls;
mod writes;
