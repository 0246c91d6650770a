//! What a program says to a packet buffer, on both backends.

use pipeline::{BackendKind, DropReason, Engine, Message, Sink, Traffic};
use runtime::BufferCounts;

/// The first octet of a packet is what to do, the second the queue, the third the number. What came out of the buffer leaves by port 3
/// with what was known of it, the rest by port 2, or by port 4 if it was not kept.
const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
#include <packet_buffer.p4>
header order_h { bit<8> what; bit<8> queue; bit<8> number; bit<8> mark; }
struct headers_t { order_h order; }
struct meta_t { @field_list(1) bit<8> mark; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.order); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    @id(5) @name(\"copies\")
    packet_buffer(4, 1000, 600) copies;

    apply {
        bit<32> queue = (bit<32>)hdr.order.queue;
        bit<32> number = (bit<32>)hdr.order.number;
        standard.egress_spec = 2;
        if (standard.instance_type == INSTANCE_TYPE_KEPT) {
            standard.egress_spec = 3;
            hdr.order.mark = meta.mark;
        } else if (hdr.order.what == 1) {
            hdr.order.mark = 0xFF;
            if (copies.keep(queue, number, 1000, 1)) {
                mark_to_drop(standard);
            } else {
                standard.egress_spec = 4;
            }
            meta.mark = 7;      // as it is in the end
        } else if (hdr.order.what == 2) {
            copies.release(queue, number);
        } else if (hdr.order.what == 3) {
            copies.send(queue, number);
        }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.order); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const KEEP: u8 = 1;
const RELEASE: u8 = 2;
const SEND: u8 = 3;

/// Ports, and packets without what follows the first four octets.
#[derive(Default)]
struct Sent(Vec<(u32, [u8; 4])>);

impl Sink for Sent {
    fn transmit(&mut self, port: u32, bytes: &[u8], _at: u64) {
        self.0.push((port, bytes[..4].try_into().expect("four octets")));
    }

    fn message(&mut self, _message: Message) {}
}

fn packet(what: u8, queue: u8, number: u8) -> Vec<u8> {
    [[what, queue, number, 0].as_slice(), &[0; 68]].concat()
}

#[test]
fn copies_start_again_in_order_as_they_came_in() {
    for kind in [BackendKind::Jit, BackendKind::Interpreter, BackendKind::SpecialAtOnce] {
        let program = loader::load(PROGRAM, kind).unwrap_or_else(|error| panic!("{error}"));
        let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
        let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
        for (number, at) in [(5, 0), (4, 100), (6, 200)] {
            engine.receive(1, &packet(KEEP, 0, number), at, &mut sent);
        }
        assert_eq!(sent.0, [], "{kind:?}: all are kept");
        assert_eq!(engine.next_departure(), Some(1_000_000));
        engine.poll(999_999, &mut sent);
        assert_eq!(sent.0, []);
        engine.poll(1_000_000, &mut sent);
        assert_eq!(sent.0, [(3, [KEEP, 0, 4, 7]), (3, [KEEP, 0, 5, 7])], "{kind:?}: what was lower goes before");
        sent.0.clear();
        engine.receive(1, &packet(SEND, 0, 6), 1_000_001, &mut sent);
        assert_eq!(sent.0, [(2, [SEND, 0, 6, 0]), (3, [KEEP, 0, 6, 7])], "{kind:?}: behind who said so");
        assert_eq!(engine.next_departure(), None);
    }
}

#[test]
fn what_is_released_or_has_no_room_does_not_start() {
    for kind in [BackendKind::Jit, BackendKind::Interpreter] {
        let program = loader::load(PROGRAM, kind).unwrap_or_else(|error| panic!("{error}"));
        let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
        let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
        // A copy counts 72 octets and 128: three fit in a queue, five in the buffer.
        for (queue, number) in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 1), (1, 2), (2, 1), (4, 1)] {
            engine.receive(1, &packet(KEEP, queue, number), 0, &mut sent);
        }
        let refused = [(0, 4), (1, 1), (2, 1), (4, 1)];
        let refused = refused.map(|(queue, number)| (4, [KEEP, queue, number, 0xff]));
        assert_eq!(sent.0, refused, "{kind:?}: one queue is full, then the buffer; one is there, one has no queue");
        sent.0.clear();
        engine.receive(1, &packet(RELEASE, 0, 9), 1, &mut sent);
        engine.poll(2_000_000, &mut sent);
        assert_eq!(sent.0, [(2, [RELEASE, 0, 9, 0]), (3, [KEEP, 1, 1, 7]), (3, [KEEP, 1, 2, 7])], "{kind:?}");
        let state = &program.loaded.device.buffers()[0];
        let counts = BufferCounts { kept: 5, no_room: 2, refused: 2, released: 3, sent: 0, expired: 2 };
        assert_eq!((state.counts, state.packets, state.octets), (counts, 0, 0), "{kind:?}");
    }
}

#[test]
fn copies_of_a_program_that_goes_are_dropped_and_counted() {
    let program = loader::load(PROGRAM, BackendKind::Interpreter).unwrap_or_else(|error| panic!("{error}"));
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    engine.receive(1, &packet(KEEP, 0, 1), 0, &mut sent);
    engine.receive(1, &packet(KEEP, 1, 1), 0, &mut sent);
    engine.flush(&mut sent);
    engine.drop_kept();
    assert_eq!(engine.traffic().stats.dropped(DropReason::Replaced), 2);
    assert_eq!((sent.0.len(), engine.next_departure()), (0, None));
}

#[test]
fn a_program_that_keeps_a_packet_again_and_again_ends() {
    let endless = PROGRAM
        .replace("standard.instance_type == INSTANCE_TYPE_KEPT", "hdr.order.what == 9")
        .replace("hdr.order.mark = meta.mark;", "bool kept = copies.keep(queue, number, 0, 1);");
    let program = loader::load(&endless, BackendKind::Interpreter).unwrap_or_else(|error| panic!("{error}"));
    let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    engine.receive(1, &packet(9, 0, 1), 0, &mut sent);
    engine.poll(1, &mut sent);
    assert_eq!(engine.traffic().stats.dropped(DropReason::Budget), 1);
}

#[test]
fn a_buffer_is_for_ingress_and_has_an_id_of_its_own() {
    let outside = PROGRAM.replace(
        "control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }",
        "control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
            packet_buffer(4, 1000, 600) others;
            apply { others.release(0, 0); } }",
    );
    let error = loader::load(&outside, BackendKind::Interpreter).err().unwrap_or_default();
    assert!(error.contains("can only be used in ingress"), "{error}");
    let program = loader::load(PROGRAM, BackendKind::Interpreter).unwrap_or_else(|error| panic!("{error}"));
    let externs = program.p4info.map(|info| info.externs).unwrap_or_default();
    let id = externs[0].instances[0].preamble.as_ref().map(|preamble| preamble.id);
    assert_eq!((externs[0].extern_type_id, id), (0x81, Some(0x8100_0005)));
}
