// ESP of hosts that speak HIP themselves (RFC 7402): an SPI says which session a packet is of, either way.
//
//   to the peer     the peer's locator, its SPI  -> the HITs
//   from the peer   our host's locator, its SPI  -> the HITs
//
// Nobody but the two hosts can read the packet or make one. Its addresses are no part of that, so the middle of sessions
// watches it and chooses its path as any other's. Whoever receives chooses the SPI; so one alone says nothing of whose it is,
// and together with the destination it does.

#ifndef WAYNAME_HIP_ESP_SESSIONS_P4
#define WAYNAME_HIP_ESP_SESSIONS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "headers.p4"

control EspSessions(in headers_t hdr, inout metadata_t meta) {
    @id(SPIS_COUNTER_ID) TABLE_COUNTER(spis_counter);

    @id(ADMIT_ESP_ACTION_ID)
    @name("admit_esp")
    @brief("The HITs between which the packet goes: our host's, and the peer's.")
    action admit_esp(@id(1) @refers_to(identities, local) ipv6_address_t local,
                     @id(2) @refers_to(identities, remote) ipv6_address_t remote) {
        meta.hip.admitted = true;
        meta.session.local = local;
        meta.session.remote = remote;
    }

    @id(UNKNOWN_SPI_ACTION_ID)
    @name("unknown_spi")
    action unknown_spi() {
    }

    @id(SPIS_TABLE_ID)
    @name("spis")
    @brief("Sessions by who receives their ESP, and the SPI that it chose.")
    table spis {
        key = {
            hdr.ipv6.destination : exact @id(1) @name("destination");
            meta.hip.spi         : exact @id(2) @name("spi");
        }
        actions = {
            admit_esp;
            @defaultonly unknown_spi;
        }
        const default_action = unknown_spi;
        counters = spis_counter;
        size = SPIS;
    }

    apply {
        // Of hosts that the edge speaks for, ESP is payload as any. Between two hosts of ours no provider has a part.
        if (meta.session.source_speaker != SPEAKER_EDGE && meta.session.destination_speaker != SPEAKER_EDGE
            && (meta.session.source_speaker == SPEAKER_NONE) != (meta.session.destination_speaker == SPEAKER_NONE)) {
            if (meta.hip.esp == ESP_SHORT) {
                DROP(DROP_ESP_SHORT);
            } else if (spis.apply().hit) {
                if (meta.session.source_speaker == SPEAKER_NONE) {
                    meta.session.direction = SESSION_INBOUND;
                } else {
                    meta.session.direction = SESSION_OUTBOUND;
                }
            }
        }
    }
}

#endif
