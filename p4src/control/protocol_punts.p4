// Messages of protocols that this program does not know. The controller says what one looks like (the next header, a UDP port
// or an ICMPv6 type, for hosts whose prefix has the protocol's bit), by which reason it comes, and in which class it is
// metered. So a new protocol changes no line of P4.
//
// Only whole packets to hosts that the edge speaks for are looked at; TCP never is.

#ifndef WAYNAME_CONTROL_PROTOCOL_PUNTS_P4
#define WAYNAME_CONTROL_PROTOCOL_PUNTS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"

control ProtocolPunts(in headers_t hdr, inout metadata_t meta) {
    @id(PROTOCOL_PUNTS_COUNTER_ID) TABLE_COUNTER(protocol_punts_counter);

    bit<16> udp_port = 0;

    @id(PUNT_MESSAGE_ACTION_ID)
    @name("punt_message")
    @brief("The controller gets it. Reason and class: 48 to 63, which are the controller's to give.")
    action punt_message(@id(1) punt_reason_t reason, @id(2) punt_class_t class) {
        TRAP(reason);
        meta.punt_class = class;
    }

    @id(NOT_A_MESSAGE_ACTION_ID)
    @name("not_a_message")
    action not_a_message() {
    }

    @id(PROTOCOL_PUNTS_TABLE_ID)
    @name("protocol_punts")
    @brief("Messages for the controller. Next header: what follows the IPv6 header. UDP port: the destination's. Protocols: those of the destination's prefix.")
    table protocol_punts {
        key = {
            hdr.ipv6.next_header               : ternary @id(1) @name("next_header");
            udp_port                           : ternary @id(2) @name("udp_port");
            meta.icmpv6.type                   : ternary @id(3) @name("icmpv6_type");
            meta.session.destination_protocols : ternary @id(4) @name("protocols");
        }
        actions = {
            punt_message;
            @defaultonly not_a_message;
        }
        const default_action = not_a_message;
        counters = protocol_punts_counter;
        size = PROTOCOL_PUNTS;
    }

    apply {
        if (meta.session.destination_speaker == SPEAKER_EDGE && !meta.from_controller && !meta.fragmented && !hdr.tcp.isValid()) {
            if (meta.flow.next_header == NEXT_UDP) {
                udp_port = meta.flow.destination_port;
            }
            protocol_punts.apply();
        }
    }
}

#endif
