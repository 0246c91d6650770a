// What the controller is told of a path.

#ifndef WAYNAME_SCHEDULING_PATH_EVENTS_P4
#define WAYNAME_SCHEDULING_PATH_EVENTS_P4

#include "../common/types.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "path_estimates.p4"
#include "queue_limits.p4"

// How it is now.
void tell_of_path(inout path_event_t event, in bit<32> slot, in schedule_path_t about, in learned_t learned, in bit<32> queue_limit,
                  in fine_time_t late) {
    fine_time_t delay = delay_of(about.delay, learned);
    bit<64> inverse_rate = inverse_rate_of(about.inverse_rate, learned);
    event.slot = (bit<8>)slot;
    event.path = about.path;
    event.late = late[47:16];
    event.delay = delay[47:16];
    event.inverse_rate = inverse_rate[31:0];
    event.queue = queue_of(about.queue, queue_limit);
}

#endif
