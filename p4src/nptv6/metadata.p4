// What crosses a site's border, and how its prefix changes there.

#ifndef WAYNAME_NPTV6_METADATA_P4
#define WAYNAME_NPTV6_METADATA_P4

#include "../common/types.p4"

// Where a packet came from, on the border of a site.
typedef bit<8> border_side_t;
const border_side_t SIDE_NONE    = 0;  // no border here
const border_side_t SIDE_INSIDE  = 1;  // the site
const border_side_t SIDE_OUTSIDE = 2;  // its providers

// Which way it crosses.
const bit<8> BORDER_STAYS   = 0;
const bit<8> BORDER_OUT     = 1;
const bit<8> BORDER_IN      = 2;
const bit<8> BORDER_HAIRPIN = 3;        // from inside to an address that a provider gave to the inside

// Whether a provider works.
typedef bit<8> provider_health_t;
const provider_health_t PROVIDER_WORKS  = 0;  // flows begin by it and go on
const provider_health_t PROVIDER_HELD   = 1;  // failed a moment ago: connections over it wait
const provider_health_t PROVIDER_FAILED = 2;  // connections over it are lost

// How a prefix becomes another one of its length (RFC 6296).
struct nptv6_mapping_t {
    bool wanted;
    ipv6_address_t old;
    ipv6_address_t new;
    ipv6_address_t mask;        // of the bits that change
    bit<16> difference;         // what one word takes up
    bit<1> in_subnet;           // the fourth; else one of the interface identifier
}

// A packet that crosses a site's border.
struct border_t {
    bit<8> side;                // SIDE_*
    bit<8> way;                 // BORDER_*
    bool enters;                // from outside to an address inside, translated or not
    bool leaves;                // from inside to outside
    bit<16> site;
    bit<8> provider;            // by which it goes, or came
    ipv6_address_t local;       // its flow, as hosts inside see it
    ipv6_address_t remote;
    bit<8> next_header;
    bit<16> local_port;
    bit<16> remote_port;
    nptv6_mapping_t source;
    nptv6_mapping_t destination;
    ipv6_address_t inside;      // what the destination becomes
    ipv6_address_t quoted_source;
}

// What becomes of flows whose provider failed, and which flows another switch could not know.
typedef bit<8> flow_event_kind_t;
const flow_event_kind_t FLOW_EVENT_NONE  = 0;
const flow_event_kind_t FLOW_EVENT_HELD  = 1;  // what its host sends is dropped for now
const flow_event_kind_t FLOW_EVENT_MOVED = 2;  // it goes by another provider, so with another address
const flow_event_kind_t FLOW_EVENT_BEGAN = 3;  // of a session of the host's own: both ends have spoken
const flow_event_kind_t FLOW_EVENT_ESTABLISHED = 4;    // both ends have spoken, and only its slot says by which provider it goes

struct flow_event_t {
    bit<8> kind;                // FLOW_EVENT_*
    bit<8> provider_from;
    bit<8> provider_to;
    bit<8> nonce_octets;        // of the host's own session; 0 is none
}

// A flow, for the controller: its provider failed, or it is to be kept for the next switch.
@name("flow_events")
struct flow_event_digest_t {
    bit<8> kind;                    // FLOW_EVENT_*
    bit<8> provider_from;
    bit<8> provider_to;
    bit<16> site;
    ipv6_address_t local;
    ipv6_address_t remote;
    bit<8> next_header;
    bit<16> local_port;
    bit<16> remote_port;
    bit<8> nonce_octets;            // 0: it is of no session of the host's own
    nonce_t nonce;
}

#endif
