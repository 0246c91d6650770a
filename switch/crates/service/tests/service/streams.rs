//! Spec "P4Runtime Stream Messages" and "Client Arbitration", over the loopback.

use crate::common::plant::{DIGEST, EXACT, forward_entry, update};
use crate::common::*;
use prost::Message;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::stream_error::Details;
use proto::p4::v1::stream_message_request::Update as Request;
use proto::p4::v1::stream_message_response::Update as Response;
use proto::p4::v1::update::Type;
use proto::stratum::P4RoleConfig;
use tonic::Code;

const OK: i32 = 0;
const BACKUP: i32 = 6;
const NO_PRIMARY: i32 = 5;

fn metadata(values: [u8; 2]) -> Vec<v1::PacketMetadata> {
    let metadata = |(at, value): (usize, &u8)| v1::PacketMetadata { metadata_id: at as u32 + 1, value: vec![*value] };
    values.iter().enumerate().map(metadata).collect()
}

fn role(name: &str, config: P4RoleConfig) -> Option<v1::Role> {
    let config =
        prost_types::Any { type_url: "type.googleapis.com/stratum.P4RoleConfig".into(), value: config.encode_to_vec() };
    Some(v1::Role { name: name.into(), config: Some(config), ..Default::default() })
}

#[tokio::test]
async fn all_controllers_hear_of_a_new_primary() {
    let served = Served::new().await;
    let mut first = served.controller(10).await;
    assert_eq!(first.arbitration().await, (OK, Some(10)));
    let mut second = served.controller(20).await;
    assert_eq!(second.arbitration().await, (OK, Some(20)));
    assert_eq!(first.arbitration().await, (BACKUP, Some(20)));
    drop(second);
    assert_eq!(first.arbitration().await, (NO_PRIMARY, Some(20)));
    first.bid(v1::MasterArbitrationUpdate { election_id: id(20), ..bid() }).await;
    assert_eq!(first.arbitration().await, (OK, Some(20)));
}

#[tokio::test]
async fn a_bad_bid_ends_the_stream() {
    let served = Served::new().await;
    let mut first = served.controller(10).await;
    first.arbitration().await;
    let mut same = served.controller(10).await;
    let error = same.answers.message().await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    // finsy knows by these words that it has to bid with another one.
    assert!(error.message().starts_with("election id 10 is already used"), "{}", error.message());
    let mut other = served.stream().await;
    other.bid(v1::MasterArbitrationUpdate { device_id: 77, ..bid() }).await;
    assert_eq!(other.answers.message().await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn a_stream_ends_when_its_controller_ends_it() {
    let served = Served::new().await;
    let controller = served.controller(10).await;
    let Controller { requests, mut answers, .. } = controller;
    drop(requests);
    assert!(answers.message().await.unwrap().is_some(), "the answer to the bid");
    assert!(answers.message().await.unwrap().is_none());
}

#[tokio::test]
async fn packets_go_out_with_their_header() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    primary.send(Request::Packet(v1::PacketOut { payload: vec![7], metadata: metadata([2, 5]) })).await;
    let bad = v1::PacketOut { payload: vec![8], metadata: metadata([2, 0xff]) };
    primary.send(Request::Packet(bad.clone())).await;
    let Response::Error(error) = primary.next().await else { panic!() };
    assert_eq!(error.canonical_code, 11);
    assert_eq!(error.message, "packet_out metadata reason is 0xff, which does not fit 7 bits");
    assert_eq!(error.details, Some(Details::PacketOut(v1::PacketOutError { packet_out: Some(bad) })));
    assert_eq!(*served.switch.sent.lock().unwrap(), [vec![1, 5, 7]]);
}

#[tokio::test]
async fn only_the_primary_sends_and_receives_packets() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let mut backup = served.controller(3).await;
    assert_eq!(backup.arbitration().await, (BACKUP, Some(10)));
    served.hub.packet_in(&[1, 5, 9]);
    let packet = v1::PacketIn { payload: vec![9], metadata: metadata([2, 5]) };
    assert_eq!(primary.next().await, Response::Packet(packet));
    // Had the backup got the packet too, it would come before this answer.
    backup.send(Request::Packet(v1::PacketOut::default())).await;
    let Response::Error(error) = backup.next().await else { panic!() };
    assert_eq!(error.canonical_code, 7);
    assert!(served.switch.sent.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_role_gets_its_packets_and_writes_its_tables() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let filter = proto::stratum::p4_role_config::PacketFilter { metadata_id: 2, value: vec![5] };
    let limits = P4RoleConfig {
        shared_p4_ids: vec![EXACT],
        receives_packet_ins: true,
        packet_in_filter: Some(filter),
        ..Default::default()
    };
    let mut acl = served.stream().await;
    acl.bid(v1::MasterArbitrationUpdate { role: role("acl", limits), election_id: id(1), ..bid() }).await;
    let Response::Arbitration(told) = acl.next().await else { panic!() };
    assert_eq!(told.role.unwrap().name, "acl");
    served.hub.packet_in(&[1, 6, 9]);
    served.hub.packet_in(&[1, 5, 9]);
    let Response::Packet(packet) = acl.next().await else { panic!() };
    assert_eq!(packet.metadata, metadata([2, 5]));
    assert!(matches!(primary.next().await, Response::Packet(_)));

    let request = |entity| v1::WriteRequest {
        device_id: DEVICE,
        role: "acl".into(),
        election_id: id(1),
        updates: vec![update(Type::Insert, entity)],
        ..Default::default()
    };
    acl.client.write(request(Entity::TableEntry(forward_entry(1)))).await.unwrap();
    let error = acl.client.write(request(Entity::TableEntry(crate::common::plant::acl_entry(1, vec![])))).await;
    assert!(error.unwrap_err().message().contains("does not belong to this role"));
    let request = v1::SetForwardingPipelineConfigRequest {
        device_id: DEVICE,
        role: "acl".into(),
        election_id: id(1),
        ..Default::default()
    };
    let error = acl.client.set_forwarding_pipeline_config(request).await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied);
}

#[tokio::test]
async fn digests_reach_the_primary_until_they_are_acknowledged() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let config = v1::digest_entry::Config { max_timeout_ns: 100, max_list_size: 2, ack_timeout_ns: i64::MAX };
    let entry = Entity::DigestEntry(v1::DigestEntry { digest_id: DIGEST, config: Some(config) });
    primary.write(vec![update(Type::Insert, entry)]).await.unwrap();
    let learn = |mac: u32| served.hub.digest(ir::Handle::new(0), &[mac.into(), 1u32.into()]);
    learn(1);
    learn(1);
    learn(2);
    let Response::Digest(list) = primary.next().await else { panic!() };
    assert_eq!((list.data.len(), list.timestamp), (2, 1_700_000_000_000_000_000));
    learn(1);
    learn(3);
    served.switch.pass(100);
    served.hub.tick();
    let Response::Digest(next) = primary.next().await else { panic!() };
    assert_eq!(next.data.len(), 1, "1 was sent and not acknowledged");
    let ack = v1::DigestListAck { digest_id: DIGEST, list_id: list.list_id };
    primary.send(Request::DigestAck(ack)).await;
    // The stream is read in order, so the answer to this says that the acknowledgement was taken.
    primary.send(Request::DigestAck(v1::DigestListAck { digest_id: 5, list_id: 1 })).await;
    let Response::Error(error) = primary.next().await else { panic!() };
    assert_eq!(error.canonical_code, 3);
    assert!(matches!(error.details, Some(Details::DigestListAck(_))));
    learn(1);
    learn(2);
    let Response::Digest(again) = primary.next().await else { panic!() };
    assert_eq!(again.data, list.data);
}

#[tokio::test]
async fn idle_entries_are_told_to_the_primary() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let entry = v1::TableEntry { idle_timeout_ns: 1_000_000_000, metadata: b"m".to_vec(), ..forward_entry(1) };
    primary.write(vec![update(Type::Insert, Entity::TableEntry(entry.clone()))]).await.unwrap();
    served.switch.pass(999_999_999);
    served.hub.tick();
    served.hub.packet_in(&[1, 5, 9]);
    assert!(matches!(primary.next().await, Response::Packet(_)), "it is not idle yet");
    served.switch.pass(1_000_000_000);
    served.hub.tick();
    served.hub.tick();
    served.hub.packet_in(&[1, 5, 9]);
    let Response::IdleTimeoutNotification(told) = primary.next().await else { panic!() };
    assert_eq!((told.table_entry, told.timestamp), (vec![entry], 1_700_000_000_000_000_000));
    assert!(matches!(primary.next().await, Response::Packet(_)), "it is told once");
}

#[tokio::test]
async fn messages_without_meaning_are_answered_with_an_error() {
    let served = Served::new().await;
    let mut controller = served.controller(1).await;
    controller.arbitration().await;
    controller.send(Request::Other(prost_types::Any::default())).await;
    let Response::Error(error) = controller.next().await else { panic!() };
    assert_eq!(error.canonical_code, 12);
    assert!(matches!(error.details, Some(Details::Other(_))));
}

#[tokio::test]
async fn a_stop_ends_streams_with_a_word_and_the_server() {
    let mut served = Served::new().await;
    let mut controller = served.controller(1).await;
    controller.arbitration().await;
    served.stop.take().unwrap().send(()).unwrap();
    let error = controller.answers.message().await.unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Unavailable, "the switch stops"));
    served.served.await.unwrap().unwrap();
}
