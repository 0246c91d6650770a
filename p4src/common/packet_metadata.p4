// What the parser found of a packet, and what its way through the router is.

#ifndef WAYNAME_COMMON_PACKET_METADATA_P4
#define WAYNAME_COMMON_PACKET_METADATA_P4

#include "types.p4"

// Lists of fields that live on when the architecture starts a packet again: for the second pass of a packet that an
// ICMPv6 error answers, for a copy to the controller, for a copy that becomes a report or a probe or goes beside its packet, and for one in a packet buffer.
#define FIELDS_OF_ERROR  1
#define FIELDS_OF_PUNT   2
#define FIELDS_OF_CLONE  3
#define FIELDS_OF_COPY   4

// The parser's way along the extension headers.
struct chain_t {
    bit<8> next_header;     // of what comes next; in the end, of the upper layer
    bit<8> count;           // extension headers so far
    bit<16> left;           // bytes of payload not yet walked
    bit<16> size;           // of the header at hand
    bool crossed;           // the comparison at hand
    bool unknown;           // an unknown header was skipped: what follows is a guess
    bool guards_itself;     // with an authentication header, or of HIP: its receiver checks it
    bool routing_0;         // with a routing header of type 0
    bool goes_on;           // with segments left in a routing header beside that of `routing`: its destination may send it on
    bit<32> fragment;       // the identification of a part of a packet
}

// What tells flows apart; 0 where the packet does not say.
struct flow_t {
    bit<8> next_header;
    bit<16> source_port;
    bit<16> destination_port;
}

// The ICMPv6 message in the packet, if the whole packet is here.
struct icmpv6_t {
    bit<8> type;
    bit<8> code;
    ipv6_address_t target;
    bit<8> quoted_next_header;  // of an error, of the packet that it is about
    bit<64> quoted_upper_layer; // and what stands behind its IPv6 header
}

// Which of a packet's addresses may be mapped, by the interface that it comes by.
typedef bit<8> mapping_sides_t;
const mapping_sides_t MAPS_SOURCES      = 1;  // hosts behind it are mapped
const mapping_sides_t MAPS_DESTINATIONS = 2;  // identities of hosts are behind this edge

// What is checked of a packet that comes by a port of hosts.
typedef bit<8> guards_t;
const guards_t GUARD_SOURCES    = 1;  // its source belongs to its sender
const guards_t GUARD_NEIGHBOURS = 2;  // so does what it advertises or is about to take
const guards_t GUARD_ROUTERS    = 4;  // it is no router
const guards_t GUARD_DHCPV6     = 8;  // it is no DHCPv6 server
const bit<8> GUARDS             = 15;   // any of these
const guards_t GUARD_SOURCES_FULL = 16;  // the port has as many sources as it may have
const guards_t GUARD_MACS_FULL    = 32;  // the port has as many stations as it may have

// The router interface on the packet's VLAN; an address of 0 says that there is none.
struct interface_t {
    mac_address_t mac;
    ipv6_address_t address;
    bit<8> maps;                // MAPS_*
}

// Linux's interface beside it.
struct linux_t {
    bool here;                  // there is one
    bool ipv4;                  // Linux is the IPv4 router
    bool sent;                  // the packet comes from it
    port_t port;                // of its TAP device
    drop_reason_t held_back;    // why Linux gets no copy of a flood
}

// Where a routed packet goes next.
struct next_t {
    nexthop_id_t nexthop;
    ecmp_group_id_t ecmp_group;
    vlan_id_t vlan;
    ipv6_address_t address;
    vrf_id_t vrf;                   // to look the destination up in
    ipv6_address_t destination;     // of the outermost header that it will have
}

// Where the table has a neighbour: the next hop of a routed packet, or who discovery is from.
struct neighbour_t {
    bool known;
    port_t port;
    mac_address_t mac;
}

// The ICMPv6 error that answers the packet; a type of 0 is none.
struct icmp_error_t {
    @field_list(FIELDS_OF_ERROR) bit<8> type;
    @field_list(FIELDS_OF_ERROR) bit<8> code;
    @field_list(FIELDS_OF_ERROR) bit<16> parameter;     // an MTU, or where in the packet the problem is
    @field_list(FIELDS_OF_ERROR) bit<16> skipped;       // octets of a tunnel's headers, which the sender does not know
    ipv6_address_t receiver;
    bit<16> quote_bytes;
}

// For egress.
struct egress_t {
    port_t port;                // in egress, of this copy
    group_t group;              // 0: to the port
    vlan_id_t vlan;             // that it leaves in
    bool flood;                 // to the VLAN's group
    bool as_it_is;              // leave tag and addresses alone
    bool routed;                // new addresses below IPv6, one hop less
    mac_address_t destination;
    @field_list(FIELDS_OF_PUNT) bit<16> cut;    // to this many bytes; 0: not
    bool copy;                  // a copy of it as it leaves goes to the controller
}

// Where a station was seen, for the controller. A digest takes no @id: its id comes of its name.
@name("learn")
struct learn_t {
    port_t port;
    vlan_id_t vlan;
    mac_address_t source;
}

#endif
