// Sessions: identities that stay, locators that change. What goes to a peer gets its path's locators, what comes from it its
// identities back; the controller has proved what stands in the tables (RFC 5533, RFC 6740).
//
//   endpoint policy -> protocols' own messages -> which session? -> is it answered? -> to the peer: its path, a header or a nonce
//                          |                                                           from the peer: identities, neither
//                          `-> the controller, or they pass
//
// What comes out of a tunnel here takes no part; what came with segments left has no session, but crosses a border like any packet.

#ifndef WAYNAME_SESSIONS_SESSIONS_P4
#define WAYNAME_SESSIONS_SESSIONS_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "endpoint_policy.p4"
#include "flow_initiators.p4"
#include "flow_monitor.p4"
#include "headers.p4"
#include "identities.p4"
#include "liveness.p4"
#include "metadata.p4"
#include "path_policies.p4"
#include "paths.p4"
#include "shim6_headers.p4"
#include "../ilnp/headers.p4"
#include "../ilnp/rewriting.p4"
#include "../ilnp/tcp_flows.p4"
#include "../hip/esp_sessions.p4"
#include "../hip/headers.p4"
#include "../hip/messages.p4"
#include "../hip/path_mtu.p4"
#include "../hip/path_option.p4"
#include "../scheduling/elimination.p4"
#include "../scheduling/schedules.p4"
#include "../simple_security/simple_security.p4"
#include "../nptv6/crossing.p4"
#include "../nptv6/flows.p4"
#include "../nptv6/metadata.p4"
#include "../encapsulation/tunnels.p4"
#include "../control/protocol_punts.p4"

// Whether a packet is one of a session, and which way it goes, as far as its prefixes say.
control SessionDirection(in headers_t hdr, inout metadata_t meta) {
    apply {
        bool for_us = meta.session.destination_speaker == SPEAKER_EDGE;
        bool from_us = meta.session.source_speaker == SPEAKER_EDGE;
        bool shim6_for_us = for_us && meta.session.destination_protocols & PROTOCOL_SHIM6 != 0;
        bool ilnp_for_us = for_us && !from_us
            && meta.session.destination_protocols & (PROTOCOL_ILNP | PROTOCOL_HOSTS) == PROTOCOL_ILNP;
        bool with_nonce = meta.ilnp.kind == NONCE_HERE;
        bool keepalive_for_us = shim6_for_us && meta.shim6.kind == SHIM6_KEEPALIVE_HERE;
        // A packet with a number has that before the payload header.
        bool quotes_session = meta.icmpv6.quoted_next_header == NEXT_SHIM6
            || meta.icmpv6.quoted_next_header == NEXT_DESTINATION && meta.icmpv6.quoted_upper_layer[63:56] == NEXT_SHIM6
                && meta.icmpv6.quoted_upper_layer[47:40] == OPTION_PATH;
        if (meta.session.request != 0 || meta.path_option.alone) {
            meta.session.direction = SESSION_OUTBOUND;
        } else if (meta.shim6.kind == SHIM6_CONTROL || meta.shim6.kind == SHIM6_KEEPALIVE_HERE) {
            // What the controller sends itself it has looked at. By a peer's keepalive it says that it heard the peer.
            if (meta.from_controller && !keepalive_for_us) {
                // It passes.
            } else if (meta.session.source_speaker == SPEAKER_CHECKED
                       || meta.session.destination_speaker == SPEAKER_CHECKED) {
                TRAP(PUNT_SHIM6_VERIFY);
            } else if (shim6_for_us && meta.shim6.kind == SHIM6_CONTROL) {
                TRAP(PUNT_SHIM6);
                if (meta.shim6.of_context) {
                    meta.session.direction = SESSION_INBOUND;
                }
            } else if (keepalive_for_us && !meta.shim6.sound) {
                DROP(DROP_KEEPALIVE_CHECKSUM);
            } else if (keepalive_for_us) {
                meta.session.direction = SESSION_INBOUND;
            }
        } else if (meta.shim6.kind == SHIM6_PAYLOAD) {
            if (shim6_for_us) {
                if (meta.shim6.length != 0) {
                    DROP(DROP_PAYLOAD_HEADER);
                } else {
                    meta.session.direction = SESSION_INBOUND;
                }
            }
        } else if (shim6_for_us && quotes_session) {
            TRAP(PUNT_SESSION_ERROR);
        } else if (with_nonce && meta.from_controller && !ilnp_for_us) {
            // It passes. What came from a peer, and is sent again, is taken as if it came anew.
        } else if (ilnp_for_us && meta.ilnp.kind == NONCE_LENGTH) {
            DROP(DROP_NONCE_LENGTH);
        } else if (ilnp_for_us && meta.ilnp.kind == NONCE_TWICE) {
            DROP(DROP_NONCE_TWICE);
        } else if (ilnp_for_us && with_nonce && meta.icmpv6.type == ICMPV6_SESSION_REQUEST && !meta.fragmented) {
            TRAP(PUNT_SESSION_REQUEST);
            meta.session.direction = SESSION_INBOUND;
        } else if (ilnp_for_us && meta.icmpv6.type == ICMPV6_LOCATOR_UPDATE && !meta.fragmented) {
            if (with_nonce) {
                TRAP(PUNT_LOCATOR_UPDATE);
                meta.session.direction = SESSION_INBOUND;
            } else {
                DROP(DROP_NONCE_MISSING);
            }
        } else if (for_us && !from_us && meta.session.destination_protocols & PROTOCOL_HOSTS != 0 && with_nonce
                   && meta.icmpv6.type == ICMPV6_LOCATOR_UPDATE && !meta.fragmented && !meta.from_controller) {
            TRAP(PUNT_LOCATOR_UPDATE);        // an acknowledgement may be of what the border told
        } else if (ilnp_for_us && meta.ilnp.quoted) {
            TRAP(PUNT_ILNP_ERROR);
        } else if (for_us && !from_us) {
            meta.session.direction = SESSION_INBOUND;
        } else if (from_us && !for_us) {
            meta.session.direction = SESSION_OUTBOUND;
            meta.ilnp.to_admit = meta.session.source_protocols & (PROTOCOL_ILNP | PROTOCOL_HOSTS) == PROTOCOL_ILNP;
            if (meta.session.source_protocols & PROTOCOL_OPEN == 0 || with_nonce) {
                meta.ilnp.opens_with = 0;
            }
        }
    }
}

// By which path a packet of two identities goes, or what one from a peer is for.
control SessionWay(inout headers_t hdr, inout metadata_t meta) {
    PathChoice() path_choice;
    PathPolicies() path_policies;
    SessionLiveness() session_liveness;
    Elimination() elimination;
    Schedules() schedules;
    SessionPaths() session_paths;
    IlnpHeard() ilnp_heard;

    apply {
        // The peer puts it right before what names the session: a payload header, or ESP, which is the last header that can be read.
        bool before_payload_header = meta.shim6.kind == SHIM6_PAYLOAD && meta.shim6.index == meta.path_option.index + 1
            && meta.shim6.behind == meta.path_option.behind;
        bool before_esp = meta.hip.admitted && meta.chain.count == meta.path_option.index + 1;
        meta.path_option.of_session = meta.path_option.here && meta.session.direction == SESSION_INBOUND && meta.session.path_known
            && meta.session.mode & MODE_NUMBER != 0 && (before_payload_header || before_esp);
        bool report_of_ours = meta.path_option.alone;
        bool empty = meta.chain.next_header == NEXT_NONE && (!meta.path_option.counted || meta.chain.left == 0)
            || meta.hip.admitted && meta.chain.left == ESP_BYTES;
        if (meta.path_option.of_session && empty) {
            meta.path_option.alone = true;
        }
        if (meta.session.number != 0) {
            if (meta.session.direction == SESSION_OUTBOUND) {
                path_choice.apply(hdr, meta);
            }
            if (meta.session.mode & MODE_PREFER != 0 && meta.session.request == 0) {
                path_policies.apply(hdr, meta.session, meta.flow);
            }
            if (meta.session.number < WATCHED_SESSIONS && !report_of_ours && !meta.probe.copy && !meta.replication.copy) {
                session_liveness.apply(hdr, meta);
            }
            // What waited for its turn was looked at when it came.
            if (meta.path_option.of_session && meta.path_option.ordered && !meta.copy.out_of_buffer) {
                elimination.apply(meta);
            }
            if (meta.session.preferred && meta.session.direction == SESSION_OUTBOUND) {
                meta.session.path = meta.session.preferred_path;
            } else if (meta.session.mode & MODE_SCHEDULE != 0 && meta.session.request == 0) {
                schedules.apply(hdr, meta);
            }
        }
        if (meta.decided || (meta.session.direction == SESSION_OUTBOUND && meta.session.number == 0)) {
            // It ends here, or is of no session.
        } else if (meta.session.direction == SESSION_OUTBOUND && meta.session.request == PACKET_OUT_CHECK) {
            DROP(DROP_CHECKED);
        } else if (report_of_ours && !meta.path_option.to_report && !meta.probe.copy) {
            DROP(DROP_REPORT_NEEDLESS);
        } else if (meta.session.direction == SESSION_OUTBOUND) {
            session_paths.apply(hdr, meta);
        } else if (meta.path_option.alone) {
            DROP(DROP_REPORT_HEARD);
        } else if (meta.shim6.kind == SHIM6_KEEPALIVE_HERE) {
            DROP(DROP_KEEPALIVE_HEARD);
        } else if (meta.ilnp.known || (meta.ilnp.kind == NONCE_HERE
                                       && meta.session.destination_protocols & PROTOCOL_ILNP != 0)) {
            ilnp_heard.apply(hdr, meta);
        }
    }
}

// Packets that a session may come of: TCP that opens with nonces, and pairs of addresses that are worth one.
control SessionBeginnings(inout headers_t hdr, inout metadata_t meta) {
    IlnpFlows() ilnp_flows;
    FlowMonitor() flow_monitor;

    apply {
        if (meta.border.source.wanted) {
            meta.ilnp.opens_with = 0;       // the answer will come to an address that is no locator
        }
        if (hdr.tcp.isValid() && !meta.fragmented && meta.ilnp.to_admit && meta.keys.nonces != 0) {
            ilnp_flows.apply(hdr, meta);
        }
        if (meta.ilnp.doubtful && !meta.ilnp.of_flow) {
            DROP(DROP_NONCE_WRONG);
        }
        // Whoever opens TCP with a nonce asks for a session by that.
        if (meta.session.direction == SESSION_OUTBOUND && meta.session.number == 0 && !meta.ilnp.opening
            && meta.session.threshold_bytes | meta.session.threshold_time != 0) {
            flow_monitor.apply(hdr, meta);
        }
    }
}

// Addresses, and headers on and off.
control SessionRewriting(inout headers_t hdr, inout metadata_t meta) {
    IlnpRewriting() ilnp_rewriting;
    PutHeaderOn() put_header_on;
    PutPathOptionOnEsp() put_path_option_on_esp;
    TakeHeaderOff() take_header_off;

    apply {
        if (meta.ilnp.rewritten) {
            ilnp_rewriting.apply(hdr, meta.ilnp);
        }
        bool payload_header = meta.session.direction == SESSION_INBOUND && meta.shim6.kind == SHIM6_PAYLOAD;
        bool numbered_esp = meta.hip.admitted && meta.path_option.of_session;
        if (meta.decided) {
            // It ends here.
        } else if (payload_header || meta.ilnp.to_take || numbered_esp) {
            take_header_off.apply(hdr, meta.ilnp, meta.shim6, meta.path_option, meta.routing, meta.session, payload_header, numbered_esp);
        } else if ((meta.session.with_header || meta.ilnp.to_put) && meta.session.request == 0) {
            // A keepalive names the session itself.
            put_header_on.apply(hdr, meta.ilnp, meta.path_option, meta.session);
        } else if (meta.hip.to_peer && meta.path_option.to_put) {
            put_path_option_on_esp.apply(hdr, meta.chain, meta.routing, meta.hip, meta.path_option, meta.session);
        }
    }
}

control Sessions(inout headers_t hdr, inout metadata_t meta) {
    EndpointPolicy() endpoint_policy;
    ProtocolPunts() protocol_punts;
    HipMessages() hip_messages;
    EspSessions() esp_sessions;
    EspPathMtu() esp_path_mtu;
    SessionDirection() session_direction;
    SessionIdentities() session_identities;
    BorderCrossing() border_crossing;
    SimpleSecurity() simple_security;
    BorderFlows() border_flows;
    SessionWay() session_way;
    FlowInitiators() flow_initiators;
    SessionBeginnings() session_beginnings;
    SessionRewriting() session_rewriting;

    apply {
        if (!meta.decided && TO_ROUTER(hdr, meta) && !meta.out_of_tunnel) {
            if (meta.routing.left == 0) {
                endpoint_policy.apply(hdr, meta.ilnp, meta.session);
                protocol_punts.apply(hdr, meta);
            }
            // What the switch makes itself is between HITs, where ESP is: nobody speaks for those.
            if (!meta.decided && (meta.path_option.alone
                                  || meta.session.source_speaker | meta.session.destination_speaker | meta.session.request != 0)) {
                hip_messages.apply(hdr, meta);
                if (!meta.decided && meta.hip.esp != ESP_NONE && meta.shim6.kind == SHIM6_NONE) {
                    esp_sessions.apply(hdr, meta);
                }
                esp_path_mtu.apply(hdr, meta);
                if (!meta.decided && !meta.hip.admitted) {
                    session_direction.apply(hdr, meta);
                }
            }
            if (meta.session.direction != SESSION_NONE) {
                session_identities.apply(hdr, meta);
            }
            if (!meta.decided && meta.border.side != SIDE_NONE && !meta.path_option.alone) {
                border_crossing.apply(hdr, meta);
                simple_security.apply(hdr, meta);   // what comes in unasked makes no state further on
                border_flows.apply(hdr, meta);      // a flow that began without the session stays out of it
            }
            bool watched = meta.session.direction == SESSION_INBOUND || meta.border.destination.wanted
                || meta.session.threshold_bytes | meta.session.threshold_time != 0;
            if (!meta.decided && meta.session.number == 0 && watched) {
                flow_initiators.apply(hdr, meta);
            }
            if (!meta.decided && meta.session.direction != SESSION_NONE) {
                session_way.apply(hdr, meta);
                if (!meta.decided) {
                    session_beginnings.apply(hdr, meta);
                }
                if (!meta.decided) {
                    session_rewriting.apply(hdr, meta);
                }
            }
        }
        // Its session ended, or is scheduled in another way by now.
        bool is_copy = meta.replication.copy || meta.copy.out_of_buffer && !meta.copy.queued && meta.session.direction != SESSION_INBOUND;
        if (!meta.decided && is_copy && !meta.path_option.put_ordered) {
            DROP(DROP_COPY_NEEDLESS);
        }
        // Of the controller, or made here for a session that is gone.
        if (!meta.decided && (meta.session.request != 0 || meta.path_option.alone) && meta.session.number == 0) {
            DROP(DROP_SESSION_UNKNOWN);
        }
    }
}

#endif
