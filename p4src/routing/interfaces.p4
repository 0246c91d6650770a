// Router interfaces: at most one on each VLAN. What comes to its MAC is the router's.

#ifndef WAYNAME_ROUTING_INTERFACES_P4
#define WAYNAME_ROUTING_INTERFACES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"

control Interfaces(inout metadata_t meta) {
    @id(INTERFACES_COUNTER_ID) TABLE_COUNTER(interfaces_counter);

    @id(SET_INTERFACE_ACTION_ID)
    @name("set_interface")
    @brief("The router's MAC on this VLAN, and the address that its ICMPv6 errors come from.")
    action set_interface(@id(1) mac_address_t mac, @id(2) ipv6_address_t address) {
        meta.interface.mac = mac;
        meta.interface.address = address;
    }

    @id(SET_BORDER_INTERFACE_ACTION_ID)
    @name("set_border_interface")
    @brief("The same on a site's border. Side 1: its hosts are behind it, 2: its providers.")
    action set_border_interface(@id(1) mac_address_t mac, @id(2) ipv6_address_t address, @id(3) bit<8> side) {
        meta.interface.mac = mac;
        meta.interface.address = address;
        meta.border.side = side;
        meta.interface.maps = MAPS_SOURCES | MAPS_DESTINATIONS;
    }

    @id(SET_MAPPING_INTERFACE_ACTION_ID)
    @name("set_mapping_interface")
    @brief("The same on an edge that maps hosts. 1: some of them are behind it, 2: what comes by it may be for an identity, 3: both.")
    action set_mapping_interface(@id(1) mac_address_t mac, @id(2) ipv6_address_t address, @id(3) bit<8> maps) {
        meta.interface.mac = mac;
        meta.interface.address = address;
        meta.interface.maps = maps;
    }

    @id(NO_INTERFACE_ACTION_ID)
    @name("no_interface")
    action no_interface() {
    }

    @id(INTERFACES_TABLE_ID)
    @name("interfaces")
    @admits_packets
    @brief("Router interfaces, by the VLAN they are on.")
    table interfaces {
        key = {
            meta.vlan : exact @id(1) @name("vlan");
        }
        actions = {
            set_interface;
            set_border_interface;
            set_mapping_interface;
            @defaultonly no_interface;
        }
        const default_action = no_interface;
        counters = interfaces_counter;
        size = VLANS;
    }

    apply {
        if (!meta.decided) {
            interfaces.apply();
        }
    }
}

#endif
