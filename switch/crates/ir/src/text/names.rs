//! Words for the operations and kinds.

use crate::*;

/// An item of a closed set with a word for each.
pub trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [(Self, &'static str)];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(item, _)| *item == self).expect("every item has a word").1
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, name)| *name == word).map(|(item, _)| *item)
    }
}

macro_rules! words {
    ($($kind:ident { $($item:ident $word:literal)* })*) => { $(
        impl Word for $kind {
            const WORDS: &'static [(Self, &'static str)] = &[$(($kind::$item, $word)),*];
        }
    )* };
}

words! {
    UnaryOp { Neg "neg" Not "not" }
    BinaryOp {
        Add "add" Sub "sub" Mul "mul" Div "div" Mod "mod" And "and" Or "or" Xor "xor" Shl "shl" Shr "shr" Sar "sar"
        AddSatU "add_sat_u" SubSatU "sub_sat_u" AddSatS "add_sat_s" SubSatS "sub_sat_s"
    }
    CompareOp { Eq "eq" Ne "ne" LtU "lt_u" LeU "le_u" LtS "lt_s" LeS "le_s" }
    HashAlgorithm {
        Crc32 "crc32" Crc32Custom "crc32_custom" Crc16 "crc16" Crc16Custom "crc16_custom" Random "random"
        Identity "identity" Csum16 "csum16" Xor16 "xor16"
    }
    MatchKind { Exact "exact" Lpm "lpm" Ternary "ternary" Range "range" Optional "optional" }
    CounterUnit { Packets "packets" Bytes "bytes" Both "both" }
    MeterUnit { Packets "packets" Bytes "bytes" }
    NoteKind {
        ParserState "state" Statement "statement" Condition "condition" Holds "holds" Fails "fails" Table "table" Action "action"
        ActionEnd "action_end"
    }
}

/// One list of the fields for reading and for writing them by name.
macro_rules! metadata_fields {
    ($($field:ident)*) => {
        /// Offsets of the standard metadata by the field's name.
        pub fn metadata_offsets(metadata: &StandardMetadata) -> Vec<(&'static str, u32)> {
            vec![$((stringify!($field), metadata.$field)),*]
        }

        /// The offset of a field of the standard metadata, to set.
        pub fn metadata_offset<'a>(metadata: &'a mut StandardMetadata, field: &str) -> Option<&'a mut u32> {
            match field {
                $(stringify!($field) => Some(&mut metadata.$field),)*
                _ => None,
            }
        }
    };
}

metadata_fields! {
    ingress_port egress_spec egress_port instance_type packet_length enq_timestamp enq_qdepth deq_timedelta deq_qdepth
    ingress_global_timestamp egress_global_timestamp mcast_grp egress_rid checksum_error parser_error priority
}
