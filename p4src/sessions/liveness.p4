// Is a session answered? On its own the data plane finds out by what passes: whoever sends must hear something, or the
// path has failed (RFC 5534, section 4.1). The controller is told when to look again, and looks by a packet-out, since
// nothing happens here without a packet.
//
//   sent    nothing unanswered: from now on there is, WATCH
//           unanswered for less than the send timeout: wait
//           for longer: by a verified backup, at once, LEFT_PATH; without one, UNANSWERED
//   heard   nothing is unanswered; unless something is sent soon, a keepalive is due, SILENT
//
// A flow with a path of its own says nothing of the session's: what it sends waits for no answer here. What the peer sends
// of a flow that may have one leads nobody elsewhere. The controller is told that there is traffic, and probes such paths.
//
// A session's path is the controller's choice until the data plane leaves it, and again when the controller's entry has a
// new generation. Of a session that is spread over paths nobody knows which one has failed: it is the controller's to move.

#ifndef WAYNAME_SESSIONS_LIVENESS_P4
#define WAYNAME_SESSIONS_LIVENESS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"
#include "shim6_headers.p4"

control SessionLiveness(in headers_t hdr, inout metadata_t meta) {
    @id(BACKUPS_COUNTER_ID) TABLE_COUNTER(backups_counter);

    // What the data plane made of the controller's choice: 1, generation, path.
    @id(SESSION_CURRENT_PATHS_REGISTER_ID)
    @name("session_current_paths")
    REGISTERS(session_id_t, bit<16>, WATCHED_SESSIONS, current_paths);

    // Times in microseconds, by the clock of the switch; 0 is never.
    @id(SESSION_UNANSWERED_REGISTER_ID)
    @name("session_unanswered")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, unanswered);     // the first packet sent since one was heard

    @id(SESSION_WATCHED_REGISTER_ID)
    @name("session_watched")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, watched);        // until when the controller should have looked

    @id(SESSION_UNANSWERED_REPORTED_REGISTER_ID)
    @name("session_unanswered_reported")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, unanswered_reported); // the last UNANSWERED

    @id(SESSION_UNREPLIED_REGISTER_ID)
    @name("session_unreplied")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, unreplied);      // the first packet heard since one was sent

    @id(SESSION_KEEPALIVE_DUE_REGISTER_ID)
    @name("session_keepalive_due")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, keepalive_due);      // until when the controller should have kept it alive

    @id(SESSION_HEARD_REPORTED_REGISTER_ID)
    @name("session_heard_reported")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, heard_reported); // the last HEARD

    @id(SESSION_MOVED_REGISTER_ID)
    @name("session_moved")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, moved);          // the last time that the session changed its path

    @id(SESSION_SENT_REGISTER_ID)
    @name("session_sent")
    REGISTERS(session_id_t, bit<48>, WATCHED_SESSIONS, sent);           // the last packet of its host

    // 1 and the path that the peer was heard by last.
    @id(SESSION_PEER_PATHS_REGISTER_ID)
    @name("session_peer_paths")
    REGISTERS(session_id_t, bit<8>, WATCHED_SESSIONS, peer_paths);

    path_t backup = 0;

    @id(NEXT_PATH_ACTION_ID)
    @name("next_path")
    action next_path(@id(1) @refers_to(paths, path) path_t path) {
        backup = path;
    }

    @id(NO_BACKUP_ACTION_ID)
    @name("no_backup")
    action no_backup() {
    }

    @id(BACKUPS_TABLE_ID)
    @name("backups")
    @brief("The verified path to go to when one is not answered.")
    table backups {
        key = {
            meta.session.number : exact @id(1) @name("session") @refers_to(paths, session);
            meta.session.path   : exact @id(2) @name("path") @refers_to(paths, path);
        }
        actions = {
            next_path;
            @defaultonly no_backup;
        }
        const default_action = no_backup;
        counters = backups_counter;
        size = SESSION_PATHS;
    }

    apply {
        session_id_t session = meta.session.number;
        bit<48> now = meta.arrived;
        bit<48> send_timeout = (bit<48>)meta.session.send_timeout;
        bit<48> keepalive = (bit<48>)meta.session.keepalive;

        bit<16> current;
        current_paths.read(current, session);
        bit<16> choice = 4w1 ++ meta.session.generation ++ meta.session.choice;
        bool chosen = current[15:4] != choice[15:4];      // anew
        if (chosen) {
            current = choice;
        }

        if (meta.session.direction == SESSION_OUTBOUND) {
            bit<48> first;
            unanswered.read(first, session);
            if (chosen) {
                current_paths.write(session, current);
                moved.write(session, now);
                unanswered.write(session, 0);
                watched.write(session, 0);
                first = 0;
            }
            if (meta.session.ecmp_paths == 0) {
                meta.session.path = current[3:0];
            }
            if (meta.session.preferred_path == meta.session.path) {
                meta.session.preferred = false;     // it goes as its session does
            }
            meta.session_event.path_from = meta.session.path;
            meta.session_event.path_to = meta.session.path;

            if (meta.session.request == PACKET_OUT_KEEPALIVE) {
                bit<48> since;
                unreplied.read(since, session);
                if (since == 0) {
                    keepalive_due.write(session, 0);
                    DROP(DROP_KEEPALIVE_NOT_DUE);
                } else if (now - since < keepalive) {
                    keepalive_due.write(session, now + (keepalive << 1));
                    meta.session_event.kind = SESSION_EVENT_SILENT;
                    meta.session_event.age = now - since;
                    DROP(DROP_KEEPALIVE_NOT_DUE);
                } else {
                    keepalive_due.write(session, 0);
                    unreplied.write(session, 0);
                }
            } else {
                bool payload = meta.session.request == 0;
                bit<48> age = now - first;
                if (payload) {
                    unreplied.write(session, 0);
                }
                if (send_timeout == 0) {
                    // Nobody waits.
                } else if (meta.session.preferred) {
                    bit<48> until;
                    watched.read(until, session);
                    if (until <= now) {
                        watched.write(session, now + (send_timeout << 1));
                        meta.session_event.kind = SESSION_EVENT_WATCH;
                    }
                } else if (first == 0) {
                    bit<48> until;
                    watched.read(until, session);
                    if (!payload) {
                        watched.write(session, 0);
                    } else {
                        unanswered.write(session, now);
                        if (until <= now) {
                            watched.write(session, now + (send_timeout << 1));
                            meta.session_event.kind = SESSION_EVENT_WATCH;
                        }
                    }
                } else if (age < send_timeout) {
                    if (!payload) {
                        watched.write(session, now + (send_timeout << 1));
                        meta.session_event.kind = SESSION_EVENT_WATCH;
                        meta.session_event.age = age;
                    }
                } else if (meta.session.ecmp_paths == 0 && backups.apply().hit) {
                    meta.session_event.kind = SESSION_EVENT_LEFT_PATH;
                    meta.session_event.path_to = backup;
                    meta.session_event.age = age;
                    meta.session.path = backup;
                    current_paths.write(session, current[15:4] ++ backup);
                    moved.write(session, now);
                    watched.write(session, now + (send_timeout << 1));
                    // Unless it was only asked: then nothing has been sent by the backup.
                    if (payload) {
                        unanswered.write(session, now);
                    } else {
                        unanswered.write(session, 0);
                    }
                } else {
                    bit<48> last;
                    unanswered_reported.read(last, session);
                    if (now - last >= send_timeout) {
                        unanswered_reported.write(session, now);
                        meta.session_event.kind = SESSION_EVENT_UNANSWERED;
                        meta.session_event.age = age;
                    }
                }
                // Copied is what may be lost: what follows a packet that has no answer for long, and all that a host sends
                // who sends few. Of one who sends many that would be too many for the controller. What the switch itself kept it
                // sends again by itself.
                if (payload && !meta.session.preferred && send_timeout != 0 && meta.session.mode & MODE_HOLD != 0
                    && !meta.from_controller && !meta.copy.out_of_buffer) {
                    bit<48> last_sent;
                    sent.read(last_sent, session);
                    sent.write(session, now);
                    if (meta.session_event.kind != SESSION_EVENT_LEFT_PATH
                        && (now - last_sent >= send_timeout >> 4 || (first != 0 && age << 5 >= send_timeout))) {
                        COPY_TO_CONTROLLER(PUNT_SESSION_HELD);
                    }
                }
            }
        } else {
            bit<48> since_sent;
            unanswered.read(since_sent, session);
            unanswered.write(session, 0);
            path_t path = meta.session.path;
            meta.session_event.path_from = path;
            meta.session_event.path_to = path;
            bit<8> heard_by;
            peer_paths.read(heard_by, session);
            if (meta.session.policed) {
                heard_by = 4w1 ++ path;
            } else if (meta.session.path_known) {
                peer_paths.write(session, 4w1 ++ path);
                // Packets by a slower path may still arrive after those by a new one: nobody follows them back.
                bit<48> since_moved;
                moved.read(since_moved, session);
                if (meta.session.mode & MODE_FOLLOW != 0 && !meta.session.forked && heard_by != 4w1 ++ path
                    && heard_by == 4w1 ++ current[3:0] && now - since_moved >= send_timeout) {
                    moved.write(session, now);
                    current_paths.write(session, current[15:4] ++ path);
                    meta.session_event.kind = SESSION_EVENT_FOLLOWED;
                    meta.session_event.path_from = current[3:0];
                    if (since_sent != 0) {
                        meta.session_event.age = now - since_sent;
                    }
                }
            }
            // Keepalives and reports answer what was sent; they are not answered themselves.
            if (keepalive != 0 && meta.shim6.kind != SHIM6_KEEPALIVE_HERE && !meta.path_option.alone) {
                bit<48> since;
                bit<48> until;
                unreplied.read(since, session);
                keepalive_due.read(until, session);
                if (since == 0) {
                    since = now;
                    unreplied.write(session, now);
                }
                if (until <= now && meta.session_event.kind == SESSION_EVENT_NONE) {
                    keepalive_due.write(session, now + (keepalive << 1));
                    meta.session_event.kind = SESSION_EVENT_SILENT;
                    meta.session_event.age = now - since;
                }
            }
            if (meta.session.mode & MODE_REPORT != 0 && meta.session_event.kind == SESSION_EVENT_NONE) {
                bit<48> last;
                heard_reported.read(last, session);
                if (heard_by != 4w1 ++ path || now - last >= send_timeout >> 3) {
                    heard_reported.write(session, now);
                    meta.session_event.kind = SESSION_EVENT_HEARD;
                }
            }
        }
    }
}

#endif
