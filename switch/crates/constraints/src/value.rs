//! What entries have in their keys and parameters.

use std::fmt;

use num_bigint::{BigInt, BigUint};

/// A value as P4Runtime writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum {
    Int(BigInt),
    Text(String),
}

impl From<BigUint> for Datum {
    fn from(value: BigUint) -> Self {
        Self::Int(value.into())
    }
}

impl From<u32> for Datum {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The match of a key, or the value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matched {
    /// Also a parameter.
    Exact(Datum),
    /// Also an optional match: all of the mask is set, or nothing.
    Ternary {
        value: Datum,
        mask: BigUint,
    },
    Lpm {
        value: Datum,
        prefix: u32,
    },
    Range {
        low: Datum,
        high: Datum,
    },
}

impl Matched {
    /// Value, or the low end of a range.
    pub(crate) fn value(&self) -> &Datum {
        match self {
            Self::Exact(value) | Self::Ternary { value, .. } | Self::Lpm { value, .. } => value,
            Self::Range { low, .. } => low,
        }
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) if value.magnitude().bits() > 16 => write!(f, "{value:#x}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

impl fmt::Display for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(value) => write!(f, "{value}"),
            Self::Ternary { mask, .. } if mask.bits() == 0 => write!(f, "any (mask 0)"),
            Self::Ternary { value, mask } => write!(f, "{value} (mask {mask:#x})"),
            Self::Lpm { prefix: 0, .. } => write!(f, "any (prefix length 0)"),
            Self::Lpm { value, prefix } => write!(f, "{value} (prefix length {prefix})"),
            Self::Range { low, high } => write!(f, "{low} to {high}"),
        }
    }
}
