// Whose session a packet from outside is, by both identifiers and the nonce (RFC 6741, section 6.2): locators may change.
//
// The nonce of a packet without one is 0: a session whose peer may leave it off (RFC 6744, section 4) has an entry for that
// too, and is known by its locators then. So are ICMPv6 errors about what such a session sent, by what they quote.

#ifndef WAYNAME_ILNP_NONCES_P4
#define WAYNAME_ILNP_NONCES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "headers.p4"

control IlnpNonces(in headers_t hdr, inout metadata_t meta) {
    @id(ILNP_NONCES_COUNTER_ID) TABLE_COUNTER(ilnp_nonces_counter);

    identifier_t local_identifier = 0;
    identifier_t remote_identifier = 0;

    @id(ADMIT_ILNP_ACTION_ID)
    @name("admit_ilnp")
    @brief("A session, the addresses that its hosts know each other by, and their sum in transports' checksums less what is counted on the way: 0 for a host that counts identifiers only.")
    action admit_ilnp(@id(1) @refers_to(paths, session) session_id_t session, @id(2) ipv6_address_t local,
                      @id(3) ipv6_address_t remote, @id(4) bit<16> difference) {
        meta.session.number = session;
        meta.session.local = local;
        meta.session.remote = remote;
        meta.ilnp.difference = difference;
    }

    @id(UNKNOWN_NONCE_ACTION_ID)
    @name("unknown_nonce")
    action unknown_nonce() {
    }

    @id(ILNP_NONCES_TABLE_ID)
    @name("ilnp_nonces")
    @brief("Sessions by the identifiers of both ends and the nonce that the peer bears; 0 is none.")
    table ilnp_nonces {
        key = {
            local_identifier  : exact @id(1) @name("local");
            remote_identifier : exact @id(2) @name("remote");
            meta.ilnp.nonce   : exact @id(3) @name("nonce");
        }
        actions = {
            admit_ilnp;
            @defaultonly unknown_nonce;
        }
        const default_action = unknown_nonce;
        counters = ilnp_nonces_counter;
        size = SESSIONS;
    }

    apply {
        bool error_without = hdr.quoted.isValid() && meta.ilnp.kind == NONCE_NONE;
        local_identifier = hdr.ipv6.destination[63:0];
        remote_identifier = hdr.ipv6.source[63:0];
        if (error_without) {
            remote_identifier = hdr.quoted.destination[63:0];
        }
        meta.ilnp.known = ilnp_nonces.apply().hit;
        if (meta.ilnp.known && error_without) {
            TRAP(PUNT_ILNP_ERROR);
        }
    }
}

#endif
