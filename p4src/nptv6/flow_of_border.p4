// What tells a packet's flow over a border apart. Parts of packets have no ports. An ICMPv6 error goes the way of the packet that
// it is about.

#ifndef WAYNAME_NPTV6_FLOW_OF_BORDER_P4
#define WAYNAME_NPTV6_FLOW_OF_BORDER_P4

#include "../common/packet_metadata.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

const bit<8> TCP_FLAGS_OF_BEGIN = 0x12;     // SYN, ACK

// What is known of a packet beside the addresses and ports of its flow.
struct flow_packet_t {
    bool native;                // of a session of the host's own
    bool is_error;              // an ICMPv6 error: its flow is that of the packet that it is about
    bool of_tcp;                // a whole packet of TCP, whose flags say whether it
    bool begins;                // a connection
    bit<32> ports_hashed;       // ports that have a part in the choice of a provider
}

control FlowOfBorder(in headers_t hdr, inout border_t border, in flow_t flow, in icmpv6_t icmpv6, in bool fragmented,
                     inout flow_packet_t packet) {
    apply {
        packet.is_error = hdr.message.isValid() && hdr.quoted.isValid()
            && hdr.message.type >= ICMPV6_UNREACHABLE && hdr.message.type <= ICMPV6_PARAMETER_PROBLEM;
        if (border.way == BORDER_OUT) {
            border.local = hdr.ipv6.source;
            border.remote = hdr.ipv6.destination;
            border.local_port = flow.source_port;
            border.remote_port = flow.destination_port;
        } else {
            border.local = border.inside;
            border.remote = hdr.ipv6.source;
            border.local_port = flow.destination_port;
            border.remote_port = flow.source_port;
        }
        border.next_header = flow.next_header;
        if (packet.is_error) {
            border.next_header = icmpv6.quoted_next_header;
            if (border.way == BORDER_OUT) {
                border.local = hdr.quoted.destination;
                border.remote = hdr.quoted.source;
                if (border.next_header == NEXT_ICMPV6) {
                    border.local_port = icmpv6.quoted_upper_layer[31:16];
                } else if (border.next_header == NEXT_TCP || border.next_header == NEXT_UDP
                           || border.next_header == NEXT_SCTP || border.next_header == NEXT_DCCP
                           || border.next_header == NEXT_UDP_LITE) {
                    border.remote_port = icmpv6.quoted_upper_layer[63:48];
                    border.local_port = icmpv6.quoted_upper_layer[47:32];
                }
            }
        } else if (hdr.message.isValid() && !fragmented
                   && (hdr.message.type == ICMPV6_ECHO_REQUEST || hdr.message.type == ICMPV6_ECHO_REPLY)) {
            border.local_port = hdr.message.parameter[31:16];
        } else if (hdr.tcp.isValid() && !fragmented) {
            packet.of_tcp = !packet.native;
            packet.begins = hdr.tcp.start[23:16] & TCP_FLAGS_OF_BEGIN == TCP_SYN;
        }
        // What may come in parts goes one way as a whole: its ports have no part in the hash. So does what begins side by side with
        // a session of the host's own: a peer whose edge speaks for it knows the host by one address from its first packet on.
        if (!packet.native && (border.next_header == NEXT_TCP || border.next_header == NEXT_SCTP)) {
            packet.ports_hashed = border.local_port ++ border.remote_port;
        }
    }
}

#endif
