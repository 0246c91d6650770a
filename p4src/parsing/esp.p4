// A look at the SPI of an ESP packet. Nothing is taken off: who may open it is a host.

#ifndef WAYNAME_PARSING_ESP_P4
#define WAYNAME_PARSING_ESP_P4

#include "../common/metadata.p4"
#include "../hip/headers.p4"

parser EspParser(packet_in packet, inout metadata_t meta) {
    state start {
        meta.chain.crossed = meta.chain.left < ESP_BYTES;
        transition select(meta.fragmented, meta.chain.unknown, meta.chain.crossed) {
            (false, false, false): whole;
            (false, false, true): short;
            default: accept;
        }
    }

    state whole {
        esp_start_t begin = packet.lookahead<esp_start_t>();
        meta.hip.esp = ESP_WHOLE;
        meta.hip.spi = begin.spi;
        transition accept;
    }

    state short {
        meta.hip.esp = ESP_SHORT;
        transition accept;
    }
}

#endif
