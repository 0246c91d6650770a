//! The flow cache's ways in the kernel: packets that take one are forwarded there and wake nobody.
//!
//! ```text
//!              port's socket           TC ingress                  another port
//!   packet --> filter: its way? ---+-> take what was decided --->  out
//!                  | none          |   change, count
//!                  v               |
//!              the switch          |   (nothing decided) --->  the kernel, as ever
//! ```
//!
//! The [flow cache](flow_cache) offers ways that are taken often. [`candidate`] says which of them the kernel can take,
//! [`programs`] has the two programs, which are made anew when ways come that look at other bits, and [`memory`] what they
//! share with this process. A write ends the eras of the ways that it concerns before it is answered; a packet whose way
//! is of an earlier era goes to the switch. What was counted in the kernel is added to counters, idle times and ports
//! when somebody asks, and many times a second ([`KernelFlowCache::collect`]).

mod cache;
mod candidate;
mod checksums;
mod memory;
mod pattern;
mod programs;
mod ways;

pub use cache::KernelFlowCache;
pub use memory::Pause;
pub use ways::KernelFlows;
