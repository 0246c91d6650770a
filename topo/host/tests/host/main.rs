//! Hosts of labs, on a network in memory and on wires. One program for all files, since each more would be linked with all dependencies again.

mod common;
mod dhcp;
mod discovery;
mod ping;
mod tcp;
mod tcp_integrity;
mod udp;
mod wire;
