// What the tables know of a packet for the controller. What is asked for, and what belongs to neighbours and sessions that
// are known, has classes of its own, so that nobody who is not known crowds it out.
//
//   a probe that comes back      the mark in it is the one that the router put there, for a next hop or for paths
//   an answer to a probe         it is for an address that only probes of a provider come from (see Routing)
//   of a known neighbour         `neighbours` has its address, behind this port and at this MAC (see Routing)
//   about a session              its tag, its nonce, or HITs and locators are in the tables (see SessionIdentities)
//
// Meters are by port as well, so nothing that comes by one port is in the class of another.

#ifndef WAYNAME_CONTROL_PUNT_CLASSES_P4
#define WAYNAME_CONTROL_PUNT_CLASSES_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../parsing/headers.p4"

control PuntClasses(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (meta.punt == PUNT_LOCAL) {
            if (meta.own_probe) {
                meta.punt_class = CLASS_PROBE;
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
