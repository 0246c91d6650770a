// Should a sender hear of what is missing? While it may only be late, duplicate acknowledgements are held back, so that TCP does
// not take it for lost. They pass once it is lost for certain, as a path keeps order, or nearly so, as it was a probe of
// a path that has lost packets and is silent since; or if hardly any is left to pass.

#ifndef WAYNAME_SCHEDULING_DUPLICATE_ACK_HOLD_P4
#define WAYNAME_SCHEDULING_DUPLICATE_ACK_HOLD_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "path_estimates.p4"

// So many duplicates must be left to come for another one to be held back.
const bit<32> DUPLICATES_LEFT = 3;

control DuplicateAckHold(inout metadata_t meta) {
    @id(ARRIVED_WORK_REGISTER_ID)
    @name("arrived_work")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, arrived_of);     // with the last packet that is known to have come

    apply {
        if (meta.schedule.verdict == VERDICT_MEASURED) {
            arrived_of.write(SUBFLOW_SLOT(meta.schedule.slot), meta.schedule.work);
        }
        if (meta.schedule.missing) {
            fine_time_t come;
            arrived_of.read(come, SUBFLOW_SLOT(meta.schedule.missing_slot));
            fine_time_t behind = work_after(come, meta.schedule.missing_work);
            bit<32> heard = (24w0 ++ meta.schedule.duplicates) + DUPLICATES_LEFT;
            bit<32> left = meta.schedule.outstanding - heard * meta.schedule.missing_length;
            bit<32> overdue = meta.arrived[31:0] - meta.schedule.missing_due - meta.schedule.reverse_delay;
            bool silent = meta.schedule.missing_silent && meta.schedule.missing_probe && overdue[31:31] == 0;
            if (silent || behind[63:63] == 0 && behind != 0) {
                meta.schedule.certain = true;
                meta.schedule.verdict = VERDICT_LOST;
                meta.schedule.slot = meta.schedule.missing_slot;
                meta.schedule.delivery = meta.arrived ++ 16w0;
            } else if (left[31:31] == 0) {
                DROP(DROP_DUPLICATE_HELD);
            }
        }
    }
}

#endif
