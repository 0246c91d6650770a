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
//           (acknowledgements.p4)                              (path_measurement.p4, path_closing.p4)
//
// Between edges that both do, numbered packets also have an order: what a dead path holds goes by the others (reinjection.p4), and the
// receiving edge puts in order what came by several (resequencing.p4). Or each packet goes by several paths at once (replication.p4), and
// the receiving edge takes the first that comes (elimination.p4).

#ifndef WAYNAME_SCHEDULING_SCHEDULES_P4
#define WAYNAME_SCHEDULING_SCHEDULES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "acknowledgements.p4"
#include "clock_offset.p4"
#include "congestion_windows.p4"
#include "delivery_times.p4"
#include "duplicate_ack_hold.p4"
#include "edge_queue.p4"
#include "metadata.p4"
#include "path_closing.p4"
#include "path_estimates.p4"
#include "path_events.p4"
#include "path_measurement.p4"
#include "path_numbers.p4"
#include "path_probes.p4"
#include "path_reports.p4"
#include "queue_limits.p4"
#include "reinjection.p4"
#include "replication.p4"
#include "resequencing.p4"
#include "schedule_of_session.p4"
#include "silent_paths.p4"
#include "subflow_memory.p4"
#include "subflow_slots.p4"

control Schedules(in headers_t hdr, inout metadata_t meta) {
    @id(SCHEDULE_STATES_REGISTER_ID)
    @name("schedule_states")
    REGISTERS(bit<32>, bit<48>, SCHEDULES, states);             // the generation of all the rest, closed slots, packets

    @id(SCHEDULE_ROUNDS_REGISTER_ID)
    @name("schedule_rounds")
    REGISTERS(bit<32>, fine_time_t, SCHEDULES, rounds);         // the clock of weighted round robin

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

    @id(SCHEDULE_PROBES_REGISTER_ID)
    @name("schedule_probes")
    REGISTERS(bit<32>, probe_state_t, SUBFLOW_SLOTS, probes);   // of a closed path

    @id(QUEUE_LIMITS_REGISTER_ID)
    @name("queue_limits")
    REGISTERS(bit<32>, bit<32>, SUBFLOW_SLOTS, queue_limits);   // microseconds that what fits into its queue takes, 0: nobody knows

    @id(SUBFLOW_HEARD_REGISTER_ID)
    @name("subflow_heard")
    REGISTERS(bit<32>, bit<48>, SUBFLOW_SLOTS, heard_of);       // when the path last brought something

    @id(SCHEDULE_HEARD_REGISTER_ID)
    @name("schedule_heard")
    REGISTERS(bit<32>, bit<48>, SCHEDULES, heard_by);           // and when any of the schedule's did

    // Of numbered packets, by session and slot.
    @id(UNREPORTED_SINCE_REGISTER_ID)
    @name("unreported_since")
    REGISTERS(bit<32>, unreported_t, SESSION_SLOTS, unreported_since);

    // By session.
    @id(REPORTS_HEARD_REGISTER_ID)
    @name("reports_heard")
    REGISTERS(bit<32>, heard_reports_t, NUMBERED_SESSIONS, reports_heard);

    // Packets that reports told of since the controller was last told, lost ones, marked ones: 24 bits each.
    @id(REPORTED_PACKETS_REGISTER_ID)
    @name("reported_packets")
    REGISTERS(bit<32>, bit<72>, SUBFLOW_SLOTS, reported_packets);

    @id(BUFFER_REFUSALS_COUNTER_ID)
    @name("buffer_refusals")
    @brief("Packets for which a buffer had no room: 0 no copy was kept, 1 went on without waiting for what was sent before.")
    COUNTERS(bit<8>, 2, buffer_refusals);

    ScheduleOfSession() schedule_of_session;
    SubflowSlots() subflow_slots;
    Acknowledgements() acknowledgements;
    DuplicateAckHold() duplicate_ack_hold;
    PathReports() path_reports;
    PathNumbers() path_numbers;
    ClockOffset() clock_offset;
    ProbeCopies() probe_copies;
    PathMeasurement() path_measurement;
    PathClosing() path_closing;
#ifdef WITH_PACKET_BUFFERS
    // By session and slot: was there a report (8 bits), the newest packet that it told of.
    @id(RELEASED_COPIES_REGISTER_ID)
    @name("released_copies")
    REGISTERS(bit<32>, bit<32>, SESSION_SLOTS, released_copies);

    // By session and slot.
    @id(CONGESTION_WINDOWS_REGISTER_ID)
    @name("congestion_windows")
    REGISTERS(bit<32>, congestion_window_t, SESSION_SLOTS, congestion_windows);

    Reinjection() reinjection;
    Resequencing() resequencing;

    @id(EDGE_QUEUES_REGISTER_ID)
    @name("edge_queues")
    REGISTERS(bit<32>, edge_queue_t, NUMBERED_SESSIONS, edge_queues);

    @id(EDGE_TURNS_REGISTER_ID)
    @name("edge_turns")
    REGISTERS(bit<32>, edge_queue_t, SCHEDULES, edge_turns);

    @id(EDGE_QUEUE_BUFFER_ID)
    @name("edge_queue")
    packet_buffer(NUMBERED_SESSIONS, EDGE_QUEUE_OCTETS, EDGE_QUEUE_OCTETS_OF_SESSION) edge_queue;

    // The first packets of sessions.
    @id(EDGE_TURN_BUFFER_ID)
    @name("edge_turn")
    packet_buffer(SCHEDULES, EDGE_QUEUE_OCTETS, EDGE_TURN_OCTETS_OF_SCHEDULE) edge_turn;
#endif

    schedule_path_t slot_0 = { 0, 0, 0, 0 };
    schedule_path_t slot_1 = { 0, 0, 0, 0 };
    schedule_path_t slot_2 = { 0, 0, 0, 0 };
    schedule_path_t slot_3 = { 0, 0, 0, 0 };
    schedule_path_t slot_4 = { 0, 0, 0, 0 };
    schedule_path_t slot_5 = { 0, 0, 0, 0 };
    schedule_path_t slot_6 = { 0, 0, 0, 0 };
    schedule_path_t slot_7 = { 0, 0, 0, 0 };

    apply {
        bool kept = false;
        bool refused = false;
        schedule_of_session.apply(meta);
        bit<32> schedule = (bit<32>)meta.schedule.number;
        bit<48> state = 0;
        bool timed = meta.schedule.policy == POLICY_FASTEST_FIRST || meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN;
        if (timed) {
            subflow_slots.apply(meta, slot_0, slot_1, slot_2, slot_3, slot_4, slot_5, slot_6, slot_7);
            states.read(state, schedule);
            if (state[47:40] != meta.schedule.generation) {
                state = meta.schedule.generation ++ 40w0;
                rounds.write(schedule, 0);
                EACH_SLOT(BEGIN)
            }
        }
        bit<8> closed = state[39:32];
        bool numbered = meta.session.mode & MODE_NUMBER != 0 && meta.session.number < NUMBERED_SESSIONS
            && meta.schedule.policy != POLICY_NONE;
        // What waited for its turn was counted when it came.
        bool counted = meta.path_option.of_session && meta.path_option.counted && !meta.copy.out_of_buffer;
        bool in_order = numbered && meta.session.mode & MODE_ORDER != 0;
        bool no_data = hdr.tcp.isValid() && !meta.fragmented && meta.chain.left == 10w0 ++ hdr.tcp.start[31:28] ++ 2w0;
        // Of TCP what has data; ESP, of which nobody knows; and QUIC, which takes what is three packets late for lost (RFC 9002, section 6.1.1).
        bool is_quic = meta.flow.next_header == NEXT_UDP
            && (meta.flow.destination_port == PORT_QUIC || meta.flow.source_port == PORT_QUIC);
        bool wants_order = in_order && meta.schedule.policy == POLICY_FASTEST_FIRST && meta.schedule.feedback != 0
            && !meta.fragmented && !no_data && !meta.path_option.alone
            && (hdr.tcp.isValid() || meta.chain.next_header == NEXT_ESP || is_quic);
        LOOK_AT_QUEUE
        // Most copies go back into the buffer: none of them may take a report with it.
        bool takes_report = meta.session.direction == SESSION_OUTBOUND && (!meta.copy.out_of_buffer || from_queue) && !meta.decided;
        if (numbered && (takes_report || counted)) {
            path_reports.apply(hdr, meta);
        }
        if (meta.path_option.alone && !meta.probe.copy && meta.session.direction == SESSION_OUTBOUND) {
            numbered = false;
            meta.schedule.pure_ack = true;      // nobody reports on reports
        }

        if (meta.schedule.feedback != 0 && hdr.tcp.isValid() && !meta.fragmented && !meta.decided && !meta.probe.copy && !meta.replication.copy
            && (!numbered || !in_order && meta.schedule.feedback & FEEDBACK_HOLD != 0)) {
            acknowledgements.apply(hdr, meta, slot_0, slot_1, slot_2, slot_3, slot_4, slot_5, slot_6, slot_7);
            if (meta.schedule.missing) {
                probe_state_t its_probe;
                probes.read(its_probe, SUBFLOW_SLOT(meta.schedule.missing_slot));
                bit<8> missing_closed = closed & 8w1 << (bit<8>)meta.schedule.missing_slot;
                meta.schedule.missing_silent = missing_closed != 0 && its_probe[7:7] == 1;
            }
            duplicate_ack_hold.apply(meta);
            if (!numbered && meta.session.direction == SESSION_INBOUND && meta.schedule.verdict != VERDICT_LOST) {
                probe_copies.apply(hdr, meta);
            }
            if (meta.session.direction == SESSION_INBOUND && meta.schedule.reverse_known) {
                heard_of.write(SUBFLOW_SLOT(meta.schedule.reverse_slot), meta.arrived);
                heard_by.write(schedule, meta.arrived);
            }
        }

        heard_reports_t heard_reports = 0;
        if (numbered) {
            reports_heard.read(heard_reports, meta.session.number);
            // What TCP says of paths is what reports say, later.
            meta.schedule.verdict = VERDICT_NONE;
            meta.schedule.answer = ANSWER_NONE;
            meta.schedule.certain = false;
            // While the peer sends nothing but acknowledgements, and they are lost, nothing is there to be reported on.
            meta.schedule.pure_ack = no_data;
            meta.schedule.ahead = false;
            if (meta.path_option.of_session && meta.path_option.reports && meta.schedule.feedback != 0 && !meta.copy.out_of_buffer) {
                path_numbers.apply(meta);
            }
            RELEASE_COPIES
            PUT_IN_ORDER
            if (meta.path_option.of_session) {
                EACH_SLOT(FIND_REVERSE_SLOT)
            }
        }

        bool heard_lately = heard_reports[63:16] != 0;
        bit<72> reports = 0;
        // After a pause the peer's clock is looked at anew: not before a packet that is remembered says something of it.
        if (meta.schedule.reported && (heard_lately || meta.schedule.verdict != VERDICT_NONE)) {
            reported_packets.read(reports, SUBFLOW_SLOT(meta.schedule.slot));
            reports = (reports[71:48] + meta.schedule.reported_packets) ++ (reports[47:24] + meta.schedule.reported_lost)
                ++ (reports[23:0] + (8w0 ++ meta.schedule.reported_marked));
            reported_packets.write(SUBFLOW_SLOT(meta.schedule.slot), reports);
            NOTE_REPORT
        }

        if (meta.schedule.verdict != VERDICT_NONE) {
            bit<32> index = SUBFLOW_SLOT(meta.schedule.slot);
            schedule_path_t about = slot_0;
            EACH_SLOT(FIND_SLOT)
            subflow_memory_t its = { 0, false, 0, 0, 0, false, 0, false };
            fine_time_t late;
            learned_of.read(its.learned, index);
            works.read(its.work, index);
            idle.read(its.idle_since, index);
            probes.read(its.probe, index);
            if (meta.schedule.reported) {
                clock_offset.apply(meta, about.delay, !heard_lately);
            }
            path_measurement.apply(meta, about, its, late);
            path_closing.apply(meta, late, its, closed);
            if (meta.schedule.reported && meta.schedule.feedback & FEEDBACK_FOLLOW != 0) {
                // How much longer than the path's entry says.
                fine_time_t waited = late + meta.schedule.after - (16w0 ++ about.delay ++ 16w0);
                if (in_order) {
                    NOTE_WINDOW
                } else if (is_congested(waited, meta.schedule.reported_lost)) {
                    unlearn_delay(its.learned);
                    its.learned_changed = true;
                }
            }
            if (its.learned_changed) {
                learned_of.write(index, its.learned);
            }
            if (its.free_changed) {
                free.write(index, its.free);
            }
            if (its.probe_changed) {
                probes.write(index, its.probe);
            }
            if (meta.schedule.reported) {
                bit<32> limit;
                queue_limits.read(limit, index);
                queue_limits.write(index, queue_limit_after(limit, late + meta.schedule.after - delay_of(about.delay, its.learned),
                                                            meta.schedule.reported_packets, meta.schedule.reported_lost));
            }
            if (meta.path_event.kind != PATH_EVENT_NONE) {
                bit<32> limit;
                queue_limits.read(limit, index);
                tell_of_path(meta.path_event, meta.schedule.slot, about, its.learned, limit, late);
                if (meta.schedule.reported) {
                    meta.path_event.packets = reports[71:48];
                    meta.path_event.lost = reports[47:24];
                    meta.path_event.marked = reports[23:0];
                    reported_packets.write(index, 0);
                }
            }
            if (meta.session.direction == SESSION_INBOUND) {
                states.write(schedule, state[47:40] ++ closed ++ state[31:0]);
            }
        }

        unreported_t unreported = 0;
        bit<8> untold = 0;
        FIND_UNREPORTED
        bool reporting = heard_reports[63:16] != 0;
        bool telling = reporting && meta.schedule.feedback & FEEDBACK_CLOSE != 0;
        // What becomes of a probe of a closed path is told by the peer's reports, or by acknowledgements.
        bool probe_tells = numbered && reporting || !numbered && meta.schedule.fresh;
        CONSIDER_COPY
        CONSIDER_PROBE
        CONSIDER_REPLICA

        if (meta.session.direction != SESSION_OUTBOUND || meta.decided) {
            // It has said what it knows.
        } else if (meta.schedule.policy == POLICY_PER_FLOW) {
            bit<32> count = 0;
            EACH_SLOT(COUNT_SLOT)
            bit<32> left;
            HASH_OF_4(left, count, hdr.ipv6.flow_label, meta.flow.next_header, meta.flow.source_port, meta.flow.destination_port);
            EACH_SLOT(TAKE_SLOT)
        } else if (meta.schedule.policy == POLICY_BEST_PATH) {
            bit<8> its_bit = 8w1 << (bit<8>)meta.schedule.slot;
            if (meta.schedule.slots & its_bit != 0) {
                meta.session.path = (path_t)(meta.schedule.path_of_slots >> ((bit<8>)meta.schedule.slot << 2));
            }
        } else if (timed) {
            fine_time_t now = meta.arrived ++ 16w0;
            bit<32> turn = state[31:0] + 1;
            // Round robin has a time of its own, which goes on as packets are sent, behind all that paths have had.
            if (meta.schedule.policy == POLICY_WEIGHTED_ROUND_ROBIN) {
                rounds.read(now, schedule);
                now = now - ROUND;
            }
            // What was sent before it may be behind it by so much, if its path died: until its copy went, and waited in others' queues;
            // or until another copy, which went at once, is here. Datagrams wait for none.
            // Round robin gives no numbers, so none of this either.
            bool numbers = numbered && meta.schedule.policy == POLICY_FASTEST_FIRST && meta.schedule.feedback != 0;
            bool replicated = numbers && meta.schedule.copies > 1 && !meta.copy.out_of_buffer && !meta.probe.copy;
            bool waits = wants_order && numbered && (hdr.tcp.isValid() || !replicated);
            meta.path_option.put_ordered = waits || replicated;
            bit<64> octets = (bit<64>)hdr.ipv6.payload_length + (bit<64>)IPV6_BYTES + (bit<64>)meta.schedule.framing
                + (bit<64>)option_bytes(numbers, meta.path_option.put_ordered, meta.path_option.to_report);
            candidate_t best = { false, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            fine_time_t busy_until;
            bit<32> last;
            learned_t learned = 0;
            bit<8> rank;
            bit<32> queue_limit;
            bit<48> due;
            bit<48> heard;
            bit<48> heard_last;
            heard_by.read(heard_last, schedule);
            bool quiet;
            bool dead;
            probe_state_t probe_state;
            // Of open paths: the longest delay, and when all that was sent by them is delivered.
            fine_time_t slowest = 0;
            fine_time_t latest = 0;
            bool compared = numbered && meta.schedule.feedback & FEEDBACK_FOLLOW != 0;
            bool others = meta.schedule.slots & ~closed != 0;
            EACH_SLOT(CONSIDER)

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
                    probes.write(index, probe_after(probe_state, numbered && meta.probe.copy, meta.arrived, meta.schedule.probe_interval));
                }
                if (meta.schedule.fresh || numbered || meta.probe.copy) {
                    // What an acknowledgement or a report of the packet will be measured by.
                    meta.schedule.slot = best.slot;
                    // A report names the newest packet, which is seldom the one that was meant to probe its path.
                    meta.schedule.probe = best.rank == RANK_PROBE || numbered && best.rank == RANK_CLOSED;
                    meta.schedule.busy = best.wait != 0;
                    meta.schedule.delivery = now + best.delivery;
                    meta.schedule.after = best.delivery;
                    if (numbered) {
                        meta.schedule.after = best.delivery - best.took;
                    }
                    meta.schedule.work = work;
                }
                if (numbered) {
                    // By one path alone all are in order.
                    bool one_path = meta.schedule.slots & (meta.schedule.slots - 1) == 0 && !meta.replication.copy;
                    if (waits && !one_path) {
                        fine_time_t wait = latest;
                        if (!replicated) {
                            wait = (latest << 1) + slowest + (REPORT_WAITS << 1);
                        }
                        meta.path_option.put_wait = 24w0xFFFFFF;
                        if (wait[63:40] == 0) {
                            meta.path_option.put_wait = wait[39:16];
                        }
                    }
                    REPLICATE
                    path_numbers.apply(meta);
                    FILL_WINDOW
                    KEEP_COPY
                    NOTE_UNREPORTED
                }
                if (meta.probe.due) {
                    meta.probe.beside = meta.schedule.delivery[47:16];
                    meta.path_option.lone_due = numbered;
                }
                // Of a packet that goes twice, nobody knows by which path it is that is acknowledged.
                if (meta.probe.copy && !numbered) {
                    probe_copies.apply(hdr, meta);
                } else if (meta.schedule.fresh && (numbered || !meta.probe.due) && !meta.replication.copy) {
                    meta.schedule.chosen = true;
                    acknowledgements.apply(hdr, meta, slot_0, slot_1, slot_2, slot_3, slot_4, slot_5, slot_6, slot_7);
                }
            }
        }
        if (meta.path_option.to_report && !meta.path_option.to_put) {
            meta.path_option.to_put = true;
            meta.path_option.put_counted = 0;
        }
    }
}

#endif
