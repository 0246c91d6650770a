// The slots of a schedule, a path in each, and what Schedules does for each of them in turn: P4 has no loops, and a table is
// applied once.

#ifndef WAYNAME_SCHEDULING_SUBFLOW_SLOTS_P4
#define WAYNAME_SCHEDULING_SUBFLOW_SLOTS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "path_estimates.p4"
#include "path_events.p4"

#define SUBFLOW_SLOT_TABLE(table_name, table_id)                                                                \
    @id(table_id)                                                                                               \
    @name(#table_name)                                                                                          \
    @brief("What is believed of the path in this slot of a schedule.")                                          \
    table table_name {                                                                                          \
        key = { meta.schedule.number : exact @id(1) @name("schedule"); }                                        \
        actions = { set_subflow; @defaultonly no_subflow; }                                                     \
        const default_action = no_subflow;                                                                      \
        size = SCHEDULES;                                                                                       \
    }

// Round robin goes by rates alone.
#define LOOK_UP_SLOT(k, its, table_name, path_at)                                                               \
    if (meta.schedule.paths > k) {                                                                              \
        table_name.apply();                                                                                     \
        its.path = path_at;                                                                                     \
        its.inverse_rate = found.inverse_rate;                                                                  \
        if (meta.schedule.policy == POLICY_FASTEST_FIRST) {                                                     \
            its.delay = found.delay;                                                                            \
            its.queue = found.queue;                                                                            \
        }                                                                                                       \
    }

control SubflowSlots(in metadata_t meta, inout schedule_path_t slot_0, inout schedule_path_t slot_1,
                     inout schedule_path_t slot_2, inout schedule_path_t slot_3, inout schedule_path_t slot_4,
                     inout schedule_path_t slot_5, inout schedule_path_t slot_6, inout schedule_path_t slot_7) {
    schedule_path_t found = { 0, 0, 0, 0 };

    @id(SET_SUBFLOW_ACTION_ID)
    @name("set_subflow")
    @brief("Delay in microseconds, the time of an octet in 2^-24 microseconds, microseconds that what fits into its queue takes at most.")
    action set_subflow(@id(1) bit<32> delay, @id(2) bit<32> inverse_rate, @id(3) bit<32> queue) {
        found = { 0, delay, inverse_rate, queue };
    }

    @id(NO_SUBFLOW_ACTION_ID)
    @name("no_subflow")
    action no_subflow() {
        found = { 0, 0, 0, 0 };
    }

    SUBFLOW_SLOT_TABLE(subflow_slots_0, SUBFLOW_SLOTS_0_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_1, SUBFLOW_SLOTS_1_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_2, SUBFLOW_SLOTS_2_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_3, SUBFLOW_SLOTS_3_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_4, SUBFLOW_SLOTS_4_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_5, SUBFLOW_SLOTS_5_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_6, SUBFLOW_SLOTS_6_TABLE_ID)
    SUBFLOW_SLOT_TABLE(subflow_slots_7, SUBFLOW_SLOTS_7_TABLE_ID)

    apply {
        LOOK_UP_SLOT(0, slot_0, subflow_slots_0, meta.schedule.path_of_slots[3:0])
        LOOK_UP_SLOT(1, slot_1, subflow_slots_1, meta.schedule.path_of_slots[7:4])
        LOOK_UP_SLOT(2, slot_2, subflow_slots_2, meta.schedule.path_of_slots[11:8])
        LOOK_UP_SLOT(3, slot_3, subflow_slots_3, meta.schedule.path_of_slots[15:12])
        LOOK_UP_SLOT(4, slot_4, subflow_slots_4, meta.schedule.path_of_slots[19:16])
        LOOK_UP_SLOT(5, slot_5, subflow_slots_5, meta.schedule.path_of_slots[23:20])
        LOOK_UP_SLOT(6, slot_6, subflow_slots_6, meta.schedule.path_of_slots[27:24])
        LOOK_UP_SLOT(7, slot_7, subflow_slots_7, meta.schedule.path_of_slots[31:28])
    }
}

// A macro for each slot in turn.
#define EACH_SLOT(DO)                                                                                           \
    DO(0, slot_0) DO(1, slot_1) DO(2, slot_2) DO(3, slot_3) DO(4, slot_4) DO(5, slot_5) DO(6, slot_6) DO(7, slot_7)

// The macros below are for it: `its` is the slot, and all other names are of the control that uses them.

// A slot as a schedule begins.
#define BEGIN(k, its)                                                                                           \
    free.write(SUBFLOW_SLOT(k), 0);                                                                             \
    turns.write(SUBFLOW_SLOT(k), 0);                                                                            \
    learned_of.write(SUBFLOW_SLOT(k), 0);                                                                       \
    queue_limits.write(SUBFLOW_SLOT(k), 0);

// The path that an acknowledgement came by; any of them, where that is not known.
#define FIND_REVERSE(k, its)                                                                                    \
    if (meta.schedule.slots[k:k] == 1 && (!meta.session.path_known || its.path == meta.session.path)) {         \
        meta.schedule.reverse_slot = k;                                                                         \
        meta.schedule.reverse_known = meta.session.path_known;                                                  \
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

// Of a numbered packet of the peer.
#define FIND_REVERSE_SLOT(k, its)                                                                               \
    if (meta.schedule.slots[k:k] == 1 && its.path == meta.session.path) {                                       \
        heard_of.write(SUBFLOW_SLOT(k), meta.arrived);                                                          \
        heard_by.write(schedule, meta.arrived);                                                                 \
    }

// The slot that feedback is about.
#define FIND_SLOT(k, its)                                                                                       \
    if (meta.schedule.slot == k) {                                                                              \
        about = its;                                                                                            \
    }

// What per flow needs: how many slots there are, and the one that is the flow's. Those that the session may not take are left out.
#define COUNT_SLOT(k, its)                                                                                      \
    if (meta.schedule.slots[k:k] == 1) {                                                                        \
        count = count + 1;                                                                                      \
    }
#define TAKE_SLOT(k, its)                                                                                       \
    if (meta.schedule.slots[k:k] == 1) {                                                                        \
        if (left == 0) {                                                                                        \
            meta.session.path = (path_t)(meta.schedule.path_of_slots >> (4 * k));                               \
        }                                                                                                       \
        left = left - 1;                                                                                        \
    }

// Nobody acknowledges pure ACKs, so nobody learns that a path loses them. Each fourth goes by a path that had none of the last
// eight packets, the others by none that brings nothing while others do. The next one that arrives makes up for those lost.
#define SPREAD_PURE_ACK(k)                                                                                      \
    if (meta.schedule.pure_ack && rank == RANK_OPEN) {                                                          \
        if (turn[1:0] == 0) {                                                                                   \
            if (turn - last < 8) {                                                                              \
                rank = RANK_TAKEN;                                                                              \
            }                                                                                                   \
        } else if (quiet) {                                                                                     \
            rank = RANK_QUIET;                                                                                  \
        }                                                                                                       \
    }

// What is sent again goes by another path than the first time: whatever lost it may lose it again.
#define LEAVE_PATH_OF_LOST(k)                                                                                   \
    if (meta.schedule.before_known && meta.schedule.before_slot == k && rank == RANK_OPEN) {                    \
        rank = RANK_TAKEN;                                                                                      \
    }

// A closed path whose probe has been due for eight intervals has had nothing to be probed with, and is open: what nobody tells of is no
// probe, neither the datagrams of a session without numbers, nor those of one whose peer does not report. An open one of
// which something was learned, and nothing since, is probed too: what is believed to be slow gets no packets to learn by.
// Reports only set paths apart, so all of them are compared now and then.
// A path that a loss closed, and that has brought nothing since while others did, is dead both ways: a packet that probes it is
// lost, and the connection stands still until that comes by another path. For eight intervals only its peer ends that.
// While another path is open, a closed one is probed with a copy (path_probes.p4); of numbered packets it has nothing in it, so that
// even a dead path is probed each time.
#define CONSIDER(k, its)                                                                                        \
    if (meta.schedule.slots[k:k] == 1) {                                                                        \
        free.read(busy_until, SUBFLOW_SLOT(k));                                                                 \
        turns.read(last, SUBFLOW_SLOT(k));                                                                      \
        queue_limits.read(queue_limit, SUBFLOW_SLOT(k));                                                        \
        if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0) {                                                    \
            learned_of.read(learned, SUBFLOW_SLOT(k));                                                          \
        }                                                                                                       \
        if (in_order && closed[k:k] == 0) {                                                                     \
            fine_time_t delay = delay_of(its.delay, learned);                                                   \
            fine_time_t last_one = busy_until - now;                                                            \
            if (last_one >= LONGEST_WAIT) {                                                                     \
                last_one = 0;                                                                                   \
            }                                                                                                   \
            if (delay > slowest) {                                                                              \
                slowest = delay;                                                                                \
            }                                                                                                   \
            if (last_one + delay > latest) {                                                                    \
                latest = last_one + delay;                                                                      \
            }                                                                                                   \
        }                                                                                                       \
        rank = RANK_OPEN;                                                                                       \
        dead = false;                                                                                           \
        heard_of.read(heard, SUBFLOW_SLOT(k));                                                                  \
        quiet = heard_last - heard > LONGEST_QUIET;                                                             \
        CLOSE_SILENT(k, its)                                                                                    \
        if (closed[k:k] == 1 || learned != 0 || compared) {                                                     \
            probes.read(probe_state, SUBFLOW_SLOT(k));                                                          \
            due = meta.arrived - probe_state[55:8];                                                             \
            if (closed[k:k] == 1) {                                                                             \
                rank = RANK_CLOSED;                                                                             \
                dead = quiet && heard != 0 && probe_state[7:7] == 1 && !(numbered && others)                    \
                    && meta.arrived - heard < (bit<48>)meta.schedule.probe_interval << 3;                       \
            }                                                                                                   \
            if (meta.probe.copy) {                                                                              \
                rank = RANK_PROBE;                                                                              \
            } else if (due[47:47] == 0 && (closed[k:k] == 0 && numbered || probe_tells) && !dead) {             \
                if (closed[k:k] == 0 || !others || !numbered && UNANSWERED(probe_state) >= MOST_COPIES) {       \
                    rank = RANK_PROBE;                                                                          \
                } else if (!meta.probe.due) {                                                                   \
                    meta.probe.due = true;                                                                      \
                    meta.probe.slot = k;                                                                        \
                }                                                                                               \
            } else if (closed[k:k] == 1 && due[47:47] == 0 && due >= (bit<48>)meta.schedule.probe_interval << 3 \
                       && meta.path_event.kind == PATH_EVENT_NONE) {                                            \
                rank = RANK_OPEN;                                                                               \
                closed[k:k] = 0;                                                                                \
                if (numbered) {                                                                                 \
                    unreported_since.write(SESSION_SLOT((bit<3>)k), 0);                                         \
                }                                                                                               \
                meta.path_event.kind = PATH_EVENT_UNPROBED;                                                     \
                tell_of_path(meta.path_event, k, its, learned, queue_limit, 0);                                 \
            }                                                                                                   \
        }                                                                                                       \
        SPREAD_PURE_ACK(k)                                                                                      \
        LEAVE_PATH_OF_LOST(k)                                                                                   \
        if (no_room[k:k] == 1 && rank == RANK_OPEN) {                                                           \
            rank = RANK_FULL;                                                                                   \
        }                                                                                                       \
        bit<32> its_queue = queue_of(its.queue, queue_limit);                                                   \
        if (windowed[k:k] == 1) {                                                                               \
            its_queue = 0;                                                                                      \
        }                                                                                                       \
        consider(best, rank, k, its.path, delay_of(its.delay, learned), its_queue,                              \
                 time_of(octets, its.inverse_rate, learned), now, busy_until, turn - last,                      \
                 time_of(octets, its.inverse_rate, 0));                                                         \
    }

#endif
