// What a destination's packets carry, by longest prefix: segments, a trace, a source route.
//
//   encapsulations -> mode, policy, trace, source route -> their tables lay the headers out -> Routing routes the
//   outermost destination, with room for what is added -> Outer, in egress, puts it together
//
// The prefixes are those of the packet as it came in, or came out of a tunnel. A prefix of the router's own addresses
// needs an entry `no_encapsulation` where a shorter one is bound.

#ifndef WAYNAME_ENCAPSULATION_ENCAPSULATIONS_P4
#define WAYNAME_ENCAPSULATION_ENCAPSULATIONS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "ila.p4"
#include "metadata.p4"
#include "rpl_source_routes.p4"
#include "srv6_policies.p4"
#include "tunnels.p4"
#include "../telemetry/ioam_traces.p4"

control Encapsulations(inout headers_t hdr, inout metadata_t meta) {
    @id(ENCAPSULATIONS_COUNTER_ID) TABLE_COUNTER(encapsulations_counter);

    @id(ENCAPSULATE_SEGMENTS_ACTION_ID)
    @name("encapsulate_segments")
    @brief("Along a policy, with a trace or (0) without. Modes: 1 inline, 2 tunnel, 3 inline if of the router itself, 4 tunnel with the reduced header, 5 and 6 the same with the frame inside.")
    action encapsulate_segments(@id(1) bit<8> mode, @id(2) @refers_to(sr_policies, policy) policy_id_t policy,
                                @id(3) @refers_to(ioam_traces, trace) trace_id_t trace) {
        meta.encapsulation.mode = mode;
        meta.encapsulation.policy = policy;
        meta.encapsulation.trace = trace;
    }

    @id(ENCAPSULATE_TRACE_ACTION_ID)
    @name("encapsulate_trace")
    @brief("A trace alone. Modes 1 to 3 as of segments; source and destination are the tunnel's.")
    action encapsulate_trace(@id(1) bit<8> mode, @id(2) @refers_to(ioam_traces, trace) trace_id_t trace,
                             @id(3) ipv6_address_t source, @id(4) ipv6_address_t destination) {
        meta.encapsulation.mode = mode;
        meta.encapsulation.trace = trace;
        meta.encapsulation.source = source;
        meta.encapsulation.destination = destination;
    }

    @id(ENCAPSULATE_SOURCE_ROUTE_ACTION_ID)
    @name("encapsulate_source_route")
    @brief("Inline, along the hops of an RPL source route, with a trace or (0) without.")
    action encapsulate_source_route(@id(1) @refers_to(source_route_hops, source_route) source_route_id_t source_route,
                                    @id(2) @refers_to(ioam_traces, trace) trace_id_t trace) {
        meta.encapsulation.mode = ENCAPSULATE_INLINE;
        meta.encapsulation.source_route = source_route;
        meta.encapsulation.trace = trace;
    }

    @id(ILA_TRANSLATE_ACTION_ID)
    @name("ila_translate")
    @brief("The locator becomes another one, as in ILA; 1 keeps transport checksums right.")
    action ila_translate(@id(1) bit<64> locator, @id(2) bit<1> neutral) {
        meta.encapsulation.mode = ILA_TRANSLATE;
        meta.encapsulation.locator = locator;
        meta.encapsulation.neutral = neutral;
    }

    @id(NO_ENCAPSULATION_ACTION_ID)
    @name("no_encapsulation")
    action no_encapsulation() {
    }

    @id(ENCAPSULATIONS_TABLE_ID)
    @name("encapsulations")
    @brief("What packets carry, by the longest prefix of their destination.")
    table encapsulations {
        key = {
            hdr.ipv6.destination : lpm @id(1) @name("destination");
        }
        actions = {
            encapsulate_segments;
            encapsulate_trace;
            encapsulate_source_route;
            ila_translate;
            no_encapsulation;
        }
        const default_action = no_encapsulation;
        counters = encapsulations_counter;
        size = ENCAPSULATIONS;
    }

    IoamTraces() ioam_traces;
    SegmentPolicies() segment_policies;
    SourceRoutes() source_routes;
    IlaTranslation() locator_translation;

    apply {
        if (!meta.decided && TO_ROUTER(hdr, meta)) {
            // What a segment sends by a next hop or a table of its own is not bound by the main routes' prefixes.
            if (meta.encapsulation.mode == ENCAPSULATE_NONE && meta.next.nexthop == 0 && meta.next.vrf == 0) {
                encapsulations.apply();
            }
            if (meta.encapsulation.mode == ILA_TRANSLATE) {
                locator_translation.apply(hdr, meta.encapsulation);
            } else if (meta.encapsulation.mode != ENCAPSULATE_NONE) {
                if (meta.encapsulation.mode == ENCAPSULATE_AUTO) {
                    if (meta.from_controller && hdr.ipv6.source == meta.interface.address) {
                        meta.encapsulation.mode = ENCAPSULATE_INLINE;
                    } else {
                        meta.encapsulation.mode = ENCAPSULATE_TUNNEL;
                    }
                }
                // Hop-by-hop options stay first, and only their source adds to them: such a packet gets a tunnel.
                if (meta.encapsulation.mode == ENCAPSULATE_INLINE && hdr.ipv6.next_header == NEXT_HOP_BY_HOP
                    && meta.encapsulation.source_route == 0) {
                    meta.encapsulation.mode = ENCAPSULATE_TUNNEL;
                }
                if (meta.encapsulation.mode == ENCAPSULATE_TUNNEL_REDUCED) {
                    meta.encapsulation.reduced = true;
                } else if (meta.encapsulation.mode == ENCAPSULATE_FRAME_REDUCED) {
                    meta.encapsulation.reduced = true;
                    meta.encapsulation.mode = ENCAPSULATE_FRAME;
                }
                ioam_traces.apply(hdr, meta.encapsulation);
                segment_policies.apply(hdr, meta);
                source_routes.apply(hdr, meta);
                if (meta.encapsulation.mode == ENCAPSULATE_NONE || meta.decided) {
                    // Nothing for this packet.
                } else if (meta.encapsulation.mode == ENCAPSULATE_INLINE) {
                    if (meta.encapsulation.policy | meta.encapsulation.source_route != 0) {
                        meta.next.destination = meta.encapsulation.destination;
                    }
                } else {
                    meta.next.destination = meta.encapsulation.destination;
                    meta.encapsulation.size = meta.encapsulation.size + IPV6_BYTES;
                    if (meta.encapsulation.mode == ENCAPSULATE_FRAME) {
                        hdr.frame = hdr.ethernet;
                        meta.encapsulation.size = meta.encapsulation.size + ETHERNET_BYTES;
                        if (hdr.vlan.isValid()) {
                            hdr.frame_vlan = hdr.vlan;
                            meta.encapsulation.size = meta.encapsulation.size + VLAN_BYTES;
                        }
                    }
                }
            }
            if (meta.next.destination == 0) {
                meta.next.destination = hdr.ipv6.destination;
            }
        }
    }
}

#endif
