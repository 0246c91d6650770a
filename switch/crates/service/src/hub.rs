//! What all calls and streams share: the arbiter, the streams of the controllers, the pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use control::Status;
use num_bigint::BigUint;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::stream_message_response::Update;
use proto::p4::v1::{MasterArbitrationUpdate, StreamMessageResponse};
use tracing::{debug, info, warn};

use crate::arbiter::{self, Arbiter, ClientId, Notice};
use crate::clients::{AUDIT, Clients, Right, Who};
use crate::device_config;
use crate::outbox::{self, Gone, Outbox, OutboxStream, Sent};
use crate::pipeline::{Installed, Pipeline};
use crate::reply;
use crate::role::Access;
use crate::state::{State, StateFile, is_kept};
use crate::target::Target;

/// Entries looked through for idle timeouts at a time, and how often, in nanoseconds.
const MOST_EXPIRED: usize = 1024;
const IDLE_SCAN: u64 = 50_000_000;

/// Streams of controllers at a time, whatever their roles.
const MOST_STREAMS: usize = 64;
/// Of those, streams of clients that may not operate: a controller finds a place beside them.
const MOST_READERS: usize = MOST_STREAMS / 2;

/// The service of one device. The data plane hands its messages to it from any thread; none of these calls waits for
/// a controller.
pub struct Hub {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) clients: Arc<Clients>,
    pub(crate) pipeline: Pipeline,
    /// Held by writes and by changes of primary and pipeline, so that these come one after another.
    pub(crate) gate: Arc<tokio::sync::Mutex<()>>,
    streams: Mutex<Streams>,
    /// Where the state is kept for a restart, if anywhere.
    state: OnceLock<StateFile>,
    next_idle_scan: AtomicU64,
    /// Whether the switch stops, for streams without an outbox.
    pub(crate) closed: tokio::sync::watch::Sender<bool>,
}

pub(crate) struct Streams {
    pub(crate) arbiter: Arbiter,
    outboxes: BTreeMap<ClientId, Outbox>,
    /// Those of them that may not operate.
    readers: BTreeSet<ClientId>,
    next: u64,
    closing: bool,
}

impl Hub {
    pub fn new(device_id: u64, target: Arc<dyn Target>, clients: Arc<Clients>) -> Arc<Self> {
        let streams = Streams {
            arbiter: Arbiter::new(device_id),
            outboxes: BTreeMap::new(),
            readers: BTreeSet::new(),
            next: 1,
            closing: false,
        };
        Arc::new(Self {
            target,
            clients,
            pipeline: Pipeline::default(),
            gate: Arc::default(),
            streams: Mutex::new(streams),
            state: OnceLock::new(),
            next_idle_scan: AtomicU64::new(0),
            closed: tokio::sync::watch::Sender::new(false),
        })
    }

    /// Sets a config without a controller, as at the start of the switch; `p4info` may be left out then. BMv2 JSON runs
    /// packets without one, and a controller has to set the pipeline before it can write.
    pub fn start_with(&self, mut config: v1::ForwardingPipelineConfig) -> Result<(), Status> {
        if config.p4info.is_none() {
            let text = device_config::text(&config.p4_device_config)?;
            let program = self.target.load(&text).map_err(Status::invalid)?;
            config.p4info = program.p4info().cloned();
            if config.p4info.is_none() {
                program.commit();
                return Ok(());
            }
        }
        let action = v1::set_forwarding_pipeline_config_request::Action::VerifyAndCommit;
        self.pipeline.set(&*self.target, action as i32, Some(config))?;
        self.keep_pipeline();
        Ok(())
    }

    /// Goes on from a state, and keeps it in that file from now on. True if a program runs again.
    pub fn restore(&self, file: StateFile, mut state: State) -> bool {
        self.streams().arbiter.restore(std::mem::take(&mut state.elections));
        if state.config.is_some() {
            match self.pipeline.restore(&*self.target, state) {
                Ok(refused) => {
                    for status in refused {
                        file.failed(&format!("an update is refused and left out: {}", status.message));
                    }
                }
                Err(status) => file.failed(&format!("the program is not restored: {}", status.message)),
            }
        }
        self.keep_state(file);
        self.pipeline.running().is_some()
    }

    /// Goes on from the state of a switch that hands over to this one. Refuses a state that it cannot restore as a whole.
    /// True if a program runs again.
    pub fn take_over(&self, mut state: State) -> Result<bool, String> {
        let elections = std::mem::take(&mut state.elections);
        if state.config.is_some() {
            let refused = self.pipeline.restore(&*self.target, state).map_err(|status| status.message)?;
            if let Some(status) = refused.first() {
                return Err(format!("an update is refused: {}", status.message));
            }
        }
        self.streams().arbiter.restore(elections);
        Ok(self.pipeline.running().is_some())
    }

    /// Keeps the state in that file from now on. To be called once.
    pub fn keep_state(&self, file: StateFile) {
        file.keep_whole(&self.whole(&self.streams().arbiter));
        let _ = self.state.set(file);
    }

    /// The state for a switch that takes over. As long as the guard is held neither that nor who is primary changes.
    /// Waits for writes under way.
    pub fn hold_state(&self) -> Result<(State, tokio::sync::OwnedMutexGuard<()>), String> {
        let gate = self.gate.clone().blocking_lock_owned();
        let configured = self.pipeline.running().map_or(Ok(vec![]), |running| {
            running.control.configuration(self.target.now()).map_err(|status| status.message)
        })?;
        Ok((self.with_configured(&self.streams().arbiter, configured), gate))
    }

    /// Waits until writes may change something; refuses once the switch stops.
    pub(crate) async fn enter(&self) -> Result<tokio::sync::OwnedMutexGuard<()>, tonic::Status> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => Err(tonic::Status::unavailable("the switch stops")),
            gate = self.gate.clone().lock_owned() => Ok(gate),
        }
    }

    /// How often a state could not be kept or restored.
    pub fn state_failures(&self) -> u64 {
        self.state.get().map_or(0, StateFile::failures)
    }

    /// Keeps what of a batch was done, unless it was written to a config that waits for its commit.
    pub(crate) fn keep_written(&self, installed: &Arc<Installed>, updates: Vec<v1::Update>, statuses: &[Status]) {
        let Some(file) = self.state.get() else { return };
        if self.pipeline.running().is_none_or(|running| !Arc::ptr_eq(&running, installed)) {
            return;
        }
        let done = updates.into_iter().zip(statuses).filter(|(update, status)| status.is_ok() && is_kept(update));
        let done: Vec<_> = done.map(|(update, _)| update).collect();
        if !done.is_empty() {
            file.keep_written(done, || self.whole(&self.streams().arbiter));
        }
    }

    pub(crate) fn keep_pipeline(&self) {
        if let Some(file) = self.state.get() {
            file.keep_whole(&self.whole(&self.streams().arbiter));
        }
    }

    /// What a restart needs to know. The gate is held, so that nothing changes meanwhile.
    fn whole(&self, arbiter: &Arbiter) -> State {
        let running = self.pipeline.running();
        let configured = running.as_ref().map(|running| running.control.configuration(self.target.now()));
        let configured = configured.unwrap_or(Ok(Vec::new())).unwrap_or_else(|status| {
            warn!("what was configured can't be read, so no restart will have it: {}", status.message);
            Vec::new()
        });
        self.with_configured(arbiter, configured)
    }

    fn with_configured(&self, arbiter: &Arbiter, configured: Vec<v1::Update>) -> State {
        State {
            device_id: arbiter.device_id(),
            epoch: Some(self.target.since_epoch().saturating_sub(self.target.now())),
            elections: arbiter.elections().map(|(role, highest)| (role.to_owned(), highest)).collect(),
            config: self.pipeline.running().map(|running| running.config.clone()),
            configured,
            written: Vec::new(),
        }
    }

    /// Who may call what.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// A packet that left by the CPU port.
    pub fn packet_in(&self, packet: &[u8]) {
        let Some(installed) = self.pipeline.running() else { return };
        match installed.control.packet_in(packet) {
            Ok(packet) => {
                self.tell_primaries(|access| access.receives(&packet).then(|| Update::Packet(packet.clone())))
            }
            Err(error) => warn!("packet to the controller dropped: {}", error.message),
        }
    }

    /// A message of the data plane for the control plane.
    pub fn digest(&self, digest: ir::DigestId, values: &[BigUint]) {
        let Some(installed) = self.pipeline.running() else { return };
        installed.control.digest(digest, values, self.target.now());
        self.send_digests();
    }

    /// Does what is due: digests that waited long enough, entries that went idle. To be called every few milliseconds.
    pub fn tick(&self) {
        self.send_digests();
        let now = self.target.now();
        if now >= self.next_idle_scan.load(Ordering::Relaxed) {
            self.next_idle_scan.store(now.saturating_add(IDLE_SCAN), Ordering::Relaxed);
            self.send_idle_timeouts(now);
        }
    }

    /// Ends all streams, and those that open from now on.
    pub fn close(&self) {
        self.closed.send_replace(true);
        let mut streams = self.streams();
        streams.closing = true;
        for outbox in streams.outboxes.values_mut() {
            outbox.close(tonic::Status::unavailable("the switch stops"));
        }
    }

    fn send_digests(&self) {
        let Some(installed) = self.pipeline.running() else { return };
        for list in installed.control.digest_lists(self.target.now(), self.target.since_epoch()) {
            let entry = Entity::DigestEntry(v1::DigestEntry { digest_id: list.digest_id, config: None });
            self.tell_primaries(|access| access.scope.contains(&entry).then(|| Update::Digest(list.clone())));
        }
    }

    fn send_idle_timeouts(&self, now: u64) {
        let Some(installed) = self.pipeline.running() else { return };
        let expired = installed.control.expired(now, MOST_EXPIRED);
        if expired.is_empty() {
            return;
        }
        let timestamp = i64::try_from(self.target.since_epoch()).unwrap_or(i64::MAX);
        self.tell_primaries(|access| {
            let visible = expired.iter().filter(|entry| access.scope.contains(&Entity::TableEntry((*entry).clone())));
            let table_entry: Vec<_> = visible.cloned().collect();
            let notification = v1::IdleTimeoutNotification { table_entry, timestamp };
            (!notification.table_entry.is_empty()).then_some(Update::IdleTimeoutNotification(notification))
        });
    }

    fn tell_primaries(&self, message: impl Fn(&Access) -> Option<Update>) {
        let now = self.target.now();
        let streams = &mut *self.streams();
        for (client, access) in streams.arbiter.primaries() {
            let Some(update) = message(access) else { continue };
            if let Some(outbox) = streams.outboxes.get_mut(&client) {
                offer(client, outbox, update, now);
            }
        }
    }

    pub(crate) fn open_stream(&self, who: &Who) -> Result<(ClientId, OutboxStream, Gone), tonic::Status> {
        let mut streams = self.streams();
        if streams.closing {
            return Err(tonic::Status::unavailable("the switch stops"));
        }
        if streams.outboxes.len() >= MOST_STREAMS {
            let text = format!("there are {MOST_STREAMS} streams of controllers already; end one of them");
            return Err(tonic::Status::resource_exhausted(text));
        }
        if !who.rights.operate && streams.readers.len() >= MOST_READERS {
            let text = format!("there are {MOST_READERS} streams of clients that only read already; end one of them");
            return Err(tonic::Status::resource_exhausted(text));
        }
        let client = ClientId(streams.next);
        streams.next += 1;
        if !who.rights.operate {
            streams.readers.insert(client);
        }
        let (outbox, stream) = outbox::channel();
        let gone = outbox.gone();
        streams.outboxes.insert(client, outbox);
        Ok((client, stream, gone))
    }

    /// Ends a stream, with an error if there is one, and tells the others if it was the primary's.
    pub(crate) fn close_stream(&self, client: ClientId, error: Option<Status>) {
        let mut streams = self.streams();
        streams.readers.remove(&client);
        if let Some(mut outbox) = streams.outboxes.remove(&client)
            && let Some(error) = error
        {
            warn!(stream = client.0, "stream closed: {}", error.message);
            outbox.close(reply::status(error));
        }
        let notices = streams.arbiter.leave(client);
        streams.notify(notices);
    }

    pub(crate) fn bid(&self, client: ClientId, who: &Who, update: &MasterArbitrationUpdate) -> Result<(), Status> {
        let mut streams = self.streams();
        if update.election_id.is_some() || !streams.arbiter.knows(update) {
            self.clients.require(who, "MasterArbitrationUpdate", Right::Operate)?;
        }
        let notices = streams.arbiter.bid(client, who.rights, update)?;
        if let Some(file) = self.state.get()
            && let (Some(_), Some(election)) = (streams.arbiter.access_of(client), update.election_id)
        {
            // Before anybody is told, and with the lock held: a bid is rare, and a disk takes milliseconds.
            let role = update.role.as_ref().map_or(String::new(), arbiter::role_of);
            file.keep_election(&role, arbiter::number(election), || self.whole(&streams.arbiter));
        }
        let access = streams.arbiter.access_of(client);
        let primary = access.is_some();
        if access.is_some_and(|access| access.withheld) {
            // It is primary all the same, and was told; this counts it.
            let _ = self.clients.require(who, "PacketIn", Right::Capture);
        }
        let role = update.role.as_ref().map_or("", |role| &role.name);
        let election =
            update.election_id.map_or("no election id".to_owned(), |id| format!("election id {}", arbiter::number(id)));
        info!(target: AUDIT, stream = client.0, client = who.name, role, primary, "controller bids with {election}");
        streams.notify(notices);
        Ok(())
    }

    /// Tells a controller what is wrong with a message it sent; best effort, as the spec allows.
    pub(crate) fn stream_error(&self, client: ClientId, error: v1::StreamError) {
        let now = self.target.now();
        debug!(stream = client.0, "message of the controller refused: {}", error.message);
        if let Some(outbox) = self.streams().outboxes.get_mut(&client) {
            offer(client, outbox, Update::Error(error), now);
        }
    }

    pub(crate) fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn notify(&mut self, notices: Vec<Notice>) {
        for Notice { client, update } in notices {
            let message = StreamMessageResponse { update: Some(Update::Arbitration(update)) };
            if let Some(outbox) = self.outboxes.get_mut(&client)
                && outbox.send(message) == Sent::GaveUp
            {
                warn!(stream = client.0, "controller does not read its stream; closed");
            }
        }
    }
}

fn offer(client: ClientId, outbox: &mut Outbox, update: Update, now: u64) {
    match outbox.offer(StreamMessageResponse { update: Some(update) }, now) {
        Sent::Queued => {}
        Sent::Dropped(1) => warn!(stream = client.0, "controller does not read its stream; messages are dropped"),
        Sent::Dropped(_) => {}
        Sent::GaveUp => warn!(stream = client.0, "controller does not read its stream; closed"),
    }
}
