//! The counter of a default entry, in empty tables and in others, on both backends.

use pipeline::{BackendKind, Engine, Message, Sink, Traffic};
use runtime::{ActionCall, CounterData, EntryAction, NewEntry};

const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
struct headers_t { }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) of_fixed;
    direct_counter(CounterType.packets_and_bytes) of_free;
    action to_2() { standard.egress_spec = 2; }
    table fixed {
        key = { standard.ingress_port : exact; }
        actions = { to_2; NoAction; }
        const default_action = NoAction;
        counters = of_fixed;
    }
    table free {
        key = { standard.ingress_port : exact; }
        actions = { to_2; NoAction; }
        default_action = to_2;
        counters = of_free;
    }
    apply { fixed.apply(); free.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

struct Nowhere;

impl Sink for Nowhere {
    fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}
    fn message(&mut self, _message: Message) {}
}

#[test]
fn packets_without_an_entry_count_at_the_default_one() {
    for kind in [BackendKind::Jit, BackendKind::Interpreter] {
        let program = loader::load(PROGRAM, kind).unwrap_or_else(|error| panic!("{error}"));
        let loaded = &program.loaded;
        let mut traffic = Traffic::default();
        let mut engine = Engine::new(loaded, &mut traffic, 1);
        let counts = || {
            let tables = loaded.program.tables.keys();
            tables.map(|table| loaded.device.default_entry(table).and_then(|entry| entry.counter)).collect::<Vec<_>>()
        };
        let both = |packets, bytes| vec![Some(CounterData { packets, bytes }); 2];
        assert_eq!(counts(), both(0, 0), "{kind:?}");
        for length in [60, 100] {
            engine.receive(1, &vec![0; length], 0, &mut Nowhere);
        }
        engine.idle();
        assert_eq!(counts(), both(2, 160), "{kind:?}: both tables are empty");
        for (id, table) in loaded.program.tables.iter() {
            let entry = NewEntry {
                keys: vec![ir::Match::Exact(7u8.into())],
                priority: 0,
                action: EntryAction::Action(ActionCall { action: table.actions[0].action, args: Vec::new() }),
                idle_timeout: 0,
                metadata: Vec::new(),
                counter: None,
                meter: None,
            };
            loaded.device.insert_entry(id, &entry, 0).expect("a fitting entry");
        }
        for port in [1, 7] {
            engine.receive(port, &[0; 40], 0, &mut Nowhere);
        }
        engine.idle();
        assert_eq!(counts(), both(3, 200), "{kind:?}: one of two packets hit");
    }
}
