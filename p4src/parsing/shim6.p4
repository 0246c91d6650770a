// A look at the first Shim6 header. It stays on the stack of extension headers, where it stands: most packets only pass.
//
// The caller knows that eight octets of it are there.

#ifndef WAYNAME_PARSING_SHIM6_P4
#define WAYNAME_PARSING_SHIM6_P4

#include "../common/packet_metadata.p4"
#include "../sessions/metadata.p4"
#include "../sessions/shim6_headers.p4"
#include "../encapsulation/metadata.p4"

parser Shim6Parser(packet_in packet, inout shim6_t shim6, inout chain_t chain, in routing_t routing) {
    state start {
        shim6_start_t begin = packet.lookahead<shim6_start_t>();
        shim6.next_header = begin.next_header;
        shim6.length = begin.length;
        shim6.tag = begin.tag;
        shim6.index = chain.count;
        shim6.behind = routing.type != 0;
        chain.crossed = chain.left < KEEPALIVE_BYTES;
        transition select(begin.payload, begin.tag[46:40], begin.length, chain.crossed) {
            (1, _, _, _): payload;
            (0, SHIM6_KEEPALIVE, KEEPALIVE_LENGTH, false): keepalive;
            (0, SHIM6_UPDATE_REQUEST .. SHIM6_PROBE, _, false): of_context;
            default: message;
        }
    }

    state payload {
        shim6.kind = SHIM6_PAYLOAD;
        transition accept;
    }

    state message {
        shim6.kind = SHIM6_CONTROL;
        transition accept;
    }

    // All that presuppose a context bear its tag in the same place.
    state of_context {
        keepalive_t seen = packet.lookahead<keepalive_t>();
        shim6.of_context = true;
        shim6.tag = seen.tag;
        transition message;
    }

    // Its checksum covers itself and nothing else, so it is right on any path.
    state keepalive {
        keepalive_t seen = packet.lookahead<keepalive_t>();
        shim6.kind = SHIM6_KEEPALIVE_HERE;
        shim6.tag = seen.tag;
        bit<32> sum = (bit<32>)seen.start + (bit<32>)seen.kind + (bit<32>)seen.checksum
            + (bit<32>)(seen.reserved ++ seen.tag[46:32]) + (bit<32>)seen.tag[31:16] + (bit<32>)seen.tag[15:0]
            + (bit<32>)seen.reserved_too[31:16] + (bit<32>)seen.reserved_too[15:0];
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = (sum & 0xFFFF) + (sum >> 16);
        shim6.sound = sum == 0xFFFF;
        transition accept;
    }
}

#endif
