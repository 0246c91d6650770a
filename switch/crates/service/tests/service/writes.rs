//! Spec "Write RPC", "Read RPC" and "Capabilities RPC", over the loopback.

use crate::common::plant::{EXACT, FORWARD, REGISTER, action, exact, forward_entry, update};
use crate::common::*;
use prost::Message;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use proto::p4::v1::update::Type;
use tonic::Code;

fn insert(key: u8) -> v1::Update {
    update(Type::Insert, Entity::TableEntry(forward_entry(key)))
}

fn table() -> v1::Entity {
    v1::Entity { entity: Some(Entity::TableEntry(v1::TableEntry { table_id: EXACT, ..Default::default() })) }
}

fn errors(status: &tonic::Status) -> Vec<(i32, String)> {
    let status = proto::google::rpc::Status::decode(status.details()).unwrap();
    assert!(status.details.iter().all(|any| any.type_url == "type.googleapis.com/p4.v1.Error"));
    let errors = status.details.into_iter().map(|any| v1::Error::decode(&*any.value).unwrap());
    errors.map(|error| (error.canonical_code, error.message)).collect()
}

#[tokio::test]
async fn who_may_write_is_checked_in_the_order_of_the_spec() {
    let served = Served::new().await;
    let mut backup = served.controller(1).await;
    backup.arbitration().await;
    let request = |device_id, role: &str| v1::WriteRequest {
        device_id,
        role: role.into(),
        election_id: id(9),
        updates: vec![insert(1)],
        ..Default::default()
    };
    let code = |request| {
        let mut client = backup.client.clone();
        async move { client.write(request).await.unwrap_err().code() }
    };
    assert_eq!(code(request(DEVICE + 1, "")).await, Code::NotFound);
    assert_eq!(code(request(DEVICE, "nobody")).await, Code::NotFound);
    assert_eq!(code(request(DEVICE, "")).await, Code::PermissionDenied);
    let mut primary = served.controller(9).await;
    primary.arbitration().await;
    let error = primary.write(vec![insert(1)]).await.unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    // finsy knows by these words that it has to set the pipeline.
    assert!(error.message().contains("no forwarding pipeline config"), "{}", error.message());
    let (_, error) = primary.read(vec![table()]).await;
    assert_eq!(error.unwrap().code(), Code::FailedPrecondition);
    primary.set_config(Action::VerifyAndCommit, Some(config("program"))).await.unwrap();
    primary.write(vec![insert(1)]).await.unwrap();
    let error = backup.write(vec![insert(2)]).await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied);
    let error = primary.client.write(v1::WriteRequest { device_id: DEVICE, ..Default::default() }).await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied, "a write without election id");
}

#[tokio::test]
async fn what_was_written_is_read_by_anyone() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    primary.write(vec![insert(1), insert(2)]).await.unwrap();
    let mut reader = served.stream().await;
    let (messages, error) = reader.read(vec![table()]).await;
    assert!(error.is_none());
    let entity = |key| v1::Entity { entity: Some(Entity::TableEntry(forward_entry(key))) };
    let mut read = messages[0].entities.clone();
    read.sort_by_key(Message::encode_to_vec);
    assert_eq!(read, [entity(1), entity(2)]);
}

#[tokio::test]
async fn a_batch_that_fails_in_part_has_an_error_for_each_update() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let bad = v1::TableEntry { r#match: vec![exact(1, &[9, 9])], action: action(FORWARD, &[]), ..forward_entry(1) };
    let updates = vec![insert(1), update(Type::Insert, Entity::TableEntry(bad)), insert(1), insert(2)];
    let error = primary.write(updates).await.unwrap_err();
    assert_eq!(error.code(), Code::Unknown);
    let errors = errors(&error);
    assert_eq!(errors.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [0, 11, 6, 0]);
    assert_eq!(errors[1].1, "I.exact: key hdr.a is 0x909, which does not fit 8 bits");
    let (messages, _) = primary.read(vec![table()]).await;
    assert_eq!(messages[0].entities.len(), 2);
}

#[tokio::test]
async fn a_batch_refused_as_a_whole_has_no_details() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let request = v1::WriteRequest {
        device_id: DEVICE,
        election_id: id(10),
        updates: vec![insert(1)],
        atomicity: 9,
        ..Default::default()
    };
    let error = primary.client.write(request).await.unwrap_err();
    assert_eq!((error.code(), error.details()), (Code::InvalidArgument, &[][..]));
}

#[tokio::test]
async fn a_read_gives_what_it_can_before_its_error() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    primary.write(vec![insert(1)]).await.unwrap();
    let unknown = Entity::TableEntry(v1::TableEntry { table_id: 3, ..Default::default() });
    let (messages, error) = primary.read(vec![table(), v1::Entity { entity: Some(unknown) }]).await;
    assert_eq!(messages[0].entities.len(), 1);
    let error = error.unwrap();
    assert_eq!(error.code(), Code::Unknown);
    assert_eq!(errors(&error).iter().map(|(code, _)| *code).collect::<Vec<_>>(), [0, 3]);
    let request = v1::ReadRequest { device_id: 9, ..Default::default() };
    assert_eq!(primary.client.read(request).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn long_reads_come_in_messages_that_clients_take() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let all = Entity::RegisterEntry(v1::RegisterEntry { register_id: REGISTER, ..Default::default() });
    let requests = vec![v1::Entity { entity: Some(all) }; 50_000];
    let (messages, error) = primary.read(requests).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(messages.iter().map(|message| message.entities.len()).sum::<usize>(), 200_000);
    assert!(messages.len() > 1 && messages.iter().all(|message| message.encoded_len() < 2 << 20));
}

#[tokio::test]
async fn capabilities_name_the_version() {
    let served = Served::new().await;
    let mut client = served.client().await;
    let answer = client.capabilities(v1::CapabilitiesRequest { device_id: 0 }).await.unwrap().into_inner();
    assert_eq!(answer.p4runtime_api_version, "1.5.0");
    let error = client.capabilities(v1::CapabilitiesRequest { device_id: 7 }).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}
