// A packet goes in several copies at once, each by another open path, so that a path which loses it costs nothing and nobody waits for
// it to be sent again. RFC 8655 calls it replication; the peer drops all but the first that comes (elimination.p4).
//
//   first pass    the packet goes by the path that delivers it first, with an order; another copy is due     meta.replication.due
//   second pass   the copy goes by the best of the open paths that had none, with the same order and a       meta.replication.copy
//                 number of its own path; if one more is due it is made of this one
//
// v1model makes one clone in a pass. So a closed path is probed beside the last copy, and the controller gets none of what may be lost:
// the one by another path takes its place. What its path cannot send, since its next hop has no neighbour yet, goes to the controller and
// has no other copy.

#ifndef WAYNAME_SCHEDULING_REPLICATION_P4
#define WAYNAME_SCHEDULING_REPLICATION_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "metadata.p4"

// What Schedules does with copies: all other names are of that control.

// A copy starts again, and has fewer slots to choose from.
#define CONSIDER_REPLICA                                                                                       \
    if (meta.replication.copy) {                                                                               \
        meta.schedule.slots = meta.schedule.slots & ~meta.replication.taken;                                   \
        if (meta.replication.made >= meta.schedule.copies || meta.schedule.slots & ~closed == 0) {             \
            DROP(DROP_COPY_NEEDLESS);                                                                          \
        }                                                                                                      \
    }

// Of a packet whose path is chosen.
#define REPLICATE                                                                                              \
    if (replicated) {                                                                                          \
        meta.path_option.put_copies = 4w0 ++ meta.schedule.copies;                                             \
        meta.replication.taken = meta.replication.taken | 8w1 << (bit<8>)best.slot;                            \
        meta.replication.made = meta.replication.made + 1;                                                     \
        meta.replication.due = meta.replication.made < meta.schedule.copies                                    \
            && meta.schedule.slots & ~closed & ~meta.replication.taken != 0;                                   \
        if (meta.replication.due) {                                                                            \
            meta.probe.due = false;                                                                            \
            if (meta.punt == PUNT_SESSION_HELD) {                                                              \
                meta.punt = PUNT_NONE;                                                                         \
                meta.punt_copy = false;                                                                        \
            }                                                                                                  \
        }                                                                                                      \
    }

#endif
