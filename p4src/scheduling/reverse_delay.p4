// How long do acknowledgements take? The delay of the path that they come by, and what they wait there behind what the other
// edge sends, which this one sees only as it arrives:
//
//   no longer than its path has brought one packet after another, without a pause
//   no longer than the last acknowledgement took, and the time since then: none comes before those that were sent earlier
//   no longer than it would be if what it is for came when it was expected
//
// The least of these is believed. So if all paths look late at once it is the reverse path, and one that alone is late is seen.
// Where nobody knows the path that an acknowledgement came by, it is one of all.

#ifndef WAYNAME_SCHEDULING_REVERSE_DELAY_P4
#define WAYNAME_SCHEDULING_REVERSE_DELAY_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "delivery_times.p4"
#include "path_estimates.p4"

// When a path began to bring one packet after another, and when the last one came, in microseconds.
typedef bit<96> reverse_busy_t;

// How long acknowledgements take, when that was known, in microseconds.
typedef bit<80> reverse_delay_t;

// Microseconds, so that a sum with a delay stays below 2^32.
const bit<32> LONGEST_REVERSE_DELAY = 0x7FFFFFFF;

// Acknowledgements of what came together are together, too: less than this is no queue.
const bit<48> LEAST_WAIT = 1000;

// By what the last one took, the time since then, and the time since it should have begun.
bit<32> reverse_delay_at_most(in bit<32> took, in bit<48> elapsed, in fine_time_t since_due) {
    bit<48> most = elapsed + (16w0 ++ took);
    bit<48> seen = since_due[63:16];
    if (seen[47:47] == 1) {
        seen = 0;
    }
    if (seen < most) {
        most = seen;
    }
    if (most[47:31] != 0) {
        most = 16w0 ++ LONGEST_REVERSE_DELAY;
    }
    return most[31:0];
}

// Between the delay of its path and what it may have waited there.
bit<32> reverse_delay_between(in bit<32> least, in bit<32> most, in bit<32> took) {
    bit<32> back = took;
    if (back > most) {
        back = most;
    }
    if (back < least) {
        back = least;
    }
    return back;
}

// What waits on the reverse path.
control ReverseDelay(in headers_t hdr, inout metadata_t meta) {
    @id(REVERSE_BUSY_REGISTER_ID)
    @name("reverse_busy")
    REGISTERS(bit<32>, reverse_busy_t, SUBFLOW_SLOTS, busy);    // by schedule and slot

    apply {
        bit<64> octets = (bit<64>)hdr.ipv6.payload_length + (bit<64>)IPV6_BYTES + (bit<64>)meta.schedule.framing;
        fine_time_t took = time_of(octets, meta.schedule.reverse_inverse_rate, 0);
        bit<32> index = SUBFLOW_SLOT(meta.schedule.reverse_slot);
        reverse_busy_t period;
        busy.read(period, index);
        bit<48> since = period[95:48];
        bit<48> wait = meta.arrived - since;
        // As long again as it takes itself is no pause: behind links of one rate a long packet comes so long after a short one.
        if (meta.arrived - period[47:0] > took[62:15] + 1) {
            since = meta.arrived - took[63:16];
            wait = 0;
        }
        busy.write(index, since ++ meta.arrived);
        if (wait[47:31] != 0) {
            wait = 16w0 ++ LONGEST_REVERSE_DELAY;
        } else if (wait < LEAST_WAIT) {
            wait = 0;
        }
        meta.schedule.reverse_most = meta.schedule.reverse_most + wait[31:0];
    }
}

#endif
