// Neighbour and router discovery (RFC 4861), DHCPv6 (RFC 8415) and VRRP (RFC 9568): who gets a message, the router, the bridge or both.
//
//   message                      to a group              to the router's MAC     to another MAC
//   neighbour solicitation       router if for an address of its own, else bridge (any destination)
//   neighbour advertisement      both                    router                  bridge
//   router solicitation          both                    router                  bridge
//   router advertisement         both                    router                  bridge
//   redirect                     bridge                  dropped as not routed   bridge
//   DHCPv6, to all servers       both                    router                  bridge
//   VRRP                         both
//
// "Router" is the controller. Where a VLAN has no router interface, all go to the bridge. Where the router's interface is one of
// Linux too, Linux gets what goes to the router's MAC, the controller a copy; and Linux answers solicitations for the router's
// addresses: `own_addresses` holds none but what the controller has beside Linux (segments, identities of hosts).

#ifndef WAYNAME_ROUTING_NEIGHBOUR_DISCOVERY_P4
#define WAYNAME_ROUTING_NEIGHBOUR_DISCOVERY_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

control Discovery(in headers_t hdr, inout metadata_t meta) {
    @id(OWN_ADDRESSES_COUNTER_ID) TABLE_COUNTER(own_addresses_counter);

    @id(OWN_ADDRESS_ACTION_ID)
    @name("own_address")
    action own_address() {
        TRAP(PUNT_NEIGHBOUR_SOLICITATION);
    }

    @id(FOREIGN_ADDRESS_ACTION_ID)
    @name("foreign_address")
    action foreign_address() {
    }

    @id(OWN_ADDRESSES_TABLE_ID)
    @name("own_addresses")
    @brief("The router's addresses, by the VLAN on which it answers for them.")
    table own_addresses {
        key = {
            meta.vlan          : exact @id(1) @name("vlan");
            meta.icmpv6.target : exact @id(2) @name("target");
        }
        actions = {
            own_address;
            @defaultonly foreign_address;
        }
        const default_action = foreign_address;
        counters = own_addresses_counter;
        size = OWN_ADDRESSES;
    }

    apply {
        punt_reason_t for_router = PUNT_NONE;
        // Discovery in fragments is ignored (RFC 6980): it is a packet like any other then.
        if (!meta.decided && !meta.fragmented
            && meta.icmpv6.type >= ICMPV6_ROUTER_SOLICITATION && meta.icmpv6.type <= ICMPV6_REDIRECT) {
            if (hdr.ipv6.hop_limit != HOP_LIMIT_DISCOVERY || meta.icmpv6.code != 0) {
                DROP(DROP_DISCOVERY_INVALID);
            } else if (meta.interface.address != 0) {
                if (meta.icmpv6.type == ICMPV6_NEIGHBOUR_SOLICITATION) {
                    own_addresses.apply();
                } else if (meta.icmpv6.type == ICMPV6_NEIGHBOUR_ADVERTISEMENT) {
                    for_router = PUNT_NEIGHBOUR_ADVERTISEMENT;
                } else if (meta.icmpv6.type == ICMPV6_ROUTER_SOLICITATION) {
                    for_router = PUNT_ROUTER_SOLICITATION;
                } else if (meta.icmpv6.type == ICMPV6_ROUTER_ADVERTISEMENT) {
                    for_router = PUNT_ROUTER_ADVERTISEMENT;
                }
            }
        } else if (!meta.decided && meta.interface.address != 0
                   && meta.flow.next_header == NEXT_UDP && meta.flow.destination_port == PORT_DHCPV6_SERVER
                   && hdr.ipv6.destination == DHCPV6_SERVERS) {
            // Ports are known of whole packets only, so never of a fragment.
            for_router = PUNT_DHCPV6;
        } else if (!meta.decided && meta.interface.address != 0 && IS_VRRP(hdr) && hdr.ipv6.hop_limit == HOP_LIMIT_VRRP) {
            for_router = PUNT_VRRP;
        }

        // To the router alone, or to it and all who listen.
        if (for_router == PUNT_NONE) {
            // Not the router's.
        } else if (hdr.ethernet.destination == meta.interface.mac && !meta.linux.here) {
            TRAP(for_router);
        } else if (hdr.ethernet.destination == meta.interface.mac) {
            GIVE_TO_LINUX;
            COPY_TO_CONTROLLER(for_router);
        } else if (hdr.ethernet.destination[40:40] == 1) {
            COPY_TO_CONTROLLER(for_router);
        }
    }
}

#endif
