//! Input that nobody means well with. One program for all files, since each more would be linked with all dependencies again.

mod documents;
mod messages;
mod packets;
mod programs;
