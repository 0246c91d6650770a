//! Why a write was refused.

use std::fmt;

use num_bigint::BigUint;

/// Why the control plane's write was refused. A refused write changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error("{what} is not in {object}")]
    NotFound { object: String, what: String },
    #[error("{what} is already in {object}")]
    AlreadyExists { object: String, what: String },
    #[error("{object} is full: it holds {size}")]
    Full { object: String, size: u64 },
    /// A value that does not fit, named by the key, parameter or bound it stands for.
    #[error("{object}: {what} {problem}")]
    BadValue { object: String, what: What, problem: Problem },
    #[error("{table}: its entries are const in the program; the control plane can't change them")]
    ConstTable { table: String },
    #[error("{table}: its default action is const in the program")]
    ConstDefault { table: String },
    #[error("{table}: the entry is const in the program")]
    ConstEntry { table: String },
    #[error("{object}: index {index} is not below its size {size}")]
    BadIndex { object: String, index: u64, size: u64 },
    #[error("{table}: action {action} {problem}")]
    BadAction { table: String, action: String, problem: &'static str },
    /// A member still used by groups or entries, or a group still used by entries.
    #[error("{object}: {what} is still used by {users}")]
    InUse { object: String, what: String, users: String },
    /// A selector takes its actions either from members and groups or from one-shot action sets (spec "One Shot Action
    /// Selector Programming").
    #[error("{what} can't stand beside {others} of {object}; delete those first")]
    Mixed { object: String, what: &'static str, others: &'static str },
    #[error("{object} does not have {feature}")]
    Unsupported { object: String, feature: &'static str },
}

/// Why a program can't run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramError {
    /// What it says of a table and the table can't have. Which of its entries, from 1; the default action if none.
    Entry { table: String, entry: Option<usize>, error: Box<WriteError> },
    /// An extern that the switch does not have, or that refuses its arguments.
    Extern(String),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { table, entry: Some(number), error } => {
                write!(f, "entry {number} of table {table} in the program: {error}")
            }
            Self::Entry { table, entry: None, error } => {
                write!(f, "the default action of table {table} in the program: {error}")
            }
            Self::Extern(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for ProgramError {}

/// The part of a write that a value stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Key(String),
    Param(String),
    Priority,
    Value,
    Weight,
    GroupSize,
    Rate,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) => write!(f, "key {name}"),
            Self::Param(name) => write!(f, "parameter {name}"),
            Self::Priority => f.write_str("the priority"),
            Self::Value => f.write_str("the value"),
            Self::Weight => f.write_str("the weight"),
            Self::GroupSize => f.write_str("the size of the group"),
            Self::Rate => f.write_str("the rate"),
        }
    }
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    TooWide {
        value: BigUint,
        width: u32,
    },
    /// Bits are set that the prefix or mask leaves open.
    BitsOutsideMask {
        value: BigUint,
        mask: BigUint,
    },
    PrefixTooLong {
        prefix: u32,
        width: u32,
    },
    LowAboveHigh {
        low: BigUint,
        high: BigUint,
    },
    WrongCount {
        given: usize,
        expected: usize,
    },
    WrongMatchKind {
        expected: &'static str,
    },
    Missing,
    NotAllowed,
    AboveLimit {
        value: u64,
        limit: u64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooWide { value, width } => write!(f, "is {value:#x}, which does not fit {width} bits"),
            Self::BitsOutsideMask { value, mask } => {
                write!(f, "is {value:#x} with bits outside its mask {mask:#x}; clear them")
            }
            Self::PrefixTooLong { prefix, width } => write!(f, "has a prefix of {prefix} bits but is {width} wide"),
            Self::LowAboveHigh { low, high } => write!(f, "has a range from {low:#x} down to {high:#x}; swap them"),
            Self::WrongCount { given, expected } => write!(f, "comes with {given} values, not {expected}"),
            Self::WrongMatchKind { expected } => write!(f, "must be matched as {expected}"),
            Self::Missing => f.write_str("is missing"),
            Self::NotAllowed => f.write_str("is not allowed here"),
            Self::AboveLimit { value, limit } => write!(f, "is {value}; the most is {limit}"),
        }
    }
}
