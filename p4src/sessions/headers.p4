// The headers that show a session to its peer, put on and taken off: Shim6's payload header (RFC 5533, section 5.2), or
// destination options with ILNP's nonce (RFC 6744, section 2).
//
// Of sessions that number their packets, the path option goes right before either (scheduling/path_option.p4). Those of ESP have
// nothing else (hip/path_option.p4); what is taken off is taken off here.
//
// Either goes behind what routers look at (hop-by-hop options, a routing header that has been travelled) and before all
// the rest, fragments among it. It is taken off wherever it stands.

#ifndef WAYNAME_SESSIONS_HEADERS_P4
#define WAYNAME_SESSIONS_HEADERS_P4

#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"
#include "shim6_headers.p4"
#include "../ilnp/headers.p4"
#include "../ilnp/metadata.p4"
#include "../scheduling/path_option.p4"
#include "../scheduling/path_option_headers.p4"
#include "../encapsulation/metadata.p4"
#include "../encapsulation/tunnels.p4"

control PutHeaderOn(inout headers_t hdr, in ilnp_t ilnp, in path_option_t option, inout session_t session) {
    bit<8> number = NEXT_SHIM6;
    // The header before it says what it is, and it says what the other one said.
    bit<8> follows = 0;

    apply {
        if (ilnp.to_put) {
            number = NEXT_DESTINATION;
        }
        bit<8> own_number = number;
        if (option.to_put) {
            number = NEXT_DESTINATION;
        }
        if (hdr.segment_routing.isValid()) {
            follows = hdr.segment_routing.next_header;
            hdr.segment_routing.next_header = number;
        } else if (hdr.source_route.isValid()) {
            follows = hdr.source_route.next_header;
            hdr.source_route.next_header = number;
        } else if (hdr.hop_by_hop.isValid()) {
            follows = hdr.hop_by_hop.next_header;
            hdr.hop_by_hop.next_header = number;
        } else {
            follows = hdr.ipv6.next_header;
            hdr.ipv6.next_header = number;
        }
        bool behind = hdr.segment_routing.isValid() || hdr.source_route.isValid();
        session.added = PAYLOAD_HEADER_BYTES;
        if (ilnp.to_put) {
            bit<8> length = 0;
            bit<32> first = ilnp.nonce_to_put[31:0];
            if (ilnp.octets_to_put == LONG_NONCE) {
                session.added = LONG_NONCE_HEADER_BYTES;
                length = 1;
                first = ilnp.nonce_to_put[95:64];
                if (behind) {
                    hdr.nonce_rest_behind.setValid();
                    hdr.nonce_rest_behind.nonce = ilnp.nonce_to_put[63:0];
                } else {
                    hdr.nonce_rest.setValid();
                    hdr.nonce_rest.nonce = ilnp.nonce_to_put[63:0];
                }
            }
            if (behind) {
                hdr.nonce_option_behind.setValid();
                hdr.nonce_option_behind.next_header = follows;
                hdr.nonce_option_behind.length = length;
                hdr.nonce_option_behind.type = OPTION_NONCE;
                hdr.nonce_option_behind.octets = ilnp.octets_to_put;
                hdr.nonce_option_behind.nonce = first;
            } else {
                hdr.nonce_option.setValid();
                hdr.nonce_option.next_header = follows;
                hdr.nonce_option.length = length;
                hdr.nonce_option.type = OPTION_NONCE;
                hdr.nonce_option.octets = ilnp.octets_to_put;
                hdr.nonce_option.nonce = first;
            }
        } else if (behind) {
            hdr.payload_header_behind.setValid();
            hdr.payload_header_behind.next_header = follows;
            hdr.payload_header_behind.length = 0;
            hdr.payload_header_behind.payload = 1;
            hdr.payload_header_behind.tag = session.tag;
        } else {
            hdr.payload_header.setValid();
            hdr.payload_header.next_header = follows;
            hdr.payload_header.length = 0;
            hdr.payload_header.payload = 1;
            hdr.payload_header.tag = session.tag;
        }
        if (option.to_put) {
            if (behind) {
                PUT_PATH_OPTION(hdr.path_option_behind, hdr.path_order_behind, hdr.path_report_behind, own_number)
            } else {
                PUT_PATH_OPTION(hdr.path_option, hdr.path_order, hdr.path_report, own_number)
            }
            ADD_PATH_OPTION(session)
        }
        hdr.ipv6.payload_length = hdr.ipv6.payload_length + session.added;
    }
}

control TakeHeaderOff(inout headers_t hdr, in ilnp_t ilnp, in shim6_t shim6, in path_option_t option, in routing_t routing, inout session_t session,
                      in bool payload_header, in bool esp) {
    bit<8> at = 0;          // on its stack

    apply {
        bit<16> size = ilnp.size;
        bit<8> place = ilnp.index;
        bool behind = ilnp.behind;
        bit<8> follows = ilnp.next_header;
        if (payload_header) {
            size = PAYLOAD_HEADER_BYTES;
            place = shim6.index;
            behind = shim6.behind;
            follows = shim6.next_header;
        }
        if (esp) {
            size = 0;
            behind = option.behind;
            follows = option.next_header;
        }
        if (option.of_session) {
            size = size + option.size;
            place = option.index;
        }
        bool both = option.of_session && !esp;
        if (behind) {
            at = place - routing.index - 1;
            if (at != 0) {
                SAY_WHAT_FOLLOWS_10(hdr.extensions_behind, at, follows)
            } else if (hdr.segment_routing.isValid()) {
                hdr.segment_routing.next_header = follows;
            } else {
                hdr.source_route.next_header = follows;
            }
            INVALIDATE_ONE_OF_10(hdr.extensions_behind, at)
            if (both) {
                at = at + 1;
                INVALIDATE_ONE_OF_10(hdr.extensions_behind, at)
            }
        } else {
            at = place;
            if (hdr.hop_by_hop.isValid()) {
                at = at - 1;
            }
            if (at == 0) {
                if (hdr.hop_by_hop.isValid()) {
                    hdr.hop_by_hop.next_header = follows;
                } else {
                    hdr.ipv6.next_header = follows;
                }
                hdr.extensions[0].setInvalid();
            } else {
                SAY_WHAT_FOLLOWS_10(hdr.extensions, at, follows)
                INVALIDATE_ONE_OF_10(hdr.extensions, at)
            }
            if (both) {
                at = at + 1;
                INVALIDATE_ONE_OF_10(hdr.extensions, at)
            }
        }
        session.taken = size;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length - size;
        if (payload_header) {
            hdr.ipv6.source = session.remote;
            hdr.ipv6.destination = session.local;
        }
    }
}

#endif
