// What stands around a packet, or is to: traces, routing headers, tunnels.

#ifndef WAYNAME_ENCAPSULATION_METADATA_P4
#define WAYNAME_ENCAPSULATION_METADATA_P4

#include "../common/packet_metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"

// The trace in the packet's hop-by-hop options.
struct trace_t {
    @field_list(FIELDS_OF_PUNT) bool slot;      // room for this node
    @field_list(FIELDS_OF_PUNT) bool full;      // it is sound, and has none
}

// What a packet with a direct export option has exported (RFC 9326).
struct export_t {
    bool asked;             // also where the tunnel that asked has ended
    bool wanted;
    bit<16> namespace;
    bit<24> type;
    bit<32> flow;           // 0 where the option has none
    bit<32> sequence;
    bit<24> node;
    bit<32> data;
    bit<64> time;           // of arrival: POSIX, in microseconds
}

// The first routing header with segments or a source route; its type is 0 if there is none.
struct routing_t {
    bit<8> type;
    bit<8> index;           // extension headers before it
    bit<16> size;
    bit<8> left;            // segments
    bool wrong;             // its numbers contradict each other
    bit<16> pointer;        // where in the packet `segments left` stands
    bool hop;               // the packet is at a hop of a source route
    bit<5> octets;          // of the address that comes next on the wire
    bit<4> left_out;        // and before them, as the destination has them
    bit<HOPS_CHECKED_BITS> addresses;   // of a source route, as they stand in the header
    bit<16> before_last;    // octets of them before the last one
    bool long;              // there are more than that
    bit<8> last_entry;      // of a segment list that may be proven,
    bit<PROVEN_LIST_BITS> segments; // all of it,
    bit<HMAC_TLV_BITS> first_tlv;   // and the first 40 octets behind it
    bool tlv_unread;        // there are octets behind a list that is too long for that
    bool verified;          // the list's HMAC is right
}

typedef bit<8> encapsulation_mode_t;
const encapsulation_mode_t ENCAPSULATE_NONE           = 0;
const encapsulation_mode_t ENCAPSULATE_INLINE         = 1;  // into the packet as it is
const encapsulation_mode_t ENCAPSULATE_TUNNEL         = 2;  // into a packet around it
const encapsulation_mode_t ENCAPSULATE_AUTO           = 3;  // inline into the router's own packets, a tunnel for all others
const encapsulation_mode_t ENCAPSULATE_TUNNEL_REDUCED = 4;  // a tunnel whose list leaves the first segment out (RFC 8986)
const encapsulation_mode_t ENCAPSULATE_FRAME          = 5;  // a tunnel for the frame as it came in
const encapsulation_mode_t ENCAPSULATE_FRAME_REDUCED  = 6;  // the same, reduced
const bit<8> ILA_TRANSLATE              = 7;

// What this router puts before a packet, or into it.
struct encapsulation_t {
    bit<8> mode;                        // ENCAPSULATE_*
    policy_id_t policy;
    trace_id_t trace;
    source_route_id_t source_route;
    bit<16> size;                       // octets that it adds
    bool reduced;                       // leaves the first segment out of the list
    bit<64> locator;
    bit<1> neutral;
    ipv6_address_t source;
    ipv6_address_t destination;
}

// What a node exports of a packet, for the controller.
@name("direct_export")
struct direct_export_t {
    bit<16> namespace;
    bit<24> type;
    bit<32> flow;
    bit<32> sequence;
    bit<24> node;
    bit<8> hop_limit;
    port_t ingress_port;
    port_t egress_port;
    bit<64> time;
    bit<32> data;
}

#endif
