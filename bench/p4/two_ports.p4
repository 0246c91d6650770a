// What comes by port 1 leaves by port 2, and the other way round: what ports cost, and nothing else.

#include <core.p4>
#include <v1model.p4>

struct headers_t {}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition accept;
    }
}

control Verify(inout headers_t headers, inout metadata_t meta) {
    apply {}
}

control Cross(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 3 - standard.ingress_port;
    }
}

control Leave(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t headers, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {}
}

V1Switch(Parse(), Verify(), Cross(), Leave(), Compute(), Deparse()) main;
