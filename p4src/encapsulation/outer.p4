// Egress: puts together what ingress laid out. Behind the router's rewriting, so that the packet inside has lost its hop.
//
//   tunnel   outer IPv6, [hop-by-hop options with a trace], [segments], [frame], the packet
//   inline   the packet's own IPv6, [hop-by-hop options with a trace], [segments or source route], the rest of the packet

#ifndef WAYNAME_ENCAPSULATION_OUTER_P4
#define WAYNAME_ENCAPSULATION_OUTER_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

control Outer(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (meta.encapsulation.mode != ENCAPSULATE_NONE) {
            bit<8> next = NEXT_IPV6;
            hdr.outer = hdr.ipv6;
            hdr.outer.payload_length = hdr.ipv6.payload_length + meta.encapsulation.size;
            hdr.outer.destination = meta.next.destination;
            if (meta.encapsulation.mode == ENCAPSULATE_INLINE) {
                next = hdr.ipv6.next_header;
                hdr.ipv6.setInvalid();
            } else {
                // Congestion marks and flow label are the packet's (RFC 6040, RFC 6438).
                hdr.outer.hop_limit = HOP_LIMIT_OWN;
                hdr.outer.source = meta.encapsulation.source;
                if (meta.encapsulation.mode == ENCAPSULATE_FRAME) {
                    next = NEXT_ETHERNET;
                }
            }
            if (hdr.new_source_route.isValid()) {
                if (hdr.hop_by_hop.isValid()) {
                    hdr.new_source_route.next_header = hdr.hop_by_hop.next_header;
                    hdr.hop_by_hop.next_header = NEXT_ROUTING;
                } else {
                    hdr.new_source_route.next_header = next;
                    next = NEXT_ROUTING;
                }
            }
            if (hdr.steering.isValid()) {
                hdr.steering.next_header = next;
                next = NEXT_ROUTING;
            }
            if (hdr.new_options.isValid()) {
                hdr.new_options.next_header = next;
                next = NEXT_HOP_BY_HOP;
            }
            hdr.outer.next_header = next;
        }
    }
}

#endif
