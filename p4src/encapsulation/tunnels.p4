// What all tunnels have in common.

#ifndef WAYNAME_ENCAPSULATION_TUNNELS_P4
#define WAYNAME_ENCAPSULATION_TUNNELS_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"

// Whether a packet is one that the router shall look at.
#define TO_ROUTER(hdr, meta) \
    (hdr.ipv6.isValid() && meta.interface.address != 0 && hdr.ethernet.destination == meta.interface.mac)

// A checksum after sixteen bits of what it covers have changed (RFC 1624).
bit<16> adjusted(in bit<16> checksum, in bit<16> before, in bit<16> after) {
    bit<32> sum = (bit<32>)(~checksum) + (bit<32>)(~before) + (bit<32>)after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return ~sum[15:0];
}

// Congestion that the tunnel met is the packet's (RFC 6040, section 4.2).
#define TUNNEL_CONGESTION(outer, inner) \
    if (outer[1:0] == 3) { \
        if (inner[1:0] == 0) { \
            DROP(DROP_INNER_CONGESTION); \
        } else { \
            inner[1:0] = 3; \
        } \
    }

// Headers of a stack, one by one: a program has no loops.
#define INVALIDATE_8(stack) stack[0].setInvalid(); stack[1].setInvalid(); stack[2].setInvalid(); stack[3].setInvalid(); stack[4].setInvalid(); stack[5].setInvalid(); stack[6].setInvalid(); stack[7].setInvalid();
#define INVALIDATE_10(stack) INVALIDATE_8(stack) stack[8].setInvalid(); stack[9].setInvalid();

// A header goes, and its predecessor says what followed it. Index by index: writing to a stack by an index that is known
// only at run time costs every packet time, also those that never come here.
#define SAY_WHAT_FOLLOWS(stack, number, place, next) if (place == number + 1) { stack[number].next_header = next; }
#define SAY_WHAT_FOLLOWS_5(stack, first, place, next) SAY_WHAT_FOLLOWS(stack, first, place, next) SAY_WHAT_FOLLOWS(stack, first + 1, place, next) SAY_WHAT_FOLLOWS(stack, first + 2, place, next) SAY_WHAT_FOLLOWS(stack, first + 3, place, next) SAY_WHAT_FOLLOWS(stack, first + 4, place, next)
#define SAY_WHAT_FOLLOWS_10(stack, place, next) SAY_WHAT_FOLLOWS_5(stack, 0, place, next) SAY_WHAT_FOLLOWS_5(stack, 5, place, next)
#define INVALIDATE_IF(stack, number, place) if (place == number) { stack[number].setInvalid(); }
#define INVALIDATE_ONE_OF_5(stack, first, place) INVALIDATE_IF(stack, first, place) INVALIDATE_IF(stack, first + 1, place) INVALIDATE_IF(stack, first + 2, place) INVALIDATE_IF(stack, first + 3, place) INVALIDATE_IF(stack, first + 4, place)
#define INVALIDATE_ONE_OF_10(stack, place) INVALIDATE_ONE_OF_5(stack, 0, place) INVALIDATE_ONE_OF_5(stack, 5, place)

#endif
