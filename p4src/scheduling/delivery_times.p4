// When would a packet be delivered by a path? Fastest path first: as soon as the path is free, or now if it is, after
// the path's delay and the time that all its octets take.
//
//   delivery = max(now, free) + delay + octets * inverse_rate
//
// The path by which that is least is taken, and stays busy until delivery - delay. Times are in 2^-16 microseconds
// in 64 bits, and go round with the clock; times of an octet in 2^-24 microseconds in 32 bits, rounded once a packet.

#ifndef WAYNAME_SCHEDULING_DELIVERY_TIMES_P4
#define WAYNAME_SCHEDULING_DELIVERY_TIMES_P4

#include "../common/types.p4"

// No path is busy for so long (67 seconds): such a time is one that has passed.
const fine_time_t LONGEST_WAIT = 64w1 << 42;

// Longer than the longest packet takes, in the time of weighted round robin.
const fine_time_t ROUND = 64w1 << 40;

// The index of a schedule's slot.
#define SUBFLOW_SLOT(slot) ((bit<32>)meta.schedule.number << 3 | slot)

// A path as the schedule's entry has it.
struct schedule_path_t {
    path_t path;
    bit<32> delay;              // microseconds
    bit<32> inverse_rate;       // 2^-24 microseconds
    bit<32> queue;              // microseconds that what fits into its queue takes, or 0: nobody knows
}

// What may be chosen first: a closed path whose probe is due, then the open ones with room for the packet, then those whose
// queue is full, then the one that may have lost the packet before or, of pure ACKs, has had one lately, then, for these,
// those that bring nothing, then the others.
const bit<8> RANK_PROBE  = 0;
const bit<8> RANK_OPEN   = 1;
const bit<8> RANK_FULL   = 2;
const bit<8> RANK_TAKEN  = 3;
const bit<8> RANK_QUIET  = 4;
const bit<8> RANK_CLOSED = 5;

// The best path so far.
struct candidate_t {
    bool found;
    bit<8> rank;                // RANK_*
    bit<32> slot;
    path_t path;
    fine_time_t delivery;       // from now on
    fine_time_t wait;           // until the path is free for it
    fine_time_t took;           // by its octets
    fine_time_t nominal;        // by its octets, as the entry says
    fine_time_t last_arrival;   // of what was sent by it before
    bit<32> age;                // packets of the schedule since then
}

// Takes the path if it delivers earlier, then if its last packet arrives earlier, then if that was sent earlier.
void consider(inout candidate_t best, in bit<8> ranked, in bit<32> slot, in path_t path, in fine_time_t delay,
              in bit<32> queue, in fine_time_t took, in fine_time_t now, in fine_time_t busy_until, in bit<32> age, in fine_time_t nominal) {
    fine_time_t wait = busy_until - now;
    if (wait >= LONGEST_WAIT) {
        wait = 0;
    }
    bit<8> rank = ranked;
    if (rank == RANK_OPEN && queue != 0 && wait + took > 16w0 ++ queue ++ 16w0) {
        rank = RANK_FULL;
    }
    fine_time_t delivery = wait + took + delay;
    fine_time_t last_arrival = busy_until + delay;
    fine_time_t later = last_arrival - best.last_arrival;
    bool before = later[63:63] == 1 || later == 0 && age > best.age;
    if (!best.found || rank < best.rank
        || rank == best.rank && (delivery < best.delivery || delivery == best.delivery && before)) {
        best.found = true;
        best.rank = rank;
        best.slot = slot;
        best.path = path;
        best.delivery = delivery;
        best.wait = wait;
        best.took = took;
        best.nominal = nominal;
        best.last_arrival = last_arrival;
        best.age = age;
    }
}

#endif
