//! What the control plane writes and reads.

use ir::{ActionId, Match, TableId};
use num_bigint::BigUint;

/// An action with its arguments, in the order of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionCall {
    pub action: ActionId,
    pub args: Vec<BigUint>,
}

/// What an entry does with a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryAction {
    Action(ActionCall),
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action selector.
    Group(u32),
    /// A group of its own, not shared and not named.
    OneShot(Vec<OneShot>),
}

/// One of the actions of a one-shot group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneShot {
    pub call: ActionCall,
    pub weight: u32,
    /// Out of the choice while this port is down.
    pub watch_port: Option<u32>,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    pub member: u32,
    pub weight: u32,
    /// Out of the choice while this port is down.
    pub watch_port: Option<u32>,
}

/// A group of an action selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The sum of weights it may reach; 0 is no bound.
    pub max_size: u32,
    pub members: Vec<GroupMember>,
}

/// An entry to write. `keys` has one match per key of the table, `Match::Ternary` with mask 0, a full range, prefix 0
/// or `Optional(None)` for a key that is left open.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    pub keys: Vec<Match>,
    /// Larger wins; 0 in tables without ternary, range or optional keys.
    pub priority: u32,
    pub action: EntryAction,
    /// Nanoseconds without a hit after which the entry is reported; 0 is never.
    pub idle_timeout: u64,
    /// The control plane's own bytes, given back on reads.
    pub metadata: Vec<u8>,
    /// Start values of the direct counter.
    pub counter: Option<CounterData>,
    pub meter: Option<MeterConfig>,
}

/// An entry as read.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEntry {
    pub keys: Vec<Match>,
    pub priority: u32,
    pub action: EntryAction,
    pub idle_timeout: u64,
    pub metadata: Vec<u8>,
    /// From the program, not to be changed.
    pub is_const: bool,
    /// Nanoseconds since the last hit; known when the table has idle timeouts.
    pub since_hit: Option<u64>,
    /// Present when the table has a direct counter.
    pub counter: Option<CounterData>,
    /// Present when the table has a direct meter that was configured.
    pub meter: Option<MeterConfig>,
    /// Present when the table has a direct meter.
    pub colours: Option<ColourCounts>,
}

/// What a counter counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterData {
    pub packets: u64,
    pub bytes: u64,
}

/// Packets that a meter marked, by their colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColourCounts {
    pub green: CounterData,
    pub yellow: CounterData,
    pub red: CounterData,
}

/// Rates in units (packets or bytes) per second, bursts in units; RFC 2698.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeterConfig {
    pub cir: u64,
    pub cburst: u64,
    pub pir: u64,
    pub pburst: u64,
}

/// An entry that had no hit for its idle timeout.
#[derive(Debug, Clone, PartialEq)]
pub struct Expired {
    pub table: TableId,
    pub entry: TableEntry,
}
