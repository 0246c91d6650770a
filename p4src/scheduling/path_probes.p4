// A closed path is probed with a copy, while others are open: what is lost there is lost to nobody.
//
//   first pass    a packet goes by an open path; a probe of a closed one is due: a copy is to be made     meta.probe.due
//   second pass   the copy goes by the closed path, whatever is better                                    meta.probe.copy
//
// Where packets are numbered the copy is emptied as a report is (lone_reports.p4), and counted: the peer's edge reports it, and it ends there.
// Elsewhere it is the packet once more. Its receiver gets both, and says so by a block of what is acknowledged already (RFC 2883), which
// comes when the later one of them has come.

#ifndef WAYNAME_SCHEDULING_PATH_PROBES_P4
#define WAYNAME_SCHEDULING_PATH_PROBES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "delivery_times.p4"
#include "metadata.p4"

// One whose answer is overdue for so many microseconds gives way to the next.
const bit<32> LONGEST_COPY = 500000;

// The sender's port, the first octet, octets, was the path busy, is the packet itself due later, when the later one of both is due in
// microseconds, the path's work in 16ths.
typedef bit<128> probe_copy_t;

// The block lies in what the copy of the path in this slot had in it.
#define FIND_COPY(k)                                                                                            \
    if (meta.schedule.paths > k && !found) {                                                                    \
        copies.read(copy, SUBFLOW_SLOT(k));                                                                     \
        bit<32> begins = meta.sack.begins - copy[111:80];                                                       \
        bit<32> ends = meta.sack.ends - copy[111:80];                                                           \
        bit<32> length = 18w0 ++ copy[79:66];                                                                   \
        if (copy != 0 && copy[127:112] == meta.flow.destination_port && begins < ends && ends <= length) {      \
            found = true;                                                                                       \
            copies.write(SUBFLOW_SLOT(k), 0);                                                                   \
            meta.schedule.slot = k;                                                                             \
        }                                                                                                       \
    }

// Of TCP: remembers a copy that is sent, and looks whether an acknowledgement says that one came.
control ProbeCopies(in headers_t hdr, inout metadata_t meta) {
    @id(PROBE_COPIES_REGISTER_ID)
    @name("probe_copies")
    REGISTERS(bit<32>, probe_copy_t, SUBFLOW_SLOTS, copies);

    apply {
        probe_copy_t copy;
        if (meta.session.direction == SESSION_OUTBOUND) {
            bit<32> index = SUBFLOW_SLOT(meta.schedule.slot);
            copies.read(copy, index);
            bit<32> overdue = meta.arrived[31:0] - copy[63:32];
            if (copy == 0 || overdue[31:31] == 0 && overdue > LONGEST_COPY) {
                bit<16> length = meta.chain.left - (10w0 ++ hdr.tcp.start[31:28] ++ 2w0);
                if (length[15:14] != 0) {
                    length = 0x3FFF;
                }
                bit<1> busy = 0;
                if (meta.schedule.busy) {
                    busy = 1;
                }
                bit<32> due = meta.schedule.delivery[47:16];
                bit<32> sooner = due - meta.probe.beside;
                if (sooner[31:31] == 1) {
                    due = meta.probe.beside;
                }
                copies.write(index, meta.flow.source_port ++ hdr.tcp.start[95:64] ++ length[13:0] ++ busy ++ sooner[31:31] ++ due
                             ++ meta.schedule.work[43:12]);
            }
        } else {
            bit<32> since_block = hdr.tcp.start[63:32] - meta.sack.ends;
            bool found = false;
            if (meta.sack.here && since_block[31:31] == 0) {
                FIND_COPY(0)
                FIND_COPY(1)
                FIND_COPY(2)
                FIND_COPY(3)
                FIND_COPY(4)
                FIND_COPY(5)
                FIND_COPY(6)
                FIND_COPY(7)
            }
            if (found) {
                meta.schedule.answer = ANSWER_TWICE;
                meta.schedule.probe = true;
                meta.schedule.ahead = false;
                meta.schedule.busy = copy[65:65] == 1;
                // Nobody knows when it came itself if the other one came later.
                meta.schedule.verdict = VERDICT_MEASURED;
                if (copy[64:64] == 1) {
                    meta.schedule.verdict = VERDICT_COVERED;
                }
                int<64> since = (int<64>)(int<32>)(meta.arrived[31:0] - copy[63:32]);
                meta.schedule.delivery = (meta.arrived ++ 16w0) - ((fine_time_t)since << 16);
                meta.schedule.after = 0;
                meta.schedule.work = 20w0 ++ copy[31:0] ++ 12w0;
            }
        }
    }
}

// What Schedules does with probes: all other names are of that control.

// A copy starts again. It may come behind another one that was made before the first of them went.
#define CONSIDER_PROBE                                                                                          \
    if (meta.probe.copy) {                                                                                      \
        bit<8> probed = 8w1 << (bit<8>)meta.probe.slot;                                                         \
        probe_state_t its_probe;                                                                                \
        probes.read(its_probe, SUBFLOW_SLOT((29w0 ++ meta.probe.slot)));                                        \
        bit<48> since_due = meta.arrived - its_probe[55:8];                                                     \
        meta.schedule.slots = meta.schedule.slots & closed & probed;                                            \
        if (meta.schedule.policy != POLICY_FASTEST_FIRST || meta.schedule.slots == 0 || since_due[47:47] == 1) { \
            DROP(DROP_COPY_NEEDLESS);                                                                           \
        }                                                                                                       \
    }

#endif
