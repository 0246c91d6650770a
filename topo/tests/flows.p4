// Datagrams of some ports leave by port 2, with a number for each and a smaller hop limit, unless they are shorter than they say.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
header ipv6_t {
    bit<32> flow; bit<16> payload_length; bit<8> next_header; bit<8> hop_limit; bit<128> source; bit<128> destination;
}
header udp_t { bit<16> source; bit<16> destination; bit<16> size; bit<16> checksum; }
struct headers_t { ethernet_t ethernet; ipv6_t ipv6; udp_t udp; }
struct metadata_t {}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv6);
        packet.extract(hdr.udp);
        transition accept;
    }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action forward(bit<32> number) {
        std.egress_spec = 2;
        hdr.ethernet.source = (bit<48>)number;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }
    action drop() { mark_to_drop(std); }
    table by_port {
        key = { hdr.udp.destination : exact; }
        actions = { forward; drop; }
        const default_action = drop();
        const entries = {
            1000 : forward(1);
            1001 : forward(2);
            1002 : forward(3);
            1003 : forward(4);
            1004 : forward(5);
            1005 : forward(6);
            1006 : forward(7);
            1007 : forward(8);
        }
    }
    apply {
        by_port.apply();
        if (54 + (bit<32>)hdr.ipv6.payload_length > std.packet_length) { drop(); }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
