//! The file of a warm restart: what controllers configured, and the highest election ids, so that a switch which starts
//! again forwards as before, and a controller that was followed by another stays fenced.
//!
//! It begins with a whole state. Each write since is appended before it is answered; when these are longer than the
//! state itself, or could not be appended, the file is written anew beside the old one and takes its place. A record
//! that a crash cut off ends the file.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::Message;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::{ForwardingPipelineConfig, MasterArbitrationUpdate, Role, Uint128, Update, WriteRequest};
use tracing::{info, warn};

use crate::arbiter::number;

const MAGIC: &[u8] = b"wayname-switch state 1\n";
/// What may be appended to a state that is shorter than that.
const LEAST: u64 = 1 << 20;
/// Updates in one record of a whole state.
const UPDATES: usize = 1024;

/// What a record holds. The numbers stand in files.
#[derive(Clone, Copy)]
enum Kind {
    /// Device id and the beginning of the switch's clock, in nanoseconds since 1970.
    Switch = 1,
    Election = 2,
    Config = 3,
    Configured = 4,
    Written = 5,
}

/// All that is kept.
#[derive(Default)]
pub struct State {
    pub device_id: u64,
    /// Nanoseconds since 1970 when the switch's clock began.
    pub epoch: Option<u64>,
    /// The highest election id of each role.
    pub elections: Vec<(String, u128)>,
    pub config: Option<ForwardingPipelineConfig>,
    /// What [`control::Control::restore`] takes.
    pub configured: Vec<Update>,
    /// Batches written since, in their order.
    pub written: Vec<Vec<Update>>,
}

impl State {
    /// As a file holds it.
    pub fn to_bytes(&self) -> Vec<u8> {
        whole(self)
    }

    /// What [`Self::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        read(bytes)
    }
}

/// The file, which no other switch uses meanwhile.
pub struct StateFile {
    path: PathBuf,
    open: Mutex<Open>,
    failures: AtomicU64,
}

struct Open {
    file: File,
    /// Octets of the whole state, and appended since.
    whole: u64,
    appended: u64,
    /// Whether something is missing, so that it has to be written anew.
    behind: bool,
}

impl StateFile {
    /// Opens or makes it, and reads what it holds.
    pub fn open(path: &Path, device_id: u64) -> Result<(Self, State), String> {
        let wrong = |error: String| format!("{}: {error}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(|error| wrong(error.to_string()))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(wrong("is no regular file; name one, or one that is not there yet".into()));
        }
        file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => wrong("another switch uses it; give each its own".into()),
            std::fs::TryLockError::Error(error) => wrong(error.to_string()),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
        let state = read(&bytes).map_err(wrong)?;
        if state.epoch.is_some() && state.device_id != device_id {
            let text =
                format!("it is of device {}, and this is device {device_id}; give each its own", state.device_id);
            return Err(wrong(text));
        }
        let open = Mutex::new(Open { file, whole: 0, appended: 0, behind: true });
        Ok((Self { path: path.to_owned(), open, failures: AtomicU64::new(0) }, state))
    }

    /// The file of another process that ends. What it holds is what that process handed over; it is written anew.
    pub fn take_over(path: &Path) -> Result<Self, String> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        let open = Mutex::new(Open { file, whole: 0, appended: 0, behind: true });
        Ok(Self { path: path.to_owned(), open, failures: AtomicU64::new(0) })
    }

    /// How often something could not be kept, or not be restored.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Keeps a batch. What gives the whole state is asked only when the file is written anew.
    pub fn keep_written(&self, updates: Vec<Update>, whole: impl FnOnce() -> State) {
        let record = WriteRequest { updates, ..Default::default() };
        self.keep(Kind::Written, &record.encode_to_vec(), false, whole);
    }

    /// Keeps an election id through a loss of power too: who was told to be primary stays the one.
    pub fn keep_election(&self, role: &str, election: u128, whole: impl FnOnce() -> State) {
        self.keep(Kind::Election, &election_record(role, election), true, whole);
    }

    /// Writes the file anew.
    pub fn keep_whole(&self, state: &State) {
        self.replace(&mut self.opened(), state);
    }

    /// Tells and counts that something was lost.
    pub fn failed(&self, what: &str) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        warn!("--state {}: {what}", self.path.display());
    }

    fn keep(&self, kind: Kind, payload: &[u8], durable: bool, whole: impl FnOnce() -> State) {
        let open = &mut *self.opened();
        if open.behind || open.appended > open.whole.max(LEAST) {
            return self.replace(open, &whole());
        }
        let bytes = record(kind, payload);
        let kept = open.file.write_all(&bytes).and_then(|()| if durable { open.file.sync_data() } else { Ok(()) });
        match kept {
            Ok(()) => open.appended += bytes.len() as u64,
            Err(error) => {
                open.behind = true;
                self.failed(&format!("what changed is not kept: {error}; the next change tries again"));
            }
        }
    }

    fn replace(&self, open: &mut Open, state: &State) {
        match written_anew(&self.path, state) {
            Ok((file, whole)) => *open = Open { file, whole, appended: 0, behind: false },
            Err(error) => {
                open.behind = true;
                self.failed(&format!("the state is not kept: {error}; the next change tries again"));
            }
        }
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an update is kept. Counts and registers are the packets' own, and begin again with the switch.
pub fn is_kept(update: &Update) -> bool {
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    !matches!(entity, None | Some(Entity::CounterEntry(_) | Entity::DirectCounterEntry(_) | Entity::RegisterEntry(_)))
}

fn written_anew(path: &Path, state: &State) -> std::io::Result<(File, u64)> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    // Never through what somebody else put there.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&new)?;
    file.try_lock()?;
    let bytes = whole(state);
    file.write_all(&bytes)?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok((file, bytes.len() as u64))
}

fn whole(state: &State) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let mut switch = state.device_id.to_le_bytes().to_vec();
    switch.extend(state.epoch.unwrap_or(0).to_le_bytes());
    bytes.extend(record(Kind::Switch, &switch));
    for (role, election) in &state.elections {
        bytes.extend(record(Kind::Election, &election_record(role, *election)));
    }
    if let Some(config) = &state.config {
        bytes.extend(record(Kind::Config, &config.encode_to_vec()));
    }
    for updates in state.configured.chunks(UPDATES) {
        let updates = WriteRequest { updates: updates.to_vec(), ..Default::default() };
        bytes.extend(record(Kind::Configured, &updates.encode_to_vec()));
    }
    bytes
}

fn election_record(role: &str, election: u128) -> Vec<u8> {
    let update = MasterArbitrationUpdate {
        role: Some(Role { name: role.to_owned(), ..Default::default() }),
        election_id: Some(Uint128 { high: (election >> 64) as u64, low: election as u64 }),
        ..Default::default()
    };
    update.encode_to_vec()
}

/// Kind, length, checksum of what follows, and the payload.
fn record(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind as u8];
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(crc32fast::hash(payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// The state, up to the first record that is not whole.
fn read(bytes: &[u8]) -> Result<State, String> {
    let mut state = State::default();
    if bytes.is_empty() {
        return Ok(state);
    }
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        return Err("no state of this version of wayname-switch; move it away to start without one".into());
    };
    while !rest.is_empty() {
        let Some((kind, payload, after)) = next(rest) else {
            warn!("the last {} octets of the state are no whole record and are left out", rest.len());
            break;
        };
        take(&mut state, kind, payload).map_err(|error| {
            format!("the record at octet {} is not understood ({error}); move the file away", bytes.len() - rest.len())
        })?;
        rest = after;
    }
    let updates = state.configured.len() + state.written.iter().map(Vec::len).sum::<usize>();
    info!("the state has {} election ids and {updates} updates", state.elections.len());
    Ok(state)
}

fn next(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let (payload, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    (crc32fast::hash(payload) == u32::from_le_bytes(*sum)).then_some((*kind, payload, rest))
}

fn take(state: &mut State, kind: u8, payload: &[u8]) -> Result<(), String> {
    let broken = |error: prost::DecodeError| error.to_string();
    match kind {
        kind if kind == Kind::Switch as u8 => {
            let (device, epoch) = payload.split_first_chunk::<8>().ok_or("too short")?;
            state.device_id = u64::from_le_bytes(*device);
            state.epoch = Some(u64::from_le_bytes(epoch.try_into().map_err(|_| "too short")?));
        }
        kind if kind == Kind::Election as u8 => {
            let update = MasterArbitrationUpdate::decode(payload).map_err(broken)?;
            let role = update.role.unwrap_or_default().name;
            let election = number(update.election_id.unwrap_or_default());
            state.elections.retain(|(other, _)| *other != role);
            state.elections.push((role, election));
        }
        kind if kind == Kind::Config as u8 => {
            state.config = Some(ForwardingPipelineConfig::decode(payload).map_err(broken)?);
        }
        kind if kind == Kind::Configured as u8 => {
            state.configured.extend(WriteRequest::decode(payload).map_err(broken)?.updates);
        }
        kind if kind == Kind::Written as u8 => {
            state.written.push(WriteRequest::decode(payload).map_err(broken)?.updates);
        }
        other => return Err(format!("kind {other}")),
    }
    Ok(())
}
