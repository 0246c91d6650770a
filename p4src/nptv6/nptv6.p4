// NPTv6 (RFC 6296): prefixes of providers for that of the inside, and back. The prefix is overwritten, and one word of the rest
// takes up the difference: every checksum over the address stays right, so nothing behind it is touched.
//
//   | prefix (48 or less)                | subnet (16): the word | interface identifier (64)                      |
//   | prefix (49 to 64)                                           | (16) | (16) | (16) | (16): the first but 0xFFFF |
//
// An ICMPv6 error has such an address once more, in the packet that it quotes.

#ifndef WAYNAME_NPTV6_NPTV6_P4
#define WAYNAME_NPTV6_NPTV6_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

control Nptv6Rewrite(inout ipv6_address_t address, in nptv6_mapping_t change, out bool impossible) {
    apply {
        impossible = false;
        ipv6_address_t changed = (address & ~change.mask) | change.new;
        bit<16> word = 0xFFFF;
        bit<3> place = 3;
        if (change.in_subnet == 1) {
            word = changed[79:64];
        } else if (changed[63:48] != 0xFFFF) {
            place = 4;
            word = changed[63:48];
        } else if (changed[47:32] != 0xFFFF) {
            place = 5;
            word = changed[47:32];
        } else if (changed[31:16] != 0xFFFF) {
            place = 6;
            word = changed[31:16];
        } else {
            place = 7;
            word = changed[15:0];
        }
        // An identifier of zeros is no host's (section 3.7), and 0xFFFF would come back as 0 (section 3.4).
        if ((address & change.mask) != change.old || word == 0xFFFF || (change.in_subnet == 0 && changed[63:0] == 0)) {
            impossible = true;
        } else {
            bit<17> sum = (bit<17>)word + (bit<17>)change.difference;
            word = sum[15:0] + (bit<16>)sum[16:16];
            if (word == 0xFFFF) {
                word = 0;
            }
            if (place == 3) {
                changed[79:64] = word;
            } else if (place == 4) {
                changed[63:48] = word;
            } else if (place == 5) {
                changed[47:32] = word;
            } else if (place == 6) {
                changed[31:16] = word;
            } else {
                changed[15:0] = word;
            }
            address = changed;
        }
    }
}

// From outside: who it is for, and of whose packet an error tells.
control Nptv6Destination(in headers_t hdr, inout metadata_t meta) {
    Nptv6Rewrite() change_destination;
    Nptv6Rewrite() change_quoted_source;

    apply {
        meta.border.inside = hdr.ipv6.destination;
        meta.border.quoted_source = hdr.quoted.source;
        if (meta.border.destination.wanted) {
            bool impossible;
            change_destination.apply(meta.border.inside, meta.border.destination, impossible);
            if (impossible) {
                DROP(DROP_UNTRANSLATABLE);
            } else if (hdr.quoted.isValid()) {
                change_quoted_source.apply(meta.border.quoted_source, meta.border.destination, impossible);
            }
        }
    }
}

control Nptv6(inout headers_t hdr, inout metadata_t meta) {
    Nptv6Rewrite() change_source;
    Nptv6Rewrite() change_quoted_destination;

    apply {
        if (!meta.decided && meta.border.way != BORDER_STAYS) {
            if (meta.border.source.wanted) {
                bool impossible;
                change_source.apply(hdr.ipv6.source, meta.border.source, impossible);
                if (impossible && hdr.ipv6.source[63:0] == 0) {
                    DROP_WITH_ERROR(DROP_UNTRANSLATABLE, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
                    meta.icmp_error.parameter = IPV6_SOURCE_OFFSET;
                } else if (impossible) {
                    DROP_WITH_ERROR(DROP_UNTRANSLATABLE, ICMPV6_UNREACHABLE, UNREACHABLE_NO_ROUTE);
                } else if (hdr.quoted.isValid()) {
                    change_quoted_destination.apply(hdr.quoted.destination, meta.border.source, impossible);
                }
            }
            if (meta.border.destination.wanted) {
                hdr.ipv6.destination = meta.border.inside;
                if (hdr.quoted.isValid()) {
                    hdr.quoted.source = meta.border.quoted_source;
                }
            }
        }
    }
}

#endif
