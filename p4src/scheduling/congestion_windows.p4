// A congestion window for each path of a session whose queue others fill too: how many packets may be under way there, in halves.
//
//   packets were lost behind a queue that stands full     it begins with what is under way, and is 11/16 of it from then on
//   a round without that                                  half a packet more
//   the queue does not stand full any more                it ends: LONGEST_BEHIND bounds what waits there (edge_queue.p4)
//
// Without it the session would leave such a path to others, since it is late; or keep its queue full, and leave nothing to them. As much
// as half a packet is what is fair beside ordinary TCP with a factor of 11/16 (RFC 9438, section 4.3). Each path has its own. They are not
// coupled (RFC 6356): the host has one window for all of them, so of paths that are one link a connection takes about as much as another.

#ifndef WAYNAME_SCHEDULING_CONGESTION_WINDOWS_P4
#define WAYNAME_SCHEDULING_CONGESTION_WINDOWS_P4

#include "../common/types.p4"
#include "metadata.p4"
#include "queue_limits.p4"

// Half packets (16), 0: no window; is this round one in which it became less (8); the number whose report ends the round (24); the numbers
// of the last packet that was sent, and of the newest that was reported (24 each), and when it was, in microseconds (32).
typedef bit<128> congestion_window_t;
const bit<8> BECAME_LESS = 1;

// A queue in which packets wait for less does not stand full (25 ms).
const bit<32> EMPTY_QUEUE = 25000;
const bit<16> LEAST_WINDOW = 4;
// As a connection of TCP waits before it sends again (200 ms).
const bit<32> LONGEST_UNTOLD = 200000;

bool has_window(in congestion_window_t window) {
    return window[127:112] != 0;
}

// Where nothing was reported for long, what is under way may all be lost: then nothing would ever tell.
bool has_room(in congestion_window_t window, in bit<48> now) {
    return ((window[79:56] - window[55:32])[15:0] << 1) < window[127:112] || now[31:0] - window[31:0] > LONGEST_UNTOLD;
}

// When a packet is reported that came, and `under_way` were sent after it. `waited`: how much longer it took than the path's entry says.
congestion_window_t window_after(in congestion_window_t before, in fine_time_t waited, in bit<24> lost, in bit<24> newest,
                                 in bit<24> under_way, in bit<48> now) {
    bit<16> halves = before[127:112];
    bit<24> last = newest + under_way;
    bit<24> since = newest - before[103:80];
    bool is_over = since[23:23] == 0;
    congestion_window_t after = before[127:80] ++ last ++ newest ++ now[31:0];
    if (is_congested(waited, lost)) {
        if (halves == 0) {
            after[127:80] = ((under_way[15:0] + 2) << 1) ++ BECAME_LESS ++ last;
        } else if (is_over || before[111:104] != BECAME_LESS) {
            halves = halves - (halves >> 2) - (halves >> 4);
            if (halves < LEAST_WINDOW) {
                halves = LEAST_WINDOW;
            }
            after[127:80] = halves ++ BECAME_LESS ++ last;
        }
    } else if (waited[63:63] == 1 || waited[63:16] < 16w0 ++ EMPTY_QUEUE) {
        after = 0;
    } else if (halves != 0 && is_over) {
        after[127:80] = (halves + 1) ++ 8w0 ++ last;
    }
    return after;
}

// What Schedules does with them: all other names are of that control.
#ifdef WITH_PACKET_BUFFERS

#define NOTE_WINDOW                                                                                            \
    congestion_window_t window;                                                                                \
    congestion_windows.read(window, SESSION_SLOT(meta.schedule.slot[2:0]));                                    \
    congestion_window_t next =                                                                                 \
        window_after(window, waited, meta.schedule.reported_lost, meta.path_option.report.newest,              \
                     meta.schedule.under_way, meta.arrived);                                                   \
    if (has_window(window) || has_window(next)) {                                                              \
        congestion_windows.write(SESSION_SLOT(meta.schedule.slot[2:0]), next);                                 \
    }

#define FILL_WINDOW                                                                                            \
    if (in_order) {                                                                                            \
        congestion_window_t window;                                                                            \
        congestion_windows.read(window, SESSION_SLOT(meta.schedule.slot[2:0]));                                \
        if (has_window(window)) {                                                                              \
            window[79:56] = meta.path_option.put_sequence;                                                     \
            congestion_windows.write(SESSION_SLOT(meta.schedule.slot[2:0]), window);                           \
        }                                                                                                      \
    }

#else
#define NOTE_WINDOW
#define FILL_WINDOW
#endif

#endif
