// A router further on says that a packet of ESP is too big, which had a path option by then. Its host is told of an MTU that leaves room
// for that: it makes packets of the size that it hears of, and the option comes on top.
//
// What the error quotes stays as it is, option and all: the host finds its SPI behind any extension headers.

#ifndef WAYNAME_HIP_PATH_MTU_P4
#define WAYNAME_HIP_PATH_MTU_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "../encapsulation/tunnels.p4"
#include "../parsing/headers.p4"
#include "../scheduling/path_option.p4"
#include "../sessions/metadata.p4"

control EspPathMtu(inout headers_t hdr, in metadata_t meta) {
    apply {
        bool to_host = meta.session.destination_speaker == SPEAKER_HOST || meta.session.destination_speaker == SPEAKER_CHECKED;
        if (to_host && hdr.quoted.isValid() && hdr.message.type == ICMPV6_PACKET_TOO_BIG && hdr.message.parameter[31:16] == 0
            && hdr.quoted.next_header == NEXT_DESTINATION && meta.icmpv6.quoted_upper_layer[63:56] == NEXT_ESP
            && meta.icmpv6.quoted_upper_layer[47:40] == OPTION_PATH) {
            bit<16> told = hdr.message.parameter[15:0];
            bit<16> left = told |-| (PATH_OPTION_BYTES + PATH_ORDER_BYTES + PATH_REPORT_BYTES);
            if (left < IPV6_LEAST_MTU && told > IPV6_LEAST_MTU) {
                left = IPV6_LEAST_MTU;
            }
            if (left >= IPV6_LEAST_MTU) {
                hdr.message.parameter = 16w0 ++ left;
                hdr.message.checksum = adjusted(hdr.message.checksum, told, left);
            }
        }
    }
}

#endif
