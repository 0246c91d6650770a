//! The messages and services of P4Runtime 1.5, as the `finsy` wheel's .proto files give them, and of traces.

// Generated code is not ours to mend.
#![allow(clippy::all, rustdoc::all)]

pub mod p4 {
    pub mod v1 {
        tonic::include_proto!("p4.v1");
    }
    pub mod config {
        pub mod v1 {
            tonic::include_proto!("p4.config.v1");
        }
    }
}

pub mod google {
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}

/// How Stratum, finsy and p4runtime-shell say what a role may do.
pub mod stratum {
    tonic::include_proto!("stratum");
}

/// The traces of a running switch.
pub mod trace {
    tonic::include_proto!("wayname.trace.v1");
}

/// The compiled .proto files, a `google.protobuf.FileDescriptorSet`: for reflection and the text format.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn the_descriptor_set_has_the_service_and_what_it_imports() {
        let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
        let names: Vec<&str> = set.file.iter().map(|file| file.name()).collect();
        assert!(names.contains(&"p4/v1/p4runtime.proto"), "{names:?}");
        assert!(names.contains(&"google/protobuf/any.proto"), "{names:?}");
    }

    #[test]
    fn a_message_survives_the_wire() {
        let update = p4::v1::MasterArbitrationUpdate {
            device_id: 7,
            election_id: Some(p4::v1::Uint128 { high: 1, low: u64::MAX }),
            status: Some(google::rpc::Status {
                code: google::rpc::Code::AlreadyExists as i32,
                message: "is backup".into(),
                details: vec![prost_types::Any { type_url: "t".into(), value: vec![1] }],
            }),
            ..Default::default()
        };
        assert_eq!(p4::v1::MasterArbitrationUpdate::decode(&*update.encode_to_vec()), Ok(update));
    }
}
