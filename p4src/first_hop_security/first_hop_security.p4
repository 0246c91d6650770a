// First-hop security: what a host on the edge's own links may say of itself and of others.
//
//   `vlan_members` says what is checked of whom: `admit_host` with GUARD_*, by port and VLAN. Ports towards routers and
//   providers are admitted by `admit_to_vlan`, and nothing here looks at their packets.
//
//   RA guard (RFC 6105, RFC 7113)   no router advertisements and redirects of hosts, nor discovery in fragments (RFC 6980)
//   DHCPv6 guard (RFC 7610)         no messages of servers and relays
//   source guard (FCFS SAVI, RFC 6620; RFC 7039)
//                                   `source_bindings`: an address belongs to the port and the station that used it first.
//                                   Known: only they use it. Unknown, in `host_prefixes`, below the port's rate and
//                                   limit: it goes on, and the controller gets a copy to bind it by.
//   ND inspection                   of an advertisement and of duplicate address detection, the target is looked up in
//                                   place of the source
//
// An address that is bound elsewhere is dropped, and the controller gets a copy: its holder may have gone, and then the
// address may move. Nothing that hides its headers behind a second tag or LLC/SNAP comes by a port of hosts, since some
// receivers take those off and read on.

#ifndef WAYNAME_FIRST_HOP_SECURITY_FIRST_HOP_SECURITY_P4
#define WAYNAME_FIRST_HOP_SECURITY_FIRST_HOP_SECURITY_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

control FirstHopSecurity(in headers_t hdr, inout metadata_t meta) {
    @id(SOURCE_BINDINGS_COUNTER_ID) TABLE_COUNTER(source_bindings_counter);
    @id(HOST_PREFIXES_COUNTER_ID) TABLE_COUNTER(host_prefixes_counter);

    @id(BINDING_METER_ID)
    @name("binding_meter")
    @brief("Packets with a source that is not bound to where they came from, by port.")
    METERS(port_t, PORTS, binding_meter);

    ipv6_address_t address = 0;     // that must be the sender's
    port_t bound_port = 0;
    mac_address_t bound_mac = 0;

    @id(BIND_SOURCE_ACTION_ID)
    @name("bind_source")
    @brief("The port and the station that an address belongs to; the controller's port: to no host.")
    action bind_source(@id(1) port_t port, @id(2) mac_address_t mac) {
        bound_port = port;
        bound_mac = mac;
    }

    @id(UNBOUND_SOURCE_ACTION_ID)
    @name("unbound_source")
    action unbound_source() {
    }

    @id(SOURCE_BINDINGS_TABLE_ID)
    @name("source_bindings")
    @brief("Addresses of hosts, and to whom they belong (FCFS SAVI, RFC 6620).")
    table source_bindings {
        key = {
            meta.vlan : exact @id(1) @name("vlan");
            address   : exact @id(2) @name("address");
        }
        actions = {
            bind_source;
            @defaultonly unbound_source;
        }
        const default_action = unbound_source;
        counters = source_bindings_counter;
        size = SOURCE_BINDINGS;
        AGES
    }

    @id(HOST_PREFIX_ACTION_ID)
    @name("host_prefix")
    action host_prefix() {
    }

    @id(FOREIGN_PREFIX_ACTION_ID)
    @name("foreign_prefix")
    action foreign_prefix() {
        DROP(DROP_SOURCE_PREFIX);
    }

    @id(HOST_PREFIXES_TABLE_ID)
    @name("host_prefixes")
    @brief("Prefixes in which the hosts of a VLAN may have addresses.")
    table host_prefixes {
        key = {
            meta.vlan : exact @id(1) @name("vlan");
            address   : lpm @id(2) @name("address");
        }
        actions = {
            host_prefix;
            @defaultonly foreign_prefix;
        }
        const default_action = foreign_prefix;
        counters = host_prefixes_counter;
        size = HOST_PREFIXES;
    }

    apply {
        // What the switch makes of a host's packet has other addresses than that, which was looked at.
        if (!meta.decided && meta.guards & GUARDS != 0 && !meta.path_option.alone) {
            bit<16> ethertype = hdr.ethernet.type;
            if (hdr.vlan.isValid()) {
                ethertype = hdr.vlan.type;
            }
            bool discovery = meta.icmpv6.type >= ICMPV6_ROUTER_SOLICITATION && meta.icmpv6.type <= ICMPV6_REDIRECT;
            bool datagram = hdr.datagram.isValid() && meta.flow.next_header == NEXT_UDP;

            if (ethertype < ETHERTYPE_LEAST || ethertype == ETHERTYPE_VLAN || ethertype == ETHERTYPE_SERVICE_VLAN
                || ethertype == ETHERTYPE_OLD_SERVICE_VLAN) {
                DROP(DROP_HIDDEN_HEADERS);
            } else if (meta.guards & GUARD_ROUTERS != 0
                && (meta.icmpv6.type == ICMPV6_ROUTER_ADVERTISEMENT || meta.icmpv6.type == ICMPV6_REDIRECT)) {
                DROP(DROP_RA_GUARD);
            } else if (meta.guards & (GUARD_ROUTERS | GUARD_NEIGHBOURS) != 0 && meta.fragmented && discovery) {
                DROP(DROP_DISCOVERY_FRAGMENT);
            } else if (meta.guards & GUARD_DHCPV6 != 0 && datagram
                       // The ports, which the first fragment has as well: clients listen at the one, servers and relays
                       // speak from the other.
                       && (hdr.datagram.start[31:16] == PORT_DHCPV6_CLIENT
                           || hdr.datagram.start[47:32] == PORT_DHCPV6_SERVER)) {
                DROP(DROP_DHCPV6_GUARD);
            } else if (hdr.ipv6.isValid()) {
                bool detection = false;
                if (meta.guards & GUARD_SOURCES != 0) {
                    address = hdr.ipv6.source;
                }
                if (meta.guards & GUARD_NEIGHBOURS != 0) {
                    if (meta.icmpv6.type == ICMPV6_NEIGHBOUR_ADVERTISEMENT) {
                        address = meta.icmpv6.target;
                    } else if (meta.icmpv6.type == ICMPV6_NEIGHBOUR_SOLICITATION && hdr.ipv6.source == 0) {
                        address = meta.icmpv6.target;
                        detection = true;
                    }
                }

                if (address != 0) {
                    colour_t colour;
                    if (source_bindings.apply().hit) {
                        if (bound_port != meta.ingress_port || bound_mac != hdr.ethernet.source) {
                            METER(binding_meter, meta.ingress_port, colour);
                            if (colour != COLOUR_RED) {
                                COPY_TO_CONTROLLER(PUNT_SOURCE_ELSEWHERE);
                            }
                            // Who only asks hears of the holder.
                            if (!detection) {
                                DROP(DROP_SOURCE_BINDING);
                            }
                        }
                    } else if (host_prefixes.apply().hit) {
                        METER(binding_meter, meta.ingress_port, colour);
                        if (meta.guards & GUARD_SOURCES_FULL != 0 || colour == COLOUR_RED) {
                            DROP(DROP_SOURCE_LIMIT);
                        } else {
                            COPY_TO_CONTROLLER(PUNT_SOURCE_UNKNOWN);
                        }
                    }
                }
            }
        }
    }
}

// What a host put into a tunnel that ends here has a source that nobody looked at (RFC 8754, section 5.1).
control HostTunnels(inout metadata_t meta) {
    apply {
        if (!meta.decided && meta.out_of_tunnel && meta.guards & GUARD_SOURCES != 0) {
            DROP(DROP_HOST_TUNNEL);
        }
    }
}

#endif
