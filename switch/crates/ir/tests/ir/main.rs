//! The flat form: its text, its verifier, its values. One program for all files, since each more would be linked with all dependencies again.

mod eval;
mod text;
mod verify;
