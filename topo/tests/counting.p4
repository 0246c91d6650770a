// What enters by one port leaves by the other, with its number: packets of ETHERTYPE are counted in a register.
#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE = 0x88b5;  // IEEE 802: for experiments

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header numbered_t {
    bit<64> sent;
    bit<64> counted;
}

struct headers_t {
    ethernet_t ethernet;
    numbered_t numbered;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.type) {
            ETHERTYPE: numbered;
            default: accept;
        }
    }

    state numbered {
        packet.extract(headers.numbered);
        transition accept;
    }
}

control Verify(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control Count(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    register<bit<64>>(1) counted;

    apply {
        standard.egress_spec = 3 - standard.ingress_port;
        if (headers.numbered.isValid()) {
            counted.read(headers.numbered.counted, 0);
            counted.write(0, headers.numbered.counted + 1);
        }
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

V1Switch(Parse(), Verify(), Count(), Leave(), Compute(), Deparse()) main;
