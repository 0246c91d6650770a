//! Traces of packets: their steps as a tree, in text and as a picture; which packets are traced, and for whom.
//!
//! [`Watches`] is what the forwarding thread asks before each packet. While nobody watches, that is one load of an
//! atomic for a burst of packets. A packet that a [`Filter`] chooses gets a recorder, and with it runs in the
//! interpreter, on the state of the switch: it happens once, and leaves as it would have.

mod filter;
mod picture;
mod text;
mod tree;
mod watch;

pub use filter::Filter;
pub use picture::picture;
pub use text::{Colour, text};
pub use tree::{Node, Packet, Trace};
pub use watch::{Message, Request, Watch, Watches};
