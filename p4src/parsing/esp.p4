// A look at the SPI of an ESP packet. Nothing is taken off: who may open it is a host.

#ifndef WAYNAME_PARSING_ESP_P4
#define WAYNAME_PARSING_ESP_P4

#include "../common/packet_metadata.p4"
#include "../hip/headers.p4"

parser EspParser(packet_in packet, inout chain_t chain, in bool fragmented, inout hip_t hip) {
    state start {
        chain.crossed = chain.left < ESP_BYTES;
        transition select(fragmented, chain.unknown, chain.crossed) {
            (false, false, false): whole;
            (false, false, true): short;
            default: accept;
        }
    }

    state whole {
        esp_start_t begin = packet.lookahead<esp_start_t>();
        hip.esp = ESP_WHOLE;
        hip.spi = begin.spi;
        transition accept;
    }

    state short {
        hip.esp = ESP_SHORT;
        transition accept;
    }
}

#endif
