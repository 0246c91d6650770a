//! DATAPLANE_ATOMIC batches (spec "Batch Atomicity") while packets run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use control::{Control, Scope, Status};
use pipeline::{BackendKind, Engine, Message, Shape, Sink, Traffic};
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;
use proto::p4::v1::write_request::Atomicity;

/// Each packet gets the version of a table before the queues and of one behind them.
const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header pair_t { bit<32> first; bit<32> second; }
struct headers_t { pair_t pair; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.pair); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action set(bit<32> version) { hdr.pair.first = version; standard.egress_spec = 2; }
    table before { key = { standard.ingress_port : exact; } actions = { set; } }
    apply { before.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action set(bit<32> version) { hdr.pair.second = version; }
    table behind { key = { standard.ingress_port : exact; } actions = { set; } }
    apply { behind.apply(); }
}
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.pair); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// The versions that packets left with.
#[derive(Default)]
struct Seen {
    pairs: Vec<(u32, u32)>,
}

impl Sink for Seen {
    fn transmit(&mut self, _port: u32, bytes: &[u8], _at: u64) {
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        self.pairs.push((word(0), word(4)));
    }

    fn message(&mut self, message: Message) {
        panic!("{message:?}");
    }
}

struct Running {
    program: Arc<loader::Program>,
    control: Control,
    /// The ids of each table and its action.
    ids: Vec<(u32, u32)>,
}

impl Running {
    fn new() -> Self {
        let program = Arc::new(loader::load(PROGRAM, BackendKind::Jit).unwrap_or_else(|error| panic!("{error}")));
        let p4info = program.p4info.clone().expect("the P4Info of a P4 program");
        let ids = p4info.tables.iter().map(|table| {
            let id = table.preamble.as_ref().expect("a preamble").id;
            (id, table.action_refs[0].id)
        });
        let ids = ids.collect();
        let control = Control::new(p4info, program.clone()).unwrap_or_else(|error| panic!("{error:?}"));
        let running = Self { program, control, ids };
        running.write(Type::Insert, 0, Atomicity::DataplaneAtomic);
        running
    }

    fn write(&self, kind: Type, version: u32, atomicity: Atomicity) {
        let updates: Vec<_> = self.ids.iter().map(|ids| update(*ids, kind, version)).collect();
        let statuses = self.control.write(&updates, atomicity as i32, &Scope::All, 0);
        assert_eq!(statuses, Ok(vec![Status::ok(); 2]));
    }
}

fn update((table_id, action_id): (u32, u32), kind: Type, version: u32) -> v1::Update {
    use v1::field_match::{Exact, FieldMatchType};
    let matched = FieldMatchType::Exact(Exact { value: vec![1] });
    let bytes = version.to_be_bytes();
    let zeros = bytes.iter().take(3).take_while(|byte| **byte == 0).count();
    let param = v1::action::Param { param_id: 1, value: bytes[zeros..].to_vec() };
    let action = v1::Action { action_id, params: vec![param] };
    let entry = v1::TableEntry {
        table_id,
        r#match: vec![v1::FieldMatch { field_id: 1, field_match_type: Some(matched) }],
        action: Some(v1::TableAction { r#type: Some(v1::table_action::Type::Action(action)) }),
        ..Default::default()
    };
    v1::Update { r#type: kind as i32, entity: Some(v1::Entity { entity: Some(Entity::TableEntry(entry)) }) }
}

/// What packets see while as many batches flip both tables; with a rate they wait in the queue between the two.
fn seen_while_flipping(batches: u32, bits_per_second: Option<u64>) -> Vec<(u32, u32)> {
    let running = Running::new();
    let done = AtomicBool::new(false);
    let (begun, begins) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let forwarding = scope.spawn(|| {
            let (mut traffic, mut seen) = (Traffic::default(), Seen::default());
            traffic.set_shape(2, Shape { bits_per_second, packets: 16 });
            let mut engine = Engine::new(&running.program.loaded, &mut traffic, 1);
            for now in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                engine.receive(1, &[0; 8], now * 1000, &mut seen);
                if now == 100 {
                    begun.send(()).expect("someone waits for packets");
                }
            }
            engine.flush(&mut seen);
            seen.pairs
        });
        begins.recv().expect("packets run");
        for version in 1..=batches {
            running.write(Type::Modify, version, Atomicity::DataplaneAtomic);
        }
        done.store(true, Ordering::Relaxed);
        forwarding.join().expect("packets ran")
    })
}

#[test]
fn no_packet_sees_half_of_an_atomic_batch() {
    // Without a queue, and with one in which a packet stays for 16 others.
    for rate in [None, Some(64_000_000)] {
        let pairs = seen_while_flipping(2000, rate);
        let halves: Vec<_> = pairs.iter().filter(|(first, second)| first != second).collect();
        assert!(halves.is_empty(), "{} of {} packets, such as {:?}", halves.len(), pairs.len(), halves[0]);
        let versions: std::collections::BTreeSet<_> = pairs.iter().map(|(first, _)| first).collect();
        assert!(versions.len() > 1, "the tables changed while packets ran");
        assert!(pairs.is_sorted(), "the tables never went back");
    }
}

#[test]
fn a_packet_that_waits_leaves_before_the_batch() {
    let running = Running::new();
    let (mut traffic, mut seen) = (Traffic::default(), Seen::default());
    traffic.set_shape(2, Shape { bits_per_second: Some(8), packets: 16 });
    std::thread::scope(|scope| {
        let mut engine = Engine::new(&running.program.loaded, &mut traffic, 1);
        for _ in 0..3 {
            engine.receive(1, &[0; 8], 0, &mut seen);
        }
        engine.idle();
        assert_eq!((seen.pairs.len(), engine.traffic().depth(2)), (1, 2));
        let batch = scope.spawn(|| running.write(Type::Modify, 1, Atomicity::DataplaneAtomic));
        while !batch.is_finished() {
            engine.poll(0, &mut seen);
            std::thread::yield_now();
            if engine.traffic().depth(2) == 0 {
                engine.idle();
            }
        }
        engine.receive(1, &[0; 8], 1_000_000_000_000, &mut seen);
    });
    assert_eq!(seen.pairs, [(0, 0), (0, 0), (0, 0), (1, 1)]);
}
