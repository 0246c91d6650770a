// Packets leave by the port that a table says for their destination.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition accept;
    }
}

control Verify(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control Forward(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard);
    }

    table by_destination {
        key = {
            headers.ethernet.destination: exact;
        }
        actions = {
            forward;
            drop;
        }
        default_action = drop();
    }

    apply {
        by_destination.apply();
    }
}

control Leave(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Compute(), Deparse()) main;
