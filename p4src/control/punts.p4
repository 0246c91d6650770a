// The way to the controller (control-plane policing): meters before it, a header before the packet.
//
//   source or session -> class at the port -> the port's share -> all ports together
//
// The last two are for those classes only that say so: what is known and asked for has its class at its port, and nobody else's
// punts count for that. A packet that one meter holds back has passed those before it.

#ifndef WAYNAME_CONTROL_PUNTS_P4
#define WAYNAME_CONTROL_PUNTS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "punt_sources.p4"

// Ingress.
control PuntLimits(in headers_t hdr, inout metadata_t meta) {
    @id(PUNT_CLASS_METER_ID)
    @name("punt_class_meter")
    @brief("Packets to the controller, by class and port: 512 times the class, and the port.")
    METERS(bit<32>, PUNT_CELLS, punt_class_meter);

    @id(PUNT_PORT_METER_ID)
    @name("punt_port_meter")
    @brief("Packets to the controller of classes that share, by port.")
    METERS(port_t, PORTS, punt_port_meter);

    @id(PUNT_TOTAL_METER_ID)
    @name("punt_total_meter")
    @brief("Packets to the controller of classes that share, of all ports.")
    METERS(bit<32>, 1, punt_total_meter);

    @id(PUNTS_COUNTER_ID)
    @name("punts")
    @brief("Packets that went to the controller, by reason.")
    COUNTERS(punt_reason_t, REASONS, punts);

    @id(PUNTS_HELD_BACK_COUNTER_ID)
    @name("punts_held_back")
    @brief("Packets and copies that did not go to the controller, since there were too many, by class and port: 512 times the class, and the port.")
    COUNTERS(bit<32>, PUNT_CELLS, punts_held_back);

    PuntSources() punt_sources;

    apply {
        if (meta.punt != PUNT_NONE) {
            bit<32> cell = 17w0 ++ meta.punt_class[5:0] ++ meta.ingress_port;
            drop_reason_t held_back = DROP_NONE;
            bool above;
            bool shared;
            colour_t colour;
            punt_sources.apply(hdr, meta, above, shared);
            if (above) {
                held_back = DROP_PUNT_SOURCE_RATE;
            } else {
                METER(punt_class_meter, cell, colour);
                if (colour == COLOUR_RED) {
                    held_back = DROP_PUNT_RATE;
                } else if (shared) {
                    METER(punt_port_meter, meta.ingress_port, colour);
                    if (colour == COLOUR_RED) {
                        held_back = DROP_PUNT_PORT_RATE;
                    } else {
                        METER(punt_total_meter, 0, colour);
                        if (colour == COLOUR_RED) {
                            held_back = DROP_PUNT_TOTAL_RATE;
                        }
                    }
                }
            }

            if (held_back == DROP_NONE) {
                punts.count(meta.punt);
            } else {
                punts_held_back.count(cell);
                meta.punt = PUNT_NONE;
                if (!meta.punt_copy) {
                    DROP(held_back);
                }
                meta.punt_copy = false;
            }
        }
    }
}

// Egress. The packet itself is as it arrived, or as it leaves.
control PuntHeader(inout headers_t hdr, inout metadata_t meta) {
    apply {
        hdr.packet_in.setValid();
        hdr.packet_in.reason = meta.punt;
        hdr.packet_in.ingress_port = (bit<16>)meta.ingress_port;
        hdr.packet_in.vlan = (bit<16>)meta.vlan;
        hdr.packet_in.punt_class = meta.punt_class;
        if (meta.egress.cut != 0) {
            meta.egress.cut = meta.egress.cut + PACKET_IN_BYTES;
        }
    }
}

#endif
