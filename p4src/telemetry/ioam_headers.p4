// In-situ OAM in hop-by-hop options (RFC 9197, RFC 9326; RFC 9486 for IPv6): as it comes in and as this node puts it on.
//
//   | 0x31 | option length | reserved | 0: pre-allocated trace |
//   | namespace | node length (5) | flags (4) | words left (7) |
//   | trace type (24) | reserved |
//   | node data list: free words first, then the newest node's data, in the end the first node's |

#ifndef WAYNAME_TELEMETRY_IOAM_HEADERS_P4
#define WAYNAME_TELEMETRY_IOAM_HEADERS_P4

#include "../common/sizes.p4"

header options_start_h {
    bit<8> next_header;
    bit<8> length;
}

// An option of no interest here, with type and length.
header option_h {
    varbit<OPTION_BITS> data;
}

header trace_h {
    bit<8> option;
    bit<8> option_length;
    bit<8> reserved;
    bit<8> kind;
    bit<16> namespace;
    bit<5> node_length;         // words that each node adds, without its snapshot
    bit<1> overflow;
    bit<1> loopback;
    bit<1> active;
    bit<1> flag;                // not assigned
    bit<7> words_left;
    bit<24> type;
    bit<8> reserved_too;
}

// Asks each node to tell what it sees without writing it into the packet (RFC 9326). Flow and sequence number may follow.
header direct_export_h {
    bit<8> option;
    bit<8> option_length;
    bit<8> reserved;
    bit<8> kind;
    bit<16> namespace;
    bit<8> flags;
    bit<8> extension_flags;
    bit<24> type;
    bit<8> reserved_too;
}

// What may follow, by the first two extension flags.
header export_flow_h {
    bit<32> flow;
    bit<32> sequence;
}

// A part of a node data list.
header trace_part_h {
    varbit<OPTION_BITS> data;
}

// The options behind the trace.
header options_rest_h {
    varbit<EXTENSION_BITS> data;
}

// Padding before a trace of ours, so that it is aligned (4n).
header option_padding_2_h { bit<16> option; }
header option_padding_4_h { bit<32> option; }

// What each bit of a trace type asks for, and free words; numbers are counts of words of 32 bits. Long ones in parts that
// a processor's registers hold.
header words_1_h { bit<32> data; }
header words_2_h { bit<64> data; }
header words_4_h { bit<128> data; }
header words_8_h {
    bit<128> part_1;
    bit<128> part_2;
}
header words_16_h {
    bit<128> part_1;
    bit<128> part_2;
    bit<128> part_3;
    bit<128> part_4;
}
header words_32_h {
    bit<128> part_1;
    bit<128> part_2;
    bit<128> part_3;
    bit<128> part_4;
    bit<128> part_5;
    bit<128> part_6;
    bit<128> part_7;
    bit<128> part_8;
}

header node_h {
    bit<8> hop_limit;
    bit<24> id;
}

header node_interfaces_h {
    bit<16> ingress;
    bit<16> egress;
}

header node_wide_h {
    bit<8> hop_limit;
    bit<56> id;
}

header node_interfaces_wide_h {
    bit<32> ingress;
    bit<32> egress;
}

header node_snapshot_h {
    bit<8> length;
    bit<24> schema;
}

// One node's data, in the order of its trace type's bits.
struct node_data_t {
    node_h node;
    node_interfaces_h interfaces;
    words_1_h seconds;
    words_1_h fraction;
    words_1_h delay;
    words_1_h data;
    words_1_h queue;
    words_1_h checksum;
    node_wide_h node_wide;
    node_interfaces_wide_h interfaces_wide;
    words_2_h data_wide;
    words_1_h buffers;
    words_1_h unknown_1;            // of bits that are not assigned
    words_2_h unknown_2;
    words_4_h unknown_4;
    words_8_h unknown_8;
    node_snapshot_h snapshot;
    words_2_h snapshot_data;
}

// Words that nobody has written to yet.
struct free_words_t {
    words_32_h words_32;
    words_16_h words_16;
    words_8_h words_8;
    words_4_h words_4;
    words_2_h words_2;
    words_1_h words_1;
}

// Looked ahead at.
struct option_start_t {
    bit<8> type;
    bit<8> length;
}

struct trace_start_t {
    bit<8> option;
    bit<8> option_length;
    bit<8> reserved;
    bit<8> kind;
    bit<16> namespace;
    bit<5> node_length;
    bit<4> flags;
    bit<7> words_left;
    bit<24> type;
    bit<8> reserved_too;
}

#endif
