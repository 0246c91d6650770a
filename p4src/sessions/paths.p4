// The paths of sessions: what a session's packet bears on its way to the peer.
//
//   paths -> plain: the identities as they are
//         -> Shim6: locators for identities, and the peer's tag in a payload header
//         -> ILNP: locators for identities, and the nonce of this end in destination options
//         -> BEET: other locators for those that an ESP packet has; no header but the path option, where packets are numbered
//
// Each entry counts what was sent by its path.

#ifndef WAYNAME_SESSIONS_PATHS_P4
#define WAYNAME_SESSIONS_PATHS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "shim6_headers.p4"
#include "../hip/headers.p4"
#include "../ilnp/headers.p4"

// The path by the controller's choice alone.
control PathChoice(in headers_t hdr, inout metadata_t meta) {
    apply {
        meta.session.path = meta.session.choice;
        if (meta.session.ecmp_paths != 0) {
            bit<32> flow;
            HASH_OF_4(flow, (bit<32>)meta.session.ecmp_paths, hdr.ipv6.flow_label, meta.flow.next_header,
                      meta.flow.source_port, meta.flow.destination_port);
            meta.session.path = (path_t)flow;
        }
    }
}

control SessionPaths(inout headers_t hdr, inout metadata_t meta) {
    @id(PATHS_COUNTER_ID) TABLE_COUNTER(paths_counter);

    @id(SEND_PLAIN_ACTION_ID)
    @name("send_plain")
    @brief("With the identities as addresses, by a table of routes; 0 is as their provider has it.")
    action send_plain(@id(1) @refers_to(vrf_routes, vrf) vrf_id_t vrf) {
        meta.session.vrf = vrf;
        // Whoever sends learns now what fits by the other paths, and not when this one has failed.
        meta.session.reserved = PAYLOAD_HEADER_BYTES;
    }

    @id(SEND_SHIM6_ACTION_ID)
    @name("send_shim6")
    @brief("With locators as addresses and the peer's tag, by a table of routes; 0 is as their provider has it.")
    action send_shim6(@id(1) ipv6_address_t source, @id(2) ipv6_address_t destination, @id(3) context_tag_t tag,
                      @id(4) @refers_to(vrf_routes, vrf) vrf_id_t vrf) {
        hdr.ipv6.source = source;
        hdr.ipv6.destination = destination;
        meta.session.with_header = true;
        meta.session.tag = tag;
        meta.session.vrf = vrf;
    }

    @id(SEND_ILNP_ACTION_ID)
    @name("send_ilnp")
    @brief("With other locators before the identifiers, and a nonce of 4 or 12 octets, or none; by a table of routes; 0 is as their provider has it. Difference: of what is counted on the way less what the host counts, 0 for one that counts identifiers only.")
    action send_ilnp(@id(1) ipv6_address_t source, @id(2) ipv6_address_t destination, @id(3) nonce_t nonce,
                     @id(4) bit<8> nonce_length, @id(5) bit<16> difference, @id(6) @refers_to(vrf_routes, vrf) vrf_id_t vrf) {
        meta.ilnp.rewritten = true;
        meta.ilnp.source = source;
        meta.ilnp.destination = destination;
        meta.ilnp.nonce_to_put = nonce;
        meta.ilnp.octets_to_put = nonce_length;
        meta.ilnp.difference = difference;
        meta.session.vrf = vrf;
    }

    @id(SEND_BEET_ACTION_ID)
    @name("send_beet")
    @brief("With locators as addresses and no header: ESP is known by its SPI. By a table of routes; 0 is as their provider has it. SPI: that the peer chose, for reports and probes that the switch makes.")
    action send_beet(@id(1) ipv6_address_t source, @id(2) ipv6_address_t destination,
                     @id(3) @refers_to(vrf_routes, vrf) vrf_id_t vrf, @id(4) spi_t spi) {
        hdr.ipv6.source = source;
        hdr.ipv6.destination = destination;
        meta.session.vrf = vrf;
        meta.hip.to_peer = true;
        meta.hip.peer_spi = spi;
    }

    @id(NO_PATH_ACTION_ID)
    @name("no_path")
    action no_path() {
        DROP(DROP_PATH_UNKNOWN);
    }

    @id(PATHS_TABLE_ID)
    @name("paths")
    @brief("How a session's packets go by each of its paths.")
    table paths {
        key = {
            meta.session.number : exact @id(1) @name("session");
            meta.session.path   : exact @id(2) @name("path");
        }
        actions = {
            send_plain;
            send_shim6;
            send_ilnp;
            send_beet;
            @defaultonly no_path;
        }
        const default_action = no_path;
        counters = paths_counter;
        size = SESSION_PATHS;
    }

    apply {
        paths.apply();
        // A nonce of the host's own stays alone; whoever leaves it off now may have to put it on later.
        if (meta.ilnp.rewritten && meta.ilnp.kind == NONCE_NONE) {
            meta.ilnp.to_put = meta.ilnp.octets_to_put != 0;
            if (!meta.ilnp.to_put) {
                meta.session.reserved = LONG_NONCE_HEADER_BYTES;
            }
        }
        // Flows of a session that stands are admitted.
        meta.ilnp.to_admit = false;
    }
}

#endif
