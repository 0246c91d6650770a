//! Sockets on which strangers may knock: so many connections in all and of one peer, none that stays silent, and no
//! error of accept that ends or spins the server. [`Listener`] is what tonic and axum serve.

mod address;
mod arrivals;
mod connection;
mod descriptors;
mod listener;
mod places;
mod rate;

pub use address::{Address, BindError};
pub use connection::Connection;
pub use descriptors::{TooFew, raise_limit};
pub use listener::{Limits, Listener, Shared};
pub use places::{Caller, Hold, Peer};
pub use rate::{Bucket, Rate};
