// Paths of which the peer reports nothing. While it reports of others they are dead, and get nothing but probes.

#ifndef WAYNAME_SCHEDULING_SILENT_PATHS_P4
#define WAYNAME_SCHEDULING_SILENT_PATHS_P4

#include "../common/types.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "path_estimates.p4"
#include "path_events.p4"
#include "subflow_memory.p4"

// Reports by themselves come within so many microseconds. Of a path that has had nothing to send for so long nobody waits for any,
// nor of one that had fewer packets.
const bit<48> LONGEST_UNREPORTED = 80000;
const bit<48> LONGEST_PAUSE = 500000;
const bit<8>  LEAST_UNREPORTED = 4;

// Who reports nothing at all for so long, while packets go, is not there or does not report any more.
const bit<48> LONGEST_UNANSWERED = 1000000;

// Of a path of a session: since when nothing is reported (48 bits), when its last packet was sent (48), how many were (8), REPORT_IS_DUE
// and COPIES_WENT (8), how many reports of the session had come by then, or once one of the first could be here (16).
typedef bit<128> unreported_t;

// Of a session: how old the last packet was that a report told of and that was remembered (48), when the last report came or 0 if reports
// are missing since (48), how many did (16).
typedef bit<112> heard_reports_t;

// For how long nothing was reported that could have been.
bit<48> silent_for_of(in bit<48> now, in unreported_t unreported) {
    bit<48> since = now - unreported[127:80];
    if (since[47:47] == 1) {
        since = 0;
    }
    return since;
}

// What is known of a path that was not reported on, in the bits of one octet.
const bit<8> REPORT_IS_DUE = 1;         // one of the first packet could be here
const bit<8> COPIES_WENT   = 2;         // what it held went by the others

// What it held went by the others, and it gets nothing for a while.
bool is_avoided(in bit<48> now, in unreported_t unreported) {
    return unreported[23:16] & COPIES_WENT != 0 && now - unreported[79:32] < LONGEST_PAUSE;
}

// What Schedules does about them: all other names are of that control.

// A report came: nothing is reported from now on, unless all was.
#define NOTE_REPORT                                                                                             \
    bit<48> age = heard_reports[111:64];                                                                        \
    if (meta.schedule.verdict != VERDICT_NONE) {                                                                \
        age = meta.arrived - (meta.schedule.delivery - meta.schedule.after)[63:16];                             \
    }                                                                                                           \
    if (age > LONGEST_PAUSE) {                                                                                  \
        age = LONGEST_PAUSE;                                                                                    \
    }                                                                                                           \
    heard_reports = age ++ meta.arrived ++ (heard_reports[15:0] + 1);                                           \
    reports_heard.write(meta.session.number, heard_reports);                                                    \
    unreported_t told = 0;                                                                                      \
    if (meta.schedule.under_way != 0) {                                                                         \
        unreported_since.read(told, SESSION_SLOT(meta.schedule.slot[2:0]));                                     \
        told = meta.arrived ++ told[79:32] ++ 16w0 ++ heard_reports[15:0];                                      \
    }                                                                                                           \
    unreported_since.write(SESSION_SLOT(meta.schedule.slot[2:0]), told);

// A packet goes by the best path. Reports wait behind what the peer sends: of a path that had nothing under way the first one comes no
// sooner than the last one of any did.
#define NOTE_UNREPORTED                                                                                         \
    unreported_since.read(unreported, SESSION_SLOT(best.slot[2:0]));                                            \
    if (unreported[127:80] == 0 || meta.arrived - unreported[79:32] > LONGEST_PAUSE) {                          \
        bit<48> usual = (best.delivery >> 15)[47:0];                                                            \
        unreported = (meta.arrived + (heard_reports[111:64] |-| usual)) ++ 64w0 ++ heard_reports[15:0];         \
    }                                                                                                           \
    unreported_since.write(SESSION_SLOT(best.slot[2:0]),                                                        \
                           unreported[127:80] ++ meta.arrived ++ (unreported[31:24] |+| 1) ++ unreported[23:0]);

// The paths that had enough packets of which nothing is reported: if these are several, it is the reports that are missing. So it is where
// one had packets for so long, and nothing at all was reported: until a report comes, no path is closed for want of any.
#define UNREPORTED(k, its)                                                                                      \
    if (meta.schedule.slots[k:k] == 1) {                                                                        \
        unreported_since.read(unreported, SESSION_SLOT((bit<3>)k));                                             \
        bit<48> silent_for = silent_for_of(meta.arrived, unreported);                                           \
        bit<48> last_sent = meta.arrived - unreported[79:32];                                                   \
        bool enough = unreported[31:24] >= LEAST_UNREPORTED;                                                    \
        if (enough && last_sent < LONGEST_PAUSE << 1 && closed[k:k] == 0) {                                     \
            untold[k:k] = 1;                                                                                    \
        }                                                                                                       \
        if (enough && last_sent < LONGEST_PAUSE && unreported[127:80] != 0 && silent_for > LONGEST_UNANSWERED   \
            && meta.arrived - heard_reports[63:16] >= silent_for) {                                             \
            reports_missing = true;                                                                             \
        }                                                                                                       \
    }

#define FIND_UNREPORTED                                                                                         \
    bool reports_missing = false;                                                                               \
    if (heard_reports[63:16] != 0 && meta.session.direction == SESSION_OUTBOUND) {                              \
        EACH_SLOT(UNREPORTED)                                                                                   \
        if (reports_missing) {                                                                                  \
            heard_reports[63:16] = 0;                                                                           \
            reports_heard.write(meta.session.number, heard_reports);                                            \
        }                                                                                                       \
    }

// A path is dead of which the peer has reported nothing since a report could be here, while it reported of others more often than
// there are paths, for reports are of one path in turn; or while it reported nothing at all, and that for longer, and no other had packets.
// What waits does not count, and of the tolerance a quarter: packets before it are reported meanwhile. One whose copies went by the others
// gets nothing until then, or for half a second. A packet tells the controller of one path: another one waits for the next.
#define CLOSE_SILENT(k, its)                                                                                    \
    if (telling && closed[k:k] == 0) {                                                                          \
        unreported_since.read(unreported, SESSION_SLOT((bit<3>)k));                                             \
        fine_time_t longest = (delay_of(its.delay, learned) << 1) + (18w0 ++ meta.schedule.tolerance ++ 14w0);  \
        bit<48> silent_for = silent_for_of(meta.arrived, unreported);                                           \
        bit<16> of_others = heard_reports[15:0] - unreported[15:0];                                             \
        bool lately = meta.arrived - unreported[79:32] < LONGEST_PAUSE;                                         \
        bool copies_went = unreported[23:16] & COPIES_WENT != 0;                                                \
        if (is_avoided(meta.arrived, unreported)) {                                                             \
            rank = RANK_TAKEN;                                                                                  \
        }                                                                                                       \
        if (lately && unreported[127:80] != 0 && (unreported[31:24] >= LEAST_UNREPORTED || copies_went)         \
            && silent_for > longest[63:16]) {                                                                   \
            bool nothing = untold & ~(8w1 << k) == 0 && meta.arrived - heard_reports[63:16] >= silent_for;      \
            if (unreported[23:16] & REPORT_IS_DUE == 0) {                                                       \
                unreported_since.write(SESSION_SLOT((bit<3>)k),                                                 \
                                       unreported[127:24] ++ (unreported[23:16] | REPORT_IS_DUE) ++ heard_reports[15:0]); \
            } else if (meta.path_event.kind == PATH_EVENT_NONE                                                  \
                       && (of_others > (bit<16>)meta.schedule.paths                                             \
                           || nothing && silent_for > longest[63:16] + LONGEST_UNREPORTED)) {                   \
                closed[k:k] = 1;                                                                                \
                unreported_since.write(SESSION_SLOT((bit<3>)k), 0);                                             \
                probes.write(SUBFLOW_SLOT(k), meta.arrived + (bit<48>)(meta.schedule.probe_interval >> EMPTY_PROBES) ++ SILENT); \
                meta.path_event.kind = PATH_EVENT_LOST;                                                         \
                tell_of_path(meta.path_event, k, its, learned, queue_limit, silent_for ++ 16w0);                \
            }                                                                                                   \
        }                                                                                                       \
    }

#endif
