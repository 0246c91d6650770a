// Marks: of each path one packet at a time is remembered, with the time when its acknowledgement should come. What comes
// instead says what the path is worth now. At most one mark is measured by an acknowledgement.

#ifndef WAYNAME_SCHEDULING_MARKS_P4
#define WAYNAME_SCHEDULING_MARKS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../sessions/metadata.p4"
#include "delivery_times.p4"
#include "metadata.p4"

// Marks that are overdue for so long give way: any after 4 seconds, and after half a second to the next probe. To a probe
// that is not one itself does at once: an answer to it opens no path.
const fine_time_t LONGEST_MARK = 64w1 << 38;
const fine_time_t LONGEST_PROBE = 64w1 << 35;

// A connection's marks up to the acknowledged octet end here. One is answered by this very acknowledgement if it was the
// last packet before that octet and none was missing, or if it was the missing one. Probes first: flights measure the others.
#define FIND_MARK(k)                                                                                                \
    if (meta.schedule.paths > k) {                                                                                  \
        names.read(name, SUBFLOW_SLOT(k));                                                                          \
        past = meta.schedule.sequence - name[31:0];                                                                 \
        if (name != 0 && name[47:32] == meta.schedule.flow[15:0] && past[31:31] == 0) {                             \
            bool its = meta.schedule.answer == ANSWER_REGULAR && past == 0                                          \
                && (!meta.schedule.holes || meta.schedule.advance == 18w0 ++ name[61:48])                           \
                || meta.schedule.answer == ANSWER_FILLED && past + (18w0 ++ name[61:48]) == meta.schedule.advance;  \
            if (mark == 0 || name[63:63] == 1 || its && mark[63:63] == 0) {                                         \
                answered = its;                                                                                     \
                meta.schedule.slot = k;                                                                             \
                mark = name;                                                                                        \
            }                                                                                                       \
        }                                                                                                           \
    }

control ScheduleMarks(inout metadata_t meta) {
    // By schedule and slot: is it a probe, was its path busy; octets, slot of the connection, the octet behind it. 0: none.
    @id(MARK_NAMES_REGISTER_ID)
    @name("mark_names")
    REGISTERS(bit<32>, bit<64>, SUBFLOW_SLOTS, names);

    @id(MARK_DELIVERIES_REGISTER_ID)
    @name("mark_deliveries")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, deliveries);         // when it should be delivered

    @id(MARK_WORK_REGISTER_ID)
    @name("mark_work")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, works);              // what the path had been given to do by then

    apply {
        fine_time_t now = meta.arrived ++ 16w0;
        bit<64> name = 0;
        if (meta.session.direction == SESSION_OUTBOUND) {
            bit<32> index = SUBFLOW_SLOT(meta.schedule.slot);
            names.read(name, index);
            fine_time_t delivery;
            deliveries.read(delivery, index);
            fine_time_t old = now - delivery;
            bool overdue = old[63:63] == 0 && (old > LONGEST_MARK || meta.schedule.probe && old > LONGEST_PROBE);
            if (name == 0 || overdue || meta.schedule.probe && name[63:63] == 0) {
                bit<1> probe = 0;
                bit<1> busy = 0;
                if (meta.schedule.probe) {
                    probe = 1;
                }
                if (meta.schedule.busy) {
                    busy = 1;
                }
                bit<32> length = meta.schedule.ends - meta.schedule.sequence;
                names.write(index, probe ++ busy ++ length[13:0] ++ meta.schedule.flow[15:0] ++ meta.schedule.ends);
                deliveries.write(index, meta.schedule.delivery);
                works.write(index, meta.schedule.work);
            }
        } else {
            bool answered = false;
            bit<64> mark = 0;
            bit<32> past;
            FIND_MARK(0)
            FIND_MARK(1)
            FIND_MARK(2)
            FIND_MARK(3)
            FIND_MARK(4)
            FIND_MARK(5)
            FIND_MARK(6)
            FIND_MARK(7)
            if (mark != 0) {
                bit<32> index = SUBFLOW_SLOT(meta.schedule.slot);
                names.write(index, 0);
                deliveries.read(meta.schedule.delivery, index);
                meta.schedule.probe = mark[63:63] == 1;
                meta.schedule.busy = mark[62:62] == 1;
                meta.schedule.verdict = VERDICT_COVERED;
                if (answered) {
                    meta.schedule.verdict = VERDICT_MEASURED;
                }
                works.read(meta.schedule.work, index);
                // Something that was sent before it is acknowledged only now: it may have waited for that.
                meta.schedule.ahead = meta.schedule.advance > 18w0 ++ mark[61:48];
            }
        }
    }
}

#endif
