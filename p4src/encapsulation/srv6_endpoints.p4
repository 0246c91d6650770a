// What becomes of a packet to a segment of this router (RFC 8986), to the end of a tunnel, or to a hop of a source route.
//
//   sids -+- end, end_x, end_t, end_b6_*    segments left: the next one is the destination; the route, the next hop, the
//         |                                 table or the policy says where to. None left: with USD as below
//         +- end_dx*, end_dt*, end_dx2      the packet inside goes on, and what was around it is gone
//         +- source_route_hop               addresses change places (RFC 6554)
//
// Only packets with a routing header, or with a packet inside, are looked up: the router's other packets are the
// controller's. A wrong header is answered by "parameter problem"; the answer quotes the packet as it arrived.

#ifndef WAYNAME_ENCAPSULATION_SRV6_ENDPOINTS_P4
#define WAYNAME_ENCAPSULATION_SRV6_ENDPOINTS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "tunnels.p4"

// Flavours (RFC 8986, section 4.16). USP, 2, needs no doing: what is for the upper layer here goes to the controller.
const bit<8> FLAVOUR_PSP = 1;       // the last segment but one takes the routing header off
const bit<8> FLAVOUR_USD = 4;       // the last segment takes the packet out of the tunnel

// What a SID does.
const bit<8> NOT_A_SEGMENT    = 0;
const bit<8> TO_NEXT_SEGMENT  = 1;
const bit<8> TO_NEXT_HOP      = 2;
const bit<8> OUT_OF_TUNNEL    = 3;

// What a tunnel's end takes.
const bit<8> INSIDE_IPV6  = 1;
const bit<8> INSIDE_IPV4  = 2;
const bit<8> INSIDE_FRAME = 4;

control SegmentEndpoints(inout headers_t hdr, inout metadata_t meta) {
    @id(SIDS_COUNTER_ID) TABLE_COUNTER(sids_counter);

    bit<8> behaviour = NOT_A_SEGMENT;
    bit<8> sid_flavours = 0;
    bit<8> inside = 0;
    port_t frame_port = 0;

    @id(END_ACTION_ID)
    @name("end")
    @brief("To the next segment, by the routes. Flavours: 1 PSP, 2 USP, 4 USD, or sums of them.")
    action end(@id(1) bit<8> flavours) {
        behaviour = TO_NEXT_SEGMENT;
        sid_flavours = flavours;
    }

    @id(END_X_ACTION_ID)
    @name("end_x")
    @brief("To the next segment, by a next hop.")
    action end_x(@id(1) bit<8> flavours, @id(2) @refers_to(nexthops, nexthop) nexthop_id_t nexthop) {
        behaviour = TO_NEXT_SEGMENT;
        sid_flavours = flavours;
        meta.next.nexthop = nexthop;
    }

    @id(END_T_ACTION_ID)
    @name("end_t")
    @brief("To the next segment, by a table of routes.")
    action end_t(@id(1) bit<8> flavours, @id(2) @refers_to(vrf_routes, vrf) vrf_id_t vrf) {
        behaviour = TO_NEXT_SEGMENT;
        sid_flavours = flavours;
        meta.next.vrf = vrf;
    }

    @id(END_B6_ENCAPS_ACTION_ID)
    @name("end_b6_encaps")
    @brief("To the next segment, in a tunnel along a policy. Mode: 2, or 4 for the reduced header.")
    action end_b6_encaps(@id(1) bit<8> flavours, @id(2) bit<8> mode,
                         @id(3) @refers_to(sr_policies, policy) policy_id_t policy) {
        behaviour = TO_NEXT_SEGMENT;
        sid_flavours = flavours;
        meta.encapsulation.mode = mode;
        meta.encapsulation.policy = policy;
    }

    @id(END_DX6_ACTION_ID)
    @name("end_dx6")
    @brief("The IPv6 packet inside, to a next hop.")
    action end_dx6(@id(1) @refers_to(nexthops, nexthop) nexthop_id_t nexthop) {
        behaviour = OUT_OF_TUNNEL;
        inside = INSIDE_IPV6;
        meta.next.nexthop = nexthop;
    }

    @id(END_DX4_ACTION_ID)
    @name("end_dx4")
    @brief("The IPv4 packet inside, to a next hop.")
    action end_dx4(@id(1) @refers_to(nexthops, nexthop) nexthop_id_t nexthop) {
        behaviour = OUT_OF_TUNNEL;
        inside = INSIDE_IPV4;
        meta.next.nexthop = nexthop;
    }

    @id(END_DT6_ACTION_ID)
    @name("end_dt6")
    @brief("The IPv6 packet inside, by a table of routes; 0 is the main one.")
    action end_dt6(@id(1) @refers_to(vrf_routes, vrf) vrf_id_t vrf) {
        behaviour = OUT_OF_TUNNEL;
        inside = INSIDE_IPV6;
        meta.next.vrf = vrf;
    }

    @id(END_DT4_ACTION_ID)
    @name("end_dt4")
    @brief("The IPv4 packet inside, by a table of IPv4 routes.")
    action end_dt4(@id(1) @refers_to(ipv4_vrf_routes, vrf) vrf_id_t vrf) {
        behaviour = OUT_OF_TUNNEL;
        inside = INSIDE_IPV4;
        meta.next.vrf = vrf;
    }

    @id(END_DT46_ACTION_ID)
    @name("end_dt46")
    @brief("The packet inside, by a table of routes of its kind.")
    action end_dt46(@id(1) @refers_to(vrf_routes, vrf) @refers_to(ipv4_vrf_routes, vrf) vrf_id_t vrf) {
        behaviour = OUT_OF_TUNNEL;
        inside = INSIDE_IPV6 | INSIDE_IPV4;
        meta.next.vrf = vrf;
    }

    @id(END_DX2_ACTION_ID)
    @name("end_dx2")
    @brief("The frame inside, out of a port.")
    action end_dx2(@id(1) port_t port) {
        behaviour = OUT_OF_TUNNEL;
        inside = INSIDE_FRAME;
        frame_port = port;
    }

    @id(SOURCE_ROUTE_HOP_ACTION_ID)
    @name("source_route_hop")
    @brief("A hop of RPL source routes.")
    action source_route_hop() {
        behaviour = TO_NEXT_HOP;
    }

    @id(NOT_A_SID_ACTION_ID)
    @name("not_a_sid")
    action not_a_sid() {
    }

    @id(SIDS_TABLE_ID)
    @name("sids")
    @brief("Segments, tunnel ends and source route hops of this router.")
    table sids {
        key = {
            hdr.ipv6.destination : lpm @id(1) @name("destination") @refers_to(hmac_rules, destination);
        }
        actions = {
            end;
            end_x;
            end_t;
            end_b6_encaps;
            end_dx6;
            end_dx4;
            end_dt6;
            end_dt4;
            end_dt46;
            end_dx2;
            source_route_hop;
            @defaultonly not_a_sid;
        }
        const default_action = not_a_sid;
        counters = sids_counter;
        size = SIDS;
    }

    // The header before the routing header is followed by what followed it.
    action take_routing_header_off() {
        hdr.ipv6.payload_length = hdr.ipv6.payload_length - meta.routing.size;
        hdr.segment_routing.setInvalid();
        hdr.routing_before.setInvalid();
        hdr.hop.octets_16.setInvalid();
        hdr.routing_behind.setInvalid();
    }

    action to_next_segment() {
        hdr.segment_routing.segments_left = meta.routing.left - 1;
        hdr.ipv6.destination = hdr.hop.octets_16.data;
    }

    action leave_ipv6_behind() {
        hdr.hop_by_hop.setInvalid();
        hdr.direct_export.setInvalid();
        hdr.trace.setInvalid();
        hdr.trace_free.setInvalid();
        hdr.trace_spare.setInvalid();
        hdr.trace_slot.setInvalid();
        hdr.trace_filled.setInvalid();
        hdr.options_rest.setInvalid();
        hdr.segment_routing.setInvalid();
        hdr.source_route.setInvalid();
        hdr.routing_before.setInvalid();
        hdr.hop.octets_16.setInvalid();
        hdr.hop.octets_8.setInvalid();
        hdr.hop.octets_4.setInvalid();
        hdr.hop.octets_2.setInvalid();
        hdr.hop.octets_1.setInvalid();
        hdr.routing_behind.setInvalid();
        INVALIDATE_10(hdr.extensions)
        INVALIDATE_10(hdr.extensions_behind)
        INVALIDATE_8(hdr.options)
    }

    apply {
        bool asks = meta.routing.type != 0 || meta.chain.next_header == NEXT_IPV6
            || meta.chain.next_header == NEXT_IPV4 || meta.chain.next_header == NEXT_ETHERNET;
        if (!meta.decided && asks && TO_ROUTER(hdr, meta) && sids.apply().hit) {
            bool segments_left = meta.routing.type == ROUTING_SEGMENTS && meta.routing.left != 0;
            bool tunnel_end = behaviour == OUT_OF_TUNNEL;
            // Offset of the upper layer, for the sender.
            bit<16> upper_layer = IPV6_BYTES + hdr.ipv6.payload_length - meta.chain.left;

            if (behaviour == TO_NEXT_SEGMENT && segments_left) {
                if (meta.routing.wrong) {
                    DROP_WITH_ERROR(DROP_SEGMENTS_WRONG, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
                    meta.icmp_error.parameter = meta.routing.pointer;
                } else {
                    to_next_segment();
                    if (sid_flavours & FLAVOUR_PSP != 0 && meta.routing.left == 1) {
                        if (meta.routing.index == 0) {
                            hdr.ipv6.next_header = hdr.segment_routing.next_header;
                        } else if (!hdr.hop_by_hop.isValid()) {
                            SAY_WHAT_FOLLOWS_10(hdr.extensions, meta.routing.index, hdr.segment_routing.next_header)
                        } else if (meta.routing.index == 1) {
                            hdr.hop_by_hop.next_header = hdr.segment_routing.next_header;
                        } else {
                            SAY_WHAT_FOLLOWS_10(hdr.extensions, meta.routing.index - 1, hdr.segment_routing.next_header)
                        }
                        take_routing_header_off();
                    }
                }
            } else if (behaviour == TO_NEXT_SEGMENT && sid_flavours & FLAVOUR_USD != 0) {
                inside = INSIDE_IPV6 | INSIDE_IPV4;
                tunnel_end = true;
            } else if (behaviour == TO_NEXT_HOP) {
                // In rpl_source_routes.p4.
                meta.routing.hop = true;
            } else if (tunnel_end && segments_left) {
                DROP_WITH_ERROR(DROP_SEGMENTS_LEFT, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
                meta.icmp_error.parameter = meta.routing.pointer;
            }

            if (meta.decided || meta.routing.hop || (segments_left && !tunnel_end)) {
                // Done.
            } else if (tunnel_end && inside & INSIDE_IPV6 != 0 && hdr.inner_ipv6.isValid()) {
                if (hdr.inner_ipv6.version != 6) {
                    DROP(DROP_INNER_VERSION);
                } else if ((bit<32>)hdr.inner_ipv6.payload_length + (bit<32>)IPV6_BYTES > (bit<32>)meta.chain.left) {
                    DROP(DROP_INNER_LENGTH);
                } else {
                    TUNNEL_CONGESTION(hdr.ipv6.traffic_class, hdr.inner_ipv6.traffic_class)
                    meta.icmp_error.skipped = upper_layer;
                    meta.chain.next_header = hdr.inner_ipv6.next_header;
                    meta.icmpv6.type = meta.inner_icmpv6_type;
                    meta.flow.next_header = hdr.inner_ipv6.next_header;
                    meta.out_of_tunnel = true;
                    hdr.ipv6 = hdr.inner_ipv6;
                    hdr.inner_ipv6.setInvalid();
                }
            } else if (tunnel_end && inside & INSIDE_IPV4 != 0 && hdr.inner_ipv4.isValid()) {
                if (hdr.inner_ipv4.version != 4) {
                    DROP(DROP_INNER_VERSION);
                } else if (hdr.inner_ipv4.length < 5 || hdr.inner_ipv4.total_length < IPV4_BYTES) {
                    DROP(DROP_INNER_HEADER);
                } else if (hdr.inner_ipv4.total_length > meta.chain.left) {
                    DROP(DROP_INNER_LENGTH);
                } else {
                    bit<16> before = hdr.inner_ipv4.version ++ hdr.inner_ipv4.length ++ hdr.inner_ipv4.traffic_class;
                    TUNNEL_CONGESTION(hdr.ipv6.traffic_class, hdr.inner_ipv4.traffic_class)
                    bit<16> after = hdr.inner_ipv4.version ++ hdr.inner_ipv4.length ++ hdr.inner_ipv4.traffic_class;
                    hdr.inner_ipv4.checksum = adjusted(hdr.inner_ipv4.checksum, before, after);
                    meta.flow.next_header = hdr.inner_ipv4.protocol;
                    meta.out_of_tunnel = true;
                    hdr.ipv6.setInvalid();
                    if (hdr.vlan.isValid()) {
                        hdr.vlan.type = ETHERTYPE_IPV4;
                    } else {
                        hdr.ethernet.type = ETHERTYPE_IPV4;
                    }
                }
            } else if (tunnel_end && inside & INSIDE_FRAME != 0 && hdr.inner_frame.isValid()) {
                meta.egress.port = frame_port;
                meta.egress.as_it_is = true;
                meta.decided = true;
                meta.out_of_tunnel = true;
                hdr.ethernet.setInvalid();
                hdr.vlan.setInvalid();
                hdr.ipv6.setInvalid();
            } else if (meta.chain.next_header == NEXT_ICMPV6) {
                TRAP(PUNT_LOCAL);
            } else {
                DROP_WITH_ERROR(DROP_UPPER_LAYER, ICMPV6_PARAMETER_PROBLEM, PARAMETER_UPPER_LAYER);
                meta.icmp_error.parameter = upper_layer;
            }

            if (meta.out_of_tunnel) {
                // The trace ends with the tunnel; a probe does, too (RFC 9322, section 5).
                if (hdr.trace.isValid() && meta.drop == DROP_NONE) {
                    if (hdr.trace.active == 1) {
                        TRAP(PUNT_TRACE);
                    } else {
                        COPY_TO_CONTROLLER(PUNT_TRACE);
                    }
                }
                leave_ipv6_behind();
            }
        }
    }
}

#endif
