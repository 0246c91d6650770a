// What the tables know of a packet for the controller. What is asked for, and what belongs to neighbours and sessions that
// are known, has classes of its own, so that nobody who is not known crowds it out.
//
//   a probe that comes back      the mark in it is the one that the router put there, for a next hop or for paths
//   of a known neighbour         `neighbours` has its address, behind this port and at this MAC (see Routing)
//   about a session              its tag, its nonce, or HITs and locators are in the tables (see SessionIdentities)
//
// Meters are by port as well, so nothing that comes by one port is in the class of another.

#ifndef WAYNAME_PUNT_CLASSES_P4
#define WAYNAME_PUNT_CLASSES_P4

control PuntClasses(in headers_t hdr, inout metadata_t meta) {
    @id(OWN_PROBES_COUNTER_ID) TABLE_COUNTER(own_probes_counter);

    @id(OWN_PROBE_ACTION_ID)
    @name("own_probe")
    @brief("Next hop: by which it went, 0 if it is one of a path. Whoever controls the switch next goes on with the mark.")
    action own_probe(@id(1) nexthop_id_t nexthop) {
        meta.punt_class = CLASS_PROBE;
    }

    @id(FOREIGN_PROBE_ACTION_ID)
    @name("foreign_probe")
    action foreign_probe() {
    }

    @id(OWN_PROBES_TABLE_ID)
    @name("own_probes")
    @brief("Probes of the router that come back, by the VLAN and a mark that nobody can know who did not see one.")
    table own_probes {
        key = {
            meta.vlan       : exact @id(1) @name("vlan");
            meta.probe_mark : exact @id(2) @name("mark");
        }
        actions = {
            own_probe;
            @defaultonly foreign_probe;
        }
        const default_action = foreign_probe;
        counters = own_probes_counter;
        size = NEXTHOPS;
    }

    apply {
        if (meta.punt == PUNT_LOCAL) {
            if (meta.probe_mark != 0) {
                own_probes.apply();
            }
        } else if (meta.punt >= PUNT_ROUTER_SOLICITATION && meta.punt <= PUNT_NEIGHBOUR_ADVERTISEMENT) {
            if (meta.neighbour.known && meta.neighbour.port == meta.ingress_port
                && meta.neighbour.mac == hdr.ethernet.source) {
                meta.punt_class = CLASS_NEIGHBOUR;
            }
        } else if (meta.punt == PUNT_SESSION_HELD) {
            meta.punt_class = CLASS_HELD;
        } else if (meta.punt == PUNT_HIP_SEEN) {
            meta.session.number = meta.hip.session;
            if (meta.session.number != 0) {
                meta.punt_class = CLASS_SESSION;
            }
        } else if (meta.punt != PUNT_NONE && meta.session.number != 0) {
            meta.punt_class = CLASS_SESSION;
        }
    }
}

#endif
