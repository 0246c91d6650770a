// The path option of a session of ESP (scheduling/path_option.p4): destination options of its own, right before the ESP header and so
// behind all extension headers that the host put on. They are outside of what ESP protects.
//
// A report or a probe that goes alone has no packet of the host to stand before. It has an ESP header with nothing behind it instead:
// the SPI says whose it is, as of any packet, and no packet of a host is that short.

#ifndef WAYNAME_HIP_PATH_OPTION_P4
#define WAYNAME_HIP_PATH_OPTION_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "../encapsulation/tunnels.p4"
#include "../parsing/headers.p4"
#include "../scheduling/path_option_headers.p4"
#include "../sessions/metadata.p4"
#include "headers.p4"

control PutPathOptionOnEsp(inout headers_t hdr, in chain_t chain, in routing_t routing, in hip_t hip, in path_option_t option,
                           inout session_t session) {
    apply {
        // What stands before ESP says what it is, and the option says that ESP follows.
        bool routed = hdr.segment_routing.isValid() || hdr.source_route.isValid();
        bit<8> on_stack = chain.count;
        if (routed) {
            on_stack = chain.count - routing.index - 1;
        } else if (hdr.hop_by_hop.isValid()) {
            on_stack = chain.count - 1;
        }
        if (on_stack != 0 && routed) {
            SAY_WHAT_FOLLOWS_10(hdr.extensions_behind, on_stack, NEXT_DESTINATION)
        } else if (on_stack != 0) {
            SAY_WHAT_FOLLOWS_10(hdr.extensions, on_stack, NEXT_DESTINATION)
        } else if (hdr.segment_routing.isValid()) {
            hdr.segment_routing.next_header = NEXT_DESTINATION;
        } else if (hdr.source_route.isValid()) {
            hdr.source_route.next_header = NEXT_DESTINATION;
        } else if (hdr.hop_by_hop.isValid()) {
            hdr.hop_by_hop.next_header = NEXT_DESTINATION;
        } else {
            hdr.ipv6.next_header = NEXT_DESTINATION;
        }
        session.added = 0;
        PUT_PATH_OPTION(hdr.esp_path_option, hdr.esp_path_order, hdr.esp_path_report, NEXT_ESP)
        ADD_PATH_OPTION(session)
        if (option.alone) {
            session.added = session.added + ESP_BYTES;
            hdr.lone_esp.setValid();
            hdr.lone_esp.spi = hip.peer_spi;
            hdr.lone_esp.sequence = 0;
        }
        hdr.ipv6.payload_length = hdr.ipv6.payload_length + session.added;
    }
}

#endif
