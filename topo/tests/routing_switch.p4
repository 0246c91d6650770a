// IPv6 packets leave by the port that a route says, for a station and with a smaller hop limit; routes and ports are counted.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
header vlan_t { bit<16> tag; bit<16> type; }
header ipv6_t {
    bit<32> flow; bit<16> payload_length; bit<8> next_header; bit<8> hop_limit; bit<128> source; bit<128> destination;
}
struct headers_t { ethernet_t ethernet; vlan_t vlan; ipv6_t ipv6; }
struct metadata_t {}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x8100: vlan;
            0x86dd: ipv6;
            default: accept;
        }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            0x86dd: ipv6;
            default: accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) of_routes;
    counter(8, CounterType.packets_and_bytes) of_ports;

    action forward(bit<9> port, bit<48> station) {
        std.egress_spec = port;
        hdr.ethernet.destination = station;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
        of_routes.count();
        of_ports.count((bit<32>)port);
    }
    action drop() {
        mark_to_drop(std);
        of_routes.count();
    }
    table routes {
        key = { hdr.ipv6.destination : lpm; }
        actions = { forward; drop; }
        const default_action = drop();
        counters = of_routes;
        support_timeout = true;
        size = 1024;
    }
    apply {
        if (hdr.ipv6.isValid() && hdr.ipv6.hop_limit > 1) {
            routes.apply();
        } else {
            mark_to_drop(std);
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
