// Packets of a session are numbered by path, and remembered until the peer reports what came. So a path is measured without a look
// at what its packets bear.
//
//   sent    a number, what of the packet has to be remembered
//   heard   a report -> the newest packet that came: how late was it?     MEASURED
//                       how many came less than were sent since the last: LOST
//
// A report counts if its newest packet is one that was sent, is newer than the one before, and if no more packets came than were sent.
// Another path's packet may have taken the place of what is remembered of it: then it says what came, but not how late. Who has reported
// nothing yet has to name one that is remembered.

#ifndef WAYNAME_SCHEDULING_PATH_NUMBERS_P4
#define WAYNAME_SCHEDULING_PATH_NUMBERS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../sessions/metadata.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "path_option.p4"
#include "path_reports.p4"

// What became of a report; index of a counter.
const bit<8> REPORT_TAKEN     = 0;
const bit<8> REPORT_OLD       = 1;
const bit<8> REPORT_UNKNOWN   = 2;      // its newest packet was not sent; or it is the path's first, and that one is not remembered
const bit<8> REPORT_IMPLAUSIBLE = 3;    // more came than were sent

// 17 bits of session and slot, the number, is it a probe, was the path busy, is a copy kept, when it is due in
// microseconds, how long its first octet took until then in units of 16 of them, the path's work in 16ths.
typedef bit<128> numbered_packet_t;

// Each path begins somewhere else, so of two of them one may follow close behind the other.
#define NUMBERED_PACKET(index, sequence) SLOT((index << 10) + (8w0 ++ sequence), NUMBERED_PACKETS)

control PathNumbers(inout metadata_t meta) {
    // By session and slot: has it begun (8 bits), the number of the last packet.
    @id(SENT_SEQUENCES_REGISTER_ID)
    @name("sent_sequences")
    REGISTERS(bit<32>, bit<32>, SESSION_SLOTS, sent);

    // By session: has it begun (8 bits), the order of the last packet that wants to come in order.
    @id(SENT_ORDERS_REGISTER_ID)
    @name("sent_orders")
    REGISTERS(bit<32>, bit<40>, NUMBERED_SESSIONS, sent_orders);

    @id(NUMBERED_PACKETS_REGISTER_ID)
    @name("numbered_packets")
    REGISTERS(bit<32>, numbered_packet_t, NUMBERED_PACKETS, packets);

    // The last report, by session and slot: was there one (8), the newest packet, how many were missing up to it, marks.
    @id(PATH_REPORTS_REGISTER_ID)
    @name("path_reports")
    REGISTERS(bit<32>, bit<72>, SESSION_SLOTS, reports);

    @id(PATH_REPORTS_COUNTER_ID)
    @name("path_reports_heard")
    @brief("Reports of peers by what became of them: 0 taken, 1 not newer than the last, 2 of a packet that was not sent, 3 of more packets than were sent.")
    COUNTERS(bit<8>, 4, reports_heard);

    apply {
        if (meta.session.direction == SESSION_OUTBOUND) {
            bit<32> index = SESSION_SLOT(meta.schedule.slot[2:0]);
            bit<32> last;
            sent.read(last, index);
            bit<24> sequence = last[23:0] + 1;
            if (last == 0) {
                // Nobody knows where it begins who does not see the packets.
                bit<64> hashed = slot_hash_of_word(meta.keys.slots, meta.arrived ++ index[15:0]);
                sequence = hashed[23:0];
            }
            sent.write(index, 8w1 ++ sequence);
            bit<1> probe = 0;
            bit<1> busy = 0;
            if (meta.schedule.probe) {
                probe = 1;
            }
            if (meta.schedule.busy) {
                busy = 1;
            }
            bit<1> copied = 0;
#ifdef WITH_PACKET_BUFFERS
            if (meta.path_option.put_ordered && meta.path_option.put_copies == 0) {
                copied = 1;
            }
#endif
            packets.write(NUMBERED_PACKET(index, sequence),
                          index[16:0] ++ sequence ++ probe ++ busy ++ copied ++ meta.schedule.delivery[47:16]
                          ++ meta.schedule.after[39:20] ++ meta.schedule.work[43:12]);
            // A copy has the order of its packet.
            if (meta.path_option.put_ordered && meta.copy.times_again == 0 && !meta.replication.copy) {
                bit<40> last_order;
                sent_orders.read(last_order, meta.session.number);
                meta.path_option.put_order = last_order[31:0] + 1;
                if (last_order == 0) {
                    bit<64> hashed_order = slot_hash_of_word(meta.keys.slots, meta.arrived ++ meta.session.number[15:0]);
                    meta.path_option.put_order = hashed_order[31:0];
                }
                sent_orders.write(meta.session.number, 8w1 ++ meta.path_option.put_order);
            }
            meta.path_option.to_put = true;
            meta.path_option.put_counted = 1;
            meta.path_option.put_slot = meta.schedule.slot[2:0];
            meta.path_option.put_sequence = sequence;
        } else {
            path_report_t report = meta.path_option.report;
            bit<32> index = SESSION_SLOT(report.slot[2:0]);
            bit<72> before;
            reports.read(before, index);
            numbered_packet_t packet;
            packets.read(packet, NUMBERED_PACKET(index, report.newest));
            bool known = packet[127:111] == index[16:0] && packet[110:87] == report.newest && packet[86:0] != 0;
            bit<24> fresh = report.newest - before[63:40];
            bit<24> missing = report.newest - report.received;
            bit<24> lost = missing - before[39:16];
            bit<32> last;
            sent.read(last, index);
            bit<24> under_way = last[23:0] - report.newest;
            if (report.slot >= (bit<8>)meta.schedule.paths || under_way[23:23] == 1 || before[64:64] == 0 && !known) {
                reports_heard.count(REPORT_UNKNOWN);
            } else if (before[64:64] == 1 && (fresh == 0 || fresh[23:23] == 1)) {
                reports_heard.count(REPORT_OLD);
            } else if (missing[23:23] == 1 || before[64:64] == 1 && lost[23:23] == 0 && lost > fresh) {
                reports_heard.count(REPORT_IMPLAUSIBLE);
            } else {
                reports_heard.count(REPORT_TAKEN);
                reports.write(index, 8w1 ++ report.newest ++ missing ++ report.marked);
                if (before[64:64] == 0 || lost[23:23] == 1) {
                    lost = 0;
                }
                meta.schedule.reported = true;
                meta.schedule.under_way = under_way;
                if (before[64:64] == 1) {
                    meta.schedule.reported_packets = fresh;
                    meta.schedule.reported_lost = lost;
                    meta.schedule.reported_marked = report.marked - before[15:0];
                }
                meta.schedule.slot = 24w0 ++ report.slot;
                if (known) {
                    meta.schedule.probe = packet[86:86] == 1;
                    meta.schedule.busy = packet[85:85] == 1;
                    meta.schedule.answer = ANSWER_REGULAR;
                    meta.schedule.verdict = VERDICT_MEASURED;
                    // One that is lost in many may be lost anywhere; a path that loses a quarter is broken, or full. Of a path that copies
                    // are kept of, what is lost goes again by another one: what still comes by it is won, and without it the others' queues
                    // would overflow.
                    if (lost != 0 && lost << 2 >= fresh && packet[84:84] == 0) {
                        meta.schedule.verdict = VERDICT_LOST;
                        meta.schedule.certain = true;
                    }

                    bit<32> due = packet[83:52];
                    int<64> since = (int<64>)(int<32>)(meta.arrived[31:0] - due);
                    meta.schedule.delivery = (meta.arrived ++ 16w0) - ((fine_time_t)since << 16);
                    meta.schedule.after = 24w0 ++ packet[51:32] ++ 20w0;
                    meta.schedule.work = 20w0 ++ packet[31:0] ++ 12w0;
                }
            }
        }
    }
}

#endif
