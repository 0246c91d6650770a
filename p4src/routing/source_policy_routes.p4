// Policy routing by source: a packet leaves by the provider whose prefix it bears; others would take it for forged (RFC 3704). What a session's path
// says of its way out comes before it, and what a segment says before both.
//
// Such a table of routes needs the connected and local ones too.

#ifndef WAYNAME_ROUTING_SOURCE_POLICY_ROUTES_P4
#define WAYNAME_ROUTING_SOURCE_POLICY_ROUTES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../encapsulation/metadata.p4"
#include "../encapsulation/tunnels.p4"

control SourcePolicyRoutes(in headers_t hdr, inout metadata_t meta) {
    @id(SOURCE_POLICY_ROUTES_COUNTER_ID) TABLE_COUNTER(source_policy_routes_counter);

    ipv6_address_t source = 0;      // of the outermost header

    @id(USE_VRF_ACTION_ID)
    @name("use_vrf")
    action use_vrf(@id(1) @refers_to(vrf_routes, vrf) vrf_id_t vrf) {
        meta.next.vrf = vrf;
    }

    @id(NO_SOURCE_POLICY_ACTION_ID)
    @name("no_source_policy")
    action no_source_policy() {
    }

    @id(SOURCE_POLICY_ROUTES_TABLE_ID)
    @name("source_policy_routes")
    @brief("Policy routing: the VRF of packets from a prefix.")
    table source_policy_routes {
        key = {
            source : lpm @id(1) @name("source");
        }
        actions = {
            use_vrf;
            @defaultonly no_source_policy;
        }
        const default_action = no_source_policy;
        counters = source_policy_routes_counter;
        size = SOURCE_POLICY_ROUTES;
    }

    apply {
        if (!meta.decided && TO_ROUTER(hdr, meta) && meta.next.nexthop == 0 && meta.next.vrf == 0) {
            if (meta.session.vrf != 0) {
                meta.next.vrf = meta.session.vrf;
            } else {
                source = hdr.ipv6.source;
                if (meta.encapsulation.mode == ENCAPSULATE_TUNNEL || meta.encapsulation.mode == ENCAPSULATE_FRAME
                    || meta.encapsulation.mode == ENCAPSULATE_TUNNEL_REDUCED) {
                    source = meta.encapsulation.source;
                }
                source_policy_routes.apply();
            }
        }
    }
}

#endif
