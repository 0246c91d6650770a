// Copies of what is under way on a path, so that it can go by another one if the path dies.
//
//   sent       a copy is kept until a report of it should have come   COPY_KEEP
//              (its delivery, the slowest path's delay and REPORT_WAITS)
//   reported   what the peer's report confirms is released, and what  COPY_RELEASE
//              it says is missing goes by another path: a path keeps its order, so that is lost
//   too late   the copy starts again: has its path told nothing for 3/8 of that time, while the peer told of others?
//                no    it waits on, at most LONGEST_KEPT in all
//                yes   it goes by another path, and each of those behind it when its own time has come
//
// That may turn out to be needless: the receiving edge drops what came before (resequencing.p4). So it is done as soon as a path may be
// dead, and what closes it is what closed it before (silent_paths.p4). The first report of it ends that, and releases the rest: all at once
// they would fill the queues of the others. Where reports are lost no path is dead, so others must have been told of.
//
// Numbers of a path have 24 bits and those of the buffer 32: they stand in the upper ones, so that both go round together.

#ifndef WAYNAME_SCHEDULING_REINJECTION_P4
#define WAYNAME_SCHEDULING_REINJECTION_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "metadata.p4"
#include "path_reports.p4"
#include "silent_paths.p4"

// Microseconds that a report may wait for a packet that takes it along, or until the switch makes one.
const fine_time_t REPORT_WAITS = 64w20000 << 16;

// So long, in microseconds, a packet is tried to be brought to the peer.
const bit<48> LONGEST_KEPT = 500000;

// A packet is sent again so often at most: where several paths die, and where nothing comes back at all.
const bit<8> MOST_TIMES_AGAIN = 2;

// Index of the counter of copies that found no room.
const bit<8> REFUSED_COPY  = 0;
const bit<8> REFUSED_ORDER = 1;

#ifdef WITH_PACKET_BUFFERS

// Of the packets before the newest one that a report tells of, the one that is so far before the last of them.
#define SEND_IF_MISSING(k)                                                                                     \
    if (meta.path_option.report.came[k:k] == 0) {                                                              \
        copies.release(path, number - ((k + 2) << 8));                                                         \
        copies.send(path, number - ((k + 1) << 8));                                                            \
    }

control Reinjection(in metadata_t meta, in bit<32> hold, out bool kept) {
    @id(REINJECTION_BUFFER_ID)
    @name("reinjection")
    packet_buffer(SESSION_SLOTS, REINJECTION_OCTETS, REINJECTION_OCTETS_OF_PATH) copies;

    apply {
        bit<32> path = SESSION_SLOT(meta.copy.slot);
        bit<32> number = meta.copy.sequence ++ 8w0;
        kept = true;
        if (meta.copy.order == COPY_KEEP) {
            kept = copies.keep(path, number, hold, FIELDS_OF_COPY);
        } else {
            if (meta.path_option.report.came != ~24w0) {
                SEND_IF_MISSING(23)
                SEND_IF_MISSING(22)
                SEND_IF_MISSING(21)
                SEND_IF_MISSING(20)
                SEND_IF_MISSING(19)
                SEND_IF_MISSING(18)
                SEND_IF_MISSING(17)
                SEND_IF_MISSING(16)
                SEND_IF_MISSING(15)
                SEND_IF_MISSING(14)
                SEND_IF_MISSING(13)
                SEND_IF_MISSING(12)
                SEND_IF_MISSING(11)
                SEND_IF_MISSING(10)
                SEND_IF_MISSING(9)
                SEND_IF_MISSING(8)
                SEND_IF_MISSING(7)
                SEND_IF_MISSING(6)
                SEND_IF_MISSING(5)
                SEND_IF_MISSING(4)
                SEND_IF_MISSING(3)
                SEND_IF_MISSING(2)
                SEND_IF_MISSING(1)
                SEND_IF_MISSING(0)
            }
            copies.release(path, number);
        }
    }
}

#endif

// What Schedules does with copies: all other names are of that control.
#ifdef WITH_PACKET_BUFFERS

// What a report confirms, and what it says is missing.
#define RELEASE_COPIES                                                                                         \
    if (in_order && meta.schedule.reported) {                                                                  \
        meta.copy.slot = meta.schedule.slot[2:0];                                                              \
        meta.copy.sequence = meta.path_option.report.newest;                                                   \
        meta.copy.order = COPY_RELEASE;                                                                        \
        released_copies.write(SESSION_SLOT(meta.copy.slot), 8w1 ++ meta.copy.sequence);                        \
        reinjection.apply(meta, 0, kept);                                                                      \
    }

// Of a packet whose path is chosen. What is kept here the controller need not hold: sent once more by it, it would have an order of its
// own, and what comes behind that would wait for it.
#define KEEP_COPY                                                                                              \
    if (!meta.copy.out_of_buffer || from_queue) {                                                              \
        meta.copy.queued = false;                                                                              \
        meta.copy.sent = meta.arrived;                                                                         \
        meta.copy.times_again = 0;                                                                             \
    }                                                                                                          \
    if (meta.path_option.put_ordered && !replicated && !one_path && telling && meta.copy.times_again < MOST_TIMES_AGAIN) { \
        fine_time_t hold = best.delivery + slowest + REPORT_WAITS;                                             \
        meta.copy.silence = (hold[47:16] >> 2) + (hold[47:16] >> 3);                                           \
        meta.copy.slot = best.slot[2:0];                                                                       \
        meta.copy.sequence = meta.path_option.put_sequence;                                                    \
        meta.copy.order = COPY_KEEP;                                                                           \
        reinjection.apply(meta, hold[47:16], kept);                                                            \
        if (!kept) {                                                                                           \
            buffer_refusals.count(REFUSED_COPY);                                                               \
        } else if (meta.punt == PUNT_SESSION_HELD) {                                                           \
            meta.punt = PUNT_NONE;                                                                             \
            meta.punt_copy = false;                                                                            \
        }                                                                                                      \
    }

// A copy whose time has come, or that a report sent: what that confirmed is here no more, so the others up to its newest one are lost.
// Its path is silent if the peer told nothing of it, and of others more than twice as often as there are paths: while reports are lost,
// those of one path are missing for longer than others'. That is soon, and a path that only became slower is taken for silent now and
// then: its copies are dropped where their packets came first.
#define CONSIDER_COPY                                                                                          \
    if (in_order && meta.copy.out_of_buffer && !from_queue && meta.session.direction == SESSION_OUTBOUND) {    \
        unreported_since.read(unreported, SESSION_SLOT(meta.copy.slot));                                       \
        bit<8> its_bit = 8w1 << (bit<8>)meta.copy.slot;                                                        \
        bit<48> silent_for = silent_for_of(meta.arrived, unreported);                                          \
        bit<48> at_least = 16w0 ++ meta.copy.silence;                                                          \
        bit<16> of_others = heard_reports[15:0] - unreported[15:0];                                            \
        bool nothing = untold & ~its_bit == 0 && meta.arrived - heard_reports[63:16] > LONGEST_UNREPORTED;     \
        bit<32> released;                                                                                      \
        released_copies.read(released, SESSION_SLOT(meta.copy.slot));                                          \
        bit<24> behind = released[23:0] - meta.copy.sequence;                                                  \
        bool lost = released != 0 && behind[23:23] == 0;                                                       \
        bit<32> left = meta.copy.silence;                                                                      \
        bool silent = false;                                                                                   \
        if (unreported[127:80] != 0) {                                                                         \
            left = left |-| silent_for[31:0];                                                                  \
            silent = unreported[23:16] & COPIES_WENT != 0                                                      \
                || left == 0 && (of_others > (bit<16>)meta.schedule.paths * 2                                  \
                                 || nothing && silent_for > at_least + LONGEST_UNREPORTED);                    \
        }                                                                                                      \
        if (left < REPORT_INTERVAL[31:0]) {                                                                    \
            left = REPORT_INTERVAL[31:0];                                                                      \
        }                                                                                                      \
        if (closed & its_bit == 0 && !silent && !lost) {                                                       \
            if (meta.arrived - meta.copy.sent < LONGEST_KEPT) {                                                \
                meta.copy.order = COPY_KEEP;                                                                   \
                reinjection.apply(meta, left, kept);                                                           \
            }                                                                                                  \
            DROP(DROP_COPY_NEEDLESS);                                                                          \
        } else {                                                                                               \
            if (closed & its_bit == 0 && silent) {                                                             \
                unreported_since.write(SESSION_SLOT(meta.copy.slot),                                           \
                                       unreported[127:24] ++ (unreported[23:16] | COPIES_WENT) ++ unreported[15:0]); \
            }                                                                                                  \
            meta.copy.times_again = meta.copy.times_again + 1;                                                 \
            meta.schedule.before_known = true;                                                                 \
            meta.schedule.before_slot = 29w0 ++ meta.copy.slot;                                                \
        }                                                                                                      \
    }

#else
#define RELEASE_COPIES
#define KEEP_COPY
#define CONSIDER_COPY
#endif

#endif
