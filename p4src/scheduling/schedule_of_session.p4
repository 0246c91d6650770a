// By which schedule a session's packets are shared out, and by what policy and parameters that does it.

#ifndef WAYNAME_SCHEDULING_SCHEDULE_OF_SESSION_P4
#define WAYNAME_SCHEDULING_SCHEDULE_OF_SESSION_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "metadata.p4"

control ScheduleOfSession(inout metadata_t meta) {
    @id(SESSION_SCHEDULES_COUNTER_ID) TABLE_COUNTER(session_schedules_counter);
    @id(SCHEDULES_COUNTER_ID) TABLE_COUNTER(schedules_counter);

    @id(USE_SCHEDULE_ACTION_ID)
    @name("use_schedule")
    @brief("Paths: the session's path at each slot, four bits each, slot 0 in the lowest. Slots: a bit for each that it may take.")
    action use_schedule(@id(1) @refers_to(schedules, schedule) schedule_id_t schedule,
                        @id(2) bit<32> paths, @id(3) bit<8> slots) {
        meta.schedule.number = schedule;
        meta.schedule.path_of_slots = paths;
        meta.schedule.slots = slots;
    }

    @id(REPLICATE_ACTION_ID)
    @name("replicate")
    @brief("As use_schedule, of a session whose packets are numbered and whose peer drops what comes twice: with fastest_first each goes in so many copies at once, by an open path each.")
    action replicate(@id(1) @refers_to(schedules, schedule) schedule_id_t schedule,
                     @id(2) bit<32> paths, @id(3) bit<8> slots, @id(4) bit<4> copies) {
        meta.schedule.number = schedule;
        meta.schedule.path_of_slots = paths;
        meta.schedule.slots = slots;
        meta.schedule.copies = copies;
    }

    @id(NOT_SCHEDULED_ACTION_ID)
    @name("not_scheduled")
    action not_scheduled() {
    }

    @id(SESSION_SCHEDULES_TABLE_ID)
    @name("session_schedules")
    @brief("The schedule by which a session's packets are shared out to its paths.")
    table session_schedules {
        key = {
            meta.session.number : exact @id(1) @name("session") @refers_to(paths, session);
        }
        actions = {
            use_schedule;
            replicate;
            @defaultonly not_scheduled;
        }
        const default_action = not_scheduled;
        counters = session_schedules_counter;
        size = SESSIONS;
    }

    @id(FASTEST_FIRST_ACTION_ID)
    @name("fastest_first")
    @brief("By the path that delivers first. Framing: octets that links add to each packet. Feedback: 1 follow the marks, 2 close paths, 4 hold duplicates, or their sum; tolerance, probe interval and hold in microseconds.")
    action fastest_first(@id(1) bit<8> generation, @id(2) bit<4> paths, @id(3) bit<8> framing, @id(4) bit<8> feedback,
                         @id(5) bit<32> tolerance, @id(6) bit<32> probe_interval, @id(7) bit<32> hold) {
        meta.schedule.policy = POLICY_FASTEST_FIRST;
        meta.schedule.generation = generation;
        meta.schedule.paths = paths;
        meta.schedule.framing = framing;
        meta.schedule.feedback = feedback;
        meta.schedule.tolerance = tolerance;
        meta.schedule.probe_interval = probe_interval;
        meta.schedule.hold = hold;
    }

    @id(WEIGHTED_ROUND_ROBIN_ACTION_ID)
    @name("weighted_round_robin")
    @brief("In turn, octets shared by capacity, whatever waits.")
    action weighted_round_robin(@id(1) bit<8> generation, @id(2) bit<4> paths, @id(3) bit<8> framing) {
        meta.schedule.policy = POLICY_WEIGHTED_ROUND_ROBIN;
        meta.schedule.generation = generation;
        meta.schedule.paths = paths;
        meta.schedule.framing = framing;
    }

    @id(PER_FLOW_ACTION_ID)
    @name("per_flow")
    @brief("A flow keeps to one path, by its flow label, upper layer and ports.")
    action per_flow(@id(1) bit<4> paths) {
        meta.schedule.policy = POLICY_PER_FLOW;
        meta.schedule.paths = paths;
    }

    @id(BEST_PATH_ACTION_ID)
    @name("best_path")
    @brief("Always by the path in one slot; sessions that may not take that go as their own entries say.")
    action best_path(@id(1) bit<3> slot) {
        meta.schedule.policy = POLICY_BEST_PATH;
        meta.schedule.slot = 29w0 ++ slot;
    }

    @id(NO_SCHEDULE_ACTION_ID)
    @name("no_schedule")
    action no_schedule() {
    }

    @id(SCHEDULES_TABLE_ID)
    @name("schedules")
    @brief("How packets are shared out to the slots of a schedule.")
    table schedules {
        key = {
            meta.schedule.number : exact @id(1) @name("schedule")
                @refers_to(subflow_slots_0, schedule) @refers_to(subflow_slots_1, schedule)
                @refers_to(subflow_slots_2, schedule) @refers_to(subflow_slots_3, schedule)
                @refers_to(subflow_slots_4, schedule) @refers_to(subflow_slots_5, schedule)
                @refers_to(subflow_slots_6, schedule) @refers_to(subflow_slots_7, schedule);
        }
        actions = {
            fastest_first;
            weighted_round_robin;
            per_flow;
            best_path;
            @defaultonly no_schedule;
        }
        const default_action = no_schedule;
        counters = schedules_counter;
        size = SCHEDULES;
    }

    apply {
        if (session_schedules.apply().hit) {
            schedules.apply();
            if (meta.session.copies != 0) {
                meta.schedule.copies = meta.session.copies;
            }
        }
    }
}

#endif
