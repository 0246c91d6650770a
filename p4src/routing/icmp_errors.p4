// ICMPv6 errors (RFC 4443), made in the data plane.
//
//   first pass, ingress    the packet is dropped by a reason that its sender should know; `IcmpErrorLimits` asks whether an
//                          answer is allowed and there is room for it, and has the packet start again if so
//   second pass, parser    everything from the IPv6 header on becomes the quote
//   second pass, ingress   `IcmpErrorReply` sends it back where it came from
//   second pass, egress    `IcmpErrorMessage` writes the headers before the quote; the rest of the packet is cut off
//
// The second pass is what makes the quote a header of known length: its checksum and its end need no payload.

#ifndef WAYNAME_ROUTING_ICMP_ERRORS_P4
#define WAYNAME_ROUTING_ICMP_ERRORS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

control IcmpErrorLimits(in headers_t hdr, inout icmp_error_t icmp_error, in chain_t chain, in icmpv6_t icmpv6,
                        in port_t ingress_port) {
    @id(ERROR_METER_ID)
    @name("error_meter")
    @brief("ICMPv6 errors, by the port of the packet they answer.")
    METERS(port_t, PORTS, error_meter);

    @id(ERRORS_SENT_COUNTER_ID)
    @name("errors_sent")
    @brief("Packets answered by an ICMPv6 error, by type.")
    COUNTERS(bit<8>, 5, errors_sent);

    @id(ERRORS_HELD_BACK_COUNTER_ID)
    @name("errors_held_back")
    @brief("Packets not answered, because an error may not be or came too often, by type.")
    COUNTERS(bit<8>, 5, errors_held_back);

    apply {
        if (icmp_error.type != 0 && !hdr.quote.isValid()) {
            // Never about an error or a redirect, nor about a packet that may be one (section 2.4 e). Groups and
            // addresses that are nobody's never come this far.
            bool silent = chain.next_header == NEXT_ICMPV6
                && (icmpv6.type < 128 || icmpv6.type == ICMPV6_REDIRECT);
            if (!silent) {
                colour_t colour;
                METER(error_meter, ingress_port, colour);
                silent = colour == COLOUR_RED;
            }
            if (silent) {
                errors_held_back.count(icmp_error.type);
                icmp_error.type = 0;
            } else {
                errors_sent.count(icmp_error.type);
            }
        }
    }
}

control IcmpErrorReply(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (!meta.decided && hdr.quote.isValid()) {
            if (meta.interface.address == 0) {
                DROP(DROP_ERROR_NO_SOURCE);
            } else {
                meta.egress.port = meta.ingress_port;
                meta.decided = true;
            }
        }
    }
}

control IcmpErrorMessage(inout headers_t hdr, in interface_t interface, in icmp_error_t icmp_error, inout egress_t egress) {
    apply {
        if (hdr.quote.isValid()) {
            hdr.ethernet.destination = hdr.ethernet.source;
            hdr.ethernet.source = interface.mac;

            hdr.ipv6.setValid();
            hdr.ipv6.version = 6;
            hdr.ipv6.traffic_class = 0;
            hdr.ipv6.flow_label = 0;
            hdr.ipv6.payload_length = icmp_error.quote_bytes + ICMPV6_BYTES;
            hdr.ipv6.next_header = NEXT_ICMPV6;
            hdr.ipv6.hop_limit = HOP_LIMIT_OWN;
            hdr.ipv6.source = interface.address;
            hdr.ipv6.destination = icmp_error.receiver;

            hdr.icmpv6_error.setValid();
            hdr.icmpv6_error.type = icmp_error.type;
            hdr.icmpv6_error.code = icmp_error.code;
            hdr.icmpv6_error.checksum = 0;
            hdr.icmpv6_error.parameter = (bit<32>)icmp_error.parameter;

            egress.cut = ETHERNET_BYTES + IPV6_BYTES + ICMPV6_BYTES + icmp_error.quote_bytes;
            if (hdr.vlan.isValid()) {
                egress.cut = egress.cut + VLAN_BYTES;
            }
        }
    }
}

#endif
