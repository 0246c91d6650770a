// What came by each path of a session, and when its peer is told of it: a report goes with the next packet to the peer, of one path
// in turn, and not too often. Replays are not counted.

#ifndef WAYNAME_SCHEDULING_PATH_REPORTS_P4
#define WAYNAME_SCHEDULING_PATH_REPORTS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "metadata.p4"
#include "path_option.p4"

// The index of a slot of a session: of its own schedule for what is sent, of the peer's for what comes.
#define SESSION_SLOT(slot) ((bit<32>)(meta.session.number[13:0] ++ slot))

// Microseconds between two reports of a session.
const bit<48> REPORT_INTERVAL = 5000;

// How far the numbers of packets that come may jump, and how late one may come to be counted.
const bit<24> LONGEST_JUMP     = 24w1 << 15;
const bit<24> LATEST_REORDERED = 40;

// Who sends anew after so many microseconds may number anew.
const bit<48> LONGEST_NUMBERED = 1000000;

// A report that no packet took along for so long goes by itself: sooner if so many packets came, so that reports are few beside them;
// at once while packets are held for their order, since then the host sends nothing (resequencing.p4).
const bit<48> SOONEST_ALONE = 10000;
const bit<48> LATEST_ALONE  = 40000;
const bit<8>  PACKETS_OF_LONE_REPORT = 4;

// The next one of the slots that have something to report, after the one of the last report.
#define NEXT_REPORTED(k)                                                                                        \
    if (!found && slots & (8w1 << ((last + k) & 7)) != 0) {                                                  \
        found = true;                                                                                           \
        slot = (last + k) & 7;                                                                                  \
    }

// From the peer: is counted. To it: a report is chosen.
control PathReports(in headers_t hdr, inout metadata_t meta) {
    // By session and slot: the newest number, and which of the 40 up to it came.
    @id(RECEIVED_SEQUENCES_REGISTER_ID)
    @name("received_sequences")
    REGISTERS(bit<32>, bit<64>, SESSION_SLOTS, sequences);

    // When the newest one came, how many came, how many of them are marked with congestion.
    @id(RECEIVED_PACKETS_REGISTER_ID)
    @name("received_packets")
    REGISTERS(bit<32>, bit<88>, SESSION_SLOTS, packets);

    // By session: when the next report may go, the slot of the last one, a bit for each slot that has something to report, how many
    // packets came since the last one.
    @id(UNREPORTED_REGISTER_ID)
    @name("unreported")
    REGISTERS(bit<32>, bit<72>, NUMBERED_SESSIONS, unreported);

    apply {
        bit<32> session = meta.session.number;
        bit<72> due;
        unreported.read(due, session);
        bit<48> may_go = due[71:24];
        bit<8> last = due[23:16];
        bit<8> slots = due[15:8];
        bit<48> over = meta.arrived - may_go;
        if (meta.session.direction == SESSION_INBOUND) {
            bit<32> index = SESSION_SLOT(meta.path_option.slot);
            bit<64> seen;
            bit<88> counts;
            sequences.read(seen, index);
            packets.read(counts, index);
            bit<24> newest = seen[63:40];
            bit<40> window = seen[39:0];
            bit<48> arrived = counts[87:40];
            bit<24> ahead = meta.path_option.sequence - newest;
            bit<24> behind = newest - meta.path_option.sequence;
            bool counted = false;
            if (arrived == 0 || meta.arrived - arrived > LONGEST_NUMBERED && (ahead >= LONGEST_JUMP && behind >= LATEST_REORDERED)) {
                // What came before counts as come: what is missing is counted from here on.
                newest = meta.path_option.sequence;
                window = ~40w0;
                counts = meta.arrived ++ (newest - 1) ++ 16w0;
                counted = true;
            } else if (ahead != 0 && ahead < LONGEST_JUMP) {
                newest = meta.path_option.sequence;
                if (ahead < LATEST_REORDERED) {
                    window = window << ahead[7:0] | 1;
                } else {
                    window = 1;
                }
                counts = meta.arrived ++ counts[39:0];
                counted = true;
            } else if (behind < LATEST_REORDERED) {
                bit<40> its_bit = 40w1 << behind[7:0];
                counted = window & its_bit == 0;
                window = window | its_bit;
            }
            if (counted) {
                bit<16> marked = counts[15:0];
                if (hdr.ipv6.traffic_class[1:0] == 3) {
                    marked = marked + 1;
                }
                sequences.write(index, newest ++ window);
                packets.write(index, counts[87:40] ++ (counts[39:16] + 1) ++ marked);
                if (slots == 0 && over[47:47] == 0) {
                    may_go = meta.arrived;
                    over = 0;
                }
                bit<8> came = due[7:0] |+| 1;
                unreported.write(session, may_go ++ last ++ (slots | 8w1 << (bit<8>)meta.path_option.slot) ++ came);
                meta.path_option.may_report = over[47:47] == 0;
                meta.path_option.lone_due = meta.path_option.may_report
                    && (over >= LATEST_ALONE || over >= SOONEST_ALONE && came >= PACKETS_OF_LONE_REPORT);
            }
        } else if (slots != 0) {
            if (over[47:47] == 0) {
                bit<8> slot = 0;
                bool found = false;
                NEXT_REPORTED(1)
                NEXT_REPORTED(2)
                NEXT_REPORTED(3)
                NEXT_REPORTED(4)
                NEXT_REPORTED(5)
                NEXT_REPORTED(6)
                NEXT_REPORTED(7)
                NEXT_REPORTED(8)
                bit<32> index = SESSION_SLOT(slot[2:0]);
                bit<64> seen;
                bit<88> counts;
                sequences.read(seen, index);
                packets.read(counts, index);
                meta.path_option.to_report = true;
                meta.path_option.put_report.slot = slot;
                meta.path_option.put_report.newest = seen[63:40];
                meta.path_option.put_report.arrived = counts[71:40];
                meta.path_option.put_report.received = counts[39:16];
                meta.path_option.put_report.marked = counts[15:0];
                meta.path_option.put_report.came = seen[24:1];
                unreported.write(session, (meta.arrived + REPORT_INTERVAL) ++ slot ++ (slots & ~(8w1 << slot)) ++ 8w0);
            }
        }
    }
}

#endif
