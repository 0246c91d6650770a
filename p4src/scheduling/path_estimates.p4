// What marks teach of a path beside its entry: microseconds on top of its delay, and a factor for its octets' times. Both are
// kept as differences, so what the controller changes in the entry counts at once.
//
//   late, nothing waited      the delay is longer
//   late, something waited    the path is busy for longer; and if it is late by an eighth of all that was sent since the
//                             last mark or more, octets take longer. Halves, quarters, eighths: nothing here divides
//   early                     the same the other way round, first what the delay had grown by. Octets' times that had grown
//                             stop at the entry's, and fall below it by eighths only: after a pause packets come early
//                             that were late before
//   in time                   octets' times go back to the entry's by an eighth of the difference
//   ahead of what was sent    both go back by half: how early it really was nobody knows
//   before it

#ifndef WAYNAME_SCHEDULING_PATH_ESTIMATES_P4
#define WAYNAME_SCHEDULING_PATH_ESTIMATES_P4

#include "../common/types.p4"

typedef bit<48> learned_t;          // microseconds (32 bits), 256ths above or below 1 (16), both in two's complement

const bit<16> FACTOR_ONE  = 256;
const bit<16> FACTOR_LEAST = 64;
const bit<16> FACTOR_MOST = 16384;

// Less work between two packets that taught something says nothing of octets' times (16 ms), nor does more (1 s).
const fine_time_t LEAST_SPAN = 64w16000 << 16;
const fine_time_t LONGEST_SPAN = 64w1000000 << 16;

fine_time_t delay_of(in bit<32> delay, in learned_t learned) {
    bit<32> sum = delay + learned[47:16];
    if (sum[31:31] == 1) {
        sum = 0;
    }
    return 16w0 ++ sum ++ 16w0;
}

bit<64> inverse_rate_of(in bit<32> inverse_rate, in learned_t learned) {
    return (bit<64>)inverse_rate * (bit<64>)(learned[15:0] + FACTOR_ONE) >> 8;
}

// Of all its octets.
fine_time_t time_of(in bit<64> octets, in bit<32> inverse_rate, in learned_t learned) {
    return (octets * inverse_rate_of(inverse_rate, learned) + 128) >> 8;
}

// What was entrusted to the path behind a packet, by its work then, of which 32 bits of microseconds are known.
fine_time_t work_after(in fine_time_t work, in fine_time_t then) {
    bit<32> after = work[43:12] - then[43:12];
    int<64> whole = (int<64>)(int<32>)after;
    return (fine_time_t)whole << 12;
}

// Of work as the entry has it, as is known.
fine_time_t by_factor(in fine_time_t work, in learned_t learned) {
    return work * (bit<64>)(learned[15:0] + FACTOR_ONE) >> 8;
}

// So long the path is busy that others use too, when a packet was sent into it so long ago and waited: what others send goes
// on, so it gets free the slower the longer its octets take, whatever it is given.
fine_time_t wait_beside(in fine_time_t waited, in fine_time_t after, in fine_time_t elapsed, in learned_t learned) {
    bit<16> factor = learned[15:0] + FACTOR_ONE;
    fine_time_t drained = elapsed;
    if (factor >= FACTOR_ONE << 3) {
        drained = elapsed >> 3;
    } else if (factor >= FACTOR_ONE << 2) {
        drained = elapsed >> 2;
    } else if (factor >= FACTOR_ONE * 3) {
        drained = (elapsed >> 2) + (elapsed >> 3);
    } else if (factor >= FACTOR_ONE << 1) {
        drained = elapsed >> 1;
    } else if (factor >= FACTOR_ONE + (FACTOR_ONE >> 2)) {
        drained = elapsed - (elapsed >> 2);
    }
    fine_time_t wait = waited + after - drained;
    if (wait[63:63] == 1) {
        wait = 0;
    }
    return wait;
}

// By a packet that left its path's queue later than expected, after a span of work since the one measured before; 0: unknown.
void correct(inout learned_t learned, in bool busy, in bool ahead, in fine_time_t late, in fine_time_t span) {
    bit<32> offset = learned[47:16];
    bit<16> factor = learned[15:0] + FACTOR_ONE;
    bool early = late[63:63] == 1;
    fine_time_t size = late;
    if (early) {
        size = 0 - late;
    }
    bit<16> step = 0;
    if (busy && span >= LEAST_SPAN && span < LONGEST_SPAN) {
        if (!early && size >= span << 1) {
            step = factor << 1;
        } else if (!early && size >= span) {
            step = factor;
        } else if (size >= span >> 1) {
            step = factor >> 1;
        } else if (size >= span >> 2) {
            step = factor >> 2;
        } else if (size >= span >> 3) {
            step = factor >> 3;
        }
    }
    if (step == 0) {
        if (factor > FACTOR_ONE) {
            bit<16> above = factor - FACTOR_ONE;
            if (ahead) {
                factor = factor - ((above + 1) >> 1);
            } else {
                factor = factor - ((above + 7) >> 3);
            }
        } else {
            factor = factor + ((FACTOR_ONE - factor + 7) >> 3);
        }
    } else if (early && factor > FACTOR_ONE && factor - FACTOR_ONE < step) {
        factor = FACTOR_ONE;
    } else if (early && factor <= FACTOR_ONE) {
        factor = factor - (factor >> 3);
    } else if (early) {
        factor = factor - step;
    } else {
        factor = factor + step;
    }
    if (factor < FACTOR_LEAST) {
        factor = FACTOR_LEAST;
    } else if (factor > FACTOR_MOST) {
        factor = FACTOR_MOST;
    }
    if (!busy) {
        offset = offset + late[47:16];
    } else if (ahead && offset[31:31] == 0) {
        offset = offset - (offset >> 1);
    }
    learned = offset ++ (factor - FACTOR_ONE);
}

// Packets were lost while others waited for long: of the delay that was learned a part is a queue that stands full. Whoever takes that
// for delay keeps it full, and leaves nothing to others that use it too.
void unlearn_delay(inout learned_t learned) {
    bit<32> offset = learned[47:16];
    if (offset[31:31] == 0) {
        learned[47:16] = offset - (offset >> 1);
    }
}

#endif
