//! `standard_metadata_t` in the frame, its widths as in v1model.p4.

use ir::StandardMetadata;
use runtime::FrameMemory;

macro_rules! fields {
    ($($name:ident : $width:literal, $set:ident;)*) => {
        /// Reads and writes of standard metadata.
        pub trait Metadata {
            $(
                fn $name(&self, at: &StandardMetadata) -> u64;
                /// The value is cut to the field's width.
                fn $set(&mut self, at: &StandardMetadata, value: u64);
            )*
        }

        impl Metadata for FrameMemory {
            $(
                #[inline]
                fn $name(&self, at: &StandardMetadata) -> u64 {
                    self.read(at.$name, $width) as u64
                }
                #[inline]
                fn $set(&mut self, at: &StandardMetadata, value: u64) {
                    self.write(at.$name, $width, u128::from(value & (u64::MAX >> (64 - $width))));
                }
            )*
        }
    };
}

fields! {
    ingress_port: 9, set_ingress_port;
    egress_spec: 9, set_egress_spec;
    egress_port: 9, set_egress_port;
    instance_type: 32, set_instance_type;
    packet_length: 32, set_packet_length;
    enq_timestamp: 32, set_enq_timestamp;
    enq_qdepth: 19, set_enq_qdepth;
    deq_timedelta: 32, set_deq_timedelta;
    deq_qdepth: 19, set_deq_qdepth;
    ingress_global_timestamp: 48, set_ingress_global_timestamp;
    egress_global_timestamp: 48, set_egress_global_timestamp;
    mcast_grp: 16, set_mcast_grp;
    egress_rid: 16, set_egress_rid;
    priority: 3, set_priority;
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
}
