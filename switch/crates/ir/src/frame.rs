//! The memory of one packet's variables.

use std::sync::Arc;

use crate::handle::LocalId;
use crate::inst::Operand;

/// Layout of a packet's memory.
///
/// ```text
///   0 ....... headers ................... persistent ... size
///   | headers | user and standard metadata | locals |
/// ```
///
/// The first part is zeroed when a packet enters and lives through all blocks (a copy of a packet copies it); locals
/// mean nothing outside the block that declares them.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    pub size: u32,
    pub persistent: u32,
    /// Where the parsed headers (the pipeline's `H`) end and metadata begins: a clone of egress keeps the first and
    /// resets the second.
    pub headers: u32,
    /// Named places, for the text form and for traces, by ascending offset.
    pub symbols: Vec<Symbol>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Symbol {
    /// As in the source: `hdr.ipv6.src`, `hdr.sids[0].sid`, `hdr.ipv6.$valid`, `hdr.sids.$next`.
    pub name: String,
    pub offset: u32,
    pub kind: SymbolKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    Bits(u32),
    Bool,
    Error,
    Varbit(u32),
}

impl SymbolKind {
    /// Bytes in the frame.
    pub fn size(self) -> u32 {
        match self {
            Self::Bits(width) => storage_size(width),
            Self::Bool => 1,
            Self::Error => 4,
            Self::Varbit(most) => 4 + most.div_ceil(8),
        }
    }

    /// Whether a variable of this kind takes `width` bits.
    pub fn has_width(self, width: u32) -> bool {
        match self {
            Self::Bits(bits) | Self::Varbit(bits) => width == bits,
            Self::Bool => width == 1,
            Self::Error => width == 32,
        }
    }
}

/// A variable behind the persistent part, for traces. Others take its memory once its block of statements has ended, so
/// [`crate::Inst::Locals`] says which of them live.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// The variable that was declared before it and lives as long at least.
    pub outer: Option<LocalId>,
    /// As in the source.
    pub name: String,
    pub offset: u32,
    /// Its scalars: names as they follow its own, offsets behind its own.
    pub parts: Arc<[Symbol]>,
}

impl Local {
    /// Its scalars with their whole names, where they stand.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.parts.iter().map(|part| Symbol {
            name: [self.name.as_str(), &part.name].concat(),
            offset: self.offset + part.offset,
            kind: part.kind,
        })
    }
}

/// A place in the frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub offset: u32,
    /// Added when the place is inside an element of a stack that only run time knows.
    pub index: Option<Index>,
}

/// `index * stride` is added to the offset. With `index >= count`, a read gives zeros and a write does nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Index {
    pub index: Operand,
    pub stride: u32,
    pub count: u32,
}

impl Place {
    pub const fn at(offset: u32) -> Self {
        Self { offset, index: None }
    }
}

/// How a header stands in the frame and on the wire. Offsets are relative to the header's validity byte, at 0.
#[derive(Debug, Clone, Default)]
pub struct HeaderType {
    pub name: String,
    /// In wire order; nested structs are written out.
    pub fields: Vec<HeaderField>,
    /// Bytes it takes in the frame, validity byte included.
    pub size: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HeaderField {
    pub name: String,
    pub offset: u32,
    /// Bits on the wire; of a varbit, the most.
    pub width: u32,
    pub varbit: bool,
}

impl HeaderType {
    /// Bits on the wire without the varbit field.
    pub fn fixed_bits(&self) -> u32 {
        self.fields.iter().filter(|field| !field.varbit).map(|field| field.width).sum()
    }
}

/// Offsets of `standard_metadata_t`'s fields in the frame; widths are v1model's.
#[derive(Debug, Clone, Copy, Default)]
pub struct StandardMetadata {
    pub ingress_port: u32,
    pub egress_spec: u32,
    pub egress_port: u32,
    pub instance_type: u32,
    pub packet_length: u32,
    pub enq_timestamp: u32,
    pub enq_qdepth: u32,
    pub deq_timedelta: u32,
    pub deq_qdepth: u32,
    pub ingress_global_timestamp: u32,
    pub egress_global_timestamp: u32,
    pub mcast_grp: u32,
    pub egress_rid: u32,
    pub checksum_error: u32,
    pub parser_error: u32,
    pub priority: u32,
}

impl StandardMetadata {
    /// Of all fields, in their order.
    pub fn offsets(&self) -> [u32; 16] {
        [
            self.ingress_port,
            self.egress_spec,
            self.egress_port,
            self.instance_type,
            self.packet_length,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.ingress_global_timestamp,
            self.egress_global_timestamp,
            self.mcast_grp,
            self.egress_rid,
            self.checksum_error,
            self.parser_error,
            self.priority,
        ]
    }
}

/// Metadata that a clone, resubmit or recirculate keeps: the value of `@field_list`, or the data of an old-style call.
#[derive(Debug, Clone, Default)]
pub struct FieldList {
    /// The number in `@field_list(n)`; `None` for the list of one old-style call.
    pub number: Option<u8>,
    /// (offset, bytes) pairs in the persistent part of the frame.
    pub places: Vec<(u32, u32)>,
}

/// Bytes that a scalar of `width` bits takes in the frame.
pub const fn storage_size(width: u32) -> u32 {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        65..=128 => 16,
        _ => width.div_ceil(64) * 8,
    }
}

/// Alignment of a scalar of `width` bits.
pub const fn storage_align(width: u32) -> u32 {
    let size = storage_size(width);
    if size > 8 { 8 } else { size }
}
