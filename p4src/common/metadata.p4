// All that is known about a packet beside its headers. Ingress decides and writes it down here; egress carries it out.
// What belongs together stands in the *_metadata.p4 beside this file.

#ifndef WAYNAME_COMMON_METADATA_P4
#define WAYNAME_COMMON_METADATA_P4

#include "packet_metadata.p4"
#include "types.p4"
#include "../sessions/metadata.p4"
#include "../ilnp/metadata.p4"
#include "../hip/headers.p4"
#include "../scheduling/metadata.p4"
#include "../scheduling/path_option.p4"
#include "../nptv6/metadata.p4"
#include "../encapsulation/metadata.p4"

// Of keyed hashes.
struct keys_t {
    bit<128> slots;
    bit<128> nonces;
}

struct metadata_t {
    @field_list(FIELDS_OF_ERROR, FIELDS_OF_PUNT, FIELDS_OF_CLONE, FIELDS_OF_COPY) port_t ingress_port;
    @field_list(FIELDS_OF_PUNT) vlan_id_t vlan;
    @field_list(FIELDS_OF_PUNT) punt_reason_t punt;
    @field_list(FIELDS_OF_PUNT) punt_class_t punt_class;
    bool punt_copy;             // the controller gets a copy, the packet goes on
    @field_list(FIELDS_OF_PUNT) bool mirrored;  // another copy is due when it leaves for the controller
    drop_reason_t fault;        // found by the parser
    drop_reason_t drop;
    @field_list(FIELDS_OF_ERROR) bool from_controller;  // a packet_out header stands before the packet
    @field_list(FIELDS_OF_PUNT, FIELDS_OF_CLONE) bit<48> arrived;    // in microseconds, by the clock of the switch
    bit<48> departed;
    bit<32> queue;              // packets that waited when it departed
    bool decided;               // dropped, or the controller's: no later stage need look at it
    bool out_of_tunnel;         // `ipv6` is the header of the packet that was inside
    bool learn;                 // its station is new here
    bit<8> guards;              // GUARD_*: what is checked of it, 0 if it comes from no host
    bit<32> length;             // bytes received, a packet_out header among them
    bool fragmented;            // a part of a packet
    bool first_fragment;
    chain_t chain;
    flow_t flow;
    icmpv6_t icmpv6;
    bit<64> probe_mark;         // by which the router knows its own probes; 0 where the packet can be none
    bool own_probe;             // it is one that comes back, or its answer
    bit<8> inner_icmpv6_type;   // of a message in a tunnel
    trace_t trace;
    export_t export;
    routing_t routing;
    shim6_t shim6;
    ilnp_t ilnp;
    hip_t hip;
    keys_t keys;
    session_t session;
    sack_t sack;
    schedule_t schedule;
    path_option_t path_option;
    copy_t copy;
    path_probe_t probe;
    replication_t replication;
    path_event_t path_event;
    session_event_t session_event;
    pair_t pair;
    border_t border;
    flow_event_t flow_event;
    encapsulation_t encapsulation;
    interface_t interface;
    linux_t linux;
    next_t next;
    neighbour_t neighbour;
    icmp_error_t icmp_error;
    egress_t egress;
}

// What is decided of a packet, in the control's `meta`. These are no functions: P4 copies what a function may change in and out, and
// p4c does that, so each call would make two copies of all that is known of a packet.

// The packet ends here.
#define DROP(why)                                       \
    meta.decided = true;                                \
    meta.drop = why

// The packet ends here, and its sender is told.
#define DROP_WITH_ERROR(why, error_type, error_code)    \
    DROP(why);                                          \
    meta.icmp_error.type = error_type;                  \
    meta.icmp_error.code = error_code

// The controller gets the packet.
#define TRAP(why)                                       \
    meta.decided = true;                                \
    meta.punt = why;                                    \
    meta.punt_class = why;                              \
    meta.punt_copy = false

// Linux gets the packet.
#define GIVE_TO_LINUX                                   \
    meta.decided = true;                                \
    meta.egress.port = meta.linux.port

// The controller gets a copy.
#define COPY_TO_CONTROLLER(why)                         \
    meta.punt_copy = true;                              \
    meta.punt = why;                                    \
    meta.punt_class = why

#endif
