// Routing headers, as they come in and as this router puts them on.
//
//   segment routing header (RFC 8754)              source route of RPL (RFC 6554)
//   | next | length | 4 | left |                   | next | length | 3 | left |
//   | last entry | flags | tag |                   | CmprI | CmprE | pad | reserved |
//   | segments, the last of the path first |       | addresses, the first of the path first |
//   | TLVs |                                       | pad |

#ifndef WAYNAME_ENCAPSULATION_ROUTING_HEADERS_P4
#define WAYNAME_ENCAPSULATION_ROUTING_HEADERS_P4

#include "../common/sizes.p4"
#include "../common/types.p4"

header segment_routing_h {
    bit<8> next_header;
    bit<8> length;
    bit<8> type;
    bit<8> segments_left;
    bit<8> last_entry;
    bit<8> flags;
    bit<16> tag;
}

header source_route_h {
    bit<8> next_header;
    bit<8> length;
    bit<8> type;
    bit<8> segments_left;
    bit<4> prefix_left_out;         // CmprI: of all addresses but the last, in octets
    bit<4> last_prefix_left_out;    // CmprE
    bit<4> pad;
    bit<20> reserved;
}

// What no address that is at hand is read from: the rest of the list, and TLVs.
header routing_part_h {
    varbit<ROUTING_BITS> data;
}

header segment_h {
    ipv6_address_t address;
}

// Four segments, the last of the path first.
header segments_4_h {
    ipv6_address_t fourth;
    ipv6_address_t third;
    ipv6_address_t second;
    ipv6_address_t first;
}

// The TLV that proves a segment list (RFC 8754, section 2.1.2).
header hmac_h {
    bit<8> type;
    bit<8> length;
    bit<16> flags;
    bit<32> key;
    bit<256> hmac;
}

header octets_128_h { bit<1024> data; }
header octets_64_h { bit<512> data; }
header octets_32_h { bit<256> data; }
header octets_16_h { bit<128> data; }
header octets_8_h { bit<64> data; }
header octets_4_h { bit<32> data; }
header octets_2_h { bit<16> data; }
header octets_1_h { bit<8> data; }

// Octets, as many as the valid ones of these are long: each bit of a length is one header.
struct octets_t {
    octets_16_h octets_16;
    octets_8_h octets_8;
    octets_4_h octets_4;
    octets_2_h octets_2;
    octets_1_h octets_1;
}

// The addresses of a source route between the first hop and the last, compressed.
struct middle_hops_t {
    octets_128_h octets_128;
    octets_64_h octets_64;
    octets_32_h octets_32;
    octets_16_h octets_16;
    octets_8_h octets_8;
    octets_4_h octets_4;
    octets_2_h octets_2;
    octets_1_h octets_1;
}

// Looked ahead at.
struct routing_start_t {
    bit<8> next_header;
    bit<8> length;
    bit<8> type;
    bit<8> segments_left;
    bit<8> last_entry;
    bit<8> flags;
    bit<16> tag;
}

struct source_route_start_t {
    bit<32> start;
    bit<4> prefix_left_out;
    bit<4> last_prefix_left_out;
    bit<4> pad;
    bit<20> reserved;
}

#endif
