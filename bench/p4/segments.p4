// IPv6 routing that puts a segment routing header with three segments into each packet (RFC 8754, inline).

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

header srh_t {
    bit<8>  next_header;
    bit<8>  length;
    bit<8>  type;
    bit<8>  segments_left;
    bit<8>  last_entry;
    bit<8>  flags;
    bit<16> tag;
}

header segment_t {
    bit<128> sid;
}

// The destination itself is the last segment.
const bit<8> SEGMENTS = 4;

struct headers_t {
    ethernet_t   ethernet;
    ipv6_t       ipv6;
    srh_t        srh;
    segment_t[4] segments;
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
    action forward(bit<9> port, bit<48> src, bit<48> dst, bit<128> first, bit<128> second, bit<128> third) {
        std.egress_spec = port;
        hdr.ethernet.src = src;
        hdr.ethernet.dst = dst;
        hdr.srh.setValid();
        hdr.srh.next_header = hdr.ipv6.next_header;
        hdr.srh.length = SEGMENTS * 2;
        hdr.srh.type = 4;
        hdr.srh.segments_left = SEGMENTS - 1;
        hdr.srh.last_entry = SEGMENTS - 1;
        hdr.srh.flags = 0;
        hdr.srh.tag = 0;
        hdr.segments[0].setValid();
        hdr.segments[0].sid = hdr.ipv6.dst;
        hdr.segments[1].setValid();
        hdr.segments[1].sid = third;
        hdr.segments[2].setValid();
        hdr.segments[2].sid = second;
        hdr.segments[3].setValid();
        hdr.segments[3].sid = first;
        hdr.ipv6.dst = first;
        hdr.ipv6.next_header = 43;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length + 72;
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
        packet.emit(hdr.srh);
        packet.emit(hdr.segments);
    }
}

V1Switch(Parse(), Verify(), RouteIngress(), RouteEgress(), Compute(), Deparse()) main;
