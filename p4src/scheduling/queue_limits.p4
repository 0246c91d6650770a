// How long what fits into a path's queue takes, where its entry does not say: reports tell how many packets were lost, and how long the
// newest one that came had waited. If a quarter was lost, and that one had waited for long, the queue was full: what that one had before
// it fits, and no more is believed to, until one comes that waited for longer.
//
// What is lost elsewhere may look the same. That costs little: a path that is taken for full is busy.

#ifndef WAYNAME_SCHEDULING_QUEUE_LIMITS_P4
#define WAYNAME_SCHEDULING_QUEUE_LIMITS_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "metadata.p4"

// A shorter queue is none that was full (50 ms).
const bit<32> LEAST_FULL_QUEUE = 50000;

// Microseconds, 0: nobody knows. `waited`: how long the newest packet that came had.
bit<32> queue_limit_after(in bit<32> limit, in fine_time_t waited, in bit<24> packets, in bit<24> lost) {
    bit<32> after = limit;
    if (waited[63:48] == 0 && waited[47:16] >= LEAST_FULL_QUEUE
        && (limit == 0 && lost > 1 && lost << 2 >= packets || limit != 0 && waited[47:16] > limit)) {
        after = waited[47:16];
    }
    return after;
}

// Of what the entry says, and what was learned.
bit<32> queue_of(in bit<32> queue, in bit<32> limit) {
    bit<32> least = queue;
    if (queue == 0 || limit != 0 && limit < queue) {
        least = limit;
    }
    return least;
}

// Packets were lost in a queue, if `waited` is how much longer the newest packet that came had taken than the path's entry says.
bool is_congested(in fine_time_t waited, in bit<24> lost) {
    return lost != 0 && waited[63:48] == 0 && waited[47:16] >= LEAST_FULL_QUEUE;
}

#endif
