//! What programs are executed on: tables, packets, profiles. One program for all files, since each more would be linked with all dependencies again.

mod common;
mod concurrent;

mod packet;
mod profiles;
mod tables;
mod together;
