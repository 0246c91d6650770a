//! Spec "SetForwardingPipelineConfig RPC" and "GetForwardingPipelineConfig RPC", over the loopback.

use crate::common::plant::{EXACT, forward_entry, update};
use crate::common::*;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use proto::p4::v1::update::Type;
use tonic::Code;

fn table() -> v1::Entity {
    v1::Entity { entity: Some(Entity::TableEntry(v1::TableEntry { table_id: EXACT, ..Default::default() })) }
}

fn insert(key: u8) -> v1::Update {
    update(Type::Insert, Entity::TableEntry(forward_entry(key)))
}

async fn get(controller: &mut Controller, kind: ResponseType) -> Option<v1::ForwardingPipelineConfig> {
    let request = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: kind as i32 };
    controller.client.get_forwarding_pipeline_config(request).await.unwrap().into_inner().config
}

async fn entries(controller: &mut Controller) -> usize {
    let (messages, error) = controller.read(vec![table()]).await;
    assert!(error.is_none(), "{error:?}");
    messages.iter().map(|message| message.entities.len()).sum()
}

#[tokio::test]
async fn only_the_primary_sets_the_pipeline() {
    let served = Served::new().await;
    let mut controller = served.controller(1).await;
    controller.arbitration().await;
    let request = |device_id, low| v1::SetForwardingPipelineConfigRequest {
        device_id,
        election_id: id(low),
        action: Action::VerifyAndCommit as i32,
        config: Some(config("program")),
        ..Default::default()
    };
    let error = controller.client.set_forwarding_pipeline_config(request(9, 1)).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    let error = controller.client.set_forwarding_pipeline_config(request(DEVICE, 2)).await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied);
    controller.client.set_forwarding_pipeline_config(request(DEVICE, 1)).await.unwrap();
}

#[tokio::test]
async fn what_is_wrong_with_a_config_is_named() {
    let served = Served::new().await;
    let mut primary = served.controller(1).await;
    primary.arbitration().await;
    let mut other = config("program");
    other.p4info.as_mut().unwrap().tables[0].size = 5;
    let cases = [
        (None, "config is not set"),
        (Some(config("")), "p4_device_config is empty"),
        (Some(config("broken")), "main.p4:1:1: error: expected a declaration"),
        (Some(v1::ForwardingPipelineConfig { p4info: None, ..config("program") }), "p4info is not set"),
        (Some(v1::ForwardingPipelineConfig { p4_device_config: vec![0xff], ..config("") }), "is no text"),
        (Some(other), "tables[I.exact].size is 5, in the program it is 4"),
    ];
    for action in [Action::Verify, Action::VerifyAndSave, Action::VerifyAndCommit, Action::ReconcileAndCommit] {
        for (config, words) in cases.clone() {
            let error = primary.set_config(action, config).await.unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().contains(words), "{action:?}: {:?} lacks {words:?}", error.message());
        }
    }
    let error = primary.set_config(Action::Unspecified, Some(config("program"))).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(get(&mut primary, ResponseType::All).await, None);
    assert!(served.switch.committed.lock().unwrap().is_empty());
}

#[tokio::test]
async fn verify_changes_nothing() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    primary.write(vec![insert(1)]).await.unwrap();
    primary.set_config(Action::Verify, Some(config("other"))).await.unwrap();
    assert_eq!(entries(&mut primary).await, 1);
    assert_eq!(get(&mut primary, ResponseType::All).await, Some(config("program")));
}

#[tokio::test]
async fn commit_clears_the_forwarding_state() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    primary.write(vec![insert(1)]).await.unwrap();
    primary.set_config(Action::VerifyAndCommit, Some(config("other"))).await.unwrap();
    assert_eq!(entries(&mut primary).await, 0);
    assert_eq!(*served.switch.committed.lock().unwrap(), ["program", "other"]);
}

#[tokio::test]
async fn writes_to_a_saved_config_take_effect_with_its_commit() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    let error = primary.set_config(Action::Commit, None).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    primary.write(vec![insert(1)]).await.unwrap();
    primary.set_config(Action::VerifyAndSave, Some(config("saved"))).await.unwrap();
    assert_eq!(entries(&mut primary).await, 0);
    primary.write(vec![insert(2), insert(3)]).await.unwrap();
    assert_eq!(*served.switch.committed.lock().unwrap(), ["program"]);
    let error = primary.set_config(Action::Commit, Some(config("saved"))).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    primary.set_config(Action::Commit, None).await.unwrap();
    assert_eq!(*served.switch.committed.lock().unwrap(), ["program", "saved"]);
    assert_eq!(entries(&mut primary).await, 2);
    assert_eq!(primary.set_config(Action::Commit, None).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn reconciling_keeps_entries_or_refuses() {
    let served = Served::new().await;
    let mut primary = served.ready().await;
    primary.write((1..=3).map(insert).collect()).await.unwrap();
    primary.set_config(Action::ReconcileAndCommit, Some(config("next"))).await.unwrap();
    assert_eq!(entries(&mut primary).await, 3);
    let error = primary.set_config(Action::ReconcileAndCommit, Some(config("small"))).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("I.exact is full: it holds 2"), "{}", error.message());
    assert_eq!(*served.switch.committed.lock().unwrap(), ["program", "next"]);
    assert_eq!(entries(&mut primary).await, 3);
}

#[tokio::test]
async fn the_config_is_read_in_the_parts_asked_for() {
    let served = Served::new().await;
    let mut primary = served.controller(1).await;
    primary.arbitration().await;
    assert_eq!(get(&mut primary, ResponseType::All).await, None);
    let given = config("program");
    primary.set_config(Action::VerifyAndCommit, Some(given.clone())).await.unwrap();
    assert_eq!(get(&mut primary, ResponseType::All).await.unwrap(), given);
    let part = |p4info: bool, text: bool| v1::ForwardingPipelineConfig {
        p4info: given.p4info.clone().filter(|_| p4info),
        p4_device_config: if text { given.p4_device_config.clone() } else { Vec::new() },
        cookie: given.cookie,
    };
    assert_eq!(get(&mut primary, ResponseType::CookieOnly).await.unwrap(), part(false, false));
    assert_eq!(get(&mut primary, ResponseType::P4infoAndCookie).await.unwrap(), part(true, false));
    assert_eq!(get(&mut primary, ResponseType::DeviceConfigAndCookie).await.unwrap(), part(false, true));
    let request = v1::GetForwardingPipelineConfigRequest { device_id: 5, response_type: 0 };
    let error = primary.client.get_forwarding_pipeline_config(request).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}

#[tokio::test]
async fn a_large_text_passes() {
    let served = Served::new().await;
    let mut primary = served.controller(1).await;
    primary.arbitration().await;
    let large = "x".repeat(64 << 20);
    primary.set_config(Action::VerifyAndCommit, Some(config(&large))).await.unwrap();
    assert_eq!(served.switch.committed.lock().unwrap()[0].len(), large.len());
}

#[tokio::test]
async fn a_switch_can_start_with_a_program() {
    let served = Served::new().await;
    let start = v1::ForwardingPipelineConfig { p4_device_config: b"program".to_vec(), ..Default::default() };
    served.hub.start_with(start).unwrap();
    let mut reader = served.stream().await;
    let read = get(&mut reader, ResponseType::All).await.unwrap();
    assert_eq!(read, v1::ForwardingPipelineConfig { cookie: None, ..config("program") });
    let error = served.hub.start_with(config("broken")).unwrap_err();
    assert!(error.message.contains("expected a declaration"));
}
