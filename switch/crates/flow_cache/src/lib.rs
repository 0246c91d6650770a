//! Ways that packets took through a program, kept for those that follow: a cache of flows for any program.
//!
//! A [`Way`] is what a packet's run came to: where it went, how its bytes changed, which entries it hit and what counted
//! it. It holds for every packet that comes by the same port and agrees in the bits that the run looked at; these are
//! its [`Key`]; where the run used registers or the time, these have to be alike too ([`Replay`]). [`Flows`] finds the way of a packet. Its keys have few [shapes](shape::Shape), one for each set of bits
//! that runs look at, and there is one table for all. A way holds until the control plane writes something that its run
//! [read](reads). What is worth keeping, and when to look at all, says
//! [`admission`]; how much learning may cost, [`budget`].
//!
//! Nothing here knows how a way is found out: the interpreter does, by watching a run.

mod admission;
mod budget;
mod edit;
mod flows;
mod kept;
mod octets;
mod offer;
mod places;
mod range;
mod reads;
mod replay;
mod shape;

pub use edit::{Edit, LITERAL};
pub use flows::{Flows, Keeping, Look, Settings};
pub use kept::Kept;
pub use octets::{Octets, WINDOW};
pub use offer::Offer;
pub use range::{Number, Range};
pub use replay::{FIRST_CELL, Form, MOST_CELLS, Relation, Replay, Step, TIME, Values};
pub use shape::MOST_WORDS;

use ir::CounterId;
use runtime::{AllTogether, Found};

/// Where a packet's way ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The program marked it in ingress.
    DroppedInIngress,
    /// It was on its way to a port when the program marked it in egress.
    DroppedInEgress(u32),
    Sent(u32),
}

/// What a packet's run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub end: End,
    /// What becomes of the bytes of a packet that is sent.
    pub edit: Edit,
    /// What was found in tables, where somebody asks for that, in order; but for what is in `together`.
    pub found: Box<[Found]>,
    /// What other ways find too.
    pub together: AllTogether,
    /// The cells that counted it.
    pub counts: Box<[(CounterId, u64)]>,
    /// What it asks of registers and the time, and what it writes.
    pub replay: Replay,
}

/// What a run looked at: a packet that agrees in it takes the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub octets: Octets,
    /// A packet that is shorter takes another way.
    pub at_least: usize,
    /// Whether only packets of the same length take it.
    pub exact_length: bool,
    /// What its length and numbers in it have to be besides, in order.
    pub ranges: Vec<Range>,
}

impl Key {
    /// Where a packet's octets stand that count, eight at a time, with the bits of them that do: never beyond the shortest
    /// packet or the window. None for packets that are shorter than that.
    pub fn words(&self) -> Option<Vec<(usize, [u8; 8])>> {
        let last = self.at_least.checked_sub(8)?.min(WINDOW - 8);
        let masks = self.octets.masks();
        let mut words = vec![];
        let mut at = 0;
        while let Some(gap) = masks[at..].iter().position(|mask| *mask != 0) {
            at += gap;
            // What is masked twice does no harm.
            let start = at.min(last);
            words.push((start, masks[start..start + 8].try_into().expect("eight octets")));
            at = (start + 8).max(at + 1);
        }
        Some(words)
    }
}

/// What was found out by watching a packet's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub key: Key,
    pub way: Way,
    /// The objects that the run looked into, by their numbers, in order.
    pub read: Box<[u32]>,
}
