// Schedules: of a session that has one, each packet's path is chosen for itself, by the policy that its entry names.
//
//   fastest_first         the path by which the packet is delivered first
//   weighted_round_robin  paths in turn, each as often as its capacity says
//   per_flow              the path that the flow's hash says
//   best_path             always one
//
// Sessions that share their paths share a schedule: what one of them sends, the others wait for. With feedback, fastest
// path first follows what TCP's acknowledgements say of paths, and closes those that are late or lose packets:
//
//   sent    flows -> (lost? close) -> the best path -> flights, a mark
//   heard   flows -> a mark, or the flight of what was lost -> estimates, closed or opened

#ifndef WAYNAME_SCHEDULING_SCHEDULES_P4
#define WAYNAME_SCHEDULING_SCHEDULES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "delivery_times.p4"
#include "duplicate_ack_hold.p4"
#include "in_flight.p4"
#include "marks.p4"
#include "metadata.p4"
#include "path_estimates.p4"
#include "reverse_delay.p4"
#include "subflow_slots.p4"
#include "tcp_flows.p4"

// When the next probe is due (48 bits), is the path silent (closed by a loss, and nothing was heard since), how often its interval
// was doubled for that (7).
typedef bit<56> probe_state_t;
const bit<8> SILENT = 8w1 << 7;
const bit<2> MOST_DOUBLED = 3;

control Schedules(in headers_t hdr, inout metadata_t meta) {
    @id(SESSION_SCHEDULES_COUNTER_ID) TABLE_COUNTER(session_schedules_counter);
    @id(SCHEDULES_COUNTER_ID) TABLE_COUNTER(schedules_counter);

    @id(SCHEDULE_STATES_REGISTER_ID)
    @name("schedule_states")
    REGISTERS(bit<32>, bit<48>, SCHEDULES, states);             // the generation of all the rest, closed slots, packets

    @id(SCHEDULE_ROUNDS_REGISTER_ID)
    @name("schedule_rounds")
    REGISTERS(bit<32>, fine_time_t, SCHEDULES, rounds);         // the clock of weighted round robin

    @id(FLOW_LATEST_REGISTER_ID)
    @name("flow_latest")
    REGISTERS(bit<32>, fine_time_t, SCHEDULE_FLOWS, latest_of); // by connection: when all that it sent should be delivered

    // The others are by schedule and slot.
    @id(SCHEDULE_FREE_REGISTER_ID)
    @name("schedule_free")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, free);       // until when the path is busy

    @id(SCHEDULE_TURNS_REGISTER_ID)
    @name("schedule_turns")
    REGISTERS(bit<32>, bit<32>, SUBFLOW_SLOTS, turns);          // which packet of the schedule was its last one

    @id(SCHEDULE_LEARNED_REGISTER_ID)
    @name("schedule_learned")
    REGISTERS(bit<32>, learned_t, SUBFLOW_SLOTS, learned_of);

    @id(SCHEDULE_WORK_REGISTER_ID)
    @name("schedule_work")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, works);      // what it has been given to do in all, as its entry says

    @id(IDLE_WORK_REGISTER_ID)
    @name("idle_work")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, idle);       // when it was last free

    @id(MEASURED_WORK_REGISTER_ID)
    @name("measured_work")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, measured);   // with the last packet that taught something

    @id(MEASURED_DEPARTURES_REGISTER_ID)
    @name("measured_departures")
    REGISTERS(bit<32>, fine_time_t, SUBFLOW_SLOTS, departures);     // when that one had left the queue

    @id(SCHEDULE_PROBES_REGISTER_ID)
    @name("schedule_probes")
    REGISTERS(bit<32>, probe_state_t, SUBFLOW_SLOTS, probes);   // of a closed path

    @id(SCHEDULE_REPORTED_REGISTER_ID)
    @name("schedule_reported")
    REGISTERS(bit<32>, bit<48>, SUBFLOW_SLOTS, reported_of);    // when the controller was last told what is known of it

    @id(REVERSE_DELAY_REGISTER_ID)
    @name("reverse_delay")
    REGISTERS(bit<32>, reverse_delay_t, SCHEDULES, reverse_delays);

    SubflowSlots() subflow_slots;
    ScheduleFlows() flows;
    InFlight() in_flight;
    ScheduleMarks() marks;
    DuplicateAckHold() duplicate_ack_hold;
    ReverseDelay() reverse_delay;

    schedule_path_t slot_0 = { 0, 0, 0, 0 };
    schedule_path_t slot_1 = { 0, 0, 0, 0 };
    schedule_path_t slot_2 = { 0, 0, 0, 0 };
    schedule_path_t slot_3 = { 0, 0, 0, 0 };
    schedule_path_t slot_4 = { 0, 0, 0, 0 };
    schedule_path_t slot_5 = { 0, 0, 0, 0 };
    schedule_path_t slot_6 = { 0, 0, 0, 0 };
    schedule_path_t slot_7 = { 0, 0, 0, 0 };

    @id(USE_SCHEDULE_ACTION_ID)
    @name("use_schedule")
    @brief("Paths: the session's path at each slot, four bits each, slot 0 in the lowest.")
    action use_schedule(@id(1) @refers_to(schedules, schedule) schedule_id_t schedule,
                        @id(2) bit<32> paths) {
        meta.schedule.number = schedule;
        meta.schedule.path_of_slots = paths;
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
    @brief("Always by the path in one slot.")
    action best_path(@id(1) bit<3> slot) {
        meta.session.path = (path_t)(meta.schedule.path_of_slots >> (5w0 ++ slot << 2));
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
        }
        fine_time_t now = meta.arrived ++ 16w0;
        bit<32> schedule = (bit<32>)meta.schedule.number;
        bit<48> state = 0;
        bool timed = meta.schedule.policy == POLICY_FASTEST_FIRST || meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN;
        if (timed) {
            subflow_slots.apply(meta, slot_0, slot_1, slot_2, slot_3, slot_4, slot_5, slot_6, slot_7);
            states.read(state, schedule);
            if (state[47:40] != meta.schedule.generation) {
                state = meta.schedule.generation ++ 40w0;
                rounds.write(schedule, 0);
                BEGIN(0)
                BEGIN(1)
                BEGIN(2)
                BEGIN(3)
                BEGIN(4)
                BEGIN(5)
                BEGIN(6)
                BEGIN(7)
            }
        }
        bit<8> closed = state[39:32];

        if (meta.schedule.feedback != 0 && hdr.tcp.isValid() && !meta.fragmented) {
            flows.apply(hdr, meta);
            if (meta.session.direction == SESSION_INBOUND) {
                meta.schedule.reverse_least = LONGEST_REVERSE_DELAY;
                FIND_REVERSE(0, slot_0)
                FIND_REVERSE(1, slot_1)
                FIND_REVERSE(2, slot_2)
                FIND_REVERSE(3, slot_3)
                FIND_REVERSE(4, slot_4)
                FIND_REVERSE(5, slot_5)
                FIND_REVERSE(6, slot_6)
                FIND_REVERSE(7, slot_7)
                reverse_delay.apply(hdr, meta);
            }
            bool look = meta.schedule.answer == ANSWER_LOST || meta.schedule.answer == ANSWER_SELECTIVE;
            if (meta.schedule.answer != ANSWER_NONE && !look) {
                marks.apply(meta);
                look = meta.schedule.answer != ANSWER_CUMULATIVE;
                if (meta.schedule.verdict == VERDICT_COVERED) {
                    fine_time_t over = now - meta.schedule.delivery - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
                    look = look && !meta.schedule.probe && over[63:63] == 0;
                }
            }
            if (look || meta.schedule.hold_duplicates) {
                in_flight.apply(meta);
            }
            if (meta.schedule.missing) {
                probe_state_t its_probes;
                probes.read(its_probes, SUBFLOW_SLOT(meta.schedule.missing_slot));
                bit<8> missing_closed = closed & 8w1 << (bit<8>)meta.schedule.missing_slot;
                meta.schedule.missing_silent = missing_closed != 0 && its_probes[7:7] == 1;
            }
            duplicate_ack_hold.apply(meta);
        }

        if (meta.schedule.verdict != VERDICT_NONE) {
            bit<32> index = SUBFLOW_SLOT(meta.schedule.slot);
            schedule_path_t about = slot_0;
            FIND_SLOT(0, slot_0)
            FIND_SLOT(1, slot_1)
            FIND_SLOT(2, slot_2)
            FIND_SLOT(3, slot_3)
            FIND_SLOT(4, slot_4)
            FIND_SLOT(5, slot_5)
            FIND_SLOT(6, slot_6)
            FIND_SLOT(7, slot_7)
            bit<8> its_bit = 8w1 << (bit<8>)meta.schedule.slot;
            bool shut = closed & its_bit != 0;
            learned_t learned;
            learned_of.read(learned, index);
            fine_time_t work;
            fine_time_t before;
            fine_time_t departure;
            fine_time_t idle_since;
            works.read(work, index);
            idle.read(idle_since, index);
            measured.read(before, index);
            departures.read(departure, index);
            fine_time_t after = work_after(work, meta.schedule.work);
            fine_time_t sent_at = work - after;
            fine_time_t left = meta.schedule.delivery - delay_of(about.delay, learned);
            fine_time_t span = 0;
            fine_time_t fresh = sent_at - before;
            fine_time_t lasting = before - idle_since;
            if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0 && lasting[63:63] == 0) {
                span = by_factor(fresh, learned);
                left = departure + span;
            }
            meta.schedule.reverse_delay = about.delay;
            if (meta.session.direction == SESSION_INBOUND && meta.schedule.reverse_inverse_rate != 0) {
                reverse_delay_t known;
                reverse_delays.read(known, schedule);
                bit<32> took = known[79:48];
                if (meta.schedule.verdict != VERDICT_LOST) {
                    fine_time_t since_due = now - left - delay_of(about.delay, learned);
                    took = reverse_delay_at_most(took, meta.arrived - known[47:0], since_due);
                }
                if (meta.schedule.verdict == VERDICT_MEASURED) {
                    reverse_delays.write(schedule, took ++ meta.arrived);
                }
                meta.schedule.reverse_delay = reverse_delay_between(meta.schedule.reverse_least, meta.schedule.reverse_most, took);
            }
            fine_time_t late = now - meta.schedule.delivery - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
            fine_time_t over = late - (16w0 ++ meta.schedule.tolerance ++ 16w0) - 1;
            bool in_time = over[63:63] == 1;
            // Duplicates alone may be of packets that were early.
            bool lost = meta.schedule.verdict == VERDICT_LOST && (late[63:63] == 0 || meta.schedule.certain);

            if (meta.schedule.feedback & FEEDBACK_FOLLOW != 0) {
                // A mark that came before something that was missing came earlier than its acknowledgement says.
                fine_time_t here = now - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
                fine_time_t still = here - delay_of(about.delay, learned) - left;
                bool early = meta.schedule.verdict == VERDICT_COVERED && still[63:63] == 1;
                bool enough = fresh >= LEAST_SPAN || !meta.schedule.busy;
                // What was sent before the last correction of the delay tells of none since.
                fine_time_t since = meta.schedule.delivery - meta.schedule.after - departure - delay_of(about.delay, learned)
                    - (16w0 ++ meta.schedule.reverse_delay ++ 16w0);
                enough = enough && (meta.schedule.busy || since[63:63] == 0);
                if (fresh[63:63] == 0 && (meta.schedule.verdict == VERDICT_MEASURED && enough || early)) {
                    probes.write(index, meta.arrived + (bit<48>)meta.schedule.probe_interval ++ 8w0);
                    correct(learned, meta.schedule.busy, meta.schedule.ahead && still[63:63] == 1, still, span);
                    departure = here - delay_of(about.delay, learned);
                    measured.write(index, sent_at);
                    departures.write(index, departure);
                    fine_time_t current = sent_at - idle_since;
                    if (current[63:63] == 0) {
                        fine_time_t until = departure + by_factor(after, learned);
                        if (meta.schedule.verdict == VERDICT_MEASURED && meta.schedule.after != 0) {
                            fine_time_t sent = meta.schedule.delivery - meta.schedule.after;
                            fine_time_t beside = now + wait_beside(departure - sent, after, now - sent, learned);
                            fine_time_t later = beside - until;
                            if (later[63:63] == 0) {
                                until = beside;
                            }
                        }
                        free.write(index, until);
                    }
                    bit<48> last;
                    reported_of.read(last, index);
                    if (meta.arrived - last >= (bit<48>)meta.schedule.probe_interval) {
                        reported_of.write(index, meta.arrived);
                        meta.path_event.kind = PATH_EVENT_ESTIMATED;
                    }
                    learned_of.write(index, learned);
                }
            }

            if (meta.schedule.feedback & FEEDBACK_CLOSE == 0) {
                // All stay open.
            } else if (lost || meta.schedule.verdict == VERDICT_MEASURED && !in_time) {
                if (!shut) {
                    bit<32> pause = meta.schedule.probe_interval;
                    bit<8> silence = 0;
                    closed = closed | its_bit;
                    meta.path_event.kind = PATH_EVENT_LATE;
                    if (lost) {
                        meta.path_event.kind = PATH_EVENT_LOST;
                        silence = SILENT;
                        if (meta.schedule.tolerance < pause) {
                            pause = meta.schedule.tolerance;
                        }
                    }
                    probes.write(index, meta.arrived + (bit<48>)pause ++ silence);
                }
            } else if (shut && in_time && meta.schedule.probe && meta.schedule.verdict != VERDICT_LOST
                       && meta.schedule.answer != ANSWER_CUMULATIVE) {
                closed = closed & ~its_bit;
                meta.path_event.kind = PATH_EVENT_OPENED;
            }
            if (shut && (meta.schedule.verdict == VERDICT_MEASURED || closed & its_bit == 0)) {
                probe_state_t heard;
                probes.read(heard, index);
                probes.write(index, heard[55:8] ++ 8w0);
            }
            if (meta.path_event.kind != PATH_EVENT_NONE) {
                meta.path_event.slot = (bit<8>)meta.schedule.slot;
                meta.path_event.path = about.path;
                meta.path_event.late = late[47:16];
                fine_time_t delay = delay_of(about.delay, learned);
                bit<64> inverse_rate = inverse_rate_of(about.inverse_rate, learned);
                meta.path_event.delay = delay[47:16];
                meta.path_event.inverse_rate = inverse_rate[31:0];
            }
            if (meta.session.direction == SESSION_INBOUND) {
                states.write(schedule, state[47:40] ++ closed ++ state[31:0]);
            }
        }

        if (meta.session.direction != SESSION_OUTBOUND) {
            // It has said what it knows.
        } else if (meta.schedule.policy == POLICY_PER_FLOW) {
            bit<32> slot;
            HASH_OF_4(slot, (bit<32>)meta.schedule.paths, hdr.ipv6.flow_label, meta.flow.next_header,
                      meta.flow.source_port, meta.flow.destination_port);
            meta.session.path = (path_t)(meta.schedule.path_of_slots >> ((bit<8>)slot << 2));
        } else if (timed) {
            bit<32> turn = state[31:0] + 1;
            // Round robin has a time of its own, which goes on as packets are sent, behind all that paths have had.
            if (meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN) {
                rounds.read(now, schedule);
                now = now - ROUND;
            }
            bit<64> octets = (bit<64>)hdr.ipv6.payload_length + (bit<64>)IPV6_BYTES + (bit<64>)meta.schedule.framing;
            candidate_t best = { false, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            fine_time_t busy_until;
            bit<32> last;
            learned_t learned = 0;
            bit<8> rank;
            bit<48> due;
            probe_state_t probe_state;
            CONSIDER(0, slot_0)
            CONSIDER(1, slot_1)
            CONSIDER(2, slot_2)
            CONSIDER(3, slot_3)
            CONSIDER(4, slot_4)
            CONSIDER(5, slot_5)
            CONSIDER(6, slot_6)
            CONSIDER(7, slot_7)

            bit<32> index = SUBFLOW_SLOT(best.slot);
            meta.session.path = best.path;
            states.write(schedule, meta.schedule.generation ++ closed ++ turn);
            free.write(index, now + best.wait + best.took);
            turns.write(index, turn);
            if (meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN) {
                rounds.write(schedule, now + best.wait);
            } else if (meta.schedule.feedback != 0) {
                fine_time_t work;
                works.read(work, index);
                work = work + best.nominal;
                works.write(index, work);
                if (best.wait == 0) {
                    idle.write(index, work);
                }
                if (best.rank == RANK_PROBE) {
                    probes.read(probe_state, index);
                    bit<48> pause = (bit<48>)meta.schedule.probe_interval;
                    bit<8> silence = probe_state[7:0];
                    if (silence[7:7] == 1) {
                        pause = pause << silence[1:0];
                        if (silence[1:0] != MOST_DOUBLED) {
                            silence = silence + 1;
                        }
                    }
                    probes.write(index, meta.arrived + pause ++ silence);
                }
                if (meta.schedule.fresh) {
                    meta.schedule.slot = best.slot;
                    meta.schedule.probe = best.rank == RANK_PROBE;
                    meta.schedule.busy = best.wait != 0;
                    meta.schedule.delivery = now + best.delivery;
                    meta.schedule.after = best.delivery;
                    meta.schedule.work = work;
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
                }
            }
        }
    }
}

#endif
