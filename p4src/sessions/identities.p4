// From a packet to its session, and back to the identities that transports see.
//
//   to the peer     identities -> the session -> forks: unless this flow has one of its own
//   from the peer   context_tags -> the session and its identities -> locator_pairs: proven? which path?
//                   or, without a payload header: ilnp_nonces, or the addresses are the identities themselves
//
// One entry of `identities` serves both ways: it says how the session is watched. Of a message that is the controller's already
// only the session is looked up, for its class: that is no traffic of the session.

#ifndef WAYNAME_SESSIONS_IDENTITIES_P4
#define WAYNAME_SESSIONS_IDENTITIES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"
#include "shim6_headers.p4"
#include "../ilnp/headers.p4"
#include "../ilnp/nonces.p4"

control SessionIdentities(in headers_t hdr, inout metadata_t meta) {
    @id(CONTEXT_TAGS_COUNTER_ID) TABLE_COUNTER(context_tags_counter);
    @id(IDENTITIES_COUNTER_ID) TABLE_COUNTER(identities_counter);
    @id(FORKS_COUNTER_ID) TABLE_COUNTER(forks_counter);
    @id(LOCATOR_PAIRS_COUNTER_ID) TABLE_COUNTER(locator_pairs_counter);

    session_id_t found = 0;

    @id(ADMIT_ACTION_ID)
    @name("admit")
    @brief("A session, and the identities that its packets get back.")
    action admit(@id(1) @refers_to(locator_pairs, session) session_id_t session, @id(2) ipv6_address_t local,
                 @id(3) ipv6_address_t remote) {
        meta.session.number = session;
        meta.session.local = local;
        meta.session.remote = remote;
    }

    @id(UNKNOWN_TAG_ACTION_ID)
    @name("unknown_tag")
    action unknown_tag() {
    }

    @id(CONTEXT_TAGS_TABLE_ID)
    @name("context_tags")
    @brief("Sessions by the tag that this edge gave to the peer.")
    table context_tags {
        key = {
            meta.shim6.tag : exact @id(1) @name("tag");
        }
        actions = {
            admit;
            @defaultonly unknown_tag;
        }
        const default_action = unknown_tag;
        counters = context_tags_counter;
        size = SESSIONS;
    }

    @id(SEND_IN_SESSION_ACTION_ID)
    @name("send_in_session")
    @brief("Path: that the controller chose; it counts from its generation on. ECMP paths: flows go over so many paths, from path 0 on. Times in microseconds, 0 is never. Modes: 1 report what is heard, 2 follow the peer, 4 hold packets, 8 schedule packets, 32 paths of their own for flows, 64 packets are numbered by path, or sums of them.")
    action send_in_session(@id(1) @refers_to(paths, session) @refers_to(locator_pairs, session)
                                  @refers_to(backups, session) @refers_to(session_schedules, session) session_id_t session,
                           @id(2) @refers_to(paths, path) path_t path, @id(3) bit<8> generation, @id(4) bit<4> ecmp_paths,
                           @id(5) bit<32> send_timeout, @id(6) bit<32> keepalive, @id(7) bit<8> mode) {
        found = session;
        meta.session.choice = path;
        meta.session.generation = generation;
        meta.session.ecmp_paths = ecmp_paths;
        meta.session.send_timeout = send_timeout;
        meta.session.keepalive = keepalive;
        meta.session.mode = mode;
    }

    @id(NO_SESSION_ACTION_ID)
    @name("no_session")
    action no_session() {
    }

    @id(IDENTITIES_TABLE_ID)
    @name("identities")
    @brief("Sessions by their identities, for packets of either direction.")
    table identities {
        key = {
            meta.session.local  : exact @id(1) @name("local");
            meta.session.remote : exact @id(2) @name("remote");
        }
        actions = {
            send_in_session;
            @defaultonly no_session;
        }
        const default_action = no_session;
        counters = identities_counter;
        size = SESSIONS;
        AGES
    }

    @id(FORK_TO_ACTION_ID)
    @name("fork_to")
    @brief("A session of this flow's own, watched as the first one.")
    action fork_to(@id(1) @refers_to(paths, session) @refers_to(locator_pairs, session)
                          @refers_to(backups, session) session_id_t session,
                   @id(2) @refers_to(paths, path) path_t path, @id(3) bit<8> generation) {
        meta.session.number = session;
        meta.session.choice = path;
        meta.session.generation = generation;
        meta.session.ecmp_paths = 0;
    }

    @id(NOT_FORKED_ACTION_ID)
    @name("not_forked")
    action not_forked() {
    }

    @id(FORKS_TABLE_ID)
    @name("forks")
    @brief("Flows between two identities that have a session of their own (RFC 5533, forked contexts).")
    table forks {
        key = {
            meta.session.number        : exact @id(1) @name("session");
            meta.flow.next_header      : exact @id(2) @name("next_header");
            meta.flow.source_port      : exact @id(3) @name("source_port");
            meta.flow.destination_port : exact @id(4) @name("destination_port");
        }
        actions = {
            fork_to;
            @defaultonly not_forked;
        }
        const default_action = not_forked;
        counters = forks_counter;
        size = FORKS;
    }

    @id(ON_PATH_ACTION_ID)
    @name("on_path")
    action on_path(@id(1) @refers_to(paths, path) path_t path) {
        meta.session.path = path;
        meta.session.path_known = true;
    }

    @id(UNPROVEN_ACTION_ID)
    @name("unproven")
    action unproven() {
    }

    @id(LOCATOR_PAIRS_TABLE_ID)
    @name("locator_pairs")
    @brief("Locators that a session's packets may come with, and the path that they are.")
    table locator_pairs {
        key = {
            meta.session.number  : exact @id(1) @name("session") @refers_to(paths, session);
            hdr.ipv6.source      : exact @id(2) @name("source");
            hdr.ipv6.destination : exact @id(3) @name("destination");
        }
        actions = {
            on_path;
            @defaultonly unproven;
        }
        const default_action = unproven;
        counters = locator_pairs_counter;
        size = SESSION_PATHS;
    }

    IlnpNonces() ilnp_nonces;

    apply {
        bool tagged = false;
        bool whose = true;          // is it known?
        bool message = meta.decided;
        if (meta.hip.admitted || meta.hip.session != 0) {
            // Its SPI, or its HITs, said whose it is.
        } else if (meta.session.direction == SESSION_OUTBOUND) {
            meta.session.local = hdr.ipv6.source;
            meta.session.remote = hdr.ipv6.destination;
        } else if (meta.shim6.kind == SHIM6_NONE) {
            meta.session.local = hdr.ipv6.destination;
            meta.session.remote = hdr.ipv6.source;
            if (meta.session.destination_protocols & PROTOCOL_ILNP != 0) {
                ilnp_nonces.apply(hdr, meta);
            }
        } else {
            tagged = true;
            whose = context_tags.apply().hit;
        }

        if (whose && !message) {
            identities.apply();
            if (!tagged && !meta.ilnp.known) {
                meta.session.number = found;
            } else if (meta.session.number != found) {
                // Of a forked session only the flow knows what the controller chose.
                meta.session.forked = true;
            }
        }

        if (meta.session.number != 0) {
            if (meta.session.direction == SESSION_OUTBOUND) {
                if (meta.session.request == 0 && !message) {
                    forks.apply();
                }
            } else {
                locator_pairs.apply();
            }
        }

        if (meta.hip.admitted && meta.session.number != 0 && meta.session.direction == SESSION_INBOUND && !meta.session.path_known) {
            DROP(DROP_ESP_LOCATORS);
        }

        // HITs are no secret: those of an association prove something together with its locators.
        if (message && meta.hip.session != 0 && meta.session.direction == SESSION_INBOUND && !meta.session.path_known) {
            meta.session.number = 0;
        }

        // A peer that has lost its way is told by the controller (RFC 5533, section 12.4); one that claims to be another is not.
        if (message) {
            // Its protocol has said who gets it.
        } else if (tagged && !meta.session.path_known) {
            if (meta.shim6.kind == SHIM6_KEEPALIVE_HERE) {
                TRAP(PUNT_SHIM6);
            } else if (whose) {
                DROP(DROP_LOCATORS_UNPROVEN);
            } else {
                TRAP(PUNT_SHIM6_UNKNOWN_TAG);
            }
        } else if (meta.decided) {
            // An error about a packet of an ILNP session: it is not the router's that sent it.
        } else if (meta.ilnp.known && meta.ilnp.kind == NONCE_NONE && !meta.session.path_known) {
            // Identifiers alone prove nothing.
            meta.ilnp.known = false;
            meta.session.number = 0;
        } else if (!meta.ilnp.known && meta.session.mode & MODE_ILNP != 0 && meta.session.direction == SESSION_INBOUND) {
            if (meta.ilnp.kind != NONCE_NONE && hdr.tcp.isValid() && !meta.fragmented) {
                meta.ilnp.doubtful = true;
                meta.session.number = 0;
            } else if (meta.ilnp.kind != NONCE_NONE) {
                DROP(DROP_NONCE_WRONG);
            } else if (hdr.quoted.isValid()) {
                DROP(DROP_NONCE_MISSING);
            }
        }
    }
}

#endif
