// What the tables know of a packet for the controller. What is asked for, and what belongs to neighbours and sessions that
// are known, has classes of its own, so that nobody who is not known crowds it out.
//
//   a probe that comes back      the mark behind an echo request is the one that the router put there
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
    @brief("Next hop: by which it went. Whoever controls the switch next goes on with the mark.")
    action own_probe(@id(1) nexthop_id_t nexthop) {
        meta.punt_class = CLASS_PROBE;
    }

    @id(FOREIGN_ECHO_ACTION_ID)
    @name("foreign_echo")
    action foreign_echo() {
    }

    @id(OWN_PROBES_TABLE_ID)
    @name("own_probes")
    @brief("Echo requests that the router sends to itself by its next hops, by the VLAN and a mark that nobody else can know.")
    table own_probes {
        key = {
            meta.vlan             : exact @id(1) @name("vlan");
            meta.icmpv6.echo_mark : exact @id(2) @name("mark");
        }
        actions = {
            own_probe;
            @defaultonly foreign_echo;
        }
        const default_action = foreign_echo;
        counters = own_probes_counter;
        size = NEXTHOPS;
    }

    apply {
        if (meta.punt == PUNT_LOCAL) {
            if (meta.icmpv6.type == ICMPV6_ECHO_REQUEST) {
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
