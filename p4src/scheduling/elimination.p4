// What comes twice is dropped, as RFC 8655 has it: a packet has one order in its session, by whatever path it comes.
//
//   several copies sent at once    replication.p4     DROP_ELIMINATED
//   sent again, as its path died   reinjection.p4     DROP_CAME_TWICE
//
// The first that comes goes on, and none waits for another; the others are counted as what came by their paths. Only what a session
// proves is remembered, so that nobody else can have a packet of its peer dropped by sending its order first.

#ifndef WAYNAME_SCHEDULING_ELIMINATION_P4
#define WAYNAME_SCHEDULING_ELIMINATION_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../sessions/metadata.p4"
#include "path_option.p4"

#define ORDERED_PACKET(session, order) SLOT((session << 10) + order, ORDERED_PACKETS)

control Elimination(inout metadata_t meta) {
    // Session and order of a packet that came.
    @id(ORDERED_PACKETS_REGISTER_ID)
    @name("ordered_packets")
    REGISTERS(bit<32>, bit<64>, ORDERED_PACKETS, came);

    apply {
        bit<32> session = meta.session.number;
        bit<32> order = meta.path_option.order;
        bit<64> before;
        came.read(before, ORDERED_PACKET(session, order));
        if (before != session ++ order) {
            came.write(ORDERED_PACKET(session, order), session ++ order);
        } else if (meta.path_option.copies > 1) {
            DROP(DROP_ELIMINATED);
        } else {
            DROP(DROP_CAME_TWICE);
        }
    }
}

#endif
