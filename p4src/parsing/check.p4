// Drops what the parser found malformed, and what is shorter than it says.

#ifndef WAYNAME_PARSING_CHECK_P4
#define WAYNAME_PARSING_CHECK_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "headers.p4"

control Check(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (!meta.decided) {
            bit<32> before = (bit<32>)(ETHERNET_BYTES + IPV6_BYTES);
            if (hdr.vlan.isValid()) {
                before = before + (bit<32>)VLAN_BYTES;
            }
            if (hdr.packet_out.isValid()) {
                before = before + (bit<32>)PACKET_OUT_BYTES;
            }
            // A longer packet is none the worse: Ethernet pads short ones.
            if (hdr.ipv6.isValid() && before + (bit<32>)hdr.ipv6.payload_length > meta.length) {
                DROP(DROP_PAYLOAD_LENGTH);
            } else if (meta.fault != DROP_NONE) {
                DROP(meta.fault);
            }
        }
    }
}

#endif
