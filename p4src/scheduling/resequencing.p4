// Packets of the peer that want to come in order wait for those that were sent before them, by whatever path.
//
//   the next one            goes on, and so do those that waited for it
//   one that is ahead       waits, as long as its sender says that what is missing may take, and LONGEST_HELD at most
//   its time has come       those before it that are here go first; what is missing is not waited for any more
//   one that is late        goes on as it is
//
// What has no room goes on at once, and what waited behind it. So nothing is lost here, whatever the peer sends.

#ifndef WAYNAME_SCHEDULING_RESEQUENCING_P4
#define WAYNAME_SCHEDULING_RESEQUENCING_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../sessions/metadata.p4"
#include "metadata.p4"
#include "path_option.p4"
#include "path_reports.p4"

#ifdef WITH_PACKET_BUFFERS

// Microseconds.
const bit<24> LONGEST_HELD = 400000;

// How far ahead a packet may be.
const bit<32> LONGEST_AHEAD = 32w1 << 15;

control Resequencing(inout metadata_t meta, out bool no_room) {
    // By session: when the last one came in its turn, the order of the next one, and the highest one that came.
    @id(ORDERS_REGISTER_ID)
    @name("orders")
    REGISTERS(bit<32>, bit<112>, NUMBERED_SESSIONS, orders);

    @id(RESEQUENCING_BUFFER_ID)
    @name("resequencing")
    packet_buffer(NUMBERED_SESSIONS, RESEQUENCING_OCTETS, RESEQUENCING_OCTETS_OF_SESSION) waiting;

    apply {
        no_room = false;
        bit<32> session = meta.session.number;
        bit<32> order = meta.path_option.order;
        bit<112> known;
        orders.read(known, session);
        bit<48> last = known[111:64];
        bit<32> next = known[63:32];
        bit<32> highest = known[31:0];
        bit<32> ahead = order - next;
        bool takes_turn = false;
        if (last == 0 || ahead >= LONGEST_AHEAD && 0 - ahead > LONGEST_AHEAD && meta.arrived - last > LONGEST_NUMBERED) {
            highest = order;
            takes_turn = true;
        } else if (ahead >= LONGEST_AHEAD) {
            // Late, or out of nowhere.
        } else if (ahead == 0 || meta.copy.out_of_buffer || meta.path_option.wait == 0) {
            takes_turn = true;
        } else {
            bit<24> wait = meta.path_option.wait;
            if (wait > LONGEST_HELD) {
                wait = LONGEST_HELD;
            }
            bit<32> above = order - highest;
            if (above < LONGEST_AHEAD) {
                highest = order;
            }
            if (waiting.keep(session, order, 8w0 ++ wait, FIELDS_OF_COPY)) {
                orders.write(session, last ++ next ++ highest);
                DROP(DROP_HELD_FOR_ORDER);
            } else {
                no_room = true;
                takes_turn = true;
            }
        }
        if (takes_turn) {
            next = order + 1;
            bit<32> above = order - highest;
            if (above < LONGEST_AHEAD) {
                highest = order;
            }
            orders.write(session, meta.arrived ++ next ++ highest);
            if (highest != order) {
                waiting.send(session, next);
            }
        }
    }
}

#endif

// What Schedules does with a packet of the peer that has not come before.
#ifdef WITH_PACKET_BUFFERS
#define PUT_IN_ORDER                                                                                           \
    if (meta.session.direction == SESSION_INBOUND && meta.path_option.of_session && meta.path_option.ordered   \
        && !meta.decided) {                                                                                    \
        resequencing.apply(meta, refused);                                                                     \
        if (refused) {                                                                                         \
            buffer_refusals.count(REFUSED_ORDER);                                                              \
        }                                                                                                      \
        if (meta.drop == DROP_HELD_FOR_ORDER && meta.path_option.may_report) {                                 \
            meta.path_option.lone_due = true;                                                                  \
        }                                                                                                      \
    }
#else
#define PUT_IN_ORDER
#endif

#endif
