// Schedules: of a session that has one, each packet's path is chosen for itself, by the policy that its entry names.
//
//   fastest_first         the path by which the packet is delivered first
//   weighted_round_robin  paths in turn, each as often as its capacity says
//   per_flow              the path that the flow's hash says
//   best_path             always one
//
// Sessions that share their paths share a schedule: what one of them sends, the others wait for.

#ifndef WAYNAME_SCHEDULES_P4
#define WAYNAME_SCHEDULES_P4

// The index of a schedule's place.
#define PLACE(place) ((bit<32>)meta.schedule.number << 3 | place)

control Schedules(in headers_t hdr, inout metadata_t meta) {
    @id(SCHEDULES_COUNTER_ID) TABLE_COUNTER(schedules_counter);

    @id(SCHEDULE_STATES_REGISTER_ID)
    @name("schedule_states")
    REGISTERS(bit<32>, bit<40>, SCHEDULES, states);             // the generation of all the rest, packets so far

    @id(SCHEDULE_ROUNDS_REGISTER_ID)
    @name("schedule_rounds")
    REGISTERS(bit<32>, fine_time_t, SCHEDULES, rounds);         // the clock of weighted round robin

    // By schedule and place: until when the path is busy, and the schedule's count of packets at its last one.
    @id(SCHEDULE_FREE_REGISTER_ID)
    @name("schedule_free")
    REGISTERS(bit<32>, fine_time_t, SCHEDULE_PLACES, free);

    @id(SCHEDULE_TURNS_REGISTER_ID)
    @name("schedule_turns")
    REGISTERS(bit<32>, bit<32>, SCHEDULE_PLACES, turns);

    schedule_path_t place_0 = { 0, 0, 0 };
    schedule_path_t place_1 = { 0, 0, 0 };
    schedule_path_t place_2 = { 0, 0, 0 };
    schedule_path_t place_3 = { 0, 0, 0 };
    schedule_path_t place_4 = { 0, 0, 0 };
    schedule_path_t place_5 = { 0, 0, 0 };
    schedule_path_t place_6 = { 0, 0, 0 };
    schedule_path_t place_7 = { 0, 0, 0 };

    @id(FASTEST_FIRST_ACTION_ID)
    @name("fastest_first")
    @brief("By the path that delivers first. Framing: octets that links add to each packet. Delays in microseconds, times of an octet in 2^-24 microseconds. Feedback: 1 follow the marks, 2 close paths, or their sum; tolerance and probe interval in microseconds.")
    action fastest_first(@id(1) schedule_id_t schedule, @id(2) bit<8> generation, @id(3) bit<4> paths, @id(4) bit<8> framing,
                         @id(5) bit<8> feedback, @id(6) bit<32> tolerance, @id(7) bit<32> probe_interval,
                         @id(8) path_t path_0, @id(9) bit<32> delay_0, @id(10) bit<32> octet_time_0,
                         @id(11) path_t path_1, @id(12) bit<32> delay_1, @id(13) bit<32> octet_time_1,
                         @id(14) path_t path_2, @id(15) bit<32> delay_2, @id(16) bit<32> octet_time_2,
                         @id(17) path_t path_3, @id(18) bit<32> delay_3, @id(19) bit<32> octet_time_3,
                         @id(20) path_t path_4, @id(21) bit<32> delay_4, @id(22) bit<32> octet_time_4,
                         @id(23) path_t path_5, @id(24) bit<32> delay_5, @id(25) bit<32> octet_time_5,
                         @id(26) path_t path_6, @id(27) bit<32> delay_6, @id(28) bit<32> octet_time_6,
                         @id(29) path_t path_7, @id(30) bit<32> delay_7, @id(31) bit<32> octet_time_7) {
        meta.schedule.policy = POLICY_FASTEST_FIRST;
        meta.schedule.number = schedule;
        meta.schedule.generation = generation;
        meta.schedule.paths = paths;
        meta.schedule.framing = framing;
        meta.schedule.feedback = feedback;
        meta.schedule.tolerance = tolerance;
        meta.schedule.probe_interval = probe_interval;
        place_0 = { path_0, delay_0, octet_time_0 };
        place_1 = { path_1, delay_1, octet_time_1 };
        place_2 = { path_2, delay_2, octet_time_2 };
        place_3 = { path_3, delay_3, octet_time_3 };
        place_4 = { path_4, delay_4, octet_time_4 };
        place_5 = { path_5, delay_5, octet_time_5 };
        place_6 = { path_6, delay_6, octet_time_6 };
        place_7 = { path_7, delay_7, octet_time_7 };
    }

    @id(WEIGHTED_ROUND_ROBIN_ACTION_ID)
    @name("weighted_round_robin")
    @brief("In turn, octets shared by capacity, whatever waits. Times of an octet in any unit.")
    action weighted_round_robin(@id(1) schedule_id_t schedule, @id(2) bit<8> generation, @id(3) bit<4> paths, @id(4) bit<8> framing,
                                @id(5) path_t path_0, @id(6) bit<32> octet_time_0,
                                @id(7) path_t path_1, @id(8) bit<32> octet_time_1,
                                @id(9) path_t path_2, @id(10) bit<32> octet_time_2,
                                @id(11) path_t path_3, @id(12) bit<32> octet_time_3,
                                @id(13) path_t path_4, @id(14) bit<32> octet_time_4,
                                @id(15) path_t path_5, @id(16) bit<32> octet_time_5,
                                @id(17) path_t path_6, @id(18) bit<32> octet_time_6,
                                @id(19) path_t path_7, @id(20) bit<32> octet_time_7) {
        meta.schedule.policy = POLICY_WEIGHTED_ROUND_ROBIN;
        meta.schedule.number = schedule;
        meta.schedule.generation = generation;
        meta.schedule.paths = paths;
        meta.schedule.framing = framing;
        place_0 = { path_0, 0, octet_time_0 };
        place_1 = { path_1, 0, octet_time_1 };
        place_2 = { path_2, 0, octet_time_2 };
        place_3 = { path_3, 0, octet_time_3 };
        place_4 = { path_4, 0, octet_time_4 };
        place_5 = { path_5, 0, octet_time_5 };
        place_6 = { path_6, 0, octet_time_6 };
        place_7 = { path_7, 0, octet_time_7 };
    }

    @id(PER_FLOW_ACTION_ID)
    @name("per_flow")
    @brief("A flow keeps to one path, by its flow label, upper layer and ports.")
    action per_flow(@id(1) bit<4> paths,
                    @id(2) path_t path_0, @id(3) path_t path_1,
                    @id(4) path_t path_2, @id(5) path_t path_3,
                    @id(6) path_t path_4, @id(7) path_t path_5,
                    @id(8) path_t path_6, @id(9) path_t path_7) {
        meta.schedule.policy = POLICY_PER_FLOW;
        meta.schedule.paths = paths;
        place_0 = { path_0, 0, 0 };
        place_1 = { path_1, 0, 0 };
        place_2 = { path_2, 0, 0 };
        place_3 = { path_3, 0, 0 };
        place_4 = { path_4, 0, 0 };
        place_5 = { path_5, 0, 0 };
        place_6 = { path_6, 0, 0 };
        place_7 = { path_7, 0, 0 };
    }

    @id(BEST_PATH_ACTION_ID)
    @name("best_path")
    @brief("Always by one path.")
    action best_path(@id(1) path_t path) {
        meta.session.path = path;
    }

    @id(NOT_SCHEDULED_ACTION_ID)
    @name("not_scheduled")
    action not_scheduled() {
    }

    @id(SCHEDULES_TABLE_ID)
    @name("schedules")
    @brief("How a session's packets are shared out to its paths.")
    table schedules {
        key = {
            meta.session.number : exact @id(1) @name("session");
        }
        actions = {
            fastest_first;
            weighted_round_robin;
            per_flow;
            best_path;
            @defaultonly not_scheduled;
        }
        const default_action = not_scheduled;
        counters = schedules_counter;
        size = SESSIONS;
    }

    apply {
        schedules.apply();
        if (meta.schedule.policy == POLICY_PER_FLOW) {
            bit<32> place;
            HASH_OF_4(place, (bit<32>)meta.schedule.paths, hdr.ipv6.flow_label, meta.flow.next_header,
                      meta.flow.source_port, meta.flow.destination_port);
            if (place == 0) {
                meta.session.path = place_0.path;
            } else if (place == 1) {
                meta.session.path = place_1.path;
            } else if (place == 2) {
                meta.session.path = place_2.path;
            } else if (place == 3) {
                meta.session.path = place_3.path;
            } else if (place == 4) {
                meta.session.path = place_4.path;
            } else if (place == 5) {
                meta.session.path = place_5.path;
            } else if (place == 6) {
                meta.session.path = place_6.path;
            } else {
                meta.session.path = place_7.path;
            }
        } else if (meta.schedule.policy != POLICY_NONE) {
            bit<32> schedule = (bit<32>)meta.schedule.number;
            bit<40> state;
            states.read(state, schedule);
            bit<32> turn = state[31:0] + 1;
            states.write(schedule, meta.schedule.generation ++ turn);
            if (state[39:32] != meta.schedule.generation) {
                rounds.write(schedule, 0);
                free.write(PLACE(0), 0);
                turns.write(PLACE(0), 0);
                free.write(PLACE(1), 0);
                turns.write(PLACE(1), 0);
                free.write(PLACE(2), 0);
                turns.write(PLACE(2), 0);
                free.write(PLACE(3), 0);
                turns.write(PLACE(3), 0);
                free.write(PLACE(4), 0);
                turns.write(PLACE(4), 0);
                free.write(PLACE(5), 0);
                turns.write(PLACE(5), 0);
                free.write(PLACE(6), 0);
                turns.write(PLACE(6), 0);
                free.write(PLACE(7), 0);
                turns.write(PLACE(7), 0);
            }

            // Round robin has a time of its own, which goes on as packets are sent, behind all that paths have had.
            fine_time_t now = meta.arrived ++ 16w0;
            if (meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN) {
                rounds.read(now, schedule);
                now = now - ROUND;
            }

            bit<32> octets = (bit<32>)hdr.ipv6.payload_length + (bit<32>)IPV6_BYTES + (bit<32>)meta.schedule.framing;
            candidate_t best = { false, 0, 0, 0, 0, 0, 0, 0 };
            fine_time_t busy;
            bit<32> last;
            free.read(busy, PLACE(0));
            turns.read(last, PLACE(0));
            consider(best, 0, place_0, octets, now, busy, turn - last);
            if (meta.schedule.paths > 1) {
                free.read(busy, PLACE(1));
                turns.read(last, PLACE(1));
                consider(best, 1, place_1, octets, now, busy, turn - last);
            }
            if (meta.schedule.paths > 2) {
                free.read(busy, PLACE(2));
                turns.read(last, PLACE(2));
                consider(best, 2, place_2, octets, now, busy, turn - last);
            }
            if (meta.schedule.paths > 3) {
                free.read(busy, PLACE(3));
                turns.read(last, PLACE(3));
                consider(best, 3, place_3, octets, now, busy, turn - last);
            }
            if (meta.schedule.paths > 4) {
                free.read(busy, PLACE(4));
                turns.read(last, PLACE(4));
                consider(best, 4, place_4, octets, now, busy, turn - last);
            }
            if (meta.schedule.paths > 5) {
                free.read(busy, PLACE(5));
                turns.read(last, PLACE(5));
                consider(best, 5, place_5, octets, now, busy, turn - last);
            }
            if (meta.schedule.paths > 6) {
                free.read(busy, PLACE(6));
                turns.read(last, PLACE(6));
                consider(best, 6, place_6, octets, now, busy, turn - last);
            }
            if (meta.schedule.paths > 7) {
                free.read(busy, PLACE(7));
                turns.read(last, PLACE(7));
                consider(best, 7, place_7, octets, now, busy, turn - last);
            }
            meta.session.path = best.path;
            free.write(PLACE(best.place), best.free);
            turns.write(PLACE(best.place), turn);
            if (meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN) {
                rounds.write(schedule, best.begins);
            }
        }
    }
}

#undef PLACE
#endif
