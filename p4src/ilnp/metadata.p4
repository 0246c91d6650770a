// The nonce of a packet between identifiers, and the session that it may open.

#ifndef WAYNAME_ILNP_METADATA_P4
#define WAYNAME_ILNP_METADATA_P4

#include "../common/types.p4"

// The nonce in a packet's destination options, and what is to become of it.
struct ilnp_t {
    bit<8> kind;                // NONCE_*
    bit<8> octets;
    nonce_t nonce;
    bit<8> next_header;         // of the header that it stands in
    bit<16> size;
    bit<8> index;               // extension headers before it
    bool behind;                // the routing header
    bool alone;                 // but for padding
    bool quoted;                // an ICMPv6 error is about a packet with one
    bool known;                 // it is that of a session
    bool to_take;               // it is to be taken off
    bool to_put;                // one is to be put on
    bit<8> octets_to_put;
    nonce_t nonce_to_put;
    bool rewritten;             // other addresses, or another checksum
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<16> difference;         // that this makes to the checksums of transports
    bit<8> opens_with;          // octets of the nonce that a SYN to this destination bears; 0 is none
    bool doubtful;              // the session that stands has another nonce
    bool of_flow;               // but a TCP flow that began before it has this one
    bool to_admit;              // a TCP flow is of no session yet
    bool opening;               // it asks for a session by that
    bool admitted;              // it has shown that both ends are there
    bit<8> opened_here;
    nonce_t nonce_to_peer;
    nonce_t nonce_from_peer;
}

// A TCP flow whose ends have shown that they are there, for the controller.
@name("ilnp_flow")
struct ilnp_flow_t {
    ipv6_address_t local;
    ipv6_address_t remote;
    nonce_t nonce_to_peer;
    nonce_t nonce_from_peer;
    bit<8> nonce_octets;
    bit<8> opened_here;             // 1: by the host here
}

#endif
