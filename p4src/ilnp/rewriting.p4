// ILNP at the edge, for hosts that know nothing of it (RFC 6741): what it finds a packet's addresses, checksum and nonce to be.
//
//   from a peer   its session's nonce: the addresses that the hosts know.  another nonce: it proves nothing, and the packet
//                 is one of no session.  The nonce comes off in both cases
//   to a peer     the path's locators and nonce; of a TCP flow that is being admitted, the nonce drawn for it
//
// Transports over ILNP count identifiers only (RFC 6744, section 3), ICMPv6 whole addresses. A host that knows nothing of
// ILNP counts whole addresses in all: its checksums change with the locators.

#ifndef WAYNAME_ILNP_REWRITING_P4
#define WAYNAME_ILNP_REWRITING_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "headers.p4"
#include "metadata.p4"
#include "../nptv6/static_mapping.p4"

// From outside, with a nonce or known without one.
control IlnpHeard(in headers_t hdr, inout metadata_t meta) {
    apply {
        bool hosts = meta.session.destination_protocols & PROTOCOL_HOSTS != 0;
        if (meta.ilnp.kind == NONCE_HERE && !hosts && !meta.ilnp.alone) {
            DROP(DROP_NONCE_BESIDE);
        } else {
            if (!meta.ilnp.known) {
                if (meta.session.destination_protocols & PROTOCOL_NAIVE != 0) {
                    COPY_TO_CONTROLLER(PUNT_NONCE_UNKNOWN);
                }
                if (!hosts) {
                    bit<16> less_locators;
                    CHECKSUM_OF_2(less_locators, hdr.ipv6.source[127:64], hdr.ipv6.destination[127:64]);
                    meta.ilnp.difference = ~less_locators;
                }
            }
            meta.ilnp.rewritten = true;
            meta.ilnp.source = meta.session.remote;
            meta.ilnp.destination = meta.session.local;
            meta.ilnp.to_take = meta.ilnp.kind == NONCE_HERE && !hosts;
            meta.ilnp.to_admit = meta.ilnp.to_take && !meta.ilnp.known;
        }
    }
}

// Other addresses, and the checksum that goes with them. An ICMPv6 error that one end has made has them once more, in what
// it quotes.
control IlnpRewriting(inout headers_t hdr, in ilnp_t ilnp) {
    AdjustChecksums() adjust_checksums;

    apply {
        bit<16> difference = ilnp.difference;
        if (hdr.message.isValid()) {
            ipv6_address_t less_source = ~hdr.ipv6.source;
            ipv6_address_t less_destination = ~hdr.ipv6.destination;
            bit<16> less;
            CHECKSUM_OF_4(less, ilnp.source, ilnp.destination, less_source, less_destination);
            bit<16> less_again = 0xFFFF;
            if (hdr.quoted.isValid() && hdr.quoted.source == hdr.ipv6.destination
                && hdr.quoted.destination == hdr.ipv6.source) {
                hdr.quoted.source = ilnp.destination;
                hdr.quoted.destination = ilnp.source;
                less_again = less;
            }
            CHECKSUM_OF_2(difference, less, less_again);
        }
        if (difference != 0 && difference != 0xFFFF) {
            adjust_checksums.apply(hdr, difference);
        }
        hdr.ipv6.source = ilnp.source;
        hdr.ipv6.destination = ilnp.destination;
    }
}

#endif
