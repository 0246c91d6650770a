// The router: from the destination's longest prefix to a port and a MAC.
//
//   routes -+- local ---------------------------------------------> the controller
//           +- connected: the destination is the neighbour ------.
//           +- nexthop ----------------.                          |
//           +- ECMP -> ecmp_groups ----+-> nexthops --------------+-> neighbours -> port, MAC -> port_mtus
//           +- prohibited, discard, none: the packet ends here             `- unknown: the controller
//
// An ECMP group keeps a flow on one of its next hops. Ingress finds all of this; rewriting.p4 carries it out in egress.

#ifndef WAYNAME_ROUTING_ROUTES_P4
#define WAYNAME_ROUTING_ROUTES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../encapsulation/tunnels.p4"

control Routing(in headers_t hdr, inout metadata_t meta) {
    @id(ROUTES_COUNTER_ID) TABLE_COUNTER(routes_counter);
    @id(ECMP_GROUPS_COUNTER_ID) TABLE_COUNTER(ecmp_groups_counter);
    @id(NEXTHOPS_COUNTER_ID) TABLE_COUNTER(nexthops_counter);
    @id(NEIGHBOURS_COUNTER_ID) TABLE_COUNTER(neighbours_counter);
    @id(PORT_MTUS_COUNTER_ID) TABLE_COUNTER(port_mtus_counter);
    @id(VRF_ROUTES_COUNTER_ID) TABLE_COUNTER(vrf_routes_counter);
    @id(IPV4_VRF_ROUTES_COUNTER_ID) TABLE_COUNTER(ipv4_vrf_routes_counter);

    bit<16> mtu = 0;
    bit<32> length = 0;     // of the packet as it will leave
    bool here = false;      // this router's to send on

    @id(ROUTE_LOCAL_ACTION_ID)
    @name("route_local")
    @brief("An address of the router.")
    action route_local() {
        TRAP(PUNT_LOCAL);
    }

    @id(ROUTE_PROBE_SOURCE_ACTION_ID)
    @name("route_probe_source")
    @brief("An address of the router that nothing but its probes of a provider bear: what comes to it answers one.")
    action route_probe_source() {
        TRAP(PUNT_LOCAL);
        meta.own_probe = true;
    }

    @id(ROUTE_CONNECTED_ACTION_ID)
    @name("route_connected")
    @brief("A prefix on a link of the router: its addresses are neighbours.")
    action route_connected(@id(1) @refers_to(source_macs, vlan) vlan_id_t vlan) {
        meta.next.vlan = vlan;
        meta.next.address = meta.next.destination;
    }

    @id(ROUTE_NEXTHOP_ACTION_ID)
    @name("route_nexthop")
    action route_nexthop(@id(1) @refers_to(nexthops, nexthop) nexthop_id_t nexthop) {
        meta.next.nexthop = nexthop;
    }

    @id(ROUTE_ECMP_ACTION_ID)
    @name("route_ecmp")
    @brief("ECMP: several next hops, one for each flow.")
    action route_ecmp(@id(1) @refers_to(ecmp_groups, ecmp_group) ecmp_group_id_t ecmp_group) {
        meta.next.ecmp_group = ecmp_group;
    }

    @id(ROUTE_PROHIBITED_ACTION_ID)
    @name("route_prohibited")
    @brief("Not to be reached from here; the sender is told.")
    action route_prohibited() {
        DROP_WITH_ERROR(DROP_PROHIBITED, ICMPV6_UNREACHABLE, UNREACHABLE_PROHIBITED);
    }

    @id(ROUTE_DISCARD_ACTION_ID)
    @name("route_discard")
    @brief("Not to be reached from here; the sender is not told.")
    action route_discard() {
        DROP(DROP_DISCARD);
    }

    @id(NO_ROUTE_ACTION_ID)
    @name("no_route")
    action no_route() {
        DROP_WITH_ERROR(DROP_NO_ROUTE, ICMPV6_UNREACHABLE, UNREACHABLE_NO_ROUTE);
    }

    @id(NO_IPV4_ROUTE_ACTION_ID)
    @name("no_ipv4_route")
    action no_ipv4_route() {
        DROP(DROP_NO_ROUTE);
    }

    @id(ROUTES_TABLE_ID)
    @name("routes")
    @brief("Routes by longest prefix.")
    table routes {
        key = {
            meta.next.destination : lpm @id(1) @name("destination");
        }
        actions = {
            route_local;
            route_probe_source;
            route_connected;
            route_nexthop;
            route_ecmp;
            route_prohibited;
            route_discard;
            @defaultonly no_route;
        }
        const default_action = no_route;
        counters = routes_counter;
        size = ROUTES;
    }

    @id(VRF_ROUTES_TABLE_ID)
    @name("vrf_routes")
    @brief("Routes of VRFs; VRF 0 is `routes`.")
    table vrf_routes {
        key = {
            meta.next.vrf         : exact @id(1) @name("vrf");
            meta.next.destination : lpm @id(2) @name("destination");
        }
        actions = {
            route_local;
            route_connected;
            route_nexthop;
            route_ecmp;
            route_prohibited;
            route_discard;
            @defaultonly no_route;
        }
        const default_action = no_route;
        counters = vrf_routes_counter;
        size = VRF_ROUTES;
    }

    @id(IPV4_CONNECTED_ACTION_ID)
    @name("ipv4_connected")
    @brief("An IPv4 prefix on a link of the router: its addresses are neighbours, as ::ffff:0:0/96.")
    action ipv4_connected(@id(1) @refers_to(source_macs, vlan) vlan_id_t vlan) {
        meta.next.vlan = vlan;
        meta.next.address = 96w0xFFFF ++ hdr.inner_ipv4.destination;
    }

    @id(IPV4_VRF_ROUTES_TABLE_ID)
    @name("ipv4_vrf_routes")
    @brief("Routes of VRFs for IPv4 packets that come out of tunnels.")
    table ipv4_vrf_routes {
        key = {
            meta.next.vrf              : exact @id(1) @name("vrf");
            hdr.inner_ipv4.destination : lpm @id(2) @name("destination");
        }
        actions = {
            ipv4_connected;
            route_nexthop;
            route_discard;
            @defaultonly no_ipv4_route;
        }
        const default_action = no_ipv4_route;
        counters = ipv4_vrf_routes_counter;
        size = IPV4_VRF_ROUTES;
    }

    @id(ECMP_MEMBERS_PROFILE_ID)
    @name("ecmp_members")
    @max_group_size(ECMP_GROUP_MEMBERS_MOST)
    SELECTOR(ECMP_MEMBERS, ecmp_members);

    @id(SET_ECMP_NEXTHOP_ACTION_ID)
    @name("set_ecmp_nexthop")
    action set_ecmp_nexthop(@id(1) @refers_to(nexthops, nexthop) nexthop_id_t nexthop) {
        meta.next.nexthop = nexthop;
    }

    @id(ECMP_GROUPS_TABLE_ID)
    @name("ecmp_groups")
    @brief("ECMP and WCMP groups: next hops that share a route's flows, by weight.")
    @description("A flow is what has the same addresses, upper layer, ports and flow label. All fragments of a packet count as one flow, whatever their ports.")
    table ecmp_groups {
        key = {
            meta.next.ecmp_group       : exact @id(1) @name("ecmp_group");
            hdr.ipv6.source            : selector;
            hdr.ipv6.destination       : selector;
            hdr.ipv6.flow_label        : selector;
            meta.flow.next_header      : selector;
            meta.flow.source_port      : selector;
            meta.flow.destination_port : selector;
        }
        actions = {
            set_ecmp_nexthop;
            @defaultonly NoAction;  // a group that is not there leaves no next hop
        }
        implementation = ecmp_members;
        counters = ecmp_groups_counter;
        size = ECMP_GROUPS;
    }

    @id(SET_NEXTHOP_ACTION_ID)
    @name("set_nexthop")
    @brief("The VLAN towards the next router, and its address there.")
    action set_nexthop(@id(1) vlan_id_t vlan, @id(2) ipv6_address_t address) {
        meta.next.vlan = vlan;
        meta.next.address = address;
    }

    @id(NO_NEXTHOP_ACTION_ID)
    @name("no_nexthop")
    action no_nexthop() {
        DROP(DROP_NO_NEXTHOP);
    }

    @id(NEXTHOPS_TABLE_ID)
    @name("nexthops")
    @brief("Next routers; number 0 is never one.")
    table nexthops {
        key = {
            meta.next.nexthop : exact @id(1) @name("nexthop");
        }
        actions = {
            set_nexthop;
            @defaultonly no_nexthop;
        }
        const default_action = no_nexthop;
        counters = nexthops_counter;
        size = NEXTHOPS;
    }

    @id(SET_NEIGHBOUR_ACTION_ID)
    @name("set_neighbour")
    action set_neighbour(@id(1) port_t port, @id(2) mac_address_t mac) {
        meta.neighbour.known = true;
        meta.neighbour.port = port;
        meta.neighbour.mac = mac;
    }

    @id(NEIGHBOUR_UNKNOWN_ACTION_ID)
    @name("neighbour_unknown")
    @brief("The controller resolves the address, and may submit the packet again.")
    action neighbour_unknown() {
    }

    @id(NEIGHBOURS_TABLE_ID)
    @name("neighbours")
    @brief("The port and the MAC of an address on a link of the router.")
    table neighbours {
        key = {
            meta.next.vlan    : exact @id(1) @name("vlan");
            meta.next.address : exact @id(2) @name("address");
        }
        actions = {
            set_neighbour;
            @defaultonly neighbour_unknown;
        }
        const default_action = neighbour_unknown;
        counters = neighbours_counter;
        size = NEIGHBOURS;
    }

    @id(SET_PORT_MTU_ACTION_ID)
    @name("set_port_mtu")
    @brief("The longest IPv6 packet that a port takes, in bytes.")
    action set_port_mtu(@id(1) bit<16> bytes) {
        mtu = bytes;
    }

    @id(PORT_MTUS_TABLE_ID)
    @name("port_mtus")
    @brief("MTUs of ports; the default action holds that of all others.")
    table port_mtus {
        key = {
            meta.egress.port : exact @id(1) @name("port");
        }
        actions = {
            set_port_mtu;
        }
        default_action = set_port_mtu(1500);
        counters = port_mtus_counter;
        size = PORTS;
    }

    apply {
        if (!meta.decided && TO_ROUTER(hdr, meta)) {
            if (meta.fragmented) {
                meta.flow.next_header = NEXT_FRAGMENT;
            }

            if (hdr.ipv6.source[127:120] == 0xFF || hdr.ipv6.source[127:1] == 0) {
                DROP(DROP_SOURCE_ADDRESS);
            } else if (hdr.ipv6.destination[127:120] == 0xFF || hdr.ipv6.destination[127:1] == 0) {
                DROP(DROP_DESTINATION_ADDRESS);
            } else {
                // A segment may have named the next hop, or a table.
                if (meta.next.nexthop == 0) {
                    if (meta.next.vrf == 0) {
                        routes.apply();
                    } else {
                        vrf_routes.apply();
                    }
                }
                if (meta.decided) {
                    // The router's own, or nowhere to go.
                } else if (hdr.ipv6.destination[127:118] == LINK_LOCAL_PREFIX) {
                    DROP(DROP_LINK_LOCAL);
                } else if (hdr.ipv6.source[127:118] == LINK_LOCAL_PREFIX) {
                    DROP_WITH_ERROR(DROP_LINK_LOCAL, ICMPV6_UNREACHABLE, UNREACHABLE_BEYOND_SCOPE);
                } else if (hdr.ipv6.hop_limit <= 1) {
                    DROP_WITH_ERROR(DROP_HOP_LIMIT, ICMPV6_TIME_EXCEEDED, 0);
                }
            }
            length = (bit<32>)hdr.ipv6.payload_length + (bit<32>)IPV6_BYTES + (bit<32>)meta.encapsulation.size;
            here = true;
        } else if (!meta.decided && meta.out_of_tunnel) {
            // IPv4: nobody here answers it.
            if (hdr.inner_ipv4.ttl <= 1) {
                DROP(DROP_HOP_LIMIT);
            } else if (meta.next.nexthop == 0) {
                ipv4_vrf_routes.apply();
            }
            length = (bit<32>)hdr.inner_ipv4.total_length;
            here = true;
        }

        if (here) {
            if (!meta.decided && meta.next.ecmp_group != 0) {
                ecmp_groups.apply();
            }
            if (!meta.decided && meta.next.vlan == 0) {
                nexthops.apply();
            }
        }

        bool discovery = meta.punt >= PUNT_ROUTER_SOLICITATION && meta.punt <= PUNT_NEIGHBOUR_ADVERTISEMENT;
        if (discovery) {
            // Who says it: does the table know it, and where?
            meta.next.vlan = meta.vlan;
            meta.next.address = hdr.ipv6.source;
            if (meta.punt == PUNT_NEIGHBOUR_ADVERTISEMENT) {
                meta.next.address = meta.icmpv6.target;
            }
        }
        if (discovery || (here && !meta.decided)) {
            neighbours.apply();
        }

        if (here && !meta.decided) {
            if (!meta.neighbour.known) {
                TRAP(PUNT_NEIGHBOUR_UNKNOWN);
            } else {
                meta.egress.port = meta.neighbour.port;
                meta.egress.destination = meta.neighbour.mac;
                meta.egress.routed = true;
                port_mtus.apply();
                if (length + (bit<32>)meta.session.reserved > (bit<32>)mtu) {
                    if (!hdr.ipv6.isValid()) {
                        DROP(DROP_PACKET_TOO_BIG);
                    } else {
                        // The sender is told what is left for it, but no less than every link must take (RFC 8200).
                        DROP_WITH_ERROR(DROP_PACKET_TOO_BIG, ICMPV6_PACKET_TOO_BIG, 0);
                        bit<16> added = meta.encapsulation.size + meta.session.added + meta.session.reserved;
                        meta.icmp_error.parameter = (mtu |+| meta.session.taken) |-| added;
                        if (added != 0 && meta.icmp_error.parameter < IPV6_LEAST_MTU) {
                            meta.icmp_error.parameter = IPV6_LEAST_MTU;
                        }
                    }
                } else {
                    meta.egress.vlan = meta.next.vlan;
                    meta.decided = true;
                }
            }
        }
    }
}

#endif
