// VLANs: which one a packet is in, and how its ports want it tagged (IEEE 802.1Q).
//
// A tag names the packet's VLAN. A packet without one, or whose tag only carries a priority, is in its port's VLAN. Each
// port is a member of some VLANs, with a tag or without; a packet enters and leaves by members only. A second tag is
// payload.

#ifndef WAYNAME_BRIDGING_VLANS_P4
#define WAYNAME_BRIDGING_VLANS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

// Ingress.
control VlanOfPacket(in headers_t hdr, inout metadata_t meta) {
    @id(PORTS_COUNTER_ID) TABLE_COUNTER(ports_counter);
    @id(VLAN_MEMBERS_COUNTER_ID) TABLE_COUNTER(vlan_members_counter);

    @id(SET_PORT_VLAN_ACTION_ID)
    @name("set_port_vlan")
    @brief("Takes a packet without VLAN to be in this one; 0 is no VLAN, for a port that wants tags.")
    action set_port_vlan(@id(1) @refers_to(vlan_members, vlan) vlan_id_t vlan) {
        meta.vlan = vlan;
    }

    @id(REFUSE_PORT_ACTION_ID)
    @name("refuse_port")
    action refuse_port() {
        DROP(DROP_PORT_UNKNOWN);
    }

    @id(PORTS_TABLE_ID)
    @name("ports")
    @admits_packets
    @brief("Ports in use, and the VLAN of what comes in untagged.")
    table ports {
        key = {
            meta.ingress_port : exact @id(1) @name("port");
        }
        actions = {
            set_port_vlan;
            @defaultonly refuse_port;
        }
        const default_action = refuse_port;
        counters = ports_counter;
        size = PORTS;
    }

    @id(ADMIT_TO_VLAN_ACTION_ID)
    @name("admit_to_vlan")
    action admit_to_vlan() {
    }

    @id(ADMIT_HOST_ACTION_ID)
    @name("admit_host")
    @brief("The same for a port of hosts. Guards: 1 sources, 2 neighbours, 4 routers, 8 DHCPv6 servers; 16 it may have no more sources, 32 no more MACs.")
    action admit_host(@id(1) bit<8> guards) {
        meta.guards = guards;
    }

    @id(REFUSE_VLAN_ACTION_ID)
    @name("refuse_vlan")
    action refuse_vlan() {
        DROP(DROP_VLAN_INGRESS);
    }

    @id(VLAN_MEMBERS_TABLE_ID)
    @name("vlan_members")
    @admits_packets
    @brief("The VLANs whose packets may come in by a port.")
    table vlan_members {
        key = {
            meta.ingress_port : exact @id(1) @name("port");
            meta.vlan         : exact @id(2) @name("vlan") @refers_to(interfaces, vlan);
        }
        actions = {
            admit_to_vlan;
            admit_host;
            @defaultonly refuse_vlan;
        }
        const default_action = refuse_vlan;
        counters = vlan_members_counter;
        size = VLAN_MEMBERS;
    }

    apply {
        if (!meta.decided && ports.apply().hit) {
            if (hdr.vlan.isValid() && hdr.vlan.id != 0) {
                meta.vlan = hdr.vlan.id;
            }
            meta.egress.vlan = meta.vlan;   // unless it is routed
            vlan_members.apply();
            if (hdr.packet_out.isValid()) {
                meta.guards = 0;            // the controller's own, or looked at when it came
            }
        }
    }
}

// Egress.
control VlanTags(inout headers_t hdr, inout metadata_t meta) {
    @id(VLAN_TAGS_COUNTER_ID) TABLE_COUNTER(vlan_tags_counter);

    @id(SEND_TAGGED_ACTION_ID)
    @name("send_tagged")
    @brief("Puts a tag on, or sets the VLAN in the one that is there; its priority stays.")
    action send_tagged() {
        if (!hdr.vlan.isValid()) {
            hdr.vlan.setValid();
            hdr.vlan.priority = 0;
            hdr.vlan.drop_eligible = 0;
            hdr.vlan.type = hdr.ethernet.type;
            hdr.ethernet.type = ETHERTYPE_VLAN;
        }
        hdr.vlan.id = meta.egress.vlan;
    }

    @id(SEND_UNTAGGED_ACTION_ID)
    @name("send_untagged")
    @brief("Takes the tag off.")
    action send_untagged() {
        if (hdr.vlan.isValid()) {
            hdr.ethernet.type = hdr.vlan.type;
            hdr.vlan.setInvalid();
        }
    }

    @id(NOT_IN_VLAN_ACTION_ID)
    @name("not_in_vlan")
    action not_in_vlan() {
        DROP(DROP_VLAN_EGRESS);
    }

    @id(VLAN_TAGS_TABLE_ID)
    @name("vlan_tags")
    @brief("The VLANs whose packets may leave by a port, and whether with a tag.")
    table vlan_tags {
        key = {
            meta.egress.port : exact @id(1) @name("port");
            meta.egress.vlan : exact @id(2) @name("vlan");
        }
        actions = {
            send_tagged;
            send_untagged;
            @defaultonly not_in_vlan;
        }
        const default_action = not_in_vlan;
        counters = vlan_tags_counter;
        size = VLAN_MEMBERS;
    }

    apply {
        vlan_tags.apply();
    }
}

#endif
