// What stands on the wire.

#ifndef WAYNAME_PARSING_HEADERS_P4
#define WAYNAME_PARSING_HEADERS_P4

#include "../common/ids.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../sessions/shim6_headers.p4"
#include "../ilnp/headers.p4"
#include "../hip/headers.p4"
#include "../scheduling/path_option.p4"
#include "../encapsulation/routing_headers.p4"
#include "../telemetry/ioam_headers.p4"

header ethernet_h {
    mac_address_t destination;
    mac_address_t source;
    bit<16> type;
}

header vlan_h {
    bit<3> priority;
    bit<1> drop_eligible;
    vlan_id_t id;
    bit<16> type;
}

header ipv6_h {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
}

// Behind a tunnel's header only; the switch has no IPv4 of its own.
header ipv4_h {
    bit<4> version;
    bit<4> length;
    bit<8> traffic_class;
    bit<16> total_length;
    bit<32> fragment;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t source;
    ipv4_address_t destination;
}

// Any extension header, as it stands between its neighbours in the chain. What `length` counts differs by kind, so the
// parser works out the size.
header extension_h {
    bit<8> next_header;
    bit<8> length;
    varbit<EXTENSION_BITS> data;
}

// TCP, as far as its checksum.
header tcp_h {
    bit<128> start;
    bit<16> checksum;
}

// UDP; UDP-Lite and DCCP have their checksums in the same place.
header datagram_h {
    bit<48> start;
    bit<16> checksum;
}

// What an ICMPv6 error says before its quote. The parameter is the MTU of "packet too big", and 0 elsewhere.
header icmpv6_error_h {
    bit<8> type;
    bit<8> code;
    bit<16> checksum;
    bit<32> parameter;
}

// The beginning of the packet that an ICMPv6 error is about.
header quote_h {
    varbit<QUOTE_BITS> data;
}

// Before every packet to the controller. Whole octets, so that no client has to fill in padding.
@controller_header("packet_in")
@id(PACKET_IN_HEADER_ID)
header packet_in_h {
    @id(1) punt_reason_t reason;
    @id(2) bit<16> ingress_port;        // of a copy of what leaves, the port that it leaves by
    @id(3) bit<16> vlan;                // that the packet was taken to be in, tagged or not
    @id(4) punt_class_t punt_class;
}

// Before every packet of the controller.
@controller_header("packet_out")
@id(PACKET_OUT_HEADER_ID)
header packet_out_h {
    @id(1) bit<8> kind;                 // PACKET_OUT_*
    @id(2) bit<16> port;                // to leave by, or (as if) arrived by
    @id(3) bit<16> vlan;                // to flood in
}

typedef bit<8> packet_out_kind_t;
const packet_out_kind_t PACKET_OUT_SEND      = 0;  // leaves by the port as it is
const packet_out_kind_t PACKET_OUT_FLOOD     = 1;  // goes to every port of the VLAN, tagged where the port wants it
const packet_out_kind_t PACKET_OUT_SUBMIT    = 2;  // goes through the pipeline as if it had arrived by the port
const packet_out_kind_t PACKET_OUT_KEEPALIVE = 3;  // between identities: leaves by their session's path, if it is time for it
const packet_out_kind_t PACKET_OUT_CHECK     = 4;  // between identities: is their session answered? Leaves nothing

const bit<16> PACKET_IN_BYTES  = 6;
const bit<16> PACKET_OUT_BYTES = 5;

struct headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    ethernet_h ethernet;
    vlan_h vlan;

    // Put on here. Inline, `outer` is the packet's own IPv6 header, and `ipv6` is gone.
    ipv6_h outer;
    options_start_h new_options;
    option_padding_2_h new_padding;
    direct_export_h new_direct_export;
    export_flow_h new_export_flow;
    trace_h new_trace;
    free_words_t free_words;
    node_data_t new_node;
    option_padding_4_h new_end;
    segment_routing_h steering;
    segment_h original_destination;
    segments_4_h[SEGMENT_LIST_EXTENSIONS] segment_list_extensions;
    segment_h[SEGMENTS_OF_POLICY] segments;
    hmac_h hmac;
    ethernet_h frame;
    vlan_h frame_vlan;

    // As it came in.
    ipv6_h ipv6;
    options_start_h hop_by_hop;
    option_h[OPTIONS] options;
    direct_export_h direct_export;
    trace_h trace;
    trace_part_h trace_free;
    words_2_h trace_spare;
    node_data_t node;
    trace_part_h trace_slot;
    trace_part_h trace_filled;
    options_rest_h options_rest;
    source_route_h new_source_route;    // put on here: behind hop-by-hop options, never before another IPv6 header
    middle_hops_t middle_hops;
    octets_t last_hop;
    path_option_h path_option;                  // put on here; behind a routing header it is the other one
    path_order_h path_order;                    // the same
    path_report_h path_report;                  // the same
    shim6_payload_h payload_header;
    nonce_option_h nonce_option;
    nonce_rest_h nonce_rest;
    extension_h[EXTENSION_HEADERS] extensions;
    segment_routing_h segment_routing;
    source_route_h source_route;
    routing_part_h routing_before;
    octets_t hop;
    routing_part_h routing_behind;
    path_option_h path_option_behind;
    path_order_h path_order_behind;
    path_report_h path_report_behind;
    shim6_payload_h payload_header_behind;
    nonce_option_h nonce_option_behind;
    nonce_rest_h nonce_rest_behind;
    extension_h[EXTENSION_HEADERS] extensions_behind;
    path_option_h esp_path_option;              // put on here, right before ESP
    path_order_h esp_path_order;                // the same
    path_report_h esp_path_report;              // the same
    esp_h lone_esp;                             // of what has nothing else in it
    tcp_h tcp;
    datagram_h datagram;
    icmpv6_error_h message;     // any ICMPv6
    ipv6_h quoted;              // by an ICMPv6 error
    ipv6_h inner_ipv6;
    ipv4_h inner_ipv4;
    ethernet_h inner_frame;
    icmpv6_error_h icmpv6_error;
    quote_h quote;
}

// Looked ahead at, never taken off the packet: the switch reads these and changes nothing in them.

struct extension_start_t {
    bit<8> next_header;
    bit<8> length;
}

struct fragment_t {
    bit<8> next_header;
    bit<8> reserved;
    bit<13> offset;
    bit<2> unused;
    bit<1> more;
    bit<32> identification;
}

struct ports_t {
    bit<16> source;
    bit<16> destination;
}

struct icmpv6_start_t {
    bit<8> type;
    bit<8> code;
    bit<16> checksum;
}

// An echo request, as far as the octets by which the router knows its own.
struct echo_message_t {
    icmpv6_start_t start;
    bit<16> identifier;
    bit<16> sequence;
    bit<64> mark;
}

// An ICMPv6 error, as far as the next header of the packet that it quotes.
struct error_message_t {
    icmpv6_start_t start;
    bit<32> parameter;
    bit<48> quote_start;
    bit<8> quoted_next_header;
}

// Neighbour solicitation and advertisement.
struct neighbour_message_t {
    icmpv6_start_t start;
    bit<32> flags;
    ipv6_address_t target;
}

#endif
