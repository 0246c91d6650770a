//! A user-space IPv6 host: what stands at the edge of a lab that has no root and no kernel's stack to spare.
//!
//! [`Host`] neither has sockets nor a clock: frames and commands go in, frames and events come out, and the caller says
//! what time it is. So the same host runs behind a wire in real time (`wayname-host`) and in a network on a virtual
//! clock (the Python module `wayname_host`). With the same seed and the same inputs it does the same, byte for byte.
//!
//! ```text
//!   apps      ping, TCP and UDP traffic: one file each
//!   tcp       TCP
//!   smoltcp   IPv6, ICMPv6 echo, UDP
//!   link      Ethernet, neighbours, routers, addresses
//! ```

mod apps;
mod command;
mod config;
mod device;
mod event;
mod flow;
mod host;
mod link;
mod tcp;
mod throttle;
mod units;

pub use command::Command;
pub use config::Config;
pub use event::{Event, FlowStatus, NeighbourStatus, Outcome, Spread, Status, UdpReport, What};
pub use host::Host;
