// A path that is late or loses a packet is closed; a probe that comes in time opens it.

#ifndef WAYNAME_SCHEDULING_PATH_CLOSING_P4
#define WAYNAME_SCHEDULING_PATH_CLOSING_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "metadata.p4"
#include "subflow_memory.p4"

// `closed`: a bit for each slot.
control PathClosing(inout metadata_t meta, in fine_time_t late, inout subflow_memory_t its, inout bit<8> closed) {
    apply {
        bit<8> its_bit = 8w1 << (bit<8>)meta.schedule.slot;
        bool shut = closed & its_bit != 0;
        fine_time_t over = late - (16w0 ++ meta.schedule.tolerance ++ 16w0) - 1;
        bool in_time = over[63:63] == 1;
        // Duplicates alone may be of packets that were early.
        bool lost = meta.schedule.verdict == VERDICT_LOST && (late[63:63] == 0 || meta.schedule.certain);

        if (meta.schedule.feedback & FEEDBACK_CLOSE == 0) {
            // All stay open.
        } else if (lost || meta.schedule.verdict == VERDICT_MEASURED && !in_time) {
            if (!shut) {
                bit<32> pause = meta.schedule.probe_interval;
                bit<8> silence = 0;
                closed = closed | its_bit;
                meta.path_event.kind = PATH_EVENT_LATE;
                if (lost) {
                    meta.path_event.kind = PATH_EVENT_LOST;
                    silence = SILENT;
                    if (meta.schedule.tolerance < pause) {
                        pause = meta.schedule.tolerance;
                    }
                }
                its.probe = meta.arrived + (bit<48>)pause ++ silence;
                its.probe_changed = true;
            }
        } else if (shut && in_time && meta.schedule.probe && meta.schedule.verdict != VERDICT_LOST
                   && meta.schedule.answer != ANSWER_CUMULATIVE) {
            closed = closed & ~its_bit;
            meta.path_event.kind = PATH_EVENT_OPENED;
        }
        if (shut && (meta.schedule.verdict == VERDICT_MEASURED || meta.schedule.answer == ANSWER_TWICE || closed & its_bit == 0)) {
            its.probe = its.probe[55:8] ++ 8w0;     // it is not silent
            its.probe_changed = true;
        }
    }
}

#endif
