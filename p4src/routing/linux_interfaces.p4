// Linux beside the switch: a router interface is an interface of Linux too, whose device is a TAP at a port of the VLAN.
//
//   from Linux               learned, then bridged: Linux has routed it, and nothing here routes it again
//   to the router's MAC      IPv4 and ARP if Linux is the IPv4 router, what is no IP, and what goes to a link-local address:
//                            to Linux at once. To another address of the router: to Linux when its route says so
//   to a group               the bridge floods it, to Linux too
//
// The controller keeps what is its own: probes and traces that come back, what sessions signal, and copies of what
// neighbours and routers advertise. Meters bound by class and port what strangers send to Linux. IPv4 to one address has
// none: behind NAT44 the hosts' packets come to the router's own address, and only Linux can tell whose they are.

#ifndef WAYNAME_ROUTING_LINUX_INTERFACES_P4
#define WAYNAME_ROUTING_LINUX_INTERFACES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

// What a frame holds, behind its tag.
#define ETHERTYPE(hdr) (hdr.vlan.isValid() ? hdr.vlan.type : hdr.ethernet.type)

// Is there an interface of Linux on the packet's VLAN, and does the packet come from it?
control LinuxInterfaces(inout metadata_t meta) {
    @id(LINUX_INTERFACES_COUNTER_ID) TABLE_COUNTER(linux_interfaces_counter);

    @id(SET_LINUX_INTERFACE_ACTION_ID)
    @name("set_linux_interface")
    @brief("The port of the TAP device, and whether Linux is the IPv4 router.")
    action set_linux_interface(@id(1) port_t port, @id(2) bit<1> ipv4) {
        meta.linux.here = true;
        meta.linux.port = port;
        meta.linux.ipv4 = ipv4 == 1;
    }

    @id(NO_LINUX_INTERFACE_ACTION_ID)
    @name("no_linux_interface")
    action no_linux_interface() {
    }

    @id(LINUX_INTERFACES_TABLE_ID)
    @name("linux_interfaces")
    @brief("Router interfaces that are interfaces of Linux too, by the VLAN they are on.")
    table linux_interfaces {
        key = {
            meta.vlan : exact @id(1) @name("vlan");
        }
        actions = {
            set_linux_interface;
            @defaultonly no_linux_interface;
        }
        const default_action = no_linux_interface;
        counters = linux_interfaces_counter;
        size = VLANS;
    }

    apply {
        linux_interfaces.apply();
        meta.linux.sent = !meta.decided && meta.linux.here && meta.ingress_port == meta.linux.port;
    }
}

// What Linux sends goes to the bridge.
control LinuxSent(inout metadata_t meta) {
    apply {
        if (meta.linux.sent) {
            meta.decided = true;
        }
    }
}

// To the router's MAC, and nothing that the router looks at.
control LinuxNotRouted(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (!meta.decided && meta.linux.here && hdr.ethernet.destination == meta.interface.mac) {
            bit<16> type = ETHERTYPE(hdr);
            if (type == ETHERTYPE_IPV6) {
                if (hdr.ipv6.destination[127:118] == LINK_LOCAL_PREFIX && !meta.own_probe) {
                    GIVE_TO_LINUX;
                }
            } else if (meta.linux.ipv4 || (type != ETHERTYPE_IPV4 && type != ETHERTYPE_ARP)) {
                GIVE_TO_LINUX;
            }
        } else if (!meta.decided && meta.linux.here && hdr.ethernet.destination[47:4] == RESERVED_GROUPS) {
            GIVE_TO_LINUX;
        }
    }
}

// To an address of the router, and nothing that the controller asked for.
control LinuxLocal(inout metadata_t meta) {
    apply {
        // A trace that comes back has nothing behind its headers (RFC 9322, section 4.4).
        if (meta.punt == PUNT_LOCAL && meta.linux.here && !meta.own_probe && meta.chain.next_header != NEXT_NONE) {
            meta.punt = PUNT_NONE;
            GIVE_TO_LINUX;
        }
    }
}

// How much of it Linux gets, at the end of ingress.
control LinuxLimits(in headers_t hdr, inout metadata_t meta) {
    @id(LINUX_METER_ID)
    @name("linux_meter")
    @brief("Packets to Linux, by class and port: 512 times the class, and the port that they came by.")
    METERS(bit<32>, LINUX_CELLS, linux_meter);

    apply {
        bool alone = !meta.egress.flood && meta.egress.port == meta.linux.port
            && (meta.punt == PUNT_NONE || meta.punt_copy);
        if (meta.linux.here && !meta.linux.sent && meta.drop == DROP_NONE && (meta.egress.flood || alone)) {
            bit<16> type = ETHERTYPE(hdr);
            bool group = hdr.ethernet.destination[40:40] == 1;
            bool ipv4 = type == ETHERTYPE_IPV4 || type == ETHERTYPE_ARP;
            drop_reason_t held_back = DROP_NONE;
            // Linux knows what the controller says, and has no use for other stations' packets.
            bool ours = hdr.packet_out.isValid() && hdr.packet_out.kind == PACKET_OUT_FLOOD;
            if (meta.egress.flood && (ours || !group || (ipv4 && !meta.linux.ipv4))) {
                held_back = DROP_LINUX_COPY;
            } else if (type != ETHERTYPE_IPV4 || group) {
                linux_class_t class = LINUX_UNICAST;
                if (hdr.ipv6.isValid() && !meta.fragmented && IS_DISCOVERY(meta.icmpv6.type)) {
                    class = LINUX_DISCOVERY;
                } else if (type == ETHERTYPE_ARP) {
                    class = LINUX_ARP;
                } else if (type != ETHERTYPE_IPV6 && type != ETHERTYPE_IPV4) {
                    class = LINUX_OTHER;
                } else if (group && (hdr.ethernet.destination[47:8] == LINK_GROUPS_IPV4
                           || (hdr.ipv6.isValid() && hdr.ipv6.destination[127:112] == LINK_GROUPS))) {
                    class = LINUX_LINK_GROUP;
                } else if (group) {
                    class = LINUX_GROUP;
                } else if (meta.flow.next_header == NEXT_TCP
                           && (meta.flow.source_port == PORT_BGP || meta.flow.destination_port == PORT_BGP)) {
                    class = LINUX_BGP;
                }
                colour_t colour;
                METER(linux_meter, 20w0 ++ class ++ meta.ingress_port, colour);
                if (colour == COLOUR_RED) {
                    held_back = DROP_LINUX_RATE;
                }
            }
            if (meta.egress.flood) {
                meta.linux.held_back = held_back;
            } else if (held_back != DROP_NONE) {
                DROP(held_back);
            }
        }
    }
}

// Egress: Linux's copy of a flood.
control LinuxCopies(inout metadata_t meta) {
    apply {
        if (meta.egress.group != 0 && meta.linux.here && meta.egress.port == meta.linux.port
            && meta.linux.held_back != DROP_NONE && meta.drop == DROP_NONE) {
            DROP(meta.linux.held_back);
        }
    }
}

#endif
