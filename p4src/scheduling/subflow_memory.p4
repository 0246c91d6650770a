// What is remembered of the path in a slot of a schedule. Registers are of one control, Schedules: it reads them, others say what
// has changed.

#ifndef WAYNAME_SCHEDULING_SUBFLOW_MEMORY_P4
#define WAYNAME_SCHEDULING_SUBFLOW_MEMORY_P4

#include "../common/types.p4"
#include "path_estimates.p4"

// When the next probe is due (48 bits), is the path silent (closed by a loss, and nothing was heard since), how many probes nobody has
// answered (5), how often the interval was doubled for that (2).
typedef bit<56> probe_state_t;
const bit<8> SILENT = 8w1 << 7;
const bit<2> MOST_DOUBLED = 3;
#define UNANSWERED(probe_state) (probe_state[6:2])

// A receiver that knows no RFC 2883 answers no copies: after so many a packet itself is the probe.
const bit<5> MOST_COPIES = 8;

// A path by which nothing came for so long before others last brought something, in microseconds, is quiet.
const bit<48> LONGEST_QUIET = 25000;

struct subflow_memory_t {
    learned_t learned;
    bool learned_changed;
    fine_time_t work;           // what the path has been given to do in all, as its entry says
    fine_time_t idle_since;     // its work when it was last free
    fine_time_t free;           // until when it is busy; only written
    bool free_changed;
    probe_state_t probe;
    bool probe_changed;
}

// A probe with nothing in it costs no more than its octets if it is lost: 2^n go in an interval, so that an outage's end is found sooner.
const bit<8> EMPTY_PROBES = 2;

// A closed path that is silent is probed less and less often, unless what is lost has nothing in it.
probe_state_t probe_after(in probe_state_t probe, in bool empty, in bit<48> now, in bit<32> interval) {
    bit<48> pause = (bit<48>)interval;
    bit<8> silence = probe[7:0];
    silence[6:2] = silence[6:2] |+| 1;
    if (silence[7:7] == 1 && empty) {
        pause = pause >> EMPTY_PROBES;
    } else if (silence[7:7] == 1) {
        pause = pause << silence[1:0];
        if (silence[1:0] != MOST_DOUBLED) {
            silence = silence + 1;
        }
    }
    return now + pause ++ silence;
}

#endif
