// HIP's own messages (RFC 7401), where an edge speaks for hosts, looks at what they say or listens. All others pass.
//
// One behind extension headers is not looked at: nobody sends such, and it goes to its host.

#ifndef WAYNAME_HIP_MESSAGES_P4
#define WAYNAME_HIP_MESSAGES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"

control HipMessages(in headers_t hdr, inout metadata_t meta) {
    @id(ASSOCIATIONS_COUNTER_ID) TABLE_COUNTER(associations_counter);

    ipv6_address_t local = 0;
    ipv6_address_t remote = 0;

    @id(OF_ASSOCIATION_ACTION_ID)
    @name("of_association")
    action of_association(@id(1) @refers_to(paths, session) session_id_t session) {
        meta.hip.session = session;
    }

    @id(NO_ASSOCIATION_ACTION_ID)
    @name("no_association")
    action no_association() {
    }

    @id(ASSOCIATIONS_TABLE_ID)
    @name("associations")
    @brief("Sessions by the HITs between which their messages go: that of the host behind this edge, and its peer's.")
    table associations {
        key = {
            local  : exact @id(1) @name("local");
            remote : exact @id(2) @name("remote");
        }
        actions = {
            of_association;
            @defaultonly no_association;
        }
        const default_action = no_association;
        counters = associations_counter;
        size = SESSIONS;
    }

    apply {
        if (hdr.ipv6.next_header == NEXT_HIP && !meta.from_controller) {
            if (meta.session.source_speaker == SPEAKER_CHECKED || meta.session.destination_speaker == SPEAKER_CHECKED) {
                TRAP(PUNT_HIP_VERIFY);
            } else if (meta.session.destination_speaker == SPEAKER_EDGE) {
                TRAP(PUNT_HIP);
            } else if (meta.session.source_speaker == SPEAKER_HOST || meta.session.destination_speaker == SPEAKER_HOST) {
                COPY_TO_CONTROLLER(PUNT_HIP_SEEN);
            }
            if (meta.punt != PUNT_NONE) {
                bool sent = meta.session.source_speaker != SPEAKER_NONE;
                local = sent ? meta.hip.sender : meta.hip.receiver;
                remote = sent ? meta.hip.receiver : meta.hip.sender;
                // Of a copy the controller is told alone: the packet is no session's.
                if (associations.apply().hit && meta.decided) {
                    meta.session.number = meta.hip.session;
                    meta.session.direction = sent ? SESSION_OUTBOUND : SESSION_INBOUND;
                }
            }
        }
    }
}

#endif
