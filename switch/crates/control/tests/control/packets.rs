//! Spec "Packet I/O" and "DigestEntry".

use crate::common::*;
use control::Code;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::p4_data::Data;
use proto::p4::v1::update::Type;

fn metadata(values: &[(u32, &[u8])]) -> Vec<v1::PacketMetadata> {
    values.iter().map(|(id, value)| v1::PacketMetadata { metadata_id: *id, value: value.to_vec() }).collect()
}

#[test]
fn the_packet_in_header_becomes_metadata() {
    let control = Fixture::new().control;
    // Port 0x1fe in nine bits, reason 5 in seven.
    let packet = control.packet_in(&[0xff, 0x05, 1, 2, 3]).unwrap();
    assert_eq!(packet.metadata, metadata(&[(1, &[1, 0xfe]), (2, &[5])]));
    assert_eq!(packet.payload, [1, 2, 3]);
    assert!(control.packet_in(&[0xff]).unwrap_err().message.contains("too short"));
}

#[test]
fn metadata_becomes_the_packet_out_header() {
    let control = Fixture::new().control;
    let packet = |values| v1::PacketOut { payload: vec![9], metadata: metadata(values) };
    assert_eq!(control.packet_out(&packet(&[(2, &[5]), (1, &[1, 0xfe])])).unwrap(), [0xff, 0x05, 9]);
    let error = |values| control.packet_out(&packet(values)).unwrap_err();
    assert_eq!(error(&[(1, &[1])]).message, "packet_out metadata reason is missing");
    assert_eq!(error(&[(1, &[2, 0]), (2, &[0])]).code, Code::OutOfRange);
    assert_eq!(error(&[(7, &[2])]).message, "packet_out has no metadata with id 7");
    assert!(error(&[(1, &[1]), (1, &[1])]).message.contains("twice"));
}

#[test]
fn a_program_without_controller_headers_passes_packets_whole() {
    let mut p4info = p4info();
    p4info.controller_packet_metadata.clear();
    let control = Fixture::of(program(), p4info).control;
    assert_eq!(control.packet_in(&[1, 2]).unwrap(), v1::PacketIn { payload: vec![1, 2], metadata: vec![] });
    assert_eq!(control.packet_out(&v1::PacketOut { payload: vec![1], metadata: vec![] }).unwrap(), [1]);
}

#[test]
fn digests_are_sent_once_they_are_asked_for() {
    let fixture = Fixture::new();
    let control = &fixture.control;
    let config = v1::digest_entry::Config { max_timeout_ns: 100, max_list_size: 2, ack_timeout_ns: 1000 };
    let digest = |config| Entity::DigestEntry(v1::DigestEntry { digest_id: DIGEST, config });
    learn(control, 1, 2, 0);
    fixture.refuses(Type::Modify, digest(Some(config)), Code::NotFound, "learn_t: is not sent");
    fixture.insert(digest(Some(config)));
    fixture.refuses(Type::Insert, digest(Some(config)), Code::AlreadyExists, "learn_t");
    assert_eq!(fixture.read(digest(None)), [digest(Some(config))]);

    learn(control, 0xaabb, 3, 0);
    assert_eq!(control.digest_deadline(), Some(100));
    assert_eq!(control.digest_lists(99, 0), []);
    let list = control.digest_lists(100, 77).remove(0);
    assert_eq!((list.digest_id, list.timestamp, list.data.len()), (DIGEST, 77, 1));
    let Some(Data::Struct(learned)) = &list.data[0].data else { panic!("{list:?}") };
    assert_eq!(learned.members[0].data, Some(Data::Bitstring(vec![0xaa, 0xbb])));
    learn(control, 0xaabb, 3, 200);
    assert_eq!(control.digest_deadline(), None, "it was not acknowledged");
    control.acknowledge(&v1::DigestListAck { digest_id: DIGEST, list_id: list.list_id }).unwrap();
    learn(control, 0xaabb, 3, 300);
    assert_eq!(control.digest_deadline(), Some(400));
    let unknown = control.acknowledge(&v1::DigestListAck { digest_id: 1, list_id: 1 });
    assert_eq!(unknown.unwrap_err().code, Code::InvalidArgument);

    let negative = v1::digest_entry::Config { ack_timeout_ns: -1, ..config };
    fixture.refuses(Type::Modify, digest(Some(negative)), Code::InvalidArgument, "ack_timeout_ns is -1");
    fixture.delete(digest(None));
    assert_eq!(fixture.read(Entity::DigestEntry(Default::default())), []);
}
