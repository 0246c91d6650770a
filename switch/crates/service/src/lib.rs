//! The P4Runtime service (version 1.5) of one switch.
//!
//! A [`Hub`] is what all calls share; the data plane hands it packets and digests, [`serve`] lets controllers in. What
//! the service needs of the switch stands in [`Target`] and [`Program`]; the entities themselves are crate `control`'s.

mod arbiter;
mod clients;
mod device_config;
mod difference;
mod hub;
mod outbox;
mod pipeline;
mod reply;
mod role;
mod rpc;
mod server;
mod state;
mod stream;
mod target;
mod traces;

pub use clients::{AUDIT, Client, Clients, Refused, Right, Rights};
pub use hub::Hub;
pub use server::{Tls, calls, limits, serve};
pub use state::{State, StateFile};
pub use target::{Program, Target};
