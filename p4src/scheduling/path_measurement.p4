// How late an answered packet came, and what that teaches of its path (path_estimates.p4).

#ifndef WAYNAME_SCHEDULING_PATH_MEASUREMENT_P4
#define WAYNAME_SCHEDULING_PATH_MEASUREMENT_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../sessions/metadata.p4"
#include "delivery_times.p4"
#include "metadata.p4"
#include "path_estimates.p4"
#include "reverse_delay.p4"
#include "subflow_memory.p4"

// How long the answer took, when the packet that it is for should have come at `due`.
control AnswerDelay(inout metadata_t meta, in bit<32> path_delay, in fine_time_t due) {
    @id(REVERSE_DELAY_REGISTER_ID)
    @name("reverse_delay")
    REGISTERS(bit<32>, reverse_delay_t, SCHEDULES, reverse_delays);

    apply {
        bit<32> schedule = (bit<32>)meta.schedule.number;
        meta.schedule.reverse_delay = path_delay;
        if (meta.session.direction == SESSION_INBOUND && meta.schedule.reverse_inverse_rate != 0) {
            reverse_delay_t known;
            reverse_delays.read(known, schedule);
            bit<32> took = known[79:48];
            if (meta.schedule.verdict != VERDICT_LOST) {
                took = reverse_delay_at_most(took, meta.arrived - known[47:0], (meta.arrived ++ 16w0) - due);
            }
            if (meta.schedule.verdict == VERDICT_MEASURED) {
                reverse_delays.write(schedule, took ++ meta.arrived);
            }
            meta.schedule.reverse_delay = reverse_delay_between(meta.schedule.reverse_least, meta.schedule.reverse_most, took);
        }
    }
}

control PathMeasurement(inout metadata_t meta, in schedule_path_t about, inout subflow_memory_t its, out fine_time_t late) {
    @id(MEASURED_WORK_REGISTER_ID)
    @name("measured_work")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, measured);   // with the last packet that taught something

    @id(MEASURED_DEPARTURES_REGISTER_ID)
    @name("measured_departures")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, departures);     // when that one had left the queue

    @id(SCHEDULE_REPORTED_REGISTER_ID)
    @name("schedule_reported")
    REGISTERS(bit<32>, bit<48>, SUBFLOW_SLOTS, reported_of);    // when the controller was last told what is known of it

    AnswerDelay() answer_delay;

    apply {
        fine_time_t now = meta.arrived ++ 16w0;
        bit<32> index = SUBFLOW_SLOT(meta.schedule.slot);
        fine_time_t before;
        fine_time_t departure;
        measured.read(before, index);
        departures.read(departure, index);
        fine_time_t after = work_after(its.work, meta.schedule.work);
        fine_time_t sent_at = its.work - after;
        fine_time_t delay = delay_of(about.delay, its.learned);
        fine_time_t left = meta.schedule.delivery - delay;
        fine_time_t span = 0;
        fine_time_t fresh = sent_at - before;
        fine_time_t lasting = before - its.idle_since;
        if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0 && lasting[63:63] == 0) {
            span = by_factor(fresh, its.learned);
            left = departure + span;
        }
        if (!meta.schedule.reported) {
            answer_delay.apply(meta, about.delay, left + delay);
        }
        fine_time_t here = now - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
        late = here - meta.schedule.delivery;

        // A mark that came before something that was missing came earlier than its acknowledgement says.
        fine_time_t still = here - delay - left;
        bool early = meta.schedule.verdict == VERDICT_COVERED && still[63:63] == 1;
        bool enough = fresh >= LEAST_SPAN || !meta.schedule.busy;
        // What was sent before the last correction of the delay tells of none since.
        fine_time_t sent = meta.schedule.delivery - meta.schedule.after;
        fine_time_t since = sent - departure - delay - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
        enough = enough && (meta.schedule.busy || since[63:63] == 0);
        if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0 && fresh[63:63] == 0
            && (meta.schedule.verdict == VERDICT_MEASURED && enough || early)) {
            its.probe = meta.arrived + (bit<48>)meta.schedule.probe_interval ++ 8w0;
            its.probe_changed = true;
            correct(its.learned, meta.schedule.busy, meta.schedule.ahead && still[63:63] == 1, still, span);
            its.learned_changed = true;
            departure = here - delay_of(about.delay, its.learned);
            measured.write(index, sent_at);
            departures.write(index, departure);
            fine_time_t current = sent_at - its.idle_since;
            if (current[63:63] == 0) {
                its.free = departure + by_factor(after, its.learned);
                its.free_changed = true;
                if (meta.schedule.verdict == VERDICT_MEASURED && meta.schedule.after != 0) {
                    fine_time_t beside = now + wait_beside(departure - sent, after, now - sent, its.learned);
                    fine_time_t later = beside - its.free;
                    if (later[63:63] == 0) {
                        its.free = beside;
                    }
                }
            }
            bit<48> last;
            reported_of.read(last, index);
            if (meta.arrived - last >= (bit<48>)meta.schedule.probe_interval) {
                reported_of.write(index, meta.arrived);
                meta.path_event.kind = PATH_EVENT_ESTIMATED;
            }
        }
    }
}

#endif
