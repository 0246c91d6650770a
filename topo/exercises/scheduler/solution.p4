// Exercise 5, solved: each packet takes the path that delivers it first.

#include <core.p4>
#include <v1model.p4>

// Packets come in by port 0 and leave by the port of a path: 1 (2 Mbit/s), 2 (4 Mbit/s) or 3 (5 Mbit/s). A packet is there
// as soon as it was sent whole and the path's delay has passed: 10 ms, 20 ms, 30 ms.
const bit<9> PATHS = 3;
const bit<48> DELAY_1 = 10000;      // microseconds
const bit<48> DELAY_2 = 20000;
const bit<48> DELAY_3 = 30000;
const bit<48> OCTET_1 = 4000;       // nanoseconds that an octet takes
const bit<48> OCTET_2 = 2000;
const bit<48> OCTET_3 = 1600;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser Headers(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control CheckNothing(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Scheduler(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    // Until when each path is busy, in nanoseconds.
    register<bit<48>>(4) busy;

    bit<48> earliest;
    bit<48> until;
    bit<9> best;

    action look_at(bit<9> path, bit<48> delay, bit<48> octet) {
        bit<48> now = standard.ingress_global_timestamp * 1000;
        bit<48> begin;
        busy.read(begin, (bit<32>) path);
        begin = begin > now ? begin : now;
        bit<48> sent = begin + octet * (bit<48>) standard.packet_length;
        bit<48> there = sent + delay * 1000;
        bool better = best == 0 || there < earliest;
        earliest = better ? there : earliest;
        until = better ? sent : until;
        best = better ? path : best;
    }

    apply {
        earliest = 0;
        until = 0;
        best = 0;
        look_at(1, DELAY_1, OCTET_1);
        look_at(2, DELAY_2, OCTET_2);
        look_at(3, DELAY_3, OCTET_3);
        busy.write((bit<32>) best, until);
        standard.egress_spec = best;
    }
}

control AfterQueues(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control ComputeNothing(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Write(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(Headers(), CheckNothing(), Scheduler(), AfterQueues(), ComputeNothing(), Write()) main;
