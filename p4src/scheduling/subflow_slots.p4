// What Schedules does for each of its slots in turn: P4 has no loops, and actions' parameters have no index. `its` is the
// slot as the entry has it; all other names are of Schedules.

#ifndef WAYNAME_SCHEDULING_SUBFLOW_SLOTS_P4
#define WAYNAME_SCHEDULING_SUBFLOW_SLOTS_P4

#include "delivery_times.p4"
#include "metadata.p4"
#include "path_estimates.p4"

// A slot as a schedule begins.
#define BEGIN(k)                                                                                                \
    free.write(SUBFLOW_SLOT(k), 0);                                                                             \
    turns.write(SUBFLOW_SLOT(k), 0);                                                                            \
    learned_of.write(SUBFLOW_SLOT(k), 0);

// The path that an acknowledgement came by; any of them, where that is not known.
#define FIND_REVERSE(k, its)                                                                                    \
    if (meta.schedule.paths > k && (!meta.session.path_known || its.path == meta.session.path)) {               \
        meta.schedule.reverse_slot = k;                                                                         \
        if (meta.session.path_known) {                                                                          \
            meta.schedule.reverse_delay = its.delay;                                                            \
        }                                                                                                       \
        if (its.delay < meta.schedule.reverse_least) {                                                          \
            meta.schedule.reverse_least = its.delay;                                                            \
        }                                                                                                       \
        if (its.delay > meta.schedule.reverse_most) {                                                           \
            meta.schedule.reverse_most = its.delay;                                                             \
        }                                                                                                       \
        if (its.inverse_rate > meta.schedule.reverse_inverse_rate) {                                            \
            meta.schedule.reverse_inverse_rate = its.inverse_rate;                                              \
        }                                                                                                       \
    }

// The slot that feedback is about.
#define FIND_SLOT(k, its)                                                                                       \
    if (meta.schedule.slot == k) {                                                                              \
        about = its;                                                                                            \
    }

#define TAKE_SLOT(k, its)                                                                                       \
    if (slot == k) {                                                                                            \
        meta.session.path = its.path;                                                                           \
    }

// A closed path whose probe has been due for eight intervals has had nothing to be probed with, and is open. An open one of
// which something was learned, and nothing since, is probed too: what is believed to be slow gets no packets to learn by.
#define CONSIDER(k, its)                                                                                        \
    if (meta.schedule.paths > k) {                                                                              \
        free.read(busy_until, SUBFLOW_SLOT(k));                                                                 \
        turns.read(last, SUBFLOW_SLOT(k));                                                                      \
        if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0) {                                                    \
            learned_of.read(learned, SUBFLOW_SLOT(k));                                                          \
        }                                                                                                       \
        rank = RANK_OPEN;                                                                                       \
        if (closed[k:k] == 1 || learned != 0) {                                                                 \
            probes.read(probe_state, SUBFLOW_SLOT(k));                                                          \
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
                 time_of(octets, its.inverse_rate, learned), now, busy_until, turn - last,                      \
                 time_of(octets, its.inverse_rate, 0));                                                         \
    }

#endif
