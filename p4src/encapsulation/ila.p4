// Identifier-locator addressing (ILA): the upper half of the destination becomes another locator.
//
// Transport checksums cover the destination. Neutral translation takes what the locator changed, and the bit that says
// so, out of the identifier's last sixteen bits again; so a second translation, back, needs no knowledge of the first.
//
//   | locator (64) | type (3) | C (1) | identifier (60), of which the last 16 are adjusted |

#ifndef WAYNAME_ENCAPSULATION_ILA_P4
#define WAYNAME_ENCAPSULATION_ILA_P4

#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

control IlaTranslation(inout headers_t hdr, inout encapsulation_t encapsulation) {
    apply {
        ipv6_address_t old = hdr.ipv6.destination;
        ipv6_address_t new = encapsulation.locator ++ old[63:0];
        if (encapsulation.neutral == 1) {
            new[60:60] = ~old[60:60];
            bit<32> sum = (bit<32>)old[15:0]
                + (bit<32>)old[127:112] + (bit<32>)old[111:96] + (bit<32>)old[95:80] + (bit<32>)old[79:64]
                + (bit<32>)old[63:48]
                + (bit<32>)(~new[127:112]) + (bit<32>)(~new[111:96]) + (bit<32>)(~new[95:80]) + (bit<32>)(~new[79:64])
                + (bit<32>)(~new[63:48]);
            sum = (sum & 0xFFFF) + (sum >> 16);
            sum = (sum & 0xFFFF) + (sum >> 16);
            new[15:0] = sum[15:0];
            if (sum[15:0] == 0xFFFF) {
                new[15:0] = 0;      // the same to a checksum; so an identifier that ends in 0 comes back as it was (RFC 6296, 3.4)
            }
        }
        hdr.ipv6.destination = new;
        encapsulation.mode = ENCAPSULATE_NONE;
    }
}

#endif
