// A packet leaves by the provider whose prefix it bears: others would take it for forged (RFC 3704). What a session's path
// says of its way out comes before it, and what a segment says before both.
//
// Such a table of routes needs the connected and local ones too.

#ifndef WAYNAME_PROVIDER_ROUTES_P4
#define WAYNAME_PROVIDER_ROUTES_P4

control ProviderRoutes(in headers_t hdr, inout metadata_t meta) {
    @id(PROVIDER_ROUTES_COUNTER_ID) TABLE_COUNTER(provider_routes_counter);

    ipv6_address_t source = 0;      // of the outermost header

    @id(ROUTE_BY_ACTION_ID)
    @name("route_by")
    action route_by(@id(1) route_table_t route_table) {
        meta.next.route_table = route_table;
    }

    @id(ROUTE_AS_ANY_ACTION_ID)
    @name("route_as_any")
    action route_as_any() {
    }

    @id(PROVIDER_ROUTES_TABLE_ID)
    @name("provider_routes")
    @brief("The table of routes for packets from a prefix.")
    table provider_routes {
        key = {
            source : lpm @id(1) @name("source");
        }
        actions = {
            route_by;
            @defaultonly route_as_any;
        }
        const default_action = route_as_any;
        counters = provider_routes_counter;
        size = PROVIDER_ROUTES;
    }

    apply {
        if (!meta.settled && TO_ROUTER(hdr, meta) && meta.next.nexthop == 0 && meta.next.route_table == 0) {
            if (meta.session.route_table != 0) {
                meta.next.route_table = meta.session.route_table;
            } else {
                source = hdr.ipv6.source;
                if (meta.encapsulation.mode == ENCAPSULATE_TUNNEL || meta.encapsulation.mode == ENCAPSULATE_FRAME
                    || meta.encapsulation.mode == ENCAPSULATE_TUNNEL_REDUCED) {
                    source = meta.encapsulation.source;
                }
                provider_routes.apply();
            }
        }
    }
}

#endif
