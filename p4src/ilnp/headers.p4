// ILNP's nonce on the wire (RFC 6744, section 2), as far as the switch looks.
//
//   | next header | length | 0x8B | octets of the nonce | nonce (4 or 12 octets) ... |
//
// A nonce is a number here: a short one in the last 32 bits of 96.

#ifndef WAYNAME_ILNP_HEADERS_P4
#define WAYNAME_ILNP_HEADERS_P4

// Put on here: of a long nonce the first 32 bits, of a short one all.
header nonce_option_h {
    bit<8> next_header;
    bit<8> length;
    bit<8> type;
    bit<8> octets;
    bit<32> nonce;
}

header nonce_rest_h {
    bit<64> nonce;
}

const bit<8>  OPTION_PAD_N  = 1;
const bit<8>  OPTION_NONCE  = 0x8B;
const bit<8>  SHORT_NONCE   = 4;
const bit<8>  LONG_NONCE    = 12;
const bit<16> LONG_NONCE_HEADER_BYTES = 16;

// What stands in a packet's destination options.
const bit<8> NONCE_NONE   = 0;
const bit<8> NONCE_HERE   = 1;
const bit<8> NONCE_LENGTH = 2;      // neither short nor long
const bit<8> NONCE_TWICE  = 3;

// Locator Update (RFC 6743), and a request for a session.
const bit<8> ICMPV6_LOCATOR_UPDATE  = 156;
const bit<8> ICMPV6_SESSION_REQUEST = 160;

#endif
