// Exercise 5: three paths of different speed, and a scheduler that uses the first one only.
// docs/exercises/5-scheduler.md says what it is to do.

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
    apply {
        // What you may use: standard.ingress_global_timestamp is now in microseconds, standard.packet_length the packet's
        // octets, and a register<bit<48>>(4) remembers a number for each path from one packet to the next.
        standard.egress_spec = 1;
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
