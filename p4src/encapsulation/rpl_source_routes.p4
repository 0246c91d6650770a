// Source routes of RPL (RFC 6554): put on here, and followed here.
//
// Addresses leave out what they have in common with the destination: all but the last its first CmprI octets, the last
// its first CmprE. What the controller gives is compressed already; only the last address is the packet's own.

#ifndef WAYNAME_ENCAPSULATION_RPL_SOURCE_ROUTES_P4
#define WAYNAME_ENCAPSULATION_RPL_SOURCE_ROUTES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "rpl_loops.p4"

// Ingress, and at the beginning of the route.
control SourceRoutes(inout headers_t hdr, inout metadata_t meta) {
    @id(SOURCE_ROUTE_HOPS_COUNTER_ID) TABLE_COUNTER(source_route_hops_counter);

    bit<8> before_last = 0;            // octets of the addresses between the first and the last
    bit<1024> rest;                 // those octets first, whatever else behind

    @id(PUSH_SOURCE_ROUTE_ACTION_ID)
    @name("push_source_route")
    @brief("First: where the packet goes from here. Hops: how many addresses are in the header, the packet's destination the last one. Then the first octets of `addresses`, as many as `middle` says, are all but that one.")
    action push_source_route(@id(1) ipv6_address_t first, @id(2) bit<4> prefix_left_out,
                            @id(3) bit<4> last_prefix_left_out, @id(4) bit<8> hops, @id(5) bit<8> middle,
                            @id(6) bit<1024> addresses) {
        meta.encapsulation.destination = first;
        hdr.new_source_route.setValid();
        hdr.new_source_route.type = ROUTING_SOURCE_ROUTE;
        hdr.new_source_route.segments_left = hops;
        hdr.new_source_route.prefix_left_out = prefix_left_out;
        hdr.new_source_route.last_prefix_left_out = last_prefix_left_out;
        hdr.new_source_route.reserved = 0;
        before_last = middle;
        rest = addresses;
    }

    @id(NO_SOURCE_ROUTE_ACTION_ID)
    @name("no_source_route")
    action no_source_route() {
        DROP(DROP_POLICY_UNKNOWN);
    }

    @id(SOURCE_ROUTE_HOPS_TABLE_ID)
    @name("source_route_hops")
    @brief("Lists of hops.")
    table source_route_hops {
        key = {
            meta.encapsulation.source_route : exact @id(1) @name("source_route");
        }
        actions = {
            push_source_route;
            @defaultonly no_source_route;
        }
        const default_action = no_source_route;
        counters = source_route_hops_counter;
        size = SOURCE_ROUTES;
    }

    apply {
        if (!meta.decided && meta.encapsulation.source_route != 0 && source_route_hops.apply().hit) {
            bit<8> last = 16 - (bit<8>)hdr.new_source_route.last_prefix_left_out;
            bit<8> pad = (0 - (before_last + last)) & 7;
            bit<192> end = (bit<192>)hdr.ipv6.destination << 64 << ((bit<8>)hdr.new_source_route.last_prefix_left_out << 3);
            last = last + pad;
            hdr.new_source_route.pad = (bit<4>)pad;
            hdr.new_source_route.length = (before_last + last) >> 3;
            meta.encapsulation.size = meta.encapsulation.size + (bit<16>)before_last + (bit<16>)last + 8;

            if (before_last[7:7] == 1) {
                hdr.middle_hops.octets_128.setValid();
                hdr.middle_hops.octets_128.data = rest;
            } else {
                if (before_last[6:6] == 1) {
                    hdr.middle_hops.octets_64.setValid();
                    hdr.middle_hops.octets_64.data = rest[1023:512];
                    rest = rest[511:0] ++ 512w0;
                }
                if (before_last[5:5] == 1) {
                    hdr.middle_hops.octets_32.setValid();
                    hdr.middle_hops.octets_32.data = rest[1023:768];
                    rest = rest << 256;
                }
                if (before_last[4:4] == 1) {
                    hdr.middle_hops.octets_16.setValid();
                    hdr.middle_hops.octets_16.data = rest[1023:896];
                    rest = rest << 128;
                }
                if (before_last[3:3] == 1) {
                    hdr.middle_hops.octets_8.setValid();
                    hdr.middle_hops.octets_8.data = rest[1023:960];
                    rest = rest << 64;
                }
                if (before_last[2:2] == 1) {
                    hdr.middle_hops.octets_4.setValid();
                    hdr.middle_hops.octets_4.data = rest[1023:992];
                    rest = rest << 32;
                }
                if (before_last[1:1] == 1) {
                    hdr.middle_hops.octets_2.setValid();
                    hdr.middle_hops.octets_2.data = rest[1023:1008];
                    rest = rest << 16;
                }
                if (before_last[0:0] == 1) {
                    hdr.middle_hops.octets_1.setValid();
                    hdr.middle_hops.octets_1.data = rest[1023:1016];
                }
            }

            if (last[4:4] == 1) {
                hdr.last_hop.octets_16.setValid();
                hdr.last_hop.octets_16.data = end[191:64];
                end = end << 128;
            }
            if (last[3:3] == 1) {
                hdr.last_hop.octets_8.setValid();
                hdr.last_hop.octets_8.data = end[191:128];
                end = end << 64;
            }
            if (last[2:2] == 1) {
                hdr.last_hop.octets_4.setValid();
                hdr.last_hop.octets_4.data = end[191:160];
                end = end << 32;
            }
            if (last[1:1] == 1) {
                hdr.last_hop.octets_2.setValid();
                hdr.last_hop.octets_2.data = end[191:176];
                end = end << 16;
            }
            if (last[0:0] == 1) {
                hdr.last_hop.octets_1.setValid();
                hdr.last_hop.octets_1.data = end[191:184];
            }
        }
    }
}

// Ingress, at a hop of the route: the next address and the destination change places.
control SourceRouteHop(inout headers_t hdr, inout metadata_t meta) {
    SourceRouteLoop() loop;

    apply {
        if (!meta.decided && meta.routing.hop) {
            if (meta.routing.type != ROUTING_SOURCE_ROUTE || meta.routing.left == 0) {
                TRAP(PUNT_LOCAL);
            } else if (meta.routing.wrong) {
                DROP_WITH_ERROR(DROP_SEGMENTS_WRONG, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
                meta.icmp_error.parameter = meta.routing.pointer;
            } else {
                ipv6_address_t here = hdr.ipv6.destination;
                ipv6_address_t next = 0;
                if (hdr.hop.octets_16.isValid()) {
                    next = hdr.hop.octets_16.data;
                }
                if (hdr.hop.octets_8.isValid()) {
                    next = (ipv6_address_t)hdr.hop.octets_8.data;
                }
                if (hdr.hop.octets_4.isValid()) {
                    next = next << 32 | (ipv6_address_t)hdr.hop.octets_4.data;
                }
                if (hdr.hop.octets_2.isValid()) {
                    next = next << 16 | (ipv6_address_t)hdr.hop.octets_2.data;
                }
                if (hdr.hop.octets_1.isValid()) {
                    next = next << 8 | (ipv6_address_t)hdr.hop.octets_1.data;
                }
                bit<8> bits = (bit<8>)meta.routing.octets << 3;
                next = (here >> bits << bits) | next;

                if (next[127:120] == 0xFF) {
                    DROP(DROP_SOURCE_ROUTE_GROUP);
                } else {
                    loop.apply(hdr, meta);
                }
                if (!meta.decided) {
                    hdr.ipv6.destination = next;
                    hdr.source_route.segments_left = meta.routing.left - 1;
                    if (hdr.hop.octets_16.isValid()) {
                        hdr.hop.octets_16.data = here;
                    }
                    if (hdr.hop.octets_1.isValid()) {
                        hdr.hop.octets_1.data = here[7:0];
                        here = here >> 8;
                    }
                    if (hdr.hop.octets_2.isValid()) {
                        hdr.hop.octets_2.data = here[15:0];
                        here = here >> 16;
                    }
                    if (hdr.hop.octets_4.isValid()) {
                        hdr.hop.octets_4.data = here[31:0];
                        here = here >> 32;
                    }
                    if (hdr.hop.octets_8.isValid()) {
                        hdr.hop.octets_8.data = here[63:0];
                    }
                }
            }
        }
    }
}

#endif
