// MAC learning and the FDB: every VLAN is a bridge, for packets of any kind. What it does not route the switch bridges.
//
//   Learning: is the source where it was?      no -> a digest, through a meter
//   Bridging: where is the destination?        known -> its port, else -> the VLAN's flood group
//
// The controller makes entries of digests; a source that falls silent times out, and takes its station with it.

#ifndef WAYNAME_BRIDGING_FDB_P4
#define WAYNAME_BRIDGING_FDB_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

// Ingress.
control Learning(in headers_t hdr, inout metadata_t meta) {
    @id(LEARNED_MACS_COUNTER_ID) TABLE_COUNTER(learned_macs_counter);

    @id(LEARN_METER_ID)
    @name("learn_meter")
    @brief("Learn digests, by port.")
    METERS(port_t, PORTS, learn_meter);

    @id(KNOWN_MAC_ACTION_ID)
    @name("known_mac")
    action known_mac() {
    }

    @id(REFUSE_MAC_ACTION_ID)
    @name("refuse_mac")
    @brief("A station that lives behind another port.")
    action refuse_mac() {
        DROP(DROP_MAC_MOVE);
    }

    @id(NEW_MAC_ACTION_ID)
    @name("new_mac")
    action new_mac() {
        // What comes back to a station that is not learned would be flooded: so nothing of it goes on.
        if (meta.guards & GUARD_MACS_FULL != 0) {
            DROP(DROP_MAC_LIMIT);
        } else {
            meta.learn = true;
        }
    }

    @id(LEARNED_MACS_TABLE_ID)
    @name("learned_macs")
    @brief("MAC learning: source MACs, where they were last seen.")
    table learned_macs {
        key = {
            meta.ingress_port   : exact @id(1) @name("port");
            meta.vlan           : exact @id(2) @name("vlan");
            hdr.ethernet.source : exact @id(3) @name("source");
        }
        actions = {
            known_mac;
            refuse_mac;
            @defaultonly new_mac;
        }
        const default_action = new_mac;
        counters = learned_macs_counter;
        size = FDB_ENTRIES;
        AGES
    }

    apply {
        if (!meta.decided) {
            bool router = hdr.ethernet.source == meta.interface.mac;
            // Who takes over a virtual router has its MAC (RFC 9568, section 7.3): the other one has to hear of it.
            if (hdr.ethernet.source[40:40] == 1 || (router && !meta.linux.sent && !IS_VRRP(hdr))) {
                DROP(DROP_SOURCE_MAC);
            } else if (!router) {
                learned_macs.apply();
                if (meta.learn) {
                    colour_t colour;
                    METER(learn_meter, meta.ingress_port, colour);
                    meta.learn = colour != COLOUR_RED;
                }
            }
        }
    }
}

// Ingress.
control Bridging(in headers_t hdr, inout metadata_t meta) {
    @id(FDB_COUNTER_ID) TABLE_COUNTER(fdb_counter);
    @id(FLOOD_GROUPS_COUNTER_ID) TABLE_COUNTER(flood_groups_counter);

    @id(SEND_TO_PORT_ACTION_ID)
    @name("send_to_port")
    action send_to_port(@id(1) port_t port) {
        meta.egress.port = port;
    }

    @id(FLOOD_ACTION_ID)
    @name("flood")
    action flood() {
        meta.egress.flood = true;
    }

    @id(FDB_TABLE_ID)
    @name("fdb")
    @brief("The FDB: the port behind which a MAC is.")
    table fdb {
        key = {
            meta.vlan                : exact @id(1) @name("vlan");
            hdr.ethernet.destination : exact @id(2) @name("destination");
        }
        actions = {
            send_to_port;
            @defaultonly flood;
        }
        const default_action = flood;
        counters = fdb_counter;
        size = FDB_ENTRIES;
    }

    @id(SEND_TO_GROUP_ACTION_ID)
    @name("send_to_group")
    action send_to_group(@id(1) @refers_to(builtin::multicast_group_table, multicast_group_id) group_t group) {
        meta.egress.group = group;
    }

    @id(NO_FLOOD_GROUP_ACTION_ID)
    @name("no_flood_group")
    action no_flood_group() {
        DROP(DROP_NO_FLOOD_GROUP);
    }

    @id(FLOOD_GROUPS_TABLE_ID)
    @name("flood_groups")
    @brief("BUM traffic: the multicast group that holds all ports of a VLAN.")
    table flood_groups {
        key = {
            meta.vlan : exact @id(1) @name("vlan");
        }
        actions = {
            send_to_group;
            @defaultonly no_flood_group;
        }
        const default_action = no_flood_group;
        counters = flood_groups_counter;
        size = VLANS;
    }

    apply {
        if (!meta.decided || (meta.linux.sent && meta.drop == DROP_NONE)) {
            if (hdr.ethernet.destination == meta.interface.mac) {
                DROP(DROP_NOT_ROUTED);
            } else if (hdr.ethernet.destination[47:4] == RESERVED_GROUPS && !meta.linux.sent) {
                DROP(DROP_RESERVED_GROUP);
            } else if (hdr.ethernet.destination[40:40] == 1) {
                flood();
            } else if (fdb.apply().hit && meta.egress.port == meta.ingress_port) {
                DROP(DROP_SAME_PORT);
            }
        }
        // The controller may also have asked for it.
        if (meta.egress.flood) {
            flood_groups.apply();
        }
    }
}

// Egress: a flood does not go back where it came from.
control FloodCopies(inout metadata_t meta) {
    apply {
        if (meta.egress.group != 0 && meta.egress.port == meta.ingress_port) {
            DROP(DROP_FLOOD_COPY);
        }
    }
}

#endif
