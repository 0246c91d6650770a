// A look at a HIP message (RFC 7401, section 5.1): between whom it is. It stays on the stack of extension headers, where it
// stands. One behind other headers is not looked at, as hip_messages.p4 says.

#ifndef WAYNAME_PARSING_HIP_P4
#define WAYNAME_PARSING_HIP_P4

#include "../common/packet_metadata.p4"
#include "../hip/headers.p4"

parser HipParser(packet_in packet, inout chain_t chain, in bool fragmented, inout hip_t hip) {
    state start {
        chain.crossed = chain.left < HIP_BYTES;
        transition select(chain.crossed, chain.count, fragmented) {
            (false, 0, false): hits;
            default: accept;
        }
    }

    state hits {
        hip_start_t message = packet.lookahead<hip_start_t>();
        hip.sender = message.sender;
        hip.receiver = message.receiver;
        transition accept;
    }
}

#endif
