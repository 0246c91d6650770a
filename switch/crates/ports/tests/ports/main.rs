//! Ports and programs on interfaces of the kernel.

mod bpf;
mod common;
mod kernel;
mod offloads;
