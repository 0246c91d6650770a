// Which flow a packet at the border belongs to, and what it does to it.
//
//   TCP        addresses and ports; SYN opens, FIN and RST end. A packet without SYN or RST makes a record too: of a connection that
//              began before this switch did
//   SCTP, DCCP addresses and ports
//   ICMPv6     addresses and the echo's identifier; errors, those of the packet that they quote
//   Shim6      the host inside alone: its peers move
//   others     of the remote end nothing, or its address (REC-11, REC-17); ports, if there are any

#ifndef WAYNAME_SIMPLE_SECURITY_FILTERED_FLOW_P4
#define WAYNAME_SIMPLE_SECURITY_FILTERED_FLOW_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/shim6_headers.p4"
#include "metadata.p4"

const bit<16> PORT_DOMAIN = 53;

control FilteredFlow(in headers_t hdr, in metadata_t meta, in bool address_dependent, out filtered_flow_t flow) {
    apply {
        bool enters = meta.border.enters;
        ipv6_address_t inside = hdr.ipv6.destination;
        ipv6_address_t quoted_source = hdr.quoted.source;
        if (meta.border.destination.wanted) {
            inside = meta.border.inside;
            quoted_source = meta.border.quoted_source;
        }
        // A part of a packet has its ports in the first one, where the parser leaves them.
        bit<16> source_port = meta.flow.source_port;
        bit<16> destination_port = meta.flow.destination_port;
        if (meta.first_fragment && hdr.tcp.isValid()) {
            source_port = hdr.tcp.start[127:112];
            destination_port = hdr.tcp.start[111:96];
        } else if (meta.first_fragment && hdr.datagram.isValid()) {
            source_port = hdr.datagram.start[47:32];
            destination_port = hdr.datagram.start[31:16];
        }

        flow.quoted = hdr.message.isValid() && hdr.message.type >= ICMPV6_UNREACHABLE && hdr.message.type < ICMPV6_ECHO_REQUEST;
        flow.next_header = meta.flow.next_header;
        flow.opens = false;
        flow.ends = false;
        if (enters) {
            flow.local = inside;
            flow.remote = hdr.ipv6.source;
            flow.local_port = destination_port;
            flow.remote_port = source_port;
        } else {
            flow.local = hdr.ipv6.source;
            flow.remote = hdr.ipv6.destination;
            flow.local_port = source_port;
            flow.remote_port = destination_port;
        }
        if (flow.quoted) {
            flow.next_header = meta.icmpv6.quoted_next_header;
            bit<64> quoted = meta.icmpv6.quoted_upper_layer;
            if (enters) {
                flow.local = quoted_source;
                flow.remote = hdr.quoted.destination;
            } else {
                flow.local = hdr.quoted.destination;
                flow.remote = hdr.quoted.source;
            }
            if (flow.next_header == NEXT_ICMPV6) {
                if (quoted[63:56] == ICMPV6_ECHO_REQUEST || quoted[63:56] == ICMPV6_ECHO_REPLY) {
                    flow.local_port = quoted[31:16];
                }
            } else if (flow.next_header == NEXT_TCP || flow.next_header == NEXT_UDP || flow.next_header == NEXT_SCTP
                       || flow.next_header == NEXT_DCCP || flow.next_header == NEXT_UDP_LITE) {
                if (enters) {
                    flow.local_port = quoted[63:48];
                    flow.remote_port = quoted[47:32];
                } else {
                    flow.local_port = quoted[47:32];
                    flow.remote_port = quoted[63:48];
                }
            }
        } else if (hdr.message.isValid() && (hdr.message.type == ICMPV6_ECHO_REQUEST || hdr.message.type == ICMPV6_ECHO_REPLY)) {
            flow.local_port = hdr.message.parameter[31:16];
        }

        flow.first = RECORD_ENDPOINT;
        flow.connection = false;
        if (meta.shim6.kind != SHIM6_NONE) {
            flow.next_header = NEXT_SHIM6;
            flow.remote = 0;
            flow.local_port = 0;
            flow.remote_port = 0;
        } else if (flow.next_header == NEXT_TCP) {
            bit<8> flags = 0;
            if (hdr.tcp.isValid()) {
                flags = hdr.tcp.start[23:16];
            }
            flow.connection = true;
            flow.opens = flags & TCP_SYN != 0;
            flow.ends = flags & (TCP_FIN | TCP_RST) != 0;
            flow.first = RECORD_OPENING;
            if (flags & TCP_RST != 0 || flags & (TCP_SYN | TCP_ACK) == TCP_SYN | TCP_ACK) {
                flow.first = RECORD_NONE;
            }
        } else if (flow.next_header == NEXT_SCTP) {
            flow.connection = true;
            flow.first = RECORD_OPENING;
        } else if (flow.next_header == NEXT_DCCP) {
            flow.connection = true;
            flow.first = RECORD_ESTABLISHED;        // eight minutes at least till it stands (REC-44)
        } else if (flow.next_header == NEXT_ICMPV6) {
            flow.first = RECORD_QUERY;
            flow.remote_port = 0;
            if (hdr.message.isValid() && hdr.message.type == ICMPV6_ECHO_REPLY) {
                flow.first = RECORD_NONE;
            }
        } else {
            if (flow.remote_port == PORT_DOMAIN) {
                flow.first = RECORD_NAME_QUERY;
            }
            flow.remote_port = 0;
            if (!address_dependent) {
                flow.remote = 0;
            }
        }
        if (flow.quoted) {
            flow.opens = false;
            flow.ends = false;
        }
    }
}

#endif
