// The bridge: every VLAN is one, for packets of any kind. What it does not route the switch bridges.
//
//   Learning: is the source where it was?      no -> a digest, through a meter
//   Bridging: where is the destination?        known -> its port, else -> the VLAN's flood group
//
// The controller makes entries of digests; a source that falls silent times out, and takes its station with it.

#ifndef WAYNAME_BRIDGING_P4
#define WAYNAME_BRIDGING_P4

// Ingress.
control Learning(in headers_t hdr, inout metadata_t meta) {
    @id(SOURCES_COUNTER_ID) TABLE_COUNTER(sources_counter);

    @id(LEARN_METER_ID)
    @name("learn_meter")
    @brief("Learn digests, by port.")
    METERS(port_t, PORTS, learn_meter);

    @id(KNOWN_SOURCE_ACTION_ID)
    @name("known_source")
    action known_source() {
    }

    @id(REFUSE_SOURCE_ACTION_ID)
    @name("refuse_source")
    @brief("A station that lives behind another port.")
    action refuse_source() {
        drop(meta, DROP_MAC_MOVE);
    }

    @id(NEW_SOURCE_ACTION_ID)
    @name("new_source")
    action new_source() {
        // What comes back to a station that is not learned would be flooded: so nothing of it goes on.
        if (meta.guards & GUARD_STATIONS_FULL != 0) {
            drop(meta, DROP_MAC_LIMIT);
        } else {
            meta.learn = true;
        }
    }

    @id(SOURCES_TABLE_ID)
    @name("sources")
    @brief("Stations, where they were last seen.")
    table sources {
        key = {
            meta.ingress_port   : exact @id(1) @name("port");
            meta.vlan           : exact @id(2) @name("vlan");
            hdr.ethernet.source : exact @id(3) @name("source");
        }
        actions = {
            known_source;
            refuse_source;
            @defaultonly new_source;
        }
        const default_action = new_source;
        counters = sources_counter;
        size = STATIONS;
        AGES
    }

    apply {
        if (!meta.settled) {
            if (hdr.ethernet.source[40:40] == 1 || hdr.ethernet.source == meta.interface.mac) {
                drop(meta, DROP_SOURCE_MAC);
            } else {
                sources.apply();
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
    @id(STATIONS_COUNTER_ID) TABLE_COUNTER(stations_counter);
    @id(FLOODS_COUNTER_ID) TABLE_COUNTER(floods_counter);

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

    @id(STATIONS_TABLE_ID)
    @name("stations")
    @brief("The port behind which a station is.")
    table stations {
        key = {
            meta.vlan                : exact @id(1) @name("vlan");
            hdr.ethernet.destination : exact @id(2) @name("destination");
        }
        actions = {
            send_to_port;
            @defaultonly flood;
        }
        const default_action = flood;
        counters = stations_counter;
        size = STATIONS;
    }

    @id(SEND_TO_GROUP_ACTION_ID)
    @name("send_to_group")
    action send_to_group(@id(1) group_t group) {
        meta.egress.group = group;
    }

    @id(NO_FLOOD_GROUP_ACTION_ID)
    @name("no_flood_group")
    action no_flood_group() {
        drop(meta, DROP_NO_FLOOD_GROUP);
    }

    @id(FLOODS_TABLE_ID)
    @name("floods")
    @brief("The multicast group that holds all ports of a VLAN.")
    table floods {
        key = {
            meta.vlan : exact @id(1) @name("vlan");
        }
        actions = {
            send_to_group;
            @defaultonly no_flood_group;
        }
        const default_action = no_flood_group;
        counters = floods_counter;
        size = VLANS;
    }

    apply {
        if (!meta.settled) {
            if (hdr.ethernet.destination == meta.interface.mac) {
                drop(meta, DROP_NOT_ROUTED);
            } else if (hdr.ethernet.destination[47:4] == 44w0x0180C200000) {
                drop(meta, DROP_RESERVED_GROUP);
            } else if (hdr.ethernet.destination[40:40] == 1) {
                flood();
            } else if (stations.apply().hit && meta.egress.port == meta.ingress_port) {
                drop(meta, DROP_SAME_PORT);
            }
        }
        // The controller may also have asked for it.
        if (meta.egress.flood) {
            floods.apply();
        }
    }
}

// Egress: a flood does not go back where it came from.
control FloodCopies(inout metadata_t meta) {
    apply {
        if (meta.egress.group != 0 && meta.egress.port == meta.ingress_port) {
            drop(meta, DROP_FLOOD_COPY);
        }
    }
}

#endif
