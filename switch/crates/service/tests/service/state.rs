//! A warm restart: what the state file brings back, over the loopback.

use std::path::{Path, PathBuf};

use crate::common::plant::{EXACT, forward_entry, update};
use crate::common::*;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use proto::p4::v1::update::Type;
use service::StateFile;

/// A folder of the test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wayname-state-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("state")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A switch that goes on from the file, and whether a program ran again.
async fn started(path: &Path) -> (Served, bool) {
    let served = Served::new().await;
    let (file, state) = StateFile::open(path, DEVICE).unwrap();
    let restored = served.hub.restore(file, state);
    (served, restored)
}

/// Waits until nothing of it is left, its lock on the file neither. Nothing is written at the end.
async fn ended(mut served: Served, controller: Controller) {
    drop(controller);
    served.stop.take().unwrap().send(()).unwrap();
    served.served.await.unwrap().unwrap();
    while std::sync::Arc::strong_count(&served.hub) > 1 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

fn insert(key: u8) -> v1::Update {
    update(Type::Insert, Entity::TableEntry(forward_entry(key)))
}

async fn keys(controller: &mut Controller) -> Vec<Entity> {
    let all = Entity::TableEntry(v1::TableEntry { table_id: EXACT, ..Default::default() });
    let (messages, error) = controller.read(vec![v1::Entity { entity: Some(all) }]).await;
    assert!(error.is_none(), "{error:?}");
    let mut found: Vec<_> =
        messages.into_iter().flat_map(|message| message.entities).filter_map(|entity| entity.entity).collect();
    found.sort_by_key(|entity| format!("{entity:?}"));
    found
}

#[tokio::test]
async fn the_program_its_entries_and_the_highest_election_id_come_back() {
    let folder = Folder::new("back");
    let (first, restored) = started(&folder.file()).await;
    assert!(!restored);
    let mut primary = first.ready().await;
    primary.write(vec![insert(1), insert(2), insert(3)]).await.unwrap();
    primary.write(vec![update(Type::Delete, Entity::TableEntry(forward_entry(2)))]).await.unwrap();
    // One of a batch fails; the others are kept.
    primary.write(vec![insert(1), insert(4)]).await.unwrap_err();
    let before = keys(&mut primary).await;
    assert_eq!(before.len(), 3);
    ended(first, primary).await;

    let (second, restored) = started(&folder.file()).await;
    assert!(restored);
    assert_eq!(*second.switch.committed.lock().unwrap(), ["program"]);
    assert_eq!(second.hub.state_failures(), 0);
    // The controller of before it, which another followed, stays fenced.
    let mut old = second.controller(9).await;
    assert_eq!(old.arbitration().await, (5, Some(10)), "there is no primary, and 9 is too low to be one");
    assert_eq!(old.write(vec![insert(7)]).await.unwrap_err().code(), tonic::Code::PermissionDenied);
    let mut primary = second.controller(10).await;
    assert_eq!(primary.arbitration().await, (0, Some(10)));
    assert_eq!(keys(&mut primary).await, before);
    let config = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE, ..Default::default() };
    let config = primary.client.get_forwarding_pipeline_config(config).await.unwrap().into_inner().config.unwrap();
    assert_eq!(config.cookie.unwrap().cookie, 42);
}

#[tokio::test]
async fn what_is_written_to_a_saved_config_is_kept_with_its_commit() {
    let folder = Folder::new("saved");
    let (first, _) = started(&folder.file()).await;
    let mut primary = first.ready().await;
    primary.write(vec![insert(1)]).await.unwrap();
    primary.set_config(Action::VerifyAndSave, Some(config("next"))).await.unwrap();
    primary.write(vec![insert(2), insert(3)]).await.unwrap();
    ended(first, primary).await;

    let (second, _) = started(&folder.file()).await;
    let mut primary = second.controller(10).await;
    primary.arbitration().await;
    assert_eq!(keys(&mut primary).await.len(), 1, "the config was never committed");
    primary.set_config(Action::VerifyAndSave, Some(config("next"))).await.unwrap();
    primary.write(vec![insert(2), insert(3)]).await.unwrap();
    primary.set_config(Action::Commit, None).await.unwrap();
    ended(second, primary).await;

    let (third, _) = started(&folder.file()).await;
    assert_eq!(*third.switch.committed.lock().unwrap(), ["next"]);
    let mut primary = third.controller(10).await;
    primary.arbitration().await;
    assert_eq!(keys(&mut primary).await.len(), 2);
}

#[tokio::test]
async fn a_record_that_a_crash_cut_off_is_left_out() {
    let folder = Folder::new("torn");
    let (first, _) = started(&folder.file()).await;
    let mut primary = first.ready().await;
    primary.write(vec![insert(1)]).await.unwrap();
    let whole = std::fs::metadata(folder.file()).unwrap().len();
    primary.write(vec![insert(2)]).await.unwrap();
    ended(first, primary).await;
    let torn = std::fs::OpenOptions::new().write(true).open(folder.file()).unwrap();
    torn.set_len(whole + 20).unwrap();

    let (second, restored) = started(&folder.file()).await;
    assert!(restored);
    let mut primary = second.controller(10).await;
    primary.arbitration().await;
    assert_eq!(keys(&mut primary).await.len(), 1);
    // What is written from now on does not stand behind the torn record.
    primary.write(vec![insert(3)]).await.unwrap();
    ended(second, primary).await;
    let (third, _) = started(&folder.file()).await;
    let mut primary = third.controller(10).await;
    primary.arbitration().await;
    assert_eq!(keys(&mut primary).await.len(), 2);
}

#[tokio::test]
async fn a_program_that_no_longer_compiles_is_counted_and_the_election_ids_stay() {
    let folder = Folder::new("broken");
    let (first, _) = started(&folder.file()).await;
    let primary = first.ready().await;
    ended(first, primary).await;
    let bytes = std::fs::read(folder.file()).unwrap();
    let (file, mut state) = StateFile::open(&folder.file(), DEVICE).unwrap();
    assert_eq!(bytes, std::fs::read(folder.file()).unwrap(), "reading changes nothing");
    state.config = Some(config("broken"));
    let second = Served::new().await;
    assert!(!second.hub.restore(file, state));
    assert_eq!(second.hub.state_failures(), 1);
    let mut old = second.controller(9).await;
    assert_eq!(old.arbitration().await, (5, Some(10)));
}

#[tokio::test]
async fn what_could_not_be_kept_is_counted_and_kept_with_the_next_change() {
    let folder = Folder::new("full");
    let (first, _) = started(&folder.file()).await;
    let mut primary = first.ready().await;
    primary.write(vec![insert(1)]).await.unwrap();
    std::fs::remove_dir_all(&folder.0).unwrap();
    primary.set_config(Action::VerifyAndCommit, Some(config("other"))).await.unwrap();
    assert_eq!(first.hub.state_failures(), 1);
    primary.write(vec![insert(2)]).await.unwrap();
    assert_eq!(first.hub.state_failures(), 2, "it tries again each time");
    std::fs::create_dir_all(&folder.0).unwrap();
    primary.write(vec![insert(3)]).await.unwrap();
    assert_eq!(first.hub.state_failures(), 2);
    ended(first, primary).await;

    let (second, _) = started(&folder.file()).await;
    assert_eq!(*second.switch.committed.lock().unwrap(), ["other"]);
    let mut primary = second.controller(10).await;
    primary.arbitration().await;
    assert_eq!(keys(&mut primary).await.len(), 2);
}

#[tokio::test]
async fn many_writes_do_not_make_the_file_long() {
    let folder = Folder::new("long");
    let (first, _) = started(&folder.file()).await;
    let mut primary = first.ready().await;
    let delete = |key| update(Type::Delete, Entity::TableEntry(forward_entry(key)));
    for _ in 0..2000 {
        primary.write((0..10).flat_map(|_| [insert(1), delete(1)]).collect()).await.unwrap();
    }
    primary.write(vec![insert(1)]).await.unwrap();
    let length = std::fs::metadata(folder.file()).unwrap().len();
    assert!((1000..3 << 19).contains(&length), "{length}");
    ended(first, primary).await;
    let (second, _) = started(&folder.file()).await;
    let mut primary = second.controller(10).await;
    primary.arbitration().await;
    assert_eq!(keys(&mut primary).await.len(), 1);
}

#[tokio::test]
async fn a_file_that_is_none_of_this_switch_is_refused_with_what_to_do() {
    let folder = Folder::new("other");
    let (first, _) = started(&folder.file()).await;
    let primary = first.ready().await;
    let opened = |device| StateFile::open(&folder.file(), device).map(drop).unwrap_err();
    assert!(opened(DEVICE).ends_with("state: another switch uses it; give each its own"), "{}", opened(DEVICE));
    ended(first, primary).await;
    assert!(opened(DEVICE + 1).contains("it is of device 1, and this is device 2"), "{}", opened(DEVICE + 1));
    std::fs::write(folder.file(), "{}").unwrap();
    assert!(opened(DEVICE).contains("no state of this version"), "{}", opened(DEVICE));
}
