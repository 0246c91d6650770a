// TCP's header as far as its checksum, and of its options the first block of a selective acknowledgement (RFC 2018): of what
// came out of order, the part that has just come. It is looked for where stacks put it; options in another order have none.
//
//   SACK, length, left edge, right edge                            smoltcp
//   NOP, NOP, SACK, ...                                            Linux
//   NOP, NOP, timestamps (10 octets), NOP, NOP, SACK, ...          Linux with timestamps (RFC 7323, appendix A)

#ifndef WAYNAME_PARSING_TCP_P4
#define WAYNAME_PARSING_TCP_P4

#include "../common/packet_metadata.p4"
#include "headers.p4"
#include "../scheduling/metadata.p4"

// Octets up to the end of that block, in each of the three.
const bit<16> WITH_BARE_BLOCK  = 30;
const bit<16> WITH_BLOCK       = 32;
const bit<16> WITH_TIMED_BLOCK = 44;

const bit<8> OPTION_SACK = 5;
const bit<24> OPTION_SACK_ALIGNED = 0x010105;
const bit<32> OPTION_TIMESTAMPS_ALIGNED = 0x0101080a;

parser TcpParser(packet_in packet, inout headers_t hdr, inout chain_t chain, inout sack_t sack) {
    state start {
        packet.extract(hdr.tcp);
        chain.crossed = chain.left < WITH_BLOCK;
        transition select(hdr.tcp.start[31:28], chain.crossed) {
            (8 .. 15, false): options;
            default: accept;
        }
    }

    // Behind the checksum is the urgent pointer.
    state options {
        bit<48> begin = packet.lookahead<bit<48>>();
        chain.crossed = chain.left < WITH_TIMED_BLOCK || hdr.tcp.start[31:28] < 11;
        transition select(begin[31:24], begin[31:8], begin[31:0], chain.crossed) {
            (OPTION_SACK, _, _, _): bare_block;
            (_, OPTION_SACK_ALIGNED, _, _): block;
            (_, _, OPTION_TIMESTAMPS_ALIGNED, false): timed;
            default: accept;
        }
    }

    state bare_block {
        bit<96> begin = packet.lookahead<bit<96>>();
        sack = { true, begin[63:32], begin[31:0] };
        transition accept;
    }

    state block {
        bit<112> begin = packet.lookahead<bit<112>>();
        sack = { true, begin[63:32], begin[31:0] };
        transition accept;
    }

    state timed {
        bit<208> begin = packet.lookahead<bit<208>>();
        sack = { begin[95:72] == OPTION_SACK_ALIGNED, begin[63:32], begin[31:0] };
        transition accept;
    }
}

#endif
