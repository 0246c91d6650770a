// Whose sessions are this edge's business, by prefix: it speaks Shim6 or ILNP for the hosts of some, watches what those of others
// say, and lets all the rest pass.
//
// What is from no such prefix and to none takes part in nothing of sessions: for transit these two lookups are all.

#ifndef WAYNAME_SESSIONS_ENDPOINT_POLICY_P4
#define WAYNAME_SESSIONS_ENDPOINT_POLICY_P4

#include "../common/ids.p4"
#include "../common/sizes.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"
#include "../ilnp/metadata.p4"

control EndpointPolicy(in headers_t hdr, inout ilnp_t ilnp, inout session_t session) {
    @id(ENDPOINT_POLICY_SOURCES_COUNTER_ID) TABLE_COUNTER(endpoint_policy_sources_counter);
    @id(ENDPOINT_POLICY_DESTINATIONS_COUNTER_ID) TABLE_COUNTER(endpoint_policy_destinations_counter);

    bit<8> speaker = SPEAKER_NONE;
    bit<8> spoken = 0;
    bit<32> threshold_bytes = 0;
    bit<32> threshold_time = 0;

    @id(PROXY_ACTION_ID)
    @name("proxy")
    @brief("The edge speaks for these hosts. A pair of addresses without a session is told after so many bytes, or microseconds; 0 is never. Protocols: 1 Shim6, 2 ILNP, 4 copies of packets with unknown nonces, 8 hosts that speak ILNP themselves, 16 their TCP opens with a nonce where that is taken, or sums of them.")
    action proxy(@id(1) bit<32> bytes, @id(2) bit<32> time, @id(3) bit<8> protocols) {
        speaker = SPEAKER_EDGE;
        spoken = protocols;
        threshold_bytes = bytes;
        threshold_time = time;
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
        ilnp.opens_with = nonce_length;
    }

    @id(NO_ENDPOINT_POLICY_ACTION_ID)
    @name("no_endpoint_policy")
    action no_endpoint_policy() {
    }

    @id(ENDPOINT_POLICY_SOURCES_TABLE_ID)
    @name("endpoint_policy_sources")
    @admits_packets
    @brief("Who speaks for the sender.")
    table endpoint_policy_sources {
        key = {
            hdr.ipv6.source : lpm @id(1) @name("source");
        }
        actions = {
            proxy;
            transparent;
            verify_messages;
            @defaultonly no_endpoint_policy;
        }
        const default_action = no_endpoint_policy;
        counters = endpoint_policy_sources_counter;
        size = ENDPOINT_POLICIES;
    }

    @id(ENDPOINT_POLICY_DESTINATIONS_TABLE_ID)
    @name("endpoint_policy_destinations")
    @admits_packets
    @brief("Who speaks for the receiver.")
    table endpoint_policy_destinations {
        key = {
            hdr.ipv6.destination : lpm @id(1) @name("destination");
        }
        actions = {
            proxy;
            transparent;
            verify_messages;
            takes_nonces;
            @defaultonly no_endpoint_policy;
        }
        const default_action = no_endpoint_policy;
        counters = endpoint_policy_destinations_counter;
        size = ENDPOINT_POLICIES;
    }

    apply {
        if (endpoint_policy_destinations.apply().hit) {
            session.destination_speaker = speaker;
            session.destination_protocols = spoken;
            speaker = SPEAKER_NONE;
            spoken = 0;
        }
        if (endpoint_policy_sources.apply().hit) {
            session.source_speaker = speaker;
            session.source_protocols = spoken;
            session.threshold_bytes = threshold_bytes;
            session.threshold_time = threshold_time;
        }
    }
}

#endif
