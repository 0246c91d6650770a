//! Ways of a program that compares the packet's length: those of many lengths are one, and none is taken by a packet whose
//! length it is not for.

mod sent;
mod v1model;

use std::sync::Arc;

use fastrand::Rng;
use pipeline::{BackendKind, Engine, Traffic};

use self::sent::Sent;
use self::v1model::V1model;

const PROGRAM: V1model<'_> = V1model {
    header: "bit<16> who; bit<16> payload; bit<16> size; bit<16> more;",
    metadata: "",
    declarations: "",
    ingress_declarations: "",
    ingress: "standard.egress_spec = 1;
        bit<32> before = 8;
        if (hdr.name.who == 2) { before = before + 4; }
        if (before + (bit<32>)hdr.name.payload > standard.packet_length) { mark_to_drop(standard); }
        if (standard.packet_length <= 20) { hdr.name.more = 7; }
        // Lost in one octet, and read for what it is.
        if (hdr.name.who == 3 && standard.packet_length[7:0] < 14) { hdr.name.more = 8; }
        if (hdr.name.who == 4) { hdr.name.size = (bit<16>)standard.packet_length; }
        // A sum that wraps.
        if (hdr.name.who == 5 && hdr.name.payload + 0xfff0 < (bit<16>)standard.packet_length) { hdr.name.more = 9; }",
    egress_declarations: "",
    egress: "if (hdr.name.who == 1 && standard.packet_length == 30) { hdr.name.size = 1; }",
};

/// What each of the packets left as, and how many ways were learned.
fn run(kind: BackendKind, packets: &[Vec<u8>]) -> (Vec<Sent>, u64) {
    let program = Arc::new(loader::load(&PROGRAM.text(), kind).unwrap_or_else(|error| panic!("{error}")));
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    let send = |packet: &Vec<u8>| {
        let mut sent = Sent::default();
        engine.receive(0, packet, 0, &mut sent);
        sent
    };
    let sent = packets.iter().map(send).collect();
    (sent, engine.traffic().flows.learned)
}

/// Packets of somebody, some of them shorter than they say.
fn packets(who: u8, count: usize, numbers: &mut Rng) -> Vec<Vec<u8>> {
    (0..count)
        .map(|_| {
            let (length, payload) = (numbers.u16(8..330), numbers.u16(..330));
            let payload = if numbers.u8(..4) == 0 { payload } else { length.saturating_sub(numbers.u16(7..16)) };
            let mut packet = [u16::from(who), payload, 0, 0].map(u16::to_be_bytes).concat();
            packet.resize(length.into(), who);
            packet
        })
        .collect()
}

#[test]
fn packets_of_all_lengths_leave_as_the_interpreter_has_them_leave() {
    let mut numbers = Rng::with_seed(1);
    for who in 0..6 {
        let packets = packets(who, 3000, &mut numbers);
        let (expected, _) = run(BackendKind::Interpreter, &packets);
        for kind in [BackendKind::Flows, BackendKind::CheckedFlows] {
            let (got, learned) = run(kind, &packets);
            for ((got, expected), packet) in got.iter().zip(&expected).zip(&packets) {
                assert_eq!(got.0, expected.0, "{kind:?}, {} octets: {packet:?}", packet.len());
            }
            // Long enough or not, more than 20 octets or not; a way for each length, or each pair of numbers, where more is
            // made of it. Of hundreds of ways some push each other out, and are learned again.
            let most = [4, 1000, 4, 1000, 1000, 3000][usize::from(who)];
            assert!(learned <= most, "{kind:?}, {who}: {learned}");
        }
    }
}
