// The payload header (RFC 5533, section 5.2), put on and taken off.
//
// It goes behind what routers look at (hop-by-hop options, a routing header that has been travelled) and before all the
// rest, fragments among it. It is taken off wherever it stands.

#ifndef WAYNAME_SHIM6_PAYLOAD_P4
#define WAYNAME_SHIM6_PAYLOAD_P4

control PutPayloadHeaderOn(inout headers_t hdr, inout metadata_t meta) {
    // The header before it says what it is, and it says what the other one said.
    bit<8> follows = 0;

    apply {
        if (hdr.segment_routing.isValid()) {
            follows = hdr.segment_routing.next_header;
            hdr.segment_routing.next_header = NEXT_SHIM6;
        } else if (hdr.source_route.isValid()) {
            follows = hdr.source_route.next_header;
            hdr.source_route.next_header = NEXT_SHIM6;
        } else if (hdr.hop_by_hop.isValid()) {
            follows = hdr.hop_by_hop.next_header;
            hdr.hop_by_hop.next_header = NEXT_SHIM6;
        } else {
            follows = hdr.ipv6.next_header;
            hdr.ipv6.next_header = NEXT_SHIM6;
        }
        if (hdr.segment_routing.isValid() || hdr.source_route.isValid()) {
            hdr.payload_header_behind.setValid();
            hdr.payload_header_behind.next_header = follows;
            hdr.payload_header_behind.length = 0;
            hdr.payload_header_behind.payload = 1;
            hdr.payload_header_behind.tag = meta.session.tag;
        } else {
            hdr.payload_header.setValid();
            hdr.payload_header.next_header = follows;
            hdr.payload_header.length = 0;
            hdr.payload_header.payload = 1;
            hdr.payload_header.tag = meta.session.tag;
        }
        meta.session.added = PAYLOAD_HEADER_BYTES;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length + PAYLOAD_HEADER_BYTES;
    }
}

control TakePayloadHeaderOff(inout headers_t hdr, inout metadata_t meta) {
    bit<8> place = 0;       // on its stack

    apply {
        if (meta.shim6.behind) {
            place = meta.shim6.place - meta.routing.index - 1;
            if (place != 0) {
                SAY_WHAT_FOLLOWS_10(hdr.extensions_behind, place, meta.shim6.next_header)
            } else if (hdr.segment_routing.isValid()) {
                hdr.segment_routing.next_header = meta.shim6.next_header;
            } else {
                hdr.source_route.next_header = meta.shim6.next_header;
            }
            INVALIDATE_ONE_OF_10(hdr.extensions_behind, place)
        } else {
            place = meta.shim6.place;
            if (hdr.hop_by_hop.isValid()) {
                place = place - 1;
            }
            if (place == 0) {
                if (hdr.hop_by_hop.isValid()) {
                    hdr.hop_by_hop.next_header = meta.shim6.next_header;
                } else {
                    hdr.ipv6.next_header = meta.shim6.next_header;
                }
                hdr.extensions[0].setInvalid();
            } else {
                SAY_WHAT_FOLLOWS_10(hdr.extensions, place, meta.shim6.next_header)
                INVALIDATE_ONE_OF_10(hdr.extensions, place)
            }
        }
        meta.session.taken = PAYLOAD_HEADER_BYTES;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length - PAYLOAD_HEADER_BYTES;
        hdr.ipv6.source = meta.session.remote;
        hdr.ipv6.destination = meta.session.local;
    }
}

#endif
