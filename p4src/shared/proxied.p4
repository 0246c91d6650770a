// Whose sessions are this edge's business, by prefix: it speaks Shim6 or ILNP for the hosts of some, watches what those of others
// say, and lets all the rest pass.
//
// What is from no such prefix and to none takes part in nothing of sessions: for transit these two lookups are all.

#ifndef WAYNAME_PROXIED_P4
#define WAYNAME_PROXIED_P4

control Proxied(in headers_t hdr, inout metadata_t meta) {
    @id(PROXIED_SOURCES_COUNTER_ID) TABLE_COUNTER(proxied_sources_counter);
    @id(PROXIED_DESTINATIONS_COUNTER_ID) TABLE_COUNTER(proxied_destinations_counter);

    bit<8> speaker = SPEAKER_NONE;
    bit<8> spoken = 0;
    bit<32> enough_bytes = 0;
    bit<32> enough_time = 0;

    @id(PROXY_ACTION_ID)
    @name("proxy")
    @brief("The edge speaks for these hosts. A pair of addresses without a session is told after so many bytes, or microseconds; 0 is never. Protocols: 1 Shim6, 2 ILNP, 4 copies of packets with unknown nonces, 8 hosts that speak ILNP themselves, 16 their TCP opens with a nonce where that is taken, or sums of them.")
    action proxy(@id(1) bit<32> bytes, @id(2) bit<32> time, @id(3) bit<8> protocols) {
        speaker = SPEAKER_EDGE;
        spoken = protocols;
        enough_bytes = bytes;
        enough_time = time;
    }

    @id(TRANSPARENT_ACTION_ID)
    @name("transparent")
    @brief("These hosts speak for themselves.")
    action transparent() {
        speaker = SPEAKER_HOST;
    }

    @id(VERIFY_ACTION_ID)
    @name("verify")
    @brief("These hosts speak for themselves, and the controller looks at it.")
    action verify_messages() {
        speaker = SPEAKER_CHECKED;
    }

    @id(TAKES_NONCES_ACTION_ID)
    @name("takes_nonces")
    @brief("Peers that are known to speak ILNP: TCP to them opens with a nonce of 4 or 12 octets, and its handshake makes the session.")
    action takes_nonces(@id(1) bit<8> nonce_length) {
        speaker = SPEAKER_HOST;
        meta.ilnp.opens_with = nonce_length;
    }

    @id(NOT_PROXIED_ACTION_ID)
    @name("not_proxied")
    action not_proxied() {
    }

    @id(PROXIED_SOURCES_TABLE_ID)
    @name("proxied_sources")
    @brief("Who speaks for the sender.")
    table proxied_sources {
        key = {
            hdr.ipv6.source : lpm @id(1) @name("source");
        }
        actions = {
            proxy;
            transparent;
            verify_messages;
            @defaultonly not_proxied;
        }
        const default_action = not_proxied;
        counters = proxied_sources_counter;
        size = PROXIED;
    }

    @id(PROXIED_DESTINATIONS_TABLE_ID)
    @name("proxied_destinations")
    @brief("Who speaks for the receiver.")
    table proxied_destinations {
        key = {
            hdr.ipv6.destination : lpm @id(1) @name("destination");
        }
        actions = {
            proxy;
            transparent;
            verify_messages;
            takes_nonces;
            @defaultonly not_proxied;
        }
        const default_action = not_proxied;
        counters = proxied_destinations_counter;
        size = PROXIED;
    }

    apply {
        if (proxied_destinations.apply().hit) {
            meta.session.destination_speaker = speaker;
            meta.session.destination_protocols = spoken;
            speaker = SPEAKER_NONE;
            spoken = 0;
        }
        if (proxied_sources.apply().hit) {
            meta.session.source_speaker = speaker;
            meta.session.source_protocols = spoken;
            meta.session.enough_bytes = enough_bytes;
            meta.session.enough_time = enough_time;
        }
    }
}

#endif
