//! The state of one loaded program and the run of one packet through it.
//!
//! A [`Device`] owns everything that outlives a packet: tables, action profiles, counters, meters, registers, value
//! sets. The control plane changes it through typed calls that answer with a [`WriteError`]; packets reach it through
//! a [`Context`], which holds one packet's memory, its bytes and what became of it. A [`Backend`] (the interpreter or
//! the JIT) runs a function of the program on a context. Packets never wait for the control plane.
//!
//! Time is always an argument, in nanoseconds; random numbers begin with a [`Seed`].

mod action;
mod barrier;
pub mod bits;
mod body;
pub mod buffer;
mod carried;
mod cells;
pub mod context;
pub mod device;
pub mod effects;
pub mod entry;
pub mod error;
pub mod frame;
mod hash;
mod matching;
mod meter;
pub mod packet;
mod page_table;
mod paged;
pub mod plugin;
mod profile;
mod random;
mod register_access;
mod registers;
pub mod special;
mod table;
pub mod trace;
mod turns;
pub mod uncounted;
mod value_set;
mod wire;
mod writes;

pub use bits::BitString;
pub use buffer::{BufferCounts, BufferState, KeptPacket};
pub use context::Context;
pub use device::Device;
pub use effects::Effects;
pub use entry::*;
pub use error::{ProgramError, WriteError};
pub use frame::FrameMemory;
pub use meter::GREEN;
/// What externs take and give.
pub use num_bigint::BigUint;
pub use packet::Packet;
pub use page_table::PageTable;
pub use paged::PAGE;
pub use plugin::{Call, ExternObject, Externs};
pub use random::{Random, Seed};
pub use register_access::RegisterAccess;
pub use special::{Held, HeldEntry, Holdings, Outcome};
pub use table::DEFAULT;
pub use tables::Reader;
pub use trace::{Event, Recorder};
pub use turns::registers_written_by_packets;
pub use uncounted::{AllTogether, Found, FoundTogether};
pub use writes::{Object, Write, Writes};

/// What somebody has to do between functions that run one after the other.
pub struct Stop<'s> {
    /// Behind which of them it is asked for: a bit for each, from the lowest on.
    pub behind: u32,
    /// Whether they have to stop behind so many. If not, it may have changed the frame.
    pub asked: &'s mut dyn FnMut(&mut Context<'_>, usize) -> bool,
}

/// Something that runs the functions of a program.
pub trait Backend: Send + Sync {
    /// Runs one function on the packet in `context`. A block of v1model meets a frame that [`Context::start`] zeroed and in
    /// which nothing was written but by the blocks before it, the architecture, and what field lists keep.
    fn run(&self, function: ir::FunctionId, context: &mut Context<'_>);

    /// Runs the first function, and those that follow as long as there is nothing to do in between: no turn was taken, and
    /// [`Stop`] does not ask for it. Answers how many it ran.
    fn run_some(&self, functions: &[ir::FunctionId], context: &mut Context<'_>, _stop: &mut Stop<'_>) -> usize {
        self.run(functions[0], context);
        1
    }
}
