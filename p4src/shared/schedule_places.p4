// What Schedules does for each of its places in turn: P4 has no loops, and actions' parameters have no index. `its` is the
// place as the entry has it; all other names are of Schedules.

#ifndef WAYNAME_SCHEDULE_PLACES_P4
#define WAYNAME_SCHEDULE_PLACES_P4

// A place as a schedule begins.
#define BEGIN(k)                                                                                                \
    free.write(PLACE(k), 0);                                                                                    \
    turns.write(PLACE(k), 0);                                                                                   \
    learned_of.write(PLACE(k), 0);

// The path that an acknowledgement came by; any of them, where that is not known.
#define FIND_BACK(k, its)                                                                                       \
    if (meta.schedule.paths > k && (!meta.session.path_known || its.path == meta.session.path)) {               \
        meta.schedule.back_place = k;                                                                           \
        if (meta.session.path_known) {                                                                          \
            meta.schedule.back = its.delay;                                                                     \
        }                                                                                                       \
        if (its.delay < meta.schedule.least_back) {                                                             \
            meta.schedule.least_back = its.delay;                                                               \
        }                                                                                                       \
        if (its.delay > meta.schedule.most_back) {                                                              \
            meta.schedule.most_back = its.delay;                                                                \
        }                                                                                                       \
        if (its.octet_time > meta.schedule.back_octet_time) {                                                   \
            meta.schedule.back_octet_time = its.octet_time;                                                     \
        }                                                                                                       \
    }

// The place that feedback is about.
#define FIND_PLACE(k, its)                                                                                      \
    if (meta.schedule.place == k) {                                                                             \
        about = its;                                                                                            \
    }

#define TAKE_PLACE(k, its)                                                                                      \
    if (place == k) {                                                                                           \
        meta.session.path = its.path;                                                                           \
    }

// A closed path whose probe has been due for eight intervals has had nothing to be probed with, and is open. An open one of
// which something was learned, and nothing since, is probed too: what is believed to be slow gets no packets to learn by.
#define CONSIDER(k, its)                                                                                        \
    if (meta.schedule.paths > k) {                                                                              \
        free.read(busy_until, PLACE(k));                                                                        \
        turns.read(last, PLACE(k));                                                                             \
        if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0) {                                                    \
            learned_of.read(learned, PLACE(k));                                                                 \
        }                                                                                                       \
        rank = RANK_OPEN;                                                                                       \
        if (closed[k:k] == 1 || learned != 0) {                                                                 \
            probes.read(probe_state, PLACE(k));                                                                 \
            due = meta.arrived - probe_state[55:8];                                                             \
            if (closed[k:k] == 1) {                                                                             \
                rank = RANK_CLOSED;                                                                             \
            }                                                                                                   \
            if (due[47:47] == 0 && meta.schedule.fresh) {                                                       \
                rank = RANK_PROBE;                                                                              \
            } else if (due[47:47] == 0 && due >= (bit<48>)meta.schedule.probe_interval << 3) {                  \
                rank = RANK_OPEN;                                                                               \
                closed[k:k] = 0;                                                                                \
            }                                                                                                   \
        }                                                                                                       \
        consider(best, rank, k, its.path, delay_of(its.delay, learned), its.queue,                              \
                 time_of(octets, its.octet_time, learned), now, busy_until, turn - last,                        \
                 time_of(octets, its.octet_time, 0));                                                           \
    }

#endif
