// Packets that want to come in order wait at the edge while the path that they would get is busy for LONGEST_BEHIND, not in the queues of
// links: what waits here is lost by no path, takes the one that is best when it goes (late binding), and what is sent again does not wait
// behind it.
//
//   arrives               others of its session wait   it is the last of them
//                         none does                    it has the turn after the first packets of other sessions of its schedule
//   has its turn          a path has room              it goes; the next turn begins, and the next packet of its session waits for one
//                         none has                     it waits until one is to have it
//   LONGEST_QUEUED later  still waits                  it is dropped, as by any queue
//
// So sessions that share paths take turns (round robin), and of all of them a single packet is looked at when a path has room.

#ifndef WAYNAME_SCHEDULING_EDGE_QUEUE_P4
#define WAYNAME_SCHEDULING_EDGE_QUEUE_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "silent_paths.p4"

// So long a path may be busy before packets wait here, and so long one may wait here, in microseconds.
// A path that is known to be faster than its entry says is believed to be busy for longer than it is (wait_beside): it may be for twice as long.
const bit<48> LONGEST_BEHIND = 45000;
const bit<48> LONGEST_QUEUED = 400000;
// Without a look for so long, whoever had the turn is gone with its session: the others look for themselves.
const bit<48> LONGEST_TURN = 100000;

// A time, the number of the last packet that came, and of the last one that waits no more. Of a session's packets the time is when the
// last one came, of a schedule's turns when the first one was looked at.
typedef bit<112> edge_queue_t;

// What Schedules does with them: all other names are of that control.
#ifdef WITH_PACKET_BUFFERS

#define LOOK_AT_QUEUE                                                                                          \
    bool from_queue = meta.copy.out_of_buffer && meta.copy.queued;                                             \
    bit<8> no_room = 0;                                                                                        \
    bit<8> windowed = 0;                                                                                       \
    if (wants_order && meta.session.direction == SESSION_OUTBOUND && !meta.decided                             \
        && (!meta.copy.out_of_buffer || from_queue) && !meta.probe.copy && !meta.replication.copy && meta.schedule.copies < 2) { \
        edge_queue_t queue;                                                                                    \
        edge_queue_t turns;                                                                                    \
        edge_queues.read(queue, meta.session.number);                                                          \
        edge_turns.read(turns, schedule);                                                                      \
        bool took_turn = from_queue && meta.copy.took_turn;                                                    \
        bool is_first = from_queue || queue[63:32] == queue[31:0] || meta.arrived - queue[111:64] > LONGEST_QUEUED; \
        bool stopped = turns[63:32] != turns[31:0] && meta.arrived - turns[111:64] > LONGEST_TURN;             \
        bool has_turn = took_turn || is_first && (stopped || turns[63:32] == turns[31:0]);                     \
        if (stopped && !took_turn) {                                                                           \
            edge_turn.send(schedule, turns[63:32]);                                                            \
        }                                                                                                      \
        if (!from_queue) {                                                                                     \
            meta.copy.sent = meta.arrived;                                                                     \
            meta.copy.queue_number = queue[63:32] + 1;                                                         \
        }                                                                                                      \
        if (is_first && !took_turn) {                                                                          \
            meta.copy.turn = turns[63:32] + 1;                                                                 \
        }                                                                                                      \
        bit<48> room = LONGEST_QUEUED;                                                                         \
        if (has_turn) {                                                                                        \
            fine_time_t first = LONGEST_WAIT << 1;                                                             \
            fine_time_t its_room = 0;                                                                          \
            fine_time_t waited = (meta.arrived - meta.copy.sent) ++ 16w0;                                      \
            unreported_t unreported;                                                                           \
            EACH_SLOT(LOOK_AT_WAIT)                                                                            \
            room = its_room[63:16];                                                                            \
            if (room > LONGEST_BEHIND) {                                                                       \
                room = LONGEST_BEHIND;                                                                         \
            }                                                                                                  \
        }                                                                                                      \
        bool stays = false;                                                                                    \
        if (room != 0 && meta.arrived - meta.copy.sent < LONGEST_QUEUED) {                                     \
            meta.copy.queued = true;                                                                           \
            meta.copy.took_turn = is_first;                                                                    \
            if (is_first) {                                                                                    \
                stays = edge_turn.keep(schedule, meta.copy.turn, room[31:0], FIELDS_OF_COPY);                  \
            } else {                                                                                           \
                stays = edge_queue.keep(meta.session.number, meta.copy.queue_number, room[31:0], FIELDS_OF_COPY); \
            }                                                                                                  \
        }                                                                                                      \
        if (stays) {                                                                                           \
            DROP(DROP_QUEUED);                                                                                 \
            if (!from_queue) {                                                                                 \
                queue = meta.arrived ++ meta.copy.queue_number ++ queue[31:0];                                 \
            }                                                                                                  \
            if (is_first && !took_turn) {                                                                      \
                turns[63:32] = meta.copy.turn;                                                                 \
            }                                                                                                  \
        } else {                                                                                               \
            if (room != 0) {                                                                                   \
                DROP(DROP_QUEUE_FULL);                                                                         \
            }                                                                                                  \
            if (took_turn) {                                                                                   \
                turns[31:0] = meta.copy.turn;                                                                  \
                edge_turn.send(schedule, meta.copy.turn + 1);                                                  \
            }                                                                                                  \
            if (from_queue) {                                                                                  \
                queue[31:0] = meta.copy.queue_number;                                                          \
                edge_queue.send(meta.session.number, meta.copy.queue_number + 1);                              \
            }                                                                                                  \
        }                                                                                                      \
        if (has_turn || stopped) {                                                                             \
            turns[111:64] = meta.arrived;                                                                      \
        }                                                                                                      \
        if (stays || from_queue || stopped) {                                                                  \
            edge_queues.write(meta.session.number, queue);                                                     \
            edge_turns.write(schedule, turns);                                                                 \
        }                                                                                                      \
        if (meta.decided) {                                                                                    \
            meta.punt = PUNT_NONE;                                                                             \
            meta.punt_copy = false;                                                                            \
        }                                                                                                      \
    }

// Of the path that the packet would get (subflow_slots.p4), until it has room: that which would deliver it first, of those whose queues are
// not full. A path without room delivers what waits here first, and that takes as long as this packet has waited: so another one that is
// later, but has room, is not left idle if it delivers the packet before the last one here would come (as in ECF, earliest completion first).
#define LOOK_AT_WAIT(k, its)                                                                                   \
    unreported_since.read(unreported, SESSION_SLOT((bit<3>)k));                                                \
    if (meta.schedule.slots[k:k] == 1 && closed[k:k] == 0 && !is_avoided(meta.arrived, unreported)) {          \
        fine_time_t wait;                                                                                      \
        learned_t known;                                                                                       \
        free.read(wait, SUBFLOW_SLOT(k));                                                                      \
        learned_of.read(known, SUBFLOW_SLOT(k));                                                               \
        wait = wait - (meta.arrived ++ 16w0);                                                                  \
        if (wait >= LONGEST_WAIT) {                                                                            \
            wait = 0;                                                                                          \
        }                                                                                                      \
        fine_time_t took = time_of((bit<64>)hdr.ipv6.payload_length, its.inverse_rate, known);                 \
        bit<32> limit;                                                                                         \
        queue_limits.read(limit, SUBFLOW_SLOT(k));                                                             \
        fine_time_t most = 16w0 ++ queue_of(its.queue, limit) ++ 16w0;                                         \
        fine_time_t delivery = wait + delay_of(its.delay, known) + took;                                       \
        fine_time_t its_own = wait |-| (LONGEST_BEHIND ++ 16w0);                                               \
        if (known[15:15] == 1) {                                                                               \
            its_own = by_factor(wait, known) |-| ((LONGEST_BEHIND << 1) ++ 16w0);                              \
        }                                                                                                      \
        congestion_window_t window;                                                                            \
        congestion_windows.read(window, SESSION_SLOT((bit<3>)k));                                              \
        if (has_window(window)) {                                                                              \
            windowed[k:k] = 1;                                                                                 \
            most = 0;                                                                                          \
            its_own = 0;                                                                                       \
            if (!has_room(window, meta.arrived)) {                                                             \
                its_own = REPORT_INTERVAL ++ 16w0;                                                             \
            }                                                                                                  \
        }                                                                                                      \
        if (most != 0 && wait + took > most) {                                                                 \
            delivery = delivery + LONGEST_WAIT;                                                                \
            fine_time_t until = wait + took - most;                                                            \
            if (until > its_own) {                                                                             \
                its_own = until;                                                                               \
            }                                                                                                  \
        }                                                                                                      \
        if (its_own != 0) {                                                                                    \
            no_room[k:k] = 1;                                                                                  \
            delivery = delivery + waited;                                                                      \
        }                                                                                                      \
        if (delivery < first) {                                                                                \
            first = delivery;                                                                                  \
            its_room = its_own;                                                                                \
        }                                                                                                      \
    }

#else
#define LOOK_AT_QUEUE bool from_queue = false; bit<8> no_room = 0; bit<8> windowed = 0;
#endif

#endif
