//! The objects of a program that the control plane sees. Names are full control-plane names (`MyIngress.ipv6_lpm`).

use num_bigint::BigUint;

use crate::frame::{storage_align, storage_size};
use crate::handle::*;

/// An action as tables run it. Its code stands where the table is applied; here is what an entry gives it.
#[derive(Debug, Clone, Default)]
pub struct Action {
    pub name: String,
    pub params: Vec<ActionParam>,
}

#[derive(Debug, Clone)]
pub struct ActionParam {
    pub name: String,
    pub width: u32,
    /// Where the value stands in the action's data, in the form of the frame.
    pub offset: u32,
}

impl Action {
    /// An action whose parameters are laid out in order.
    pub fn new(name: String, params: impl IntoIterator<Item = (String, u32)>) -> Self {
        let mut end = 0u32;
        let params = params
            .into_iter()
            .map(|(name, width)| {
                let offset = end.next_multiple_of(storage_align(width));
                end = offset + storage_size(width);
                ActionParam { name, width, offset }
            })
            .collect();
        Self { name, params }
    }

    /// Bytes of the action's data.
    pub fn data_size(&self) -> u32 {
        self.params.last().map_or(0, |param| param.offset + storage_size(param.width))
    }
}

#[derive(Debug, Clone, Default)]
pub struct Table {
    pub name: String,
    pub keys: Vec<Key>,
    pub actions: Vec<TableAction>,
    pub default_action: Option<DefaultAction>,
    /// Entries it must be able to hold.
    pub size: u64,
    /// Entries of the program, first match first unless they have priorities.
    pub entries: Vec<ConstEntry>,
    /// `const entries`: the control plane can't write the table.
    pub const_entries: bool,
    /// Set when its actions stand in an action profile or selector.
    pub profile: Option<ProfileId>,
    /// What an entry does whose group has no member that may be chosen; nothing, where there is none.
    pub empty_group: Option<ActionOfTable>,
    pub direct_counter: Option<DirectCounter>,
    pub direct_meter: Option<DirectMeter>,
    pub idle_timeout: bool,
    /// Widths of the selector's inputs (keys of match kind `selector`).
    pub selector_widths: Vec<u32>,
}

#[derive(Debug, Clone)]
pub struct Key {
    pub name: String,
    pub width: u32,
    pub kind: MatchKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
}

/// What an entry says of one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Match {
    Exact(BigUint),
    Lpm {
        value: BigUint,
        prefix: u32,
    },
    Ternary {
        value: BigUint,
        mask: BigUint,
    },
    Range {
        low: BigUint,
        high: BigUint,
    },
    /// `None` takes every value.
    Optional(Option<BigUint>),
}

#[derive(Debug, Clone)]
pub struct TableAction {
    pub action: ActionId,
    /// `@defaultonly`.
    pub default_only: bool,
    /// `@tableonly`.
    pub table_only: bool,
}

#[derive(Debug, Clone)]
pub struct DefaultAction {
    /// Index into the table's actions.
    pub action: usize,
    pub args: Vec<BigUint>,
    pub is_const: bool,
}

/// A call of one of a table's actions that stays as the program has it.
#[derive(Debug, Clone)]
pub struct ActionOfTable {
    /// Index into the table's actions.
    pub action: usize,
    pub args: Vec<BigUint>,
}

#[derive(Debug, Clone)]
pub struct ConstEntry {
    pub keys: Vec<Match>,
    /// Larger wins, as in P4Runtime; set when the table has a ternary, range or optional key.
    pub priority: u32,
    /// Index into the table's actions.
    pub action: usize,
    pub args: Vec<BigUint>,
    /// Within `entries` that are not const as a whole: this one is.
    pub is_const: bool,
}

/// An action profile, or a selector when it has an algorithm.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    pub name: String,
    pub size: u64,
    pub selector: Option<Selector>,
}

#[derive(Debug, Clone)]
pub struct Selector {
    pub algorithm: crate::inst::HashAlgorithm,
    pub output_width: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CounterUnit {
    #[default]
    Packets,
    Bytes,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeterUnit {
    #[default]
    Packets,
    Bytes,
}

#[derive(Debug, Clone, Default)]
pub struct DirectCounter {
    pub name: String,
    pub unit: CounterUnit,
}

#[derive(Debug, Clone, Default)]
pub struct DirectMeter {
    pub name: String,
    pub unit: MeterUnit,
}

#[derive(Debug, Clone, Default)]
pub struct Counter {
    pub name: String,
    pub size: u64,
    pub unit: CounterUnit,
}

#[derive(Debug, Clone, Default)]
pub struct Meter {
    pub name: String,
    pub size: u64,
    pub unit: MeterUnit,
}

#[derive(Debug, Clone, Default)]
pub struct Register {
    pub name: String,
    pub size: u64,
    pub width: u32,
    /// What each cell holds before anything is written.
    pub initial: BigUint,
}

/// A `packet_buffer`: copies of packets by queue and number, so many octets of them in all and in one queue.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    pub name: String,
    pub queues: u64,
    pub octets: u64,
    pub octets_of_queue: u64,
}

#[derive(Debug, Clone, Default)]
pub struct ValueSet {
    pub name: String,
    pub size: u64,
    pub keys: Vec<Key>,
}

impl Default for Key {
    fn default() -> Self {
        Self { name: String::new(), width: 1, kind: MatchKind::Exact }
    }
}

/// A digest message: the widths of its members, nested structs written out.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    pub name: String,
    pub widths: Vec<u32>,
}

/// An extern function of the program's own, or a method of one of its extern objects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extern {
    pub name: String,
    /// The object whose method it is.
    pub object: Option<ExternObject>,
    /// Widths of the results.
    pub results: Vec<u32>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExternObject {
    /// For the control plane.
    pub name: String,
    /// The name of its type.
    pub kind: String,
    /// The arguments of its constructor.
    pub args: Vec<BigUint>,
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub kind: NoteKind,
    /// The state, table or action, or the text of the statement or condition.
    pub text: String,
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    ParserState,
    Statement,
    /// What a `switch` or a loop decides by.
    Condition,
    /// The arm of an `if` whose condition held.
    Holds,
    /// The arm of an `if` whose condition did not hold.
    Fails,
    Table,
    Action,
    /// Behind the code of an action.
    ActionEnd,
}
