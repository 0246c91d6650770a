//! What a program for the Portable Switch Architecture has in place of v1model's blocks and standard metadata.

use crate::FunctionId;
use crate::frame::{storage_align, storage_size};

/// The functions of the six programmable blocks, and where they find what the architecture gives them and takes from
/// them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Psa {
    pub blocks: PsaBlocks,
    pub metadata: PsaMetadata,
    /// Metadata of the program that goes with a packet to the next pass.
    pub resubmit: Kept,
    pub recirculate: Kept,
    pub clone_i2e: Kept,
    pub clone_e2e: Kept,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PsaBlocks {
    pub ingress_parser: FunctionId,
    pub ingress: FunctionId,
    pub ingress_deparser: FunctionId,
    pub egress_parser: FunctionId,
    pub egress: FunctionId,
    pub egress_deparser: FunctionId,
}

impl PsaBlocks {
    pub fn list(&self) -> [FunctionId; 6] {
        [
            self.ingress_parser,
            self.ingress,
            self.ingress_deparser,
            self.egress_parser,
            self.egress,
            self.egress_deparser,
        ]
    }
}

impl From<[FunctionId; 6]> for PsaBlocks {
    fn from(list: [FunctionId; 6]) -> Self {
        let [ingress_parser, ingress, ingress_deparser, egress_parser, egress, egress_deparser] = list;
        Self { ingress_parser, ingress, ingress_deparser, egress_parser, egress, egress_deparser }
    }
}

/// A piece of the persistent part of the frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Kept {
    pub offset: u32,
    pub bytes: u32,
}

macro_rules! metadata {
    ($($field:ident $width:literal $of:literal $name:literal;)*) => {
        /// Offsets of the fields of psa.p4's structures in the frame.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct PsaMetadata {
            $(pub $field: u32,)*
        }

        impl PsaMetadata {
            /// Of each field its width, the structure that it is in, its name there, and its offset.
            pub fn fields(&self) -> Vec<(u32, &'static str, &'static str, u32)> {
                vec![$(($width, $of, $name, self.$field)),*]
            }

            /// The same, to set the offsets.
            pub fn fields_mut(&mut self) -> Vec<(u32, &'static str, &'static str, &mut u32)> {
                vec![$(($width, $of, $name, &mut self.$field)),*]
            }
        }
    };
}

metadata! {
    ingress_parser_port 32 "ingress parser input" "ingress_port";
    ingress_parser_path 32 "ingress parser input" "packet_path";
    ingress_port 32 "ingress input" "ingress_port";
    ingress_path 32 "ingress input" "packet_path";
    ingress_timestamp 64 "ingress input" "ingress_timestamp";
    ingress_parser_error 32 "ingress input" "parser_error";
    ingress_class_of_service 8 "ingress output" "class_of_service";
    ingress_clone 1 "ingress output" "clone";
    ingress_clone_session 16 "ingress output" "clone_session_id";
    ingress_drop 1 "ingress output" "drop";
    ingress_resubmit 1 "ingress output" "resubmit";
    multicast_group 32 "ingress output" "multicast_group";
    chosen_port 32 "ingress output" "egress_port";
    egress_parser_port 32 "egress parser input" "egress_port";
    egress_parser_path 32 "egress parser input" "packet_path";
    class_of_service 8 "egress input" "class_of_service";
    egress_port 32 "egress input" "egress_port";
    egress_path 32 "egress input" "packet_path";
    instance 16 "egress input" "instance";
    egress_timestamp 64 "egress input" "egress_timestamp";
    egress_parser_error 32 "egress input" "parser_error";
    egress_clone 1 "egress output" "clone";
    egress_clone_session 16 "egress output" "clone_session_id";
    egress_drop 1 "egress output" "drop";
    egress_deparser_port 32 "egress deparser input" "egress_port";
}

impl Psa {
    /// The first thing that doesn't lie in a persistent part of so many bytes as it should.
    pub(crate) fn misplaced(&self, persistent: u32) -> Option<String> {
        let inside = |offset: u32, bytes: u32| u64::from(offset) + u64::from(bytes) <= u64::from(persistent);
        let field = self.metadata.fields().into_iter().find(|(width, _, _, offset)| {
            !inside(*offset, storage_size(*width)) || !offset.is_multiple_of(storage_align(*width))
        });
        let kept = [self.resubmit, self.recirculate, self.clone_i2e, self.clone_e2e];
        let kept = kept.into_iter().find(|kept| !inside(kept.offset, kept.bytes));
        let field = field.map(|(width, of, name, offset)| format!("{of} {name}, {width} bits at {offset}"));
        field.or_else(|| kept.map(|kept| format!("{} bytes at {}", kept.bytes, kept.offset)))
    }
}
