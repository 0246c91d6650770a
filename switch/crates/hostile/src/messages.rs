//! Any messages given to the control plane: each is answered, a write that failed changed nothing, everything can be read
//! at any time, and no table holds more than its size.
//!
//! The first byte chooses the program. Then come messages: a byte with the kind, two bytes with the length, least
//! significant first, and as many bytes as are there, a protocol buffer. One that does not decode is passed over.

use std::sync::LazyLock;

use control::{Code, Control, Scope, Status};
use ir::Handle;
use pipeline::{BackendKind, DropReason, Engine, Loaded, Message as Told, Sink, Traffic};
use prost::Message;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;
use proto::p4::v1::write_request::Atomicity;

use crate::plant::Plant;
use crate::{Random, bytes, sample, wire};

static PLANTS: LazyLock<Vec<Plant>> = LazyLock::new(|| {
    vec![
        Plant::new("everything.p4", include_str!("../programs/everything.p4")),
        Plant::new("objects.p4", include_str!("../../p4info/tests/golden/objects.p4")),
    ]
});

const WRITE: u8 = 0;
const READ: u8 = 1;
const PACKET_OUT: u8 = 2;
const DIGEST_ACK: u8 = 3;
const KINDS: u8 = 4;

/// For each program: each entity inserted, modified, read and deleted, and batches of all.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (at, plant) in PLANTS.iter().enumerate() {
        let entities = sample::entities(&plant.p4info);
        let inserted: Vec<v1::Update> = entities.iter().map(|entity| update(Type::Insert, entity)).collect();
        let write = |updates: Vec<v1::Update>, atomicity: Atomicity| {
            let request = v1::WriteRequest { updates, atomicity: atomicity as i32, ..Default::default() };
            frame(WRITE, &request)
        };
        let first = [vec![at as u8], write(inserted.clone(), Atomicity::ContinueOnError)].concat();
        for entity in &entities {
            let modified = write(vec![update(Type::Modify, entity)], Atomicity::ContinueOnError);
            let read = v1::ReadRequest { entities: vec![whole(entity.clone())], ..Default::default() };
            let deleted = write(vec![update(Type::Delete, entity)], Atomicity::RollbackOnError);
            seeds.push([&first[..], &modified, &frame(READ, &read), &deleted].concat());
        }
        let twice = [inserted.clone(), inserted].concat();
        seeds.push([first.clone(), write(twice, Atomicity::RollbackOnError)].concat());
        let metadata = |metadata_id, value| v1::PacketMetadata { metadata_id, value };
        let out = v1::PacketOut { payload: vec![6; 60], metadata: vec![metadata(1, vec![1]), metadata(2, vec![0])] };
        let digest_id = plant.p4info.digests[0].preamble.as_ref().map_or(0, |preamble| preamble.id);
        let ack = v1::DigestListAck { digest_id, list_id: 1 };
        seeds.push([&first[..], &frame(PACKET_OUT, &out), &frame(DIGEST_ACK, &ack)].concat());
    }
    seeds
}

/// Changes one message inside; seldom, mere bytes.
pub fn mutate(input: &[u8], random: &mut Random) -> Vec<u8> {
    let Some((chosen, rest)) = input.split_first().filter(|_| random.below(16) > 0) else {
        let mut changed = input.to_vec();
        bytes::change(&mut changed, random);
        return changed;
    };
    let mut messages: Vec<(u8, Vec<u8>)> = frames(rest).map(|(kind, bytes)| (kind, bytes.to_vec())).collect();
    match random.below(8) {
        0 if !messages.is_empty() => {
            let again = random.of(&messages).clone();
            let to = random.below(messages.len());
            messages.insert(to, again);
        }
        1 if !messages.is_empty() => {
            let at = random.below(messages.len());
            messages.remove(at);
        }
        _ => {
            let changes = 1 + random.below(4);
            let at = random.below(messages.len());
            if let Some((_, message)) = messages.get_mut(at) {
                (0..changes).for_each(|_| *message = wire::change(message, random));
            }
        }
    }
    let mut changed = vec![*chosen];
    for (kind, message) in &messages {
        changed.extend(framed(*kind, message));
    }
    changed
}

/// Panics when a promise is broken.
pub fn run(input: &[u8]) {
    let Some((chosen, rest)) = input.split_first() else { return };
    let plant = &PLANTS[usize::from(*chosen) % PLANTS.len()];
    let (loaded, control) = plant.fresh(BackendKind::Interpreter);
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&loaded, &mut traffic, 1);
    for (at, (kind, message)) in frames(rest).take(16).enumerate() {
        let now = at as u64 * 1000;
        match kind % KINDS {
            WRITE => {
                if let Ok(request) = v1::WriteRequest::decode(message) {
                    write(&control, &request, now);
                    bounded(&loaded);
                }
            }
            READ => {
                if let Ok(request) = v1::ReadRequest::decode(message) {
                    let reading = control.read(&request.entities, &Scope::All, now);
                    assert_eq!(reading.statuses.len(), request.entities.len(), "one status for each request");
                    explained(&reading.statuses);
                }
            }
            PACKET_OUT => {
                if let Ok(packet) = v1::PacketOut::decode(message) {
                    match control.packet_out(&packet) {
                        Ok(bytes) => engine.receive(510, &bytes, now, &mut Controller(&control)),
                        Err(error) => explained(&[error]),
                    }
                }
            }
            _ => {
                if let Ok(ack) = v1::DigestListAck::decode(message) {
                    if let Err(error) = control.acknowledge(&ack) {
                        explained(&[error]);
                    }
                    control.digest_lists(now, 0);
                }
            }
        }
        control.expired(now, 100);
    }
    // What was written is what packets meet.
    for what in 0..8u8 {
        let mut packet = vec![what, 1, 0, 1];
        packet.extend([what; 28]);
        engine.receive(1, &packet, 1_000_000, &mut Controller(&control));
    }
    engine.flush(&mut Controller(&control));
    control.digest_lists(2_000_000, 0);
    assert_eq!(traffic.stats.dropped(DropReason::Fault), 0, "the switch failed on a packet");
    everything(&control, 2_000_000);
}

/// Takes what the switch tells the control plane.
struct Controller<'c>(&'c Control);

impl Sink for Controller<'_> {
    fn transmit(&mut self, _port: u32, bytes: &[u8], _at: u64) {
        if let Err(error) = self.0.packet_in(bytes) {
            explained(&[error]);
        }
    }

    fn message(&mut self, message: Told) {
        if let Told::Digest { digest, values, at } = message {
            self.0.digest(digest, &values, at);
        }
    }
}

fn write(control: &Control, request: &v1::WriteRequest, now: u64) {
    let before = everything(control, now);
    let statuses = match control.write(&request.updates, request.atomicity, &Scope::All, now) {
        Ok(statuses) => statuses,
        Err(error) => {
            explained(&[error]);
            assert!(everything(control, now) == before, "a batch that was refused changed something");
            return;
        }
    };
    assert_eq!(statuses.len(), request.updates.len(), "one status for each update");
    explained(&statuses);
    assert!(statuses.iter().all(|status| status.code != Code::Internal), "{statuses:?}");
    let after = everything(control, now);
    let failed = statuses.iter().filter(|status| !status.is_ok()).count();
    if failed == statuses.len() {
        // That includes each batch that was rolled back.
        let difference = before.iter().zip(&after).find(|(before, after)| before != after);
        assert!(before == after, "a failed batch changed something: {statuses:?} {difference:?}");
    }
    if request.atomicity == Atomicity::RollbackOnError as i32 {
        assert!([0, statuses.len()].contains(&failed), "a batch was neither done nor undone: {statuses:?}");
    }
}

fn explained(statuses: &[Status]) {
    let silent = statuses.iter().find(|status| !status.is_ok() && status.message.is_empty());
    assert!(silent.is_none(), "an error without a text: {silent:?}");
}

/// All that can be read, in an order that does not depend on when it was written.
fn everything(control: &Control, now: u64) -> Vec<Vec<u8>> {
    use v1::packet_replication_engine_entry::Type as Copies;
    let copies = |kind| Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(kind) });
    let entry = v1::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    let requests = [
        Entity::TableEntry(entry),
        Entity::TableEntry(v1::TableEntry { is_default_action: true, ..Default::default() }),
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::CounterEntry(Default::default()),
        Entity::MeterEntry(Default::default()),
        Entity::RegisterEntry(Default::default()),
        Entity::ValueSetEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
        copies(Copies::MulticastGroupEntry(Default::default())),
        copies(Copies::CloneSessionEntry(Default::default())),
    ];
    let reading = control.read(&requests.map(whole), &Scope::All, now);
    let refused = reading.statuses.iter().find(|status| !status.is_ok());
    assert!(refused.is_none(), "a full read is refused: {refused:?}");
    let mut entities: Vec<Vec<u8>> = reading.entities.iter().map(Message::encode_to_vec).collect();
    entities.sort();
    entities
}

fn bounded(loaded: &Loaded) {
    for (id, table) in loaded.program.tables.iter() {
        let held = loaded.device.entry_count(id);
        let bound = table.size.max(table.entries.len() as u64);
        assert!(held <= bound, "table {} ({}) holds {held} entries of {bound}", table.name, id.index());
    }
}

fn whole(entity: Entity) -> v1::Entity {
    v1::Entity { entity: Some(entity) }
}

fn update(kind: Type, entity: &Entity) -> v1::Update {
    v1::Update { r#type: kind as i32, entity: Some(whole(entity.clone())) }
}

fn frame(kind: u8, message: &impl Message) -> Vec<u8> {
    framed(kind, &message.encode_to_vec())
}

fn framed(kind: u8, message: &[u8]) -> Vec<u8> {
    // A message too long for its frame is cut, as any other hostile one may be.
    let length = message.len().min(usize::from(u16::MAX));
    let [low, high] = (length as u16).to_le_bytes();
    [&[kind, low, high], &message[..length]].concat()
}

fn frames(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let ([kind, low, high], after) = rest.split_first_chunk()?;
        let (message, after) = after.split_at(after.len().min(usize::from(u16::from_le_bytes([*low, *high]))));
        rest = after;
        Some((*kind, message))
    })
}
