// IPv6 routing, as little as that can be: longest prefix, hop limit, new Ethernet addresses.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv6_t {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv6_t     ipv6;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x86dd: ipv6;
            default: accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control RouteIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() {
        mark_to_drop(std);
    }
    action forward(bit<9> port, bit<48> src, bit<48> dst) {
        std.egress_spec = port;
        hdr.ethernet.src = src;
        hdr.ethernet.dst = dst;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }
    table routes {
        key = { hdr.ipv6.dst: lpm; }
        actions = { forward; drop; }
        default_action = drop;
        size = 600000;
    }
    apply {
        if (hdr.ipv6.isValid() && hdr.ipv6.hop_limit > 1) {
            routes.apply();
        } else {
            drop();
        }
    }
}

control RouteEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv6);
    }
}

V1Switch(Parse(), Verify(), RouteIngress(), RouteEgress(), Compute(), Deparse()) main;
