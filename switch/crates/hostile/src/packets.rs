//! Any packets given to a program: the JIT and the interpreter send the same, say the same and count the same.
//!
//! The first byte chooses the program. Then come packets: a byte with the port (low half) and how long after the last
//! one it comes (high half), two bytes with the length, least significant first, and as many bytes as are there.

use std::sync::LazyLock;

use control::Scope;
use pipeline::{BackendKind, DropReason, Engine, Message, Sink, Stats, Traffic};
use proto::p4::v1::update::Type;
use proto::p4::v1::{Entity, Update};

use crate::plant::Plant;
use crate::{Random, bytes, sample};

static PLANTS: LazyLock<Vec<Plant>> = LazyLock::new(|| {
    let programs = [
        ("everything.p4", include_str!("../programs/everything.p4")),
        ("segments.p4", include_str!("../../../../bench/p4/segments.p4")),
        ("routing.p4", include_str!("../../../../bench/p4/routing.p4")),
        ("parsing.p4", include_str!("../../compiler/tests/cases/parsing.p4")),
        ("headers.p4", include_str!("../../compiler/tests/cases/headers.p4")),
        ("again.p4", include_str!("../../compiler/tests/cases/again.p4")),
    ];
    programs.iter().map(|(name, text)| Plant::new(name, text)).collect()
});

/// More packets than this in one input teach nothing new.
const MOST_PACKETS: usize = 64;

/// For each program: a packet of zeros, of ones, of small numbers, and an IPv6 packet, several in one input.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut ipv6 = vec![0; 12];
    ipv6.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 4, 59, 64]);
    ipv6.extend([0x20; 36]);
    let small: Vec<u8> = (0..80).collect();
    let packets = [vec![0; 64], vec![0xff; 64], ipv6, small];
    let mut seeds = Vec::new();
    for program in 0..PLANTS.len() as u8 {
        let mut all = vec![program];
        for packet in &packets {
            let mut frame = vec![0x11];
            frame.extend((packet.len() as u16).to_le_bytes());
            frame.extend(packet);
            seeds.push([&[program][..], &frame].concat());
            all.extend(frame);
        }
        seeds.push(all);
    }
    for what in 0..=255u8 {
        // Each way through the program that has them all.
        let mut packet = vec![what, what % 5, 0, what];
        packet.extend([0, 0, 0, what % 3]);
        packet.extend([what; 16]);
        packet.extend([1, 2, 0xaa, 0xbb, 0, 0, 7]);
        let mut seed = vec![0, what % 16];
        seed.extend((packet.len() as u16).to_le_bytes());
        seed.extend(packet);
        seeds.push(seed);
    }
    seeds
}

pub fn mutate(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut changed = input.to_vec();
    for _ in 0..=random.below(4) {
        bytes::change(&mut changed, random);
    }
    changed
}

/// Panics when the backends differ or one of them fails.
pub fn run(input: &[u8]) {
    let Some((chosen, packets)) = input.split_first() else { return };
    let plant = &PLANTS[usize::from(*chosen) % PLANTS.len()];
    let native = outcome(plant, BackendKind::Jit, packets);
    let reference = outcome(plant, BackendKind::Interpreter, packets);
    assert_eq!(native, reference, "the JIT (left) and the interpreter (right) differ");
    assert_eq!(native.stats.dropped(DropReason::Fault), 0, "the switch failed on a packet");
}

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    sent: Vec<(u32, Vec<u8>, u64)>,
    told: Vec<Message>,
    stats: Stats,
}

impl Sink for Outcome {
    fn transmit(&mut self, port: u32, bytes: &[u8], at: u64) {
        self.sent.push((port, bytes.to_vec(), at));
    }

    fn message(&mut self, message: Message) {
        self.told.push(message);
    }
}

fn outcome(plant: &Plant, kind: BackendKind, mut packets: &[u8]) -> Outcome {
    let (loaded, control) = plant.fresh(kind);
    let insert = |entity| Update { r#type: Type::Insert as i32, entity: Some(Entity { entity: Some(entity) }) };
    let updates: Vec<Update> = sample::entities(&plant.p4info).into_iter().map(insert).collect();
    // Some are refused, such as an insert of a counter cell; what the tables hold is the same for both.
    let statuses = control.write(&updates, 0, &Scope::All, 0).expect("the atomicity is the default one");
    assert!(statuses.iter().any(|status| status.is_ok()), "no entry was taken: {statuses:?}");
    let mut outcome = Outcome::default();
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&loaded, &mut traffic, 1);
    let mut now = 0;
    for _ in 0..MOST_PACKETS {
        let Some(([at, low, high], rest)) = packets.split_first_chunk() else { break };
        let (packet, rest) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes([*low, *high]))));
        packets = rest;
        now += u64::from(at >> 4) * 100_000;
        engine.receive(u32::from(at & 15), packet, now, &mut outcome);
    }
    engine.flush(&mut outcome);
    outcome.stats = traffic.stats;
    outcome
}
