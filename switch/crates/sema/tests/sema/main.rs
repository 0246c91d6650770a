//! Programs, and what is wrong with them. One program for all files, since each more would be linked with all dependencies again.

mod common;
mod constants;
mod errors;
mod programs;
