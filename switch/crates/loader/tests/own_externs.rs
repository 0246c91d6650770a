//! Externs of one's own, on all backends (docs/externs.md).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pipeline::{BackendKind, Engine, Message, Sink, Traffic};
use runtime::{BigUint, Call, ExternObject, Externs};

const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
extern bit<16> fold<T>(in T data, out bool odd);
extern Tally {
    Tally(bit<32> start);
    void add(in bit<8> what);
    bit<32> total();
}
header pair_t { bit<8> what; bit<160> wide; bit<16> folded; bit<32> total; bit<8> odd; }
struct headers_t { pair_t pair; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.pair); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Tally(100) one;
    Tally(200) other;
    apply {
        standard.egress_spec = 2;
        bool odd;
        hdr.pair.folded = fold({ hdr.pair.what, hdr.pair.wide }, odd);
        hdr.pair.odd = odd ? 8w1 : 8w0;
        one.add(hdr.pair.what);
        if (hdr.pair.what == 3) { other.add(1); }
        hdr.pair.total = one.total() + other.total();
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.pair); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// The sum of the arguments, which does not fit the result, and whether it is odd.
fn fold(call: &Call<'_>) -> Vec<BigUint> {
    assert_eq!(call.results, [1, 16], "the out parameter, then what is returned");
    assert_eq!(call.packet.len(), 29);
    let sum: BigUint = call.args.iter().sum();
    vec![&sum % 2u8, sum]
}

struct Tally(AtomicU32);

impl ExternObject for Tally {
    fn call(&self, method: &str, call: &Call<'_>) -> Vec<BigUint> {
        match method {
            "add" => {
                self.0.fetch_add(u32::try_from(&call.args[0]).expect("eight bits"), Ordering::Relaxed);
                vec![]
            }
            _ => vec![self.0.load(Ordering::Relaxed).into()],
        }
    }
}

fn externs() -> Externs {
    Externs::default().function("fold", fold).object("Tally", |name, args| {
        assert!(["I.one", "I.other"].contains(&name));
        let start = u32::try_from(&args[0]).map_err(|_| "the start has 32 bits".to_owned())?;
        Ok(Arc::new(Tally(AtomicU32::new(start))))
    })
}

#[derive(Default)]
struct Sent(Vec<Vec<u8>>);

impl Sink for Sent {
    fn transmit(&mut self, _port: u32, bytes: &[u8], _at: u64) {
        self.0.push(bytes.to_vec());
    }
    fn message(&mut self, message: Message) {
        panic!("{message:?}");
    }
}

#[test]
fn functions_and_objects_of_ones_own_run_on_all_backends() {
    for kind in [BackendKind::Interpreter, BackendKind::Jit, BackendKind::SpecialAtOnce] {
        let program = loader::load_with(PROGRAM, kind, Arc::new(externs())).unwrap_or_else(|error| panic!("{error}"));
        let (mut traffic, mut sent) = (Traffic::default(), Sent::default());
        let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
        for what in [2, 3] {
            let mut packet = vec![0; 29];
            (packet[0], packet[19], packet[20]) = (what, 0xff, 0xff);
            engine.receive(1, &packet, 0, &mut sent);
        }
        engine.flush(&mut sent);
        let seen: Vec<_> = sent.0.iter().map(|bytes| (&bytes[21..23], &bytes[23..27], bytes[27])).collect();
        // 0xffff and 2 or 3, cut to 16 bits; 100 and 200 and what was added.
        assert_eq!(seen, [(&[0, 1][..], &[0, 0, 1, 46][..], 1), (&[0, 2], &[0, 0, 1, 50], 0)], "{kind:?}");
    }
}

#[test]
fn an_extern_that_the_switch_has_not_is_named() {
    let error = |externs: Externs| {
        let loaded = loader::load_with(PROGRAM, BackendKind::Interpreter, Arc::new(externs));
        loaded.err().expect("something is missing")
    };
    assert!(error(Externs::default()).contains("extern function `fold`, which this switch does not have"));
    let without_objects = Externs::default().function("fold", fold);
    assert!(error(without_objects).contains("I.one is an object of the extern `Tally`"));
    let picky = Externs::default().function("fold", fold).object("Tally", |_, _| Err("it starts at 0".to_owned()));
    assert!(error(picky).contains("Tally I.one: it starts at 0"));
}
