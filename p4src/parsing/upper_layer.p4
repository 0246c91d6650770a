// What stands behind the extension headers: ports, ICMPv6, an SPI, the first header of a packet in the packet (a tunnel's). All
// that is looked at must be in the first fragment (RFC 7112).

#ifndef WAYNAME_PARSING_UPPER_LAYER_P4
#define WAYNAME_PARSING_UPPER_LAYER_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "esp.p4"
#include "headers.p4"
#include "tcp.p4"
#include "../ilnp/headers.p4"

parser UpperLayerParser(packet_in packet, inout headers_t hdr, inout metadata_t meta) {
    EspParser() esp_parser;
    TcpParser() tcp_parser;

    state start {
        transition select(meta.chain.next_header) {
            NEXT_TCP: ports;
            NEXT_UDP: ports;
            NEXT_DCCP: ports;
            NEXT_SCTP: ports;
            NEXT_UDP_LITE: ports;
            NEXT_ICMPV6: icmpv6;
            NEXT_IPV6: inner_ipv6;
            NEXT_IPV4: inner_ipv4;
            NEXT_ETHERNET: inner_frame;
            NEXT_ESP: esp;
            NEXT_NONE: no_next_header;
            default: upper_layer;
        }
    }

    state ports {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed, meta.fragmented) {
            (true, _): upper_layer_short;
            (false, true): checksum;    // the other fragments have no ports, and shall go the same way
            default: ports_here;
        }
    }

    state ports_here {
        ports_t numbers = packet.lookahead<ports_t>();
        meta.flow.source_port = numbers.source;
        meta.flow.destination_port = numbers.destination;
        transition checksum;
    }

    state checksum {
        meta.chain.crossed = meta.chain.left < TCP_BYTES;
        transition select(meta.chain.next_header, meta.chain.crossed) {
            (NEXT_TCP, false): tcp;
            (NEXT_UDP, _): datagram;
            (NEXT_UDP_LITE, _): datagram;
            (NEXT_DCCP, _): datagram;
            default: upper_layer;
        }
    }

    state tcp {
        tcp_parser.apply(packet, hdr, meta.chain, meta.sack);
        transition upper_layer;
    }

    state datagram {
        packet.extract(hdr.datagram);
        transition upper_layer;
    }

    state icmpv6 {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed) {
            true: upper_layer_short;
            false: icmpv6_here;
        }
    }

    state icmpv6_here {
        icmpv6_start_t message = packet.lookahead<icmpv6_start_t>();
        meta.icmpv6.type = message.type;
        meta.icmpv6.code = message.code;
        meta.chain.crossed = meta.chain.left < 24;
        transition select(message.type, meta.chain.crossed) {
            (ICMPV6_NEIGHBOUR_SOLICITATION, false): neighbour_message;
            (ICMPV6_NEIGHBOUR_ADVERTISEMENT, false): neighbour_message;
            (ICMPV6_UNREACHABLE .. ICMPV6_PARAMETER_PROBLEM, false): icmp_error_message;
            (ICMPV6_ECHO_REQUEST, _): echo_request;
            default: take_message;
        }
    }

    state echo_request {
        meta.chain.crossed = meta.chain.left < ECHO_BYTES;
        transition select(meta.chain.crossed) {
            true: take_message;
            false: echo_mark;
        }
    }

    state echo_mark {
        echo_message_t message = packet.lookahead<echo_message_t>();
        meta.probe_mark = message.mark;
        transition take_message;
    }

    // Octets behind "no next header" are passed on (RFC 8200, section 4.7): probes of paths have their nonce there.
    state no_next_header {
        meta.chain.crossed = meta.chain.left < PROBE_NONCE_BYTES;
        transition select(meta.chain.crossed, meta.fragmented) {
            (false, false): probe_nonce;
            default: upper_layer;
        }
    }

    state probe_nonce {
        meta.probe_mark = packet.lookahead<bit<64>>();
        transition upper_layer;
    }

    state take_message {
        packet.extract(hdr.message);
        transition upper_layer;
    }

    state neighbour_message {
        neighbour_message_t message = packet.lookahead<neighbour_message_t>();
        meta.icmpv6.target = message.target;
        transition take_message;
    }

    // Sixteen octets of the quote are there.
    state icmp_error_message {
        error_message_t message = packet.lookahead<error_message_t>();
        meta.icmpv6.quoted_next_header = message.quoted_next_header;
        packet.extract(hdr.message);
        meta.chain.crossed = meta.chain.left < ICMPV6_BYTES + IPV6_BYTES;
        transition select(meta.chain.crossed) {
            true: upper_layer;
            false: quoted;
        }
    }

    state quoted {
        packet.extract(hdr.quoted);
        meta.chain.crossed = meta.chain.left < ICMPV6_BYTES + IPV6_BYTES + 8;
        transition select(meta.chain.crossed) {
            true: upper_layer;
            false: quoted_upper_layer;
        }
    }

    state quoted_upper_layer {
        meta.icmpv6.quoted_upper_layer = packet.lookahead<bit<64>>();
        meta.ilnp.quoted = hdr.quoted.next_header == NEXT_DESTINATION
            && meta.icmpv6.quoted_upper_layer[47:40] == OPTION_NONCE;
        transition upper_layer;
    }

    // What is not whole is not looked at: whoever takes it out drops it.

    state inner_ipv6 {
        meta.chain.crossed = meta.chain.left < IPV6_BYTES;
        transition select(meta.chain.crossed, meta.fragmented) {
            (false, false): take_inner_ipv6;
            default: upper_layer;
        }
    }

    state take_inner_ipv6 {
        packet.extract(hdr.inner_ipv6);
        meta.chain.crossed = meta.chain.left < IPV6_BYTES + 8;
        transition select(hdr.inner_ipv6.next_header, meta.chain.crossed) {
            (NEXT_ICMPV6, false): inner_icmpv6;
            default: upper_layer;
        }
    }

    state inner_icmpv6 {
        meta.inner_icmpv6_type = packet.lookahead<bit<8>>();
        transition upper_layer;
    }

    state inner_ipv4 {
        meta.chain.crossed = meta.chain.left < IPV4_BYTES;
        transition select(meta.chain.crossed, meta.fragmented) {
            (false, false): take_inner_ipv4;
            default: upper_layer;
        }
    }

    state take_inner_ipv4 {
        packet.extract(hdr.inner_ipv4);
        transition upper_layer;
    }

    state inner_frame {
        meta.chain.crossed = meta.chain.left < ETHERNET_BYTES;
        transition select(meta.chain.crossed, meta.fragmented) {
            (false, false): take_inner_frame;
            default: upper_layer;
        }
    }

    state take_inner_frame {
        packet.extract(hdr.inner_frame);
        transition upper_layer;
    }

    state esp {
        esp_parser.apply(packet, meta.chain, meta.fragmented, meta.hip);
        transition upper_layer;
    }

    state upper_layer_short {
        transition select(meta.first_fragment) {
            true: first_fragment_short;
            false: upper_layer;
        }
    }

    state first_fragment_short {
        meta.fault = DROP_FIRST_FRAGMENT_SHORT;
        transition accept;
    }

    state upper_layer {
        meta.flow.next_header = meta.chain.next_header;
        transition accept;
    }
}

#endif
