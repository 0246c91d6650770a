// Shim6 on the wire (RFC 5533, section 5; RFC 5534, section 5.1), as far as the switch looks.
//
//   | next header | length 0 | 1 | the receiver's context tag (47) |                               payload header
//   | next header | length   | 0 | type (7) | reserved (7) | 0 | checksum (16) | of the type ... |  control message
//
// A keepalive's checksum is followed by | reserved (1) | the receiver's context tag (47) | reserved (32) |.

#ifndef WAYNAME_SESSIONS_SHIM6_HEADERS_P4
#define WAYNAME_SESSIONS_SHIM6_HEADERS_P4

#include "../common/types.p4"

header shim6_payload_h {
    bit<8> next_header;
    bit<8> length;
    bit<1> payload;
    context_tag_t tag;
}

// Either of the two: a control message's type is in the first seven bits of what would be the tag.
struct shim6_start_t {
    bit<8> next_header;
    bit<8> length;
    bit<1> payload;
    context_tag_t tag;
}

struct keepalive_t {
    bit<16> start;
    bit<16> kind;
    bit<16> checksum;
    bit<1> reserved;
    context_tag_t tag;
    bit<32> reserved_too;
}

const bit<16> PAYLOAD_HEADER_BYTES = 8;
const bit<16> KEEPALIVE_BYTES      = 16;    // of one without options
const bit<8>  KEEPALIVE_LENGTH     = 1;

const bit<7> SHIM6_UPDATE_REQUEST = 64;
const bit<7> SHIM6_KEEPALIVE      = 66;
const bit<7> SHIM6_PROBE          = 67;

// What a packet's first Shim6 header is. A keepalive with options is a control message like any.
const bit<8> SHIM6_NONE           = 0;
const bit<8> SHIM6_CONTROL        = 1;
const bit<8> SHIM6_PAYLOAD        = 2;
const bit<8> SHIM6_KEEPALIVE_HERE = 3;

#endif
