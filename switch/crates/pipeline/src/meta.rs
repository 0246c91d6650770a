//! `standard_metadata_t` in the frame, its widths as in v1model.p4.

use ir::StandardMetadata;
use runtime::FrameMemory;

macro_rules! fields {
    (read $($read:ident $read_width:literal),*; write $($set:ident $written:ident $width:literal),*) => {
        /// Reads and writes of standard metadata.
        pub trait Metadata {
            $(fn $read(&self, at: &StandardMetadata) -> u64;)*
            $(
                /// The value is cut to the field's width.
                fn $set(&mut self, at: &StandardMetadata, value: u64);
            )*
        }

        impl Metadata for FrameMemory {
            $(
                #[inline]
                fn $read(&self, at: &StandardMetadata) -> u64 {
                    self.read(at.$read, $read_width) as u64
                }
            )*
            $(
                #[inline]
                fn $set(&mut self, at: &StandardMetadata, value: u64) {
                    self.write(at.$written, $width, u128::from(value & (u64::MAX >> (64 - $width))));
                }
            )*
        }
    };
}

fields! {
    read
        ingress_port 9,
        egress_spec 9,
        ingress_global_timestamp 48,
        mcast_grp 16,
        priority 3;
    write
        set_ingress_port ingress_port 9,
        set_egress_spec egress_spec 9,
        set_egress_port egress_port 9,
        set_instance_type instance_type 32,
        set_packet_length packet_length 32,
        set_egress_rid egress_rid 16,
        set_enq_timestamp enq_timestamp 32,
        set_enq_qdepth enq_qdepth 19,
        set_deq_timedelta deq_timedelta 32,
        set_deq_qdepth deq_qdepth 19,
        set_ingress_global_timestamp ingress_global_timestamp 48,
        set_egress_global_timestamp egress_global_timestamp 48
}

/// Values of `instance_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instance {
    Normal = 0,
    IngressClone = 1,
    EgressClone = 2,
    Recirculated = 4,
    Replicated = 5,
    Resubmitted = 6,
    /// Beside v1model: out of a packet buffer.
    Kept = 7,
}
