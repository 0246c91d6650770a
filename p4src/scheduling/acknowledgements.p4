// What an acknowledgement, or something sent again, says of the path by which a packet went; and what of a packet that is sent has
// to be remembered for that.

#ifndef WAYNAME_SCHEDULING_ACKNOWLEDGEMENTS_P4
#define WAYNAME_SCHEDULING_ACKNOWLEDGEMENTS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "delivery_times.p4"
#include "in_flight.p4"
#include "marks.p4"
#include "metadata.p4"
#include "reverse_delay.p4"
#include "subflow_slots.p4"
#include "tcp_flows.p4"

// Applied before a path is chosen, and again for data that was not sent before when it is. Both times with the same arguments:
// where they differ, p4c copies all headers and all metadata for the control.
control Acknowledgements(in headers_t hdr, inout metadata_t meta, in schedule_path_t slot_0, in schedule_path_t slot_1,
                         in schedule_path_t slot_2, in schedule_path_t slot_3, in schedule_path_t slot_4,
                         in schedule_path_t slot_5, in schedule_path_t slot_6, in schedule_path_t slot_7) {
    @id(FLOW_LATEST_REGISTER_ID)
    @name("flow_latest")
    REGISTERS(bit<32>, fine_time_t, SCHEDULE_FLOWS, latest_of); // by connection: when all that it sent should be delivered

    ScheduleFlows() flows;
    InFlight() in_flight;
    ScheduleMarks() marks;
    ReverseDelay() reverse_delay;

    apply {
        if (meta.schedule.chosen) {
            in_flight.apply(meta);
            // It is not acknowledged before all that was sent before it.
            fine_time_t latest;
            latest_of.read(latest, meta.schedule.flow);
            fine_time_t before = meta.schedule.delivery - latest;
            if (before[63:63] == 1 && 0 - before < LONGEST_WAIT) {
                meta.schedule.delivery = latest;
            } else {
                latest_of.write(meta.schedule.flow, meta.schedule.delivery);
            }
            marks.apply(meta);
        } else {
            flows.apply(hdr, meta);
            if (meta.session.direction == SESSION_INBOUND) {
                meta.schedule.reverse_least = LONGEST_REVERSE_DELAY;
                EACH_SLOT(FIND_REVERSE)
                reverse_delay.apply(hdr, meta);
            }
            bool look = meta.schedule.answer == ANSWER_LOST || meta.schedule.answer == ANSWER_SELECTIVE;
            if (meta.schedule.answer != ANSWER_NONE && !look) {
                marks.apply(meta);
                look = meta.schedule.answer != ANSWER_CUMULATIVE;
                if (meta.schedule.verdict == VERDICT_COVERED) {
                    fine_time_t here = (meta.arrived ++ 16w0) - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
                    fine_time_t over = here - meta.schedule.delivery;
                    look = look && !meta.schedule.probe && over[63:63] == 0;
                }
            }
            if (look || meta.schedule.hold_duplicates || meta.schedule.again) {
                in_flight.apply(meta);
            }
        }
    }
}

#endif
